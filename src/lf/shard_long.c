/* SPDX-License-Identifier: MIT
 * Turns that were declared long: see shard_internal.h, and admission.h.
 */
#include "lf/shard_internal.h"

#include "base/clock.h"
#include "lf/turns.h"

/* Whether the thread's home gets on without this thread: another one waits for
 * events there.  If none does, the next handler costs no wake-up as well. */
static bool
is_spare(const struct pool_thread *self)
{
	const struct shard *home = atomic_load_acquire(&self->home); /* [P10] */

	return (atomic_load_relaxed(&home->asleep) ||
	           atomic_load_relaxed(&home->sleepers) > 0) &&
	       !member_wanted(&self->member);
}

/* Every long turn is one of these threads', so no leader is in one. */
void
shard_serve_long(struct pool_thread *self)
{
	struct admission *admission = pool_admission(self->pool);
	struct event_handler *h = NULL;

	while (h || (h = admission_await(admission, &self->member.summons))) {
		self->now_ns = clock_now_ns();
		turns_set_role(self, ROLE_PROCESSING);
		if (turns_run(h, self) == TURN_MORE)
			shard_submit(h);
		h = admission_end(admission, self->now_ns);
		if (h && member_wanted(&self->member)) {
			shard_submit(h);
			break;
		}
		if (!h)
			turns_set_role(self, ROLE_FOLLOWING);
	}
}

void
shard_run_long(struct event_handler *handler, struct pool_thread *self)
{
	bool nicer = pool_nice_begin(self);

	while (handler) {
		/* admission_end may have counted no turn for an instant. */
		shard_call_guard(handler->shard); /* [P18] */
		if (turns_run(handler, self) == TURN_MORE)
			shard_submit(handler);
		if (nicer)
			pool_nice_next(self);
		handler =
		    admission_end(pool_admission(self->pool), self->now_ns);
		if (handler && !is_spare(self)) {
			shard_submit(handler);
			break;
		}
	}
	if (nicer)
		pool_nice_end(self);
}
