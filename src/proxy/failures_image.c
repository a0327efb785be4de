/* SPDX-License-Identifier: MIT
 * See failures_image.h.
 */
#include "proxy/failures_image.h"

#include <string.h>

#include "proxy/image_field.h"

/* Tags are never used again for something else. */
enum {
	IMAGE_NAME = 1, /* the reason's, since numbers change with versions */
	IMAGE_KEY,
	IMAGE_TIMES,   /* first_us, last_us, last_ns, the total */
	IMAGE_SLOTS,   /* of struct time_slot */
	IMAGE_EXAMPLE, /* a closed image, the oldest first */
};

_Static_assert(TIME_COUNTS_SLOTS * sizeof(struct time_slot) +
                       sizeof(((struct failure_kind *)0)->key) + 256 <
                   8192,
    "an image has room for all but its records");

size_t
failures_image_encode(
    const struct failure_kind *kind, uint8_t out[FAILURES_IMAGE_MAX])
{
	const uint64_t times[] = {
	    kind->first_us, kind->last_us, kind->last_ns, kind->counts.total};
	struct time_slot slots[TIME_COUNTS_SLOTS];
	size_t n = time_counts_list(&kind->counts, slots);
	char name[CLOSE_NAME_SIZE];
	uint8_t *at = out;

	close_reason_name((enum close_reason)kind->reason, name);
	at = image_field_put(at, IMAGE_NAME, name, strlen(name));
	at = image_field_put(at, IMAGE_KEY, kind->key, kind->key_len);
	at = image_field_put(at, IMAGE_TIMES, times, sizeof(times));
	at = image_field_put(at, IMAGE_SLOTS, slots, n * sizeof(slots[0]));
	for (unsigned i = FAILURES_EXAMPLES; i-- > 0;) {
		uint8_t image[CLOSED_IMAGE_MAX];

		if (failure_kind_example(kind, i))
			at = image_field_put(at, IMAGE_EXAMPLE, image,
			    closed_image_encode(
			        failure_kind_example(kind, i), image));
	}
	return (size_t)(at - out);
}

static bool
read_reason(const uint8_t *bytes, size_t size, struct failure_kind *kind)
{
	char name[CLOSE_NAME_SIZE];

	for (enum close_reason i = 0; i < CLOSE_REASONS; i++) {
		close_reason_name(i, name);
		if (strlen(name) != size || memcmp(name, bytes, size) != 0)
			continue;
		kind->reason = (uint8_t)i;
		return true;
	}
	return false;
}

/* Reads the three names with their NULs; `others` have none. */
static bool
read_key(const uint8_t *bytes, size_t size, struct failure_kind *kind)
{
	unsigned n = 0;

	for (size_t i = 0; i < size; i++)
		n += bytes[i] == '\0';
	if (size > sizeof(kind->key) ||
	    (size > 0 && (n != CLOSED_SERVER + 1 || bytes[size - 1] != '\0')))
		return false;
	memcpy(kind->key, bytes, size);
	kind->key_len = (uint8_t)size;
	return true;
}

static bool
read_times(const uint8_t *bytes, size_t size, struct failure_kind *kind)
{
	uint64_t times[4];

	if (size != sizeof(times))
		return false;
	memcpy(times, bytes, size);
	kind->first_us = times[0];
	kind->last_us = times[1];
	kind->last_ns = times[2];
	kind->counts.total = times[3];
	return true;
}

static bool
read_slots(const uint8_t *bytes, size_t size, struct failure_kind *kind)
{
	struct time_slot slot;

	for (; size >= sizeof(slot);
	     bytes += sizeof(slot), size -= sizeof(slot)) {
		memcpy(&slot, bytes, sizeof(slot));
		time_counts_add_slot(&kind->counts, &slot);
	}
	return size == 0;
}

/* Leaves out a record that this version cannot read. */
static bool
read_example(const uint8_t *bytes, size_t size, struct failure_kind *kind)
{
	if (kind->examples_n < FAILURES_EXAMPLES &&
	    closed_image_decode(bytes, size, &kind->examples[kind->examples_n]))
		kind->examples_n++;
	return true;
}

static bool
read_failures_field(const struct image_field *f, const uint8_t *bytes,
    struct failure_kind *kind)
{
	switch (f->tag) {
	case IMAGE_NAME:
		return read_reason(bytes, f->size, kind);
	case IMAGE_KEY:
		return read_key(bytes, f->size, kind);
	case IMAGE_TIMES:
		return read_times(bytes, f->size, kind);
	case IMAGE_SLOTS:
		return read_slots(bytes, f->size, kind);
	case IMAGE_EXAMPLE:
		return read_example(bytes, f->size, kind);
	default:
		return true;
	}
}

bool
failures_image_decode(
    const uint8_t *bytes, size_t size, struct failure_kind *ret_kind)
{
	struct failure_kind *kind = ret_kind;
	struct image_field f;

	memset(kind, 0, sizeof(*kind));
	kind->reason = CLOSE_REASONS;
	for (; size > 0; bytes += f.size, size -= f.size)
		if (!image_field_read(&bytes, &size, &f) ||
		    !read_failures_field(&f, bytes, kind))
			return false;
	return kind->reason < CLOSE_REASONS &&
	       (kind->reason == CLOSE_DONE) == (kind->key_len == 0);
}
