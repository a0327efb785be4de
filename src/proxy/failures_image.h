/* SPDX-License-Identifier: MIT
 * The image of a cell of the table of failures (failures.h), which a process
 * sends to the one that goes on counting: fields as in closed_image.h, whose
 * images the cell's records are.
 */
#ifndef PROXY_FAILURES_IMAGE_H
#define PROXY_FAILURES_IMAGE_H

#include "proxy/closed_image.h"
#include "proxy/failures.h"

/* The most bytes of an image. */
#define FAILURES_IMAGE_MAX (8192 + FAILURES_EXAMPLES * CLOSED_IMAGE_MAX)

/* Writes the image.  Returns its size. */
size_t failures_image_encode(
    const struct failure_kind *kind, uint8_t out[FAILURES_IMAGE_MAX]);

/* Reads an image.  Returns false if the bytes are not an image, or if the
 * sessions failed for a reason that this version does not know.  Runs on the
 * control thread. */
bool failures_image_decode(const uint8_t *bytes, size_t size,
    struct failure_kind *ret_kind) MUST_CHECK;

#endif
