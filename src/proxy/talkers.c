/* SPDX-License-Identifier: MIT
 * See talkers.h.
 */
#include "proxy/talkers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/heavy.h"
#include "base/lock.h"
#include "base/mix.h"

/* Keys that no IPv6 client has: their upper halves are multicast addresses. */
#define KEY_IPV4 (UINT64_C(0xffffffff) << 32)
#define KEY_UNIX (UINT64_C(0xfffffffe) << 32)

#define WINDOW_NS (TALKERS_WINDOW_MS * UINT64_C(1000000))

struct talk_window {
	uint64_t number; /* the time that it counts; 0: it never did */
	struct heavy of[TALKS];
};

/* The window of number n is windows[n % TALKERS_WINDOWS]. */
struct talk_shard {
	struct lock lock CACHE_LINE_ALIGNED;
	struct talk_window windows[TALKERS_WINDOWS];
};

#define MEMORY_SIZE (TALKERS_SHARDS * sizeof(struct talk_shard))

int
talkers_init(struct talkers *talkers)
{
	struct talkers *t = talkers;

	*t = (struct talkers){.began_ms = clock_now_ms()};
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) < 0)
		t->seed = clock_wall_us();
	/* Pages that no client has used stay the kernel's zero page. */
	t->shards = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->shards == MAP_FAILED) {
		t->shards = NULL;
		return -ENOMEM;
	}
	for (unsigned i = 0; i < TALKERS_SHARDS; i++)
		lock_init(&t->shards[i].lock);
	return 0;
}

void
talkers_fini(struct talkers *talkers)
{
	if (!talkers->shards)
		return;
	for (unsigned i = 0; i < TALKERS_SHARDS; i++)
		lock_fini(&talkers->shards[i].lock);
	munmap(talkers->shards, MEMORY_SIZE);
}

static uint64_t
key_of(const struct endpoint *client)
{
	uint64_t key = KEY_UNIX;
	uint32_t ip;

	if (client->family == AF_INET) {
		memcpy(&ip, client->ip, sizeof(ip));
		key = KEY_IPV4 | ntohl(ip);
	} else if (client->family == AF_INET6) {
		key = 0;
		for (unsigned i = 0; i < 8; i++)
			key = key << 8 | client->ip[i];
	}
	return key;
}

const char *
talker_text(uint64_t key, char out[TALKER_TEXT_SIZE])
{
	uint8_t ip[16] = {0};
	char host[INET6_ADDRSTRLEN];
	bool is_v4 = (key & KEY_IPV4) == KEY_IPV4;
	unsigned len = is_v4 ? 4 : 8;

	for (unsigned i = 0; i < len; i++)
		ip[i] = (uint8_t)(key >> 8 * (len - 1 - i));
	if (key == KEY_UNIX)
		snprintf(out, TALKER_TEXT_SIZE, "unix");
	else
		snprintf(out, TALKER_TEXT_SIZE, "%s%s",
		    inet_ntop(
		        is_v4 ? AF_INET : AF_INET6, ip, host, sizeof(host)),
		    is_v4 ? "" : "/64");
	return out;
}

void
talkers_add(struct talkers *talkers, const struct endpoint *client,
    enum talkers_kind what, uint64_t n, uint64_t now_ns)
{
	uint64_t key = key_of(client), number = now_ns / WINDOW_NS + 1;
	struct talk_shard *shard;
	struct talk_window *w;

	if (!talkers->shards || n == 0)
		return;
	shard = &talkers->shards[mix64(key ^ talkers->seed) % TALKERS_SHARDS];
	w = &shard->windows[number % TALKERS_WINDOWS];
	lock_acquire(&shard->lock);
	if (w->number != number) {
		memset(w->of, 0, sizeof(w->of));
		w->number = number;
	}
	heavy_add(&w->of[what], key, n);
	lock_release(&shard->lock);
}

/* -- the top -- */

/* Copies of the windows of a shard that count for an answer. */
struct view {
	enum talkers_kind by;
	uint64_t first, last; /* numbers */
	size_t n;
	struct talk_window windows[TALKERS_WINDOWS];
};

