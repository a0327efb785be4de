/* SPDX-License-Identifier: MIT
 * See session_image.h.
 */
#include "proxy/session_image.h"

#include <string.h>
#include <sys/socket.h>

#include "proxy/image_field.h"
#include "proxy/inspection.h"
#include "proxy/side.h"

/* Tags of the fields that are not numbers. */
enum image_blob {
	BLOB_CLIENT = 200,
	BLOB_SOURCE,
	BLOB_DESTINATION,
	BLOB_NAME,
	BLOB_PENDING_C, /* to the client */
	BLOB_PENDING_S,
};

static const uint16_t number_tags[IMAGE_NUMBERS] = {
#define X(tag, name, what) [IMAGE_##name] = tag,
    IMAGE_NUMBERS_TABLE(X)
#undef X
};

static const char *const number_names[IMAGE_NUMBERS] = {
#define X(tag, name, what) [IMAGE_##name] = #name,
    IMAGE_NUMBERS_TABLE(X)
#undef X
};

/* -- writing -- */

static uint8_t *
put_endpoint(uint8_t *at, uint32_t tag, const struct endpoint *endpoint)
{
	return endpoint->family == 0
	           ? at
	           : image_field_put(at, tag, endpoint, sizeof(*endpoint));
}

static uint8_t *
put_fields(uint8_t *at, const struct session_image *image)
{
	for (int i = 0; i < IMAGE_NUMBERS; i++)
		if (image->n[i] != 0)
			at = image_field_put(at, number_tags[i], &image->n[i],
			    sizeof(image->n[i]));
	at = put_endpoint(at, BLOB_CLIENT, &image->client);
	at = put_endpoint(at, BLOB_SOURCE, &image->source);
	at = put_endpoint(at, BLOB_DESTINATION, &image->destination);
	if (*image->name)
		at = image_field_put(
		    at, BLOB_NAME, image->name, strlen(image->name));
	return at;
}

size_t
session_image_encode(const struct session_image *image,
    uint8_t fields[IMAGE_FIELDS_MAX], struct iovec parts[IMAGE_PARTS_MAX])
{
	uint8_t *from = fields, *at = put_fields(fields, image);
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		if (image->pending_size[i] == 0)
			continue;
		at = image_field_put_head(at,
		    i == 0 ? BLOB_PENDING_C : BLOB_PENDING_S,
		    image->pending_size[i]);
		parts[n++] = (struct iovec){from, (size_t)(at - from)};
		parts[n++] =
		    (struct iovec){(uint8_t *)(uintptr_t)image->pending[i],
		        image->pending_size[i]};
		from = at;
	}
	if (at > from)
		parts[n++] = (struct iovec){from, (size_t)(at - from)};
	return n;
}

/* -- reading -- */

static bool
wrong_field(struct err *err, const char *name)
{
	return err_set(err, "the image of a session has a wrong %s", name);
}

static bool
read_endpoint(const uint8_t *bytes, size_t size, struct endpoint *ret_endpoint)
{
	if (size != sizeof(*ret_endpoint))
		return false;
	memcpy(ret_endpoint, bytes, size);
	return ret_endpoint->family == AF_INET ||
	       ret_endpoint->family == AF_INET6 ||
	       ret_endpoint->family == AF_UNIX;
}

static bool
read_tls_name(const uint8_t *bytes, size_t size, char out[TLS_NAME_MAX + 1])
{
	if (size > TLS_NAME_MAX || memchr(bytes, '\0', size))
		return false;
	memcpy(out, bytes, size);
	return true;
}

static bool
read_pending(
    const uint8_t *bytes, size_t size, int side, struct session_image *image)
{
	if (size == 0 || size > RELAY_BUFFER)
		return false;
	image->pending[side] = bytes;
	image->pending_size[side] = (uint32_t)size;
	return true;
}

/* Reads a field that is not a number.  Skips a field whose tag it does not
 * know. */
static bool
read_blob(uint32_t tag, const uint8_t *bytes, size_t size,
    struct session_image *image)
{
	switch (tag) {
	case BLOB_CLIENT:
		return read_endpoint(bytes, size, &image->client);
	case BLOB_SOURCE:
		return read_endpoint(bytes, size, &image->source);
	case BLOB_DESTINATION:
		return read_endpoint(bytes, size, &image->destination);
	case BLOB_NAME:
		return read_tls_name(bytes, size, image->name);
	case BLOB_PENDING_C:
	case BLOB_PENDING_S:
		return read_pending(bytes, size, tag == BLOB_PENDING_S, image);
	default:
		return true;
	}
}

static bool
read_field(const struct image_field *field, const uint8_t *bytes,
    struct session_image *image, struct err *err)
{
	for (int i = 0; i < IMAGE_NUMBERS; i++) {
		if (field->tag != number_tags[i])
			continue;
		if (field->size != sizeof(image->n[i]))
			return wrong_field(err, number_names[i]);
		memcpy(&image->n[i], bytes, sizeof(image->n[i]));
		return true;
	}
	return read_blob(field->tag, bytes, field->size, image) ||
	       wrong_field(err, "text, address or buffer");
}

static bool
read_fields(const uint8_t *bytes, size_t size, struct session_image *image,
    struct err *err)
{
	struct image_field field;

	while (size > 0) {
		if (!image_field_read(&bytes, &size, &field))
			return wrong_field(err, "length");
		if (!read_field(&field, bytes, image, err))
			return false;
		bytes += field.size;
		size -= field.size;
	}
	return true;
}

/* -- whether it fits together -- */

