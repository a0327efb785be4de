/* SPDX-License-Identifier: MIT
 * Nanoseconds per look-up in an address list, and bytes per entry, for 10,
 * 10 000 and 1 000 000 random IPv4 networks and IPv6 networks: half of the
 * clients are in a network.  Each look-up waits for the one before it, as in a
 * session that is accepted.
 *
 *   build/release/bench/acl_lookup
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "acl/acl.h"
#include "base/ensure.h"
#include "base/mix.h"

#define CLIENTS 65536u
#define LOOKUPS 4000000u

static struct cidr
draw_range(uint16_t family, uint64_t seed)
{
	struct cidr r = {.family = family};
	uint64_t bits = mix64(seed);

	r.bits = family == AF_INET ? 24 + seed % 9 : 32 + seed % 33;
	memcpy(r.ip, &bits, family == AF_INET ? 4 : 8);
	for (unsigned i = r.bits; i < 64; i++)
		r.ip[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
	if (family == AF_INET)
		memset(r.ip + 4, 0, 4);
	return r;
}

static struct acl_content *
make(uint16_t family, size_t n)
{
	struct acl_content *c = acl_content_new();

	ENSURE(c && acl_content_add_source(c, "random") == 0);
	for (size_t i = 0; i < n; i++) {
		struct acl_entry e = {.range = draw_range(family, i)};

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

static void
measure(uint16_t family, size_t n)
{
	static struct endpoint clients[CLIENTS];
	struct acl_content *c = make(family, n);
	struct acl_list *list = acl_list_new("random");
	struct memory_use use = {.count = 0};
	uint64_t begin_ns, took_ns;
	unsigned next = 0;
	size_t found = 0;

	ENSURE(list);
	acl_list_publish(list, c, false, NULL);
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct cidr r = draw_range(
		    family, i % 2 ? mix64(i) % n : UINT32_MAX + mix64(i));

		clients[i].family = family;
		memcpy(clients[i].ip, r.ip, sizeof(r.ip));
	}
	begin_ns = cpu_ns();
	for (unsigned i = 0; i < LOOKUPS; i++) {
		bool has = acl_list_has(list, &clients[next]);

		found += has;
		next = (unsigned)(mix64(i + has) % CLIENTS);
	}
	took_ns = cpu_ns() - begin_ns;
	acl_content_memory(c, &use);
	printf(
	    "IPv%d %8zu entries: %4.0f ns, %5.1f bytes each, %2.0f %% found\n",
	    family == AF_INET ? 4 : 6, acl_content_entries(c),
	    (double)took_ns / LOOKUPS,
	    (double)use.heap / (double)acl_content_entries(c),
	    100.0 * (double)found / LOOKUPS);
	acl_list_unref(list);
}

int
main(void)
{
	static const size_t sizes[] = {10, 10000, 1000000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		measure(AF_INET, sizes[i]);
		measure(AF_INET6, sizes[i]);
	}
	return 0;
}
