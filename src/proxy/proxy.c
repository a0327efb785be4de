/* SPDX-License-Identifier: MIT
 * See proxy.h.
 */
#include "proxy/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "proxy/inspection.h"
#include "proxy/reaper.h"

/* Sizes that src/README.md has; the slab rounds up to cache lines. */
_Static_assert(
    (sizeof(struct session) + CACHE_LINE - 1) / CACHE_LINE == 7, "a session");
_Static_assert(sizeof(struct inspection) == 640, "an inspection");
_Static_assert(sizeof(struct closed_session) == 744, "an ended session");

static size_t
deadlines_size(uint32_t sessions)
{
	/* The slab makes whole chunks. */
	return ((size_t)sessions + SLAB_CHUNK) * sizeof(uint64_t);
}

int
proxy_init(
    struct proxy *proxy, uint32_t sessions, uint32_t pipes, uint32_t closed)
{
	struct slab_options options = {
	    .size = sizeof(struct session),
	    .max = sessions,
	    .construct = session_construct,
	};
	struct slab_options inspections = {
	    .size = sizeof(struct inspection),
	    .max = sessions,
	    .construct = inspect_construct,
	};
	int rc;

	*proxy = (struct proxy){.next_reap_ms = UINT64_MAX,
	    .reap_max_ms = REAP_MAX_MS,
	    .first_number = 1,
	    .closed.keep = closed};
	splice_pool_init(&proxy->pipes, pipes);
	if (!failures_init(&proxy->failures))
		return -ENOMEM;
	/* Pages that no session has used stay the kernel's zero page. */
	proxy->deadlines = mmap(NULL, deadlines_size(sessions),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (proxy->deadlines == MAP_FAILED) {
		proxy->deadlines = NULL;
		return -ENOMEM;
	}
	rc = slab_init(&proxy->sessions, &options);
	if (rc == 0)
		rc = slab_init(&proxy->inspections, &inspections);
	if (rc == 0)
		rc = talkers_init(&proxy->talkers);
	/* A record outlives its session until the pacer drops it, so there may
	 * be more records than sessions. */
	if (rc == 0)
		rc = pacer_init(&proxy->pacer, 2 * sessions);
	if (rc < 0)
		return rc;
	/* Reserve a buffer for each side of each session, besides those that a
	 * trim holds. */
	return pending_pool_init(
	    &proxy->pending_pool, 2 * sessions + PENDING_TRIM_MAX);
}

void
proxy_fini(struct proxy *proxy)
{
	failures_fini(&proxy->failures);
	closed_rings_fini(&proxy->closed);
	splice_pool_fini(&proxy->pipes);
	pending_pool_fini(&proxy->pending_pool);
	if (proxy->deadlines)
		munmap(proxy->deadlines,
		    deadlines_size(proxy->sessions.options.max));
	pacer_fini(&proxy->pacer);
	client_bands_fini(&proxy->client_bands);
	talkers_fini(&proxy->talkers);
	slab_fini(&proxy->inspections);
	slab_fini(&proxy->sessions);
}

/* Returns how many numbers the sessions of this process may have: the slab
 * makes whole chunks. */
static uint32_t
numbers_size(const struct proxy *proxy)
{
	return proxy->sessions.options.max + SLAB_CHUNK;
}

void
proxy_number_from(struct proxy *proxy, uint32_t first)
{
	proxy->first_number =
	    first > 0 && first <= UINT32_MAX - numbers_size(proxy) ? first : 1;
}

uint32_t
proxy_numbers_end(const struct proxy *proxy)
{
	return proxy->first_number + numbers_size(proxy);
}

bool
proxy_thread_init(struct pool_thread *self, void *proxy)
{
	struct proxy_thread *t =
	    aligned_alloc(4096, (sizeof(*t) + 4095) / 4096 * 4096);

	if (!t)
		return false;
	t->proxy = proxy;
	t->closed = closed_ring_take(&t->proxy->closed);
	if (!t->closed) {
		free(t);
		return false;
	}
	self->local = t;
	return true;
}

void
proxy_thread_fini(struct pool_thread *self)
{
	closed_ring_give(proxy_thread_of(self)->closed);
	free(self->local);
	self->local = NULL;
}

void
proxy_trim(struct proxy *proxy)
{
	pending_trim(&proxy->pending_pool);
	splice_pool_trim(&proxy->pipes);
}
