/* SPDX-License-Identifier: MIT
 * See failures.h.
 */
#include "http/failures.h"

#include <string.h>
#include <sys/socket.h>

#define NETWORK_BYTES 8 /* of an IPv6 address */
#define SITE_BYTES    6

/* Returns the network, or the site, that counts as one address. */
static struct endpoint
range_of(const struct endpoint *from, bool site)
{
	struct endpoint range = *from;
	size_t n = site ? SITE_BYTES : NETWORK_BYTES;

	range.port = 0;
	range.scope = 0;
	if (range.family == AF_INET6)
		memset(range.ip + n, 0, sizeof(range.ip) - n);
	return range;
}

static bool
is_same(const struct endpoint *a, const struct endpoint *b)
{
	return a->family == b->family &&
	       memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

static struct http_failure *
find_failure(
    struct http_failures *failures, const struct endpoint *from, bool site)
{
	struct endpoint range = range_of(from, site);

	for (size_t i = 0; i < FAILURES_ADDRESSES; i++) {
		struct http_failure *row = &failures->rows[i];

		if (row->site == site && is_same(&row->from, &range))
			return row;
	}
	return NULL;
}

static uint64_t
forgiven_ms(bool site)
{
	return site ? FAILURE_FORGIVEN_MS / SITE_FACTOR : FAILURE_FORGIVEN_MS;
}

/* Forgives failures that are old enough. */
static void
forgive(struct http_failure *row, uint64_t now_ms)
{
	uint64_t n = (now_ms - row->at_ms) / forgiven_ms(row->site);

	if (n >= row->n) {
		*row = (struct http_failure){.n = 0};
		return;
	}
	row->n -= (unsigned)n;
	row->at_ms += n * forgiven_ms(row->site);
}

static uint64_t
range_wait_ms(struct http_failures *failures, const struct endpoint *from,
    bool site, uint64_t now_ms)
{
	struct http_failure *row = find_failure(failures, from, site);

	if (!row)
		return 0;
	forgive(row, now_ms);
	return row->n < FAILURES_MAX * (site ? SITE_FACTOR : 1u)
	           ? 0
	           : row->at_ms + forgiven_ms(site) - now_ms;
}

uint64_t
http_failures_wait_ms(struct http_failures *failures,
    const struct endpoint *from, uint64_t now_ms)
{
	uint64_t network = range_wait_ms(failures, from, false, now_ms);
	uint64_t site = from->family == AF_INET6
	                    ? range_wait_ms(failures, from, true, now_ms)
	                    : 0;

	return network > site ? network : site;
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

static void
add_to_range(struct http_failures *failures, const struct endpoint *from,
    bool site, uint64_t now_ms)
{
	struct http_failure *row = find_failure(failures, from, site);

	if (row)
		forgive(row, now_ms);
	if (!row || row->n == 0) {
		if (!row)
			row = oldest_failure(failures);
		*row = (struct http_failure){
		    .from = range_of(from, site), .site = site};
	}
	row->n++;
	row->at_ms = now_ms;
}

void
http_failures_add(struct http_failures *failures, const struct endpoint *from,
    uint64_t now_ms)
{
	add_to_range(failures, from, false, now_ms);
	if (from->family == AF_INET6)
		add_to_range(failures, from, true, now_ms);
}

/* Takes up to n failures from the range. */
static void
take_back(struct http_failures *failures, const struct endpoint *from,
    bool site, unsigned n)
{
	struct http_failure *row = find_failure(failures, from, site);

	if (row && row->n > n)
		row->n -= n;
	else if (row)
		*row = (struct http_failure){.n = 0};
}

void
http_failures_take_back(
    struct http_failures *failures, const struct endpoint *from)
{
	take_back(failures, from, false, 1);
	take_back(failures, from, true, 1);
}

void
http_failures_forget(
    struct http_failures *failures, const struct endpoint *from)
{
	const struct http_failure *row = find_failure(failures, from, false);
	struct endpoint network = range_of(from, false);
	size_t at = 0;

	if (row) {
		take_back(failures, from, true, row->n);
		take_back(failures, from, false, row->n);
	}
	while (
	    at < FAILURES_KNOWN - 1 && !is_same(&failures->known[at], &network))
		at++;
	memmove(failures->known + 1, failures->known, at * sizeof(network));
	failures->known[0] = network;
}

bool
http_failures_knows(
    const struct http_failures *failures, const struct endpoint *from)
{
	struct endpoint network = range_of(from, false);

	for (size_t i = 0; i < FAILURES_KNOWN; i++)
		if (is_same(&failures->known[i], &network))
			return true;
	return false;
}

bool
http_failures_same_site(const struct endpoint *a, const struct endpoint *b)
{
	struct endpoint site_a = range_of(a, true), site_b = range_of(b, true);

	return is_same(&site_a, &site_b);
}
