/* SPDX-License-Identifier: MIT
 * The fields of an image for another process: each has a tag, a size and that
 * many bytes.
 *
 * Both processes run on the same machine, so numbers are in its byte order.
 */
#ifndef PROXY_IMAGE_FIELD_H
#define PROXY_IMAGE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_field {
	uint32_t tag, size;
};

/* Writes tag and size; the caller writes the bytes behind them.  Returns the
 * end of what was written. */
uint8_t *image_field_put_head(uint8_t *at, uint32_t tag, size_t size);

/* Writes a field.  Returns its end. */
uint8_t *image_field_put(
    uint8_t *at, uint32_t tag, const void *bytes, size_t size);

/* Reads tag and size from the *size bytes at *bytes, and moves both on to the
 * field's own bytes.  Returns false when the field is incomplete. */
bool image_field_read(
    const uint8_t **bytes, size_t *size, struct image_field *ret_field);

#endif
