/* SPDX-License-Identifier: MIT
 * Symptom: lfproxy aborted, or closed a descriptor twice, when a session ended
 * in the moment in which the reaper found its deadline passed: the note went
 * to the free slot and made somebody own it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/grace.h"
#include "lf/handle_set.h"
#include "lf/shard.h"
#include "proxy/proxy.h"
#include "proxy/reaper.h"
#include "proxy/session.h"

#define RUN_NS (2 * NS_PER_S)

static struct proxy proxy;
static struct shard shard;
static uint32_t done;

/* Opens and ends sessions in one slot, as session_start and session_close do,
 * and owns each from the beginning to the end. */
static void *
owner(void *arg)
{
	static struct backend_spec backend_spec;
	static struct backend backend = {.spec = &backend_spec};
	static struct frontend_spec frontend_spec;
	static struct frontend frontend = {
	    .spec = &frontend_spec, .backends = {&backend}};
	static struct proxy_thread local = {.proxy = &proxy};
	struct pool_thread self = {.local = &local, .now_ns = NS_PER_S};
	uint64_t end = clock_now_ns() + RUN_NS;
	uint32_t index;

	(void)arg;
	while (clock_now_ns() < end) {
		struct session *s = slab_take(&proxy.sessions, &index);

		claim_open(&s->handler.claim);
		s->handler.shard = &shard;
		s->frontend = &frontend;
		session_set_state(s, SESSION_ACCEPTED, &self);
		session_set_state(s, SESSION_FREE, &self);
		claim_retire(&s->handler.claim);
		slab_give(&proxy.sessions, index);
	}
	atomic_store_release(&done, 1u);
	return NULL;
}

static void
a_free_slot_gets_no_note(void **state)
{
	struct grace *grace = grace_new();
	struct handle_set *set;
	pthread_t thread;

	(void)state;
	assert_non_null(grace);
	assert_int_equal(handle_set_epoll_new(&set), 0);
	assert_int_equal(shard_init(&shard, NULL, 0, &promotion_futex), 0);
	shard_put_set(&shard, set, false);
	shard_open_set(&shard);
	assert_int_equal(proxy_init(&proxy, 1, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, owner, NULL), 0);
	while (!atomic_load_acquire(&done)) {
		proxy_reap(&proxy, clock_now_ms());
		proxy_note_all(&proxy, NOTE_KILL);
	}
	pthread_join(thread, NULL);
	/* Every note found an owner, so none had to bring the handler. */
	assert_null(atomic_load_seq(&shard.mailbox));
	proxy_fini(&proxy);
	shard_fini(&shard);
	grace_free(grace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_free_slot_gets_no_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
