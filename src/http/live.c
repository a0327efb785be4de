/* SPDX-License-Identifier: MIT
 * See live.h.
 */
#include "http/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/aligned_timer.h"
#include "base/log.h"
#include "base/text_out.h"
#include "http/snapshot.h"

#define EVENT_HEAD "event: snapshot\ndata: "
#define EVENT_END  "\n\n"
#define BLOCK_SIZE (64u * 1024)

struct live_snapshot {
	unsigned refs;
	uint64_t number;
	char *text; /* the whole event */
	size_t size;
};

struct viewer {
	struct list node;
	struct live *live;
	struct MHD_Connection *mhd;
	struct http_connections *connections;
	struct http_connection *connection;
	struct live_snapshot *reads; /* NULL: waits for the next one */
	size_t sent;                 /* of it */
	uint64_t number;             /* of the last one that it began to read */
	bool suspended;
};

static void
unref_snapshot(struct live_snapshot *snapshot)
{
	if (!snapshot || --snapshot->refs > 0)
		return;
	free(snapshot->text);
	free(snapshot);
}

/* -- snapshots -- */

static void
resume_viewer(void *arg)
{
	struct viewer *v = arg;

	if (!v->suspended)
		return;
	v->suspended = false;
	v->connection->wake = NULL;
	MHD_resume_connection(v->mhd);
}

static void
resume_viewers(struct live *live)
{
	list_for_each_safe (node, &live->viewers)
		resume_viewer(container_of(node, struct viewer, node));
}

static void
give_up_making(struct live *live)
{
	if (!live->making)
		return;
	live->making->free(live->making);
	live->making = NULL;
	if (text_out_close(live->text))
		free(live->text->text);
	free(live->text);
	live->text = NULL;
}

/* Replaces line feeds, which would end the event's line, by blanks, which mean
 * the same in JSON. */
static void
make_one_line(char *text, size_t size)
{
	for (char *c = text; (c = memchr(c, '\n', size - (size_t)(c - text)));)
		*c = ' ';
}

/* Makes the snapshot, which is whole, the newest one, unless memory is short.
 */
static void
publish(struct live *live)
{
	struct live_snapshot *s = calloc(1, sizeof(*s));
	size_t head = sizeof(EVENT_HEAD) - 1, end = sizeof(EVENT_END) - 1;
	struct text_out *text = live->text;

	live->making->free(live->making);
	live->making = NULL;
	live->text = NULL;
	fputs(EVENT_END, text->stream);
	if (!text_out_close(text) || !s) {
		free(text->text);
		free(text);
		free(s);
		return;
	}
	make_one_line(text->text + head, text->size - head - end);
	*s = (struct live_snapshot){.refs = 1,
	    .number = ++live->number,
	    .text = text->text,
	    .size = text->size};
	free(text);
	unref_snapshot(live->newest);
	live->newest = s;
	live->period.repeat =
	    LIVE_PERIOD_S * (1 + (double)(s->size / LIVE_BYTES));
	ev_timer_again(live->loop, &live->period);
	resume_viewers(live);
	live->run(live->run_arg);
}

/* Makes the next part, in a stream of its own like every part, and sets
 * *ret_more to whether another one follows.  Returns false when memory is
 * short.
 */
static bool
make_snapshot_part(struct live *live, bool *ret_more)
{
	struct answer_rest *making = live->making;
	struct text_out part;

	if (!text_out_open(&part))
		return false;
	*ret_more = making->more(making, live->env, part.stream);
	if (!text_out_close(&part))
		return false;
	(void)fwrite(part.text, 1, part.size, live->text->stream);
	free(part.text);
	return !making->failed;
}

static void
on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct live *live = timer->data;
	bool more;

	(void)events;
	if (!make_snapshot_part(live, &more)) {
		ev_timer_stop(loop, timer);
		give_up_making(live);
	} else if (!more) {
		ev_timer_stop(loop, timer);
		publish(live);
	}
}

static void
begin_snapshot(struct live *live)
{
	if (live->making)
		return;
	live->text = calloc(1, sizeof(*live->text));
	if (!live->text || !text_out_open(live->text)) {
		free(live->text);
		live->text = NULL;
		return;
	}
	live->making = snapshot_new(&live->history);
	if (!live->making) {
		if (text_out_close(live->text))
			free(live->text->text);
		free(live->text);
		live->text = NULL;
		return;
	}
	fputs(EVENT_HEAD, live->text->stream);
	ev_timer_set(&live->turn, 0., .001);
	ev_timer_start(live->loop, &live->turn);
}