static void
copy_windows(struct view *v, struct talk_shard *shard)
{
	v->n = 0;
	lock_acquire(&shard->lock);
	for (unsigned i = 0; i < TALKERS_WINDOWS; i++) {
		const struct talk_window *w = &shard->windows[i];

		if (w->number >= v->first && w->number <= v->last)
			v->windows[v->n++] = *w;
	}
	lock_release(&shard->lock);
}

static struct talk_sum
sum_of(const struct view *v, uint64_t key, enum talkers_kind what)
{
	struct talk_sum sum = {.low = 0};

	for (size_t i = 0; i < v->n; i++) {
		uint64_t low, high;

		heavy_sum(&v->windows[i].of[what], key, &low, &high);
		sum.low += low;
		sum.high += high;
	}
	return sum;
}

static int
compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Gets the keys of all windows, in order, some of them repeatedly. */
static size_t
collect_keys(const struct view *v, uint64_t keys[TALKERS_WINDOWS * HEAVY_WAYS])
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		const struct heavy *h = &v->windows[i].of[v->by];

		for (unsigned j = 0; j < HEAVY_WAYS; j++)
			if (h->count[j] > 0)
				keys[n++] = h->key[j];
	}
	qsort(keys, n, sizeof(keys[0]), compare_keys);
	return n;
}

static void
note_other(struct talkers_top *top, uint64_t high)
{
	if (high > top->others_high)
		top->others_high = high;
}

/* Puts the client into its place, if it has one. */
static void
put_talker(struct talkers_top *top, const struct view *v, uint64_t key)
{
	const size_t max = sizeof(top->all) / sizeof(top->all[0]);
	struct talk_sum sum = sum_of(v, key, v->by);
	size_t at = top->n;

	while (at > 0 && top->all[at - 1].sums[v->by].low < sum.low)
		at--;
	if (at == max) {
		note_other(top, sum.high);
		return;
	}
	if (top->n == max)
		note_other(top, top->all[--top->n].sums[v->by].high);
	memmove(&top->all[at + 1], &top->all[at],
	    (top->n - at) * sizeof(top->all[0]));
	top->n++;
	top->all[at].key = key;
	for (enum talkers_kind what = 0; what < TALKS; what++)
		top->all[at].sums[what] = sum_of(v, key, what);
}

static void
look_at_shard(struct talkers_top *top, const struct view *v)
{
	uint64_t keys[TALKERS_WINDOWS * HEAVY_WAYS], without = 0;
	size_t n = collect_keys(v, keys);

	for (size_t i = 0; i < n; i++)
		if (i == 0 || keys[i] != keys[i - 1])
			put_talker(top, v, keys[i]);
	/* A client that has a place in no window. */
	for (size_t i = 0; i < v->n; i++)
		without += heavy_least(&v->windows[i].of[v->by]);
	note_other(top, without);
}

void
talkers_find(const struct talkers *talkers, enum talkers_kind by,
    uint64_t last_ms, uint64_t now_ms, struct talkers_top *ret_top)
{
	struct talkers_top *top = ret_top;
	uint64_t number = now_ms / TALKERS_WINDOW_MS + 1;
	uint64_t before = (last_ms + TALKERS_WINDOW_MS - 1) / TALKERS_WINDOW_MS;
	uint64_t since_ms = now_ms - talkers->began_ms;
	struct view v = {.by = by, .last = number};

	if (before >= TALKERS_WINDOWS)
		before = TALKERS_WINDOWS - 1;
	v.first = number > before ? number - before : 1;
	top->n = 0;
	top->others_high = 0;
	top->span_ms = now_ms - (v.first - 1) * TALKERS_WINDOW_MS;
	if (top->span_ms > since_ms)
		top->span_ms = since_ms;
	for (unsigned i = 0; talkers->shards && i < TALKERS_SHARDS; i++) {
		copy_windows(&v, &talkers->shards[i]);
		look_at_shard(top, &v);
	}
}
