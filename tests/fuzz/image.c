/* SPDX-License-Identifier: MIT
 * Images of sessions, as another process sends them.  The first byte is the
 * number of descriptors.  An accepted image is written as one that is read as
 * the same, and its phase, its ends and its pending data fit together.
 */
#include "fuzz/fuzz.h"
#include "proxy/session_image.h"
#include "proxy/side.h"

static void
check_ends(const struct session_image *image)
{
	uint64_t client = image->n[IMAGE_END_C];
	uint64_t server = image->n[IMAGE_END_S];

	switch (image->n[IMAGE_PHASE]) {
	case IMAGE_RELAYS:
		ENSURE(!(client & END_SHUT) && !(server & END_SHUT));
		break;
	case IMAGE_CLIENT_EOF:
		ENSURE(client & END_EOF && server & (END_SHUT | END_BROKEN));
		break;
	case IMAGE_SERVER_EOF:
		ENSURE(server & END_EOF && client & (END_SHUT | END_BROKEN));
		break;
	default:
		break;
	}
	ENSURE(client <= SIDE_GONE && server <= SIDE_GONE);
}

static void
check_again(const struct session_image *image, size_t fds_n)
{
	static uint8_t fields[IMAGE_FIELDS_MAX];
	static uint8_t bytes[IMAGE_FIELDS_MAX + 2 * RELAY_BUFFER];
	struct iovec parts[IMAGE_PARTS_MAX];
	size_t n = session_image_encode(image, fields, parts), size = 0;
	struct session_image again;
	struct err err;

	ENSURE(n <= IMAGE_PARTS_MAX);
	for (size_t i = 0; i < n; i++) {
		memcpy(bytes + size, parts[i].iov_base, parts[i].iov_len);
		size += parts[i].iov_len;
	}
	ENSURE(session_image_decode(bytes, size, fds_n, &again, &err));
	ENSURE(memcmp(again.n, image->n, sizeof(again.n)) == 0);
	ENSURE(strcmp(again.name, image->name) == 0);
	for (int i = 0; i < 2; i++)
		ENSURE(again.pending_size[i] == image->pending_size[i] &&
		       (again.pending_size[i] == 0 ||
		           memcmp(again.pending[i], image->pending[i],
		               again.pending_size[i]) == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session_image image;
	struct err err = {.text = ""};
	uint8_t *bytes;

	if (size < 2)
		return 0;
	/* A copy of its own, so that a sanitizer sees who reads beyond it. */
	bytes = malloc(size - 1);
	ENSURE(bytes);
	memcpy(bytes, data + 1, size - 1);
	if (session_image_decode(bytes, size - 1, data[0], &image, &err)) {
		check_ends(&image);
		check_again(&image, data[0]);
	} else {
		ENSURE(*err.text);
	}
	free(bytes);
	return 0;
}
