/* SPDX-License-Identifier: MIT
 * See held_room.h.
 */
#include "proxy/held_room.h"

#include "base/mix.h"
#include "model/frontend.h"
#include "model/source_key.h"
#include "proxy/proxy.h"

/* The part that held clients may take, and the part of it for one address. */
#define HELD_PART 4

/* A customer has a network of 64 bits at least. */
#define PREFIX4 32
#define PREFIX6 64

static uint32_t *
count_of_address(struct proxy *proxy, const struct endpoint *client)
{
	struct source_key key = source_key_of(client, PREFIX4, PREFIX6);

	return &proxy->held.by_address[mix64(key.ip[0] ^ mix64(key.ip[1])) %
	                               HELD_ADDRESSES];
}

/* Increments the count, unless it is at the limit. */
static bool
count_within(uint32_t *count, uint32_t limit)
{
	if (atomic_add_relaxed(count, 1u) < limit)
		return true;
	(void)atomic_sub_relaxed(count, 1u);
	return false;
}

bool
held_room_take(struct proxy *proxy, const struct frontend *frontend,
    const struct endpoint *client)
{
	struct frontend_state *f = frontend->state;
	uint32_t max = proxy_sessions_max(proxy) / HELD_PART;
	uint32_t of_frontend = atomic_load_relaxed(&f->maxconn) / HELD_PART;
	uint32_t most = of_frontend < max ? of_frontend : max;
	uint32_t *address = count_of_address(proxy, client);

	/* A single client may be held as soon as there is room for any. */
	if (!count_within(address, (most + HELD_PART - 1) / HELD_PART))
		return false;
	if (count_within(&f->held, of_frontend)) {
		if (count_within(&proxy->held.all, max))
			return true;
		(void)atomic_sub_relaxed(&f->held, 1u);
	}
	(void)atomic_sub_relaxed(address, 1u);
	return false;
}

void
held_room_give(struct proxy *proxy, const struct frontend *frontend,
    const struct endpoint *client)
{
	(void)atomic_sub_relaxed(&proxy->held.all, 1u);
	(void)atomic_sub_relaxed(&frontend->state->held, 1u);
	(void)atomic_sub_relaxed(count_of_address(proxy, client), 1u);
}
