/* SPDX-License-Identifier: MIT
 * The image of a record of an ended session (closed.h), which a process sends
 * to the one that will show it.
 *
 *   field := tag (32 bits), size (32 bits), bytes
 *
 * A number that is 0 is not sent, and a number that is not sent is 0.  A
 * receiver skips fields whose tags it does not know; tags are never used again.
 * Both processes are on one host: numbers are in its byte order, and times are
 * those of its clocks.
 */
#ifndef PROXY_CLOSED_IMAGE_H
#define PROXY_CLOSED_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "proxy/closed.h"

/* The most bytes of an image. */
#define CLOSED_IMAGE_MAX 4096

/* Writes the image.  Returns its size. */
size_t closed_image_encode(
    const struct closed_session *closed, uint8_t out[CLOSED_IMAGE_MAX]);

/* Reads an image.  The texts of TLS become static ones; a bounded number of
 * different texts is kept.  Returns false if the bytes are not an image, or if
 * the session ended for a reason that this version does not know.  Runs on the
 * control thread. */
bool closed_image_decode(const uint8_t *bytes, size_t size,
    struct closed_session *ret_closed) MUST_CHECK;

#endif
