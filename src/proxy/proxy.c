/* SPDX-License-Identifier: MIT
 * See proxy.h.
 */
#include "proxy/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "proxy/relay.h"
#include "proxy/session.h"

static size_t
deadlines_size(uint32_t sessions)
{
	/* The slab makes whole chunks. */
	return ((size_t)sessions + SLAB_CHUNK) * sizeof(uint64_t);
}

int
proxy_init(struct proxy *proxy, struct model *model, uint32_t sessions)
{
	struct slab_options options = {
	    .size = sizeof(struct session),
	    .max = sessions,
	    .construct = session_construct,
	};
	int rc;

	*proxy = (struct proxy){.model = model};
	/* Pages that no session has used stay the kernel's zero page. */
	proxy->deadlines = mmap(NULL, deadlines_size(sessions),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (proxy->deadlines == MAP_FAILED) {
		proxy->deadlines = NULL;
		return -ENOMEM;
	}
	rc = slab_init(&proxy->sessions, &options);
	if (rc < 0)
		return rc;
	options.size = sizeof(struct spill);
	options.max = 2 * sessions;
	options.construct = spill_construct;
	return slab_init(&proxy->spills, &options);
}

void
proxy_fini(struct proxy *proxy)
{
	slab_fini(&proxy->spills);
	if (proxy->deadlines)
		munmap(proxy->deadlines,
		    deadlines_size(proxy->sessions.options.max));
	slab_fini(&proxy->sessions);
}

bool
proxy_thread_init(struct pool_thread *self, void *proxy)
{
	struct proxy_thread *t =
	    aligned_alloc(4096, (sizeof(*t) + 4095) / 4096 * 4096);

	if (!t)
		return false;
	t->proxy = proxy;
	self->local = t;
	return true;
}

void
proxy_thread_fini(struct pool_thread *self)
{
	free(self->local);
	self->local = NULL;
}

/* Leaves the note if the session has a deadline, due by then.
 *
 * A free slot must not get one: nobody owns it, so the post would.  Free slots
 * have no deadline, and the generation is read first: a session that ends in
 * between clears its deadline, then changes its generation, and the post is
 * refused.  The slot may have a new session by the time the note arrives; that
 * one looks at its own deadline and finds that it is not meant.  [P10] */
static void
note_session(
    struct proxy *proxy, uint32_t index, uint64_t due_ms, uint32_t note)
{
	struct session *s = slab_at(&proxy->sessions, index);
	uint32_t generation = claim_generation_acquire(&s->handler.claim);
	uint64_t deadline = atomic_load_acquire(&proxy->deadlines[index]);

	if (deadline != 0 && deadline <= due_ms)
		(void)shard_note(&s->handler, generation, note);
}

void
proxy_reap(struct proxy *proxy, uint64_t now_ms)
{
	uint32_t made = slab_made(&proxy->sessions);

	if (proxy_sessions(proxy) == 0)
		return;
	for (uint32_t i = 0; i < made; i++) {
		uint64_t deadline = atomic_load_relaxed(&proxy->deadlines[i]);

		/* Most are not due: their sessions are not looked at. */
		if (deadline != 0 && deadline <= now_ms)
			note_session(proxy, i, now_ms, NOTE_TIMEOUT);
	}
}

void
proxy_kill_all(struct proxy *proxy)
{
	uint32_t made = slab_made(&proxy->sessions);

	for (uint32_t i = 0; i < made; i++)
		if (atomic_load_relaxed(&proxy->deadlines[i]) != 0)
			note_session(proxy, i, UINT64_MAX, NOTE_KILL);
}
