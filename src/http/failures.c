/* SPDX-License-Identifier: MIT
 * See failures.h.
 */
#include "http/failures.h"

#include <string.h>
#include <sys/socket.h>

/* Returns the network that counts as one address. */
static struct endpoint
network_of(const struct endpoint *from)
{
	struct endpoint network = *from;

	network.port = 0;
	network.scope = 0;
	if (network.family == AF_INET6)
		memset(network.ip + 8, 0, 8);
	return network;
}

static struct http_failure *
find_failure(struct http_failures *failures, const struct endpoint *network)
{
	for (size_t i = 0; i < FAILURES_ADDRESSES; i++) {
		struct http_failure *row = &failures->rows[i];

		if (row->from.family == network->family &&
		    memcmp(row->from.ip, network->ip, sizeof(row->from.ip)) ==
		        0)
			return row;
	}
	return NULL;
}

/* Forgives failures that are old enough. */
static void
forgive(struct http_failure *row, uint64_t now_ms)
{
	uint64_t n = (now_ms - row->at_ms) / FAILURE_FORGIVEN_MS;

	if (n >= row->n) {
		*row = (struct http_failure){.n = 0};
		return;
	}
	row->n -= (unsigned)n;
	row->at_ms += n * FAILURE_FORGIVEN_MS;
}

uint64_t
http_failures_wait_ms(struct http_failures *failures,
    const struct endpoint *from, uint64_t now_ms)
{
	struct endpoint network = network_of(from);
	struct http_failure *row = find_failure(failures, &network);

	if (!row)
		return 0;
	forgive(row, now_ms);
	return row->n < FAILURES_MAX
	           ? 0
	           : row->at_ms + FAILURE_FORGIVEN_MS - now_ms;
}

static struct http_failure *
oldest_failure(struct http_failures *failures)
{
	struct http_failure *oldest = &failures->rows[0];

	for (size_t i = 0; i < FAILURES_ADDRESSES; i++) {
		struct http_failure *row = &failures->rows[i];

		if (row->from.family == 0)
			return row;
		if (row->at_ms < oldest->at_ms)
			oldest = row;
	}
	return oldest;
}

void
http_failures_add(struct http_failures *failures, const struct endpoint *from,
    uint64_t now_ms)
{
	struct endpoint network = network_of(from);
	struct http_failure *row = find_failure(failures, &network);

	if (row)
		forgive(row, now_ms);
	if (!row || row->n == 0) {
		if (!row)
			row = oldest_failure(failures);
		*row = (struct http_failure){.from = network};
	}
	row->n++;
	row->at_ms = now_ms;
}

void
http_failures_forget(
    struct http_failures *failures, const struct endpoint *from)
{
	struct endpoint network = network_of(from);
	struct http_failure *row = find_failure(failures, &network);

	if (row)
		*row = (struct http_failure){.n = 0};
}
