/* SPDX-License-Identifier: MIT
 * Nanoseconds per look-up in an address list, median of five rounds, and bytes
 * per entry, for 10, 10 000 and 1 000 000 networks.
 *
 * `random` are IPv4 and IPv6 networks of all lengths, anywhere.  `providers`
 * are as in a table of routes: from /44 to /48 within 30 000 networks of /32,
 * most of them within a few, and these within 64 networks of /20.
 *
 * Half of the clients are in a network.  Each look-up waits for the one before
 * it, as in a session that is accepted.
 *
 *   build/release/bench/acl_lookup
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "acl/acl.h"
#include "base/ensure.h"
#include "base/mix.h"

#define CLIENTS 65536u
#define LOOKUPS 1000000u
#define ROUNDS  5

enum kind { RANDOM4, RANDOM6, PROVIDERS6 };

static const char *const kind_names[] = {
    [RANDOM4] = "IPv4 random   ",
    [RANDOM6] = "IPv6 random   ",
    [PROVIDERS6] = "IPv6 providers",
};

static uint64_t
draw_provider(uint64_t seed)
{
	uint64_t bits = mix64(seed);
	uint64_t provider = (bits & 0xffff) * (bits >> 16 & 0xffff) >> 17;
	uint64_t region = mix64(provider % 64) & 0xff;

	return (UINT64_C(0x20000) + (provider % 5 << 13) + region) << 44 |
	       (mix64(provider) & 0xfff) << 32;
}

static uint64_t
draw_bits(enum kind kind, uint64_t seed)
{
	uint64_t bits = mix64(seed);

	if (kind == PROVIDERS6)
		return draw_provider(seed) |
		       (bits >> 32 & 0xffff) >> bits % 6 << 16 | bits >> 48;
	return bits;
}

static unsigned
draw_length(enum kind kind, uint64_t seed)
{
	if (kind == RANDOM4)
		return 24 + seed % 9;
	if (kind == RANDOM6)
		return 32 + seed % 33;
	return seed % 10 < 7 ? 48 : 44 + seed % 3;
}

/* Whatever is behind the length is 0 of a network, and anything of a client. */
static struct cidr
draw_range(enum kind kind, uint64_t seed, bool is_client)
{
	struct cidr r = {.family = kind == RANDOM4 ? AF_INET : AF_INET6,
	    .bits = (uint8_t)draw_length(kind, seed)};
	uint64_t bits = draw_bits(kind, seed);
	uint64_t rest = UINT64_MAX >> 1 >> (r.bits - 1);

	/* An IPv4 address is the upper half of the 64 bits. */
	bits = (bits & ~rest) | (is_client ? mix64(~seed) & rest : 0);
	bits = htobe64(bits);
	memcpy(r.ip, &bits, kind == RANDOM4 ? 4 : 8);
	return r;
}

static struct acl_content *
make(enum kind kind, size_t n)
{
	struct acl_content *c = acl_content_new();

	ENSURE(c && acl_content_add_source(c, "random") == 0);
	for (size_t i = 0; i < n; i++) {
		struct acl_entry e = {.range = draw_range(kind, i, false)};

		ENSURE(acl_content_add(c, &e));
	}
	ENSURE(acl_content_seal(c));
	return c;
}

/* Other programs do not count. */
static uint64_t
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int
compare_times(const void *one, const void *other)
{
	const double *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

static size_t
look_up(const struct acl_list *list, const struct endpoint *clients, double *ns)
{
	uint64_t begin_ns = cpu_ns();
	unsigned next = 0;
	size_t found = 0;

	for (unsigned i = 0; i < LOOKUPS; i++) {
		bool has = acl_list_has(list, &clients[next]);

		found += has;
		next = (unsigned)(mix64(i + has) % CLIENTS);
	}
	*ns = (double)(cpu_ns() - begin_ns) / LOOKUPS;
	return found;
}

static void
measure(enum kind kind, size_t n)
{
	static struct endpoint clients[CLIENTS];
	struct acl_content *c = make(kind, n);
	struct acl_list *list = acl_list_new("random");
	struct memory_use use = {.count = 0};
	double ns[ROUNDS];
	size_t found = 0;

	ENSURE(list);
	acl_list_publish(list, c, false, NULL);
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct cidr r = draw_range(
		    kind, i % 2 ? mix64(i) % n : UINT32_MAX + mix64(i), true);

		clients[i].family = r.family;
		memcpy(clients[i].ip, r.ip, sizeof(r.ip));
	}
	for (unsigned i = 0; i < ROUNDS; i++)
		found = look_up(list, clients, &ns[i]);
	qsort(ns, ROUNDS, sizeof(ns[0]), compare_times);
	acl_content_memory(c, &use);
	printf("%s %8zu entries: %4.0f ns, %5.1f bytes each, %2.0f %% found\n",
	    kind_names[kind], acl_content_entries(c), ns[ROUNDS / 2],
	    (double)use.heap / (double)acl_content_entries(c),
	    100.0 * (double)found / LOOKUPS);
	acl_list_unref(list);
}

int
main(void)
{
	static const size_t sizes[] = {10, 10000, 1000000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (enum kind kind = RANDOM4; kind <= PROVIDERS6; kind++)
			measure(kind, sizes[i]);
	return 0;
}
