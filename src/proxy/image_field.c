/* SPDX-License-Identifier: MIT
 * See image_field.h.
 */
#include "proxy/image_field.h"

#include <string.h>

uint8_t *
image_field_put_head(uint8_t *at, uint32_t tag, size_t size)
{
	const struct image_field field = {.tag = tag, .size = (uint32_t)size};

	memcpy(at, &field, sizeof(field));
	return at + sizeof(field);
}

uint8_t *
image_field_put(uint8_t *at, uint32_t tag, const void *bytes, size_t size)
{
	at = image_field_put_head(at, tag, size);
	memcpy(at, bytes, size);
	return at + size;
}

bool
image_field_read(
    const uint8_t **bytes, size_t *size, struct image_field *ret_field)
{
	struct image_field field;

	if (*size < sizeof(field))
		return false;
	memcpy(&field, *bytes, sizeof(field));
	if (field.size > *size - sizeof(field))
		return false;
	*bytes += sizeof(field);
	*size -= sizeof(field);
	*ret_field = field;
	return true;
}
