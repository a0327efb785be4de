/* SPDX-License-Identifier: MIT
 * See server_followup.h.
 */
#include "servers/server_followup.h"

#include "base/clock.h"
#include "check/checker.h"
#include "model/ejection.h"
#include "model/model.h"
#include "proxy/instance.h"
#include "proxy/reaper.h"

/* The delay until servers whose sessions are to end, and backends that have
 * lost or regained their last usable server, are looked at again.  A grace
 * period takes one turn of each thread, some 50 us. */
#define ENDING_MS 1

/* -- notices and ejections -- */

static void
readmit_servers(struct server_followup *f, uint64_t now_ms)
{
	uint64_t next_ms = UINT64_MAX;

	model_for_each_backend (b, f->instance->model) {
		uint64_t at_ms = backend_readmit(b, now_ms);

		if (at_ms < next_ms)
			next_ms = at_ms;
	}
	model_update(f->instance->model);
	if (next_ms == UINT64_MAX)
		timed_task_cancel(&f->readmit);
	else
		timed_task_schedule(&f->readmit, next_ms);
}

static void
on_readmit(struct timed_task *task, uint64_t now_ms)
{
	struct server_followup *f =
	    container_of(task, struct server_followup, readmit);

	readmit_servers(f, now_ms);
}

/* Tells the control loop that there is a notice.  Runs on a data thread. */
static void
call_review(void *arg)
{
	struct server_followup *f = arg;

	ev_async_send(f->instance->loop, &f->noticed);
}

/* Each server keeps its notice, so one look at all servers serves any number of
 * wake-ups. */
void
server_followup_review(struct server_followup *f)
{
	uint64_t now_ms = clock_now_ms();

	model_for_each_server (s, f->instance->model) {
		bool soon = server_review(s, now_ms);

		model_update(f->instance->model);
		if (soon)
			checker_hurry(f->checker, s);
	}
	readmit_servers(f, now_ms);
}

static void
on_notice(struct ev_loop *loop, ev_async *async, int events)
{
	(void)loop;
	(void)events;
	server_followup_review(async->data);
}

/* -- slow starts and sessions to end -- */

/* Returns when there is work to do, or 0 if there is none. */
static uint64_t
followup_ms(const struct model *model)
{
	if (model->state->ending || model->state->switched)
		return clock_now_ms() + ENDING_MS;
	return model->state->next_step_ms;
}

static void
on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	struct server_followup *f = prepare->data;
	struct timed_task *work = &f->work;
	uint64_t at_ms;

	(void)loop;
	(void)events;
	model_update(f->instance->model);
	at_ms = followup_ms(f->instance->model);
	if (at_ms != 0 && (list_empty(&work->node) || at_ms < work->at_ms))
		timed_task_schedule(work, at_ms);
}

static void
on_work_due(struct timed_task *task, uint64_t now_ms)
{
	struct server_followup *f =
	    container_of(task, struct server_followup, work);
	struct model *model = f->instance->model;
	const struct model_state *state = model->state;
	bool ended = state->switched && model_end_switch(model);

	ended |= state->ending && model_end_sessions(model);
	if (ended)
		proxy_note_all(&f->instance->proxy, NOTE_EXPIRE);
	if (state->next_step_ms != 0 && state->next_step_ms <= now_ms)
		(void)model_step(model, now_ms);
}

void
server_followup_start(struct server_followup *f, struct instance *instance)
{
	struct model_state *state = instance->model->state;

	ev_async_init(&f->noticed, on_notice);
	timed_task_init(&f->readmit, &instance->timer, on_readmit);
	ev_prepare_init(&f->prepare, on_prepare);
	timed_task_init(&f->work, &instance->timer, on_work_due);
	f->instance = instance;
	f->noticed.data = f->prepare.data = f;
	ev_async_start(instance->loop, &f->noticed);
	ev_prepare_start(instance->loop, &f->prepare);
	state->notify_arg = f;
	state->notify = call_review;
}
