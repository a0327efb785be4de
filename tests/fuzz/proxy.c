/* SPDX-License-Identifier: MIT
 * The PROXY protocol's header: no part of one is refused before it is wrong,
 * what is read can be made again and is then read as the same, and how much
 * more is needed is never more than there is.
 */
#include "fuzz/fuzz.h"
#include "net/proxy_protocol.h"

static void
check_made(const struct proxy_header *header)
{
	uint8_t made[PROXY_MADE_MAX];
	struct proxy_read again;
	size_t size = proxy_header_make(header, made);
	const struct proxy_header *h = &again.header;

	ENSURE(size <= sizeof(made));
	ENSURE(proxy_header_read(made, size, &again) == PROXY_COMPLETE);
	ENSURE(again.size == size);
	ENSURE(h->version == header->version);
	ENSURE(memcmp(&h->source, &header->source, sizeof(h->source)) == 0);
	ENSURE(memcmp(&h->destination, &header->destination,
	           sizeof(h->destination)) == 0);
	if (header->source.family == 0) {
		ENSURE(h->local == (h->version == PROXY_V2));
		return;
	}
	ENSURE(!h->local && h->authority_len == header->authority_len);
	ENSURE(h->authority_len == 0 ||
	       memcmp(h->authority, header->authority, h->authority_len) == 0);
}

/* All parts of a short one, some of a long one, which has that many bytes when
 * it is whole. */
static void
check_parts(const uint8_t *data, size_t size, size_t whole)
{
	size_t step = size / 256 + 1;

	for (size_t n = 0; n < size; n += step) {
		struct proxy_read part;

		ENSURE(proxy_header_read(data, n, &part) == PROXY_INCOMPLETE);
		ENSURE(part.needs > 0 && n + part.needs <= whole);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = (uint8_t *)fuzz_string(data, size);
	struct proxy_read r;

	switch (proxy_header_read(copy, size, &r)) {
	case PROXY_COMPLETE:
		ENSURE(r.size > 0 && r.size <= size);
		check_parts(copy, r.size, r.size);
		check_made(&r.header);
		break;
	case PROXY_INCOMPLETE:
		ENSURE(r.needs > 0);
		check_parts(copy, size, size + r.needs);
		break;
	case PROXY_WRONG:
		ENSURE(r.why);
		break;
	}
	free(copy);
	return 0;
}