/* The largest value of a number; 0: any value. */
static const uint64_t largest[IMAGE_NUMBERS] = {
    [IMAGE_PHASE] = IMAGE_FLUSHES,
    [IMAGE_FRONTEND] = UINT32_MAX,
    [IMAGE_ROUTE] = UINT32_MAX,
    [IMAGE_WANTED] = UINT32_MAX,
    [IMAGE_SERVER] = UINT32_MAX,
    [IMAGE_HOLD_MS] = UINT32_MAX,
    [IMAGE_CLOSER] = 3,
    [IMAGE_TRIES] = UINT8_MAX,
    [IMAGE_POSITION] = UINT32_MAX,
    [IMAGE_SOURCE_PORT] = UINT16_MAX,
    [IMAGE_SERVER_PORT] = UINT16_MAX,
    [IMAGE_END_C] = SIDE_GONE,
    [IMAGE_END_S] = SIDE_GONE,
    [IMAGE_PIPED_C] = INT32_MAX,
    [IMAGE_PIPED_S] = INT32_MAX,
    [IMAGE_STEPS] = INSPECT_HELLO | INSPECT_PROXY | INSPECT_STARTTLS,
    [IMAGE_LISTEN] = UINT16_MAX,
    [IMAGE_LOW_WATER] = UINT16_MAX,
    [IMAGE_AUTHORITY] = TLS_NAME_MAX,
    [IMAGE_NUMBER] = UINT32_MAX,
    [IMAGE_HELD_MS] = UINT32_MAX,
};

static bool
in_bounds(const struct session_image *image, struct err *err)
{
	for (int i = 0; i < IMAGE_NUMBERS; i++)
		if (largest[i] > 0 && image->n[i] > largest[i])
			return wrong_field(err, number_names[i]);
	return true;
}

static bool
is_connected(const struct session_image *image)
{
	return image->n[IMAGE_PHASE] >= IMAGE_RELAYS;
}

/* Returns whether `from` has sent its end, the other side was told of it or is
 * broken, and `from` was not told of an end. */
static bool
end_is_passed_on(unsigned from_end, unsigned to_end)
{
	return from_end & END_EOF && to_end & (END_SHUT | END_BROKEN) &&
	       !(from_end & END_SHUT);
}

/* Returns whether the ends of both sides are possible in the phase, see
 * SESSION_EDGES_TABLE. */
static bool
ends_fit(const struct session_image *image)
{
	const uint64_t *n = image->n;
	unsigned client = (unsigned)n[IMAGE_END_C];
	unsigned server = (unsigned)n[IMAGE_END_S];

	switch (n[IMAGE_PHASE]) {
	case IMAGE_WAITS:
	case IMAGE_INSPECTS:
		/* A server that was left may have got the last bytes. */
		return (client == SIDE_OPEN || client == SIDE_EOF) &&
		       server == SIDE_OPEN;
	case IMAGE_RELAYS:
		return !((client | server) & END_SHUT);
	case IMAGE_CLIENT_EOF:
		return end_is_passed_on(client, server) &&
		       image->pending_size[1] == 0 && n[IMAGE_PIPED_S] == 0;
	case IMAGE_SERVER_EOF:
		return end_is_passed_on(server, client) &&
		       image->pending_size[0] == 0 && n[IMAGE_PIPED_C] == 0;
	default:
		return (client | server) & END_BROKEN;
	}
}

static bool
pending_fits(const struct session_image *image)
{
	const uint64_t *n = image->n;

	if (!is_connected(image) &&
	    (n[IMAGE_PIPED_C] | n[IMAGE_PIPED_S] | image->pending_size[0]))
		return false;
	return !(n[IMAGE_PIPED_C] > 0 && image->pending_size[0] > 0) &&
	       !(n[IMAGE_PIPED_S] > 0 && image->pending_size[1] > 0);
}

static bool
inspection_fits(const struct session_image *image)
{
	bool inspected = image->n[IMAGE_FLAGS] & IMAGE_INSPECTED;

	if (image->n[IMAGE_PHASE] == IMAGE_INSPECTS &&
	    (!inspected || image->n[IMAGE_STEPS] == 0 ||
	        image->n[IMAGE_ROUTE] != 0))
		return false;
	return inspected || (image->source.family == 0 && !*image->name);
}

size_t
session_image_fds(const struct session_image *image)
{
	return 1u + is_connected(image) + 2u * (image->n[IMAGE_PIPED_C] > 0) +
	       2u * (image->n[IMAGE_PIPED_S] > 0);
}

static bool
fits_together(const struct session_image *image, size_t fds_n, struct err *err)
{
	const uint64_t *n = image->n;

	if (n[IMAGE_PHASE] == 0)
		return wrong_field(err, "phase");
	if (fds_n != session_image_fds(image))
		return wrong_field(err, "number of descriptors");
	if (n[IMAGE_FRONTEND] == 0 || image->client.family == 0)
		return wrong_field(err, "client or frontend");
	if (is_connected(image) != (n[IMAGE_SERVER] > 0) ||
	    (n[IMAGE_SERVER] > 0 && n[IMAGE_ROUTE] == 0))
		return wrong_field(err, "server");
	if (!ends_fit(image))
		return wrong_field(err, "end of a side");
	return (pending_fits(image) && inspection_fits(image)) ||
	       wrong_field(err, "buffer or inspection");
}

bool
session_image_decode(const uint8_t *bytes, size_t size, size_t fds_n,
    struct session_image *ret_image, struct err *err)
{
	memset(ret_image, 0, sizeof(*ret_image));
	return read_fields(bytes, size, ret_image, err) &&
	       in_bounds(ret_image, err) &&
	       fits_together(ret_image, fds_n, err);
}
