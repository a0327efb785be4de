/* SPDX-License-Identifier: MIT
 * Nanoseconds per look-up in an address list, medians of five rounds, bytes per
 * entry, and milliseconds to seal the sorted entries again and to add one, for
 * 10, 10 000 and 1 000 000 networks.
 *
 * `random` are IPv4 and IPv6 networks of all lengths, anywhere.  `providers`
 * are as in a table of routes: from /44 to /48 within 30 000 networks of /32,
 * most of them within a few, and these within 64 networks of /20.  `hosts` are
 * addresses anywhere.
 *
 * Half of the clients are in a network.  Each look-up depends on the result of
 * the one before it.  A CPU that predicts the result begins with the next one
 * all the same: that is the first time.  For the second time a look-up is alone
 * between two barriers, with which it takes 20 ns more than none: as in a
 * session that is accepted, other than the caches, which are warm here.
 *
 *   build/release/bench/acl_lookup
 */
#include <malloc.h>
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

enum kind { RANDOM4, RANDOM6, PROVIDERS6, HOSTS6 };

static const char *const kind_names[] = {
    [RANDOM4] = "IPv4 random   ",
    [RANDOM6] = "IPv6 random   ",
    [PROVIDERS6] = "IPv6 providers",
    [HOSTS6] = "IPv6 hosts    ",
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
	if (kind == HOSTS6)
		return 128;
	return seed % 10 < 7 ? 48 : 44 + seed % 3;
}

/* Whatever is behind the length is 0 of a network, and anything of a client. */
static struct cidr
draw_range(enum kind kind, uint64_t seed, bool is_client)
{
	struct cidr r = {.family = kind == RANDOM4 ? AF_INET : AF_INET6,
	    .bits = (uint8_t)draw_length(kind, seed)};
	uint64_t bits = draw_bits(kind, seed);
	uint64_t rest = r.bits > 64 ? 0 : UINT64_MAX >> 1 >> (r.bits - 1);

	/* An IPv4 address is the upper half of the 64 bits. */
	bits = (bits & ~rest) | (is_client ? mix64(~seed) & rest : 0);
	bits = htobe64(bits);
	memcpy(r.ip, &bits, kind == RANDOM4 ? 4 : 8);
	bits = kind == HOSTS6 ? mix64(bits) : 0;
	memcpy(r.ip + 8, &bits, sizeof(bits));
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

/* Waits for all instructions before it. */
static void
barrier(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("dsb sy\n\tisb" ::: "memory");
#endif
}

static size_t
look_up(const struct acl_list *list, const struct endpoint *clients, bool alone,
    double *ns)
{
	uint64_t begin_ns = cpu_ns();
	unsigned next = 0;
	size_t found = 0;

	for (unsigned i = 0; i < LOOKUPS; i++) {
		struct endpoint client = clients[next];
		bool has;

		if (alone)
			barrier();
		has = acl_list_has(list, &client);
		if (alone)
			barrier();
		found += has;
		next = (unsigned)(mix64(i + has) % CLIENTS);
	}
	*ns = (double)(cpu_ns() - begin_ns) / LOOKUPS;
	return found;
}

/* Returns the median of five rounds. */
static double
look_up_rounds(const struct acl_list *list, const struct endpoint *clients,
    bool alone, size_t *found)
{
	double ns[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		*found = look_up(list, clients, alone, &ns[i]);
	qsort(ns, ROUNDS, sizeof(ns[0]), compare_times);
	return ns[ROUNDS / 2];
}

/* Returns the time to seal the content again. */
static double
seal_ms(struct acl_content *content)
{
	uint64_t begin_ns = cpu_ns();

	ENSURE(acl_content_seal(content));
	return (double)(cpu_ns() - begin_ns) / 1e6;
}

/* Returns the time to add an entry in the middle. */
static double
add_ms(struct acl_content *content)
{
	uint64_t begin_ns = cpu_ns();
	struct acl_table *former;
	struct acl_entry e;

	ENSURE(acl_content_at(content, acl_content_entries(content) / 2, &e));
	e.range.bits = e.range.family == AF_INET ? 32 : 128;
	e.range.ip[e.range.bits / 8 - 1] ^= 1;
	ENSURE(acl_content_insert(content, &e, &former));
	acl_table_free(former);
	return (double)(cpu_ns() - begin_ns) / 1e6;
}

static size_t
heap_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void
measure(enum kind kind, size_t n)
{
	static struct endpoint clients[CLIENTS];
	size_t before = heap_in_use();
	struct acl_content *c = make(kind, n);
	struct acl_list *list = acl_list_new("random");
	double sealed = seal_ms(c), overlapping, alone;
	size_t bytes = heap_in_use() - before;
	size_t found = 0;

	ENSURE(list);
	acl_list_publish(list, c, NULL);
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct cidr r = draw_range(
		    kind, i % 2 ? mix64(i) % n : UINT32_MAX + mix64(i), true);

		clients[i].family = r.family;
		memcpy(clients[i].ip, r.ip, sizeof(r.ip));
	}
	overlapping = look_up_rounds(list, clients, false, &found);
	alone = look_up_rounds(list, clients, true, &found);
	printf("%s %8zu entries: %4.0f ns, %4.0f ns alone, %5.1f bytes each, "
	       "sealed in %4.1f ms, changed in %4.1f ms, %2.0f %% found\n",
	    kind_names[kind], acl_content_entries(c), overlapping, alone,
	    (double)bytes / (double)acl_content_entries(c), sealed, add_ms(c),
	    100.0 * (double)found / LOOKUPS);
	acl_list_unref(list);
}

int
main(void)
{
	static const size_t sizes[] = {10, 10000, 1000000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (enum kind kind = RANDOM4; kind <= HOSTS6; kind++)
			measure(kind, sizes[i]);
	return 0;
}