static void
on_period(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct live *live = timer->data;

	(void)events;
	if (list_empty(&live->viewers))
		ev_timer_stop(loop, timer);
	else
		begin_snapshot(live);
}

static void
on_sample(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct live *live = timer->data;

	(void)loop;
	(void)events;
	history_sample(&live->history, live->env);
}

/* -- viewers -- */

static void
free_viewer(void *arg)
{
	struct viewer *v = arg;

	list_remove(&v->node);
	v->live->viewers_n--;
	unref_snapshot(v->reads);
	free(v);
}

/* Begins to read the newest snapshot, unless the viewer has read it before. */
static void
take_newest(struct viewer *v)
{
	struct live_snapshot *newest = v->live->newest;

	if (!newest || newest->number == v->number)
		return;
	newest->refs++;
	v->reads = newest;
	v->number = newest->number;
	v->sent = 0;
}

static void
suspend_viewer(struct viewer *v)
{
	v->suspended = true;
	v->connection->wake = resume_viewer;
	v->connection->wake_arg = v;
	MHD_suspend_connection(v->mhd);
}

/* The MHD_ContentReaderCallback of a viewer: gives it the next bytes, ends it,
 * or suspends it until the next snapshot. */
static ssize_t
read_live(void *arg, uint64_t pos, char *to, size_t max)
{
	struct viewer *v = arg;
	size_t n;

	(void)pos;
	if (v->reads && v->sent == v->reads->size) {
		unref_snapshot(v->reads);
		v->reads = NULL;
	}
	if (v->connection->ending || (!v->reads && v->connection->draining))
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!v->reads)
		take_newest(v);
	if (!v->reads) {
		suspend_viewer(v);
		return 0;
	}
	http_connection_progress(v->connections, v->connection);
	n = v->reads->size - v->sent;
	if (n > max)
		n = max;
	memcpy(to, v->reads->text + v->sent, n);
	v->sent += n;
	return (ssize_t)n;
}

/* Ends the oldest viewer if there are too many.  A viewer that has been ended
 * stays in the list until libmicrohttpd runs next. */
static void
make_room(struct live *live)
{
	static struct log_limit limit;

	if (live->viewers_n < LIVE_VIEWERS_MAX)
		return;
	list_for_each (node, &live->viewers) {
		struct viewer *v = container_of(node, struct viewer, node);

		if (v->connection->ending)
			continue;
		log_limited(&limit, LOG_LEVEL_WARNING,
		    "http: %u clients view the live stream: closed the oldest "
		    "one to make room for a new one",
		    LIVE_VIEWERS_MAX);
		http_connection_end(v->connections, v->connection);
		live->run(live->run_arg);
		return;
	}
}

struct MHD_Response *
live_response(struct live *live, struct MHD_Connection *mhd,
    struct http_connections *connections, struct http_connection *connection)
{
	struct viewer *v = calloc(1, sizeof(*v));
	struct MHD_Response *response;

	if (!v)
		return NULL;
	make_room(live);
	v->live = live;
	v->mhd = mhd;
	v->connections = connections;
	v->connection = connection;
	list_append(&live->viewers, &v->node);
	live->viewers_n++;
	response = MHD_create_response_from_callback(
	    MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_live, v, free_viewer);
	if (!response) {
		free_viewer(v);
		return NULL;
	}
	if (!ev_is_active(&live->period)) {
		begin_snapshot(live);
		ev_timer_set(&live->period, LIVE_PERIOD_S, LIVE_PERIOD_S);
		ev_timer_start(live->loop, &live->period);
	}
	return response;
}

/* -- start and end -- */

void
live_start(struct live *live, const struct command_env *env,
    void (*run)(void *arg), void *run_arg)
{
	live->env = env;
	live->loop = env->instance->loop;
	live->run = run;
	live->run_arg = run_arg;
	ev_init(&live->period, on_period);
	ev_init(&live->turn, on_turn);
	ev_init(&live->sample, on_sample);
	live->period.data = live->turn.data = live->sample.data = live;
	aligned_timer_start(live->loop, &live->sample, HISTORY_STEP_S * 1000);
}

void
live_stop(struct live *live)
{
	if (!live->loop)
		return;
	ev_timer_stop(live->loop, &live->period);
	ev_timer_stop(live->loop, &live->turn);
	ev_timer_stop(live->loop, &live->sample);
	give_up_making(live);
	resume_viewers(live);
	unref_snapshot(live->newest);
	live->newest = NULL;
}
