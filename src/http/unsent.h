/* SPDX-License-Identifier: MIT
 * Bytes that a non-blocking socket has not taken yet.  Any thread, each object
 * one at a time.
 */
#ifndef HTTP_UNSENT_H
#define HTTP_UNSENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct unsent {
	uint8_t *data; /* NULL: nothing; the owner frees it */
	size_t n, sent;
};

/* Sends the data, and keeps the bytes that the socket does not take; unsent is
 * empty before.  Returns false when the socket is broken, or memory is short.
 */
bool unsent_add(
    struct unsent *unsent, int fd, const uint8_t *data, size_t size) MUST_CHECK;

/* Sends more of the bytes, of which there are some.  Returns false when the
 * socket is broken. */
bool unsent_send(struct unsent *unsent, int fd) MUST_CHECK;

#endif
