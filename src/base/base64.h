/* SPDX-License-Identifier: MIT
 * Base64 of RFC 4648 section 4, with padding.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The size of the text of n bytes, with a NUL. */
#define BASE64_SIZE(n) (((n) + 2) / 3 * 4 + 1)

/* The most bytes that a text of len characters stands for. */
#define BASE64_BYTES(len) (((len) + 3) / 4 * 3)

/* Writes the text of n bytes and a NUL.  Returns the length of the text. */
size_t base64_encode(const void *data, size_t n, char *out);

/* Writes the bytes that the text of len characters stands for; out may be text
 * itself.  Returns false when the text is not base64; the contents of out are
 * undefined then. */
bool base64_decode(
    const char *text, size_t len, void *out, size_t *ret_n) MUST_CHECK;

#endif
