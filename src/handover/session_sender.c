/* SPDX-License-Identifier: MIT
 * See session_sender.h.
 */
#include "handover/session_sender.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/log.h"
#include "base/text_out.h"
#include "handover/closed_sent.h"
#include "handover/counters_lines.h"
#include "handover/events_later.h"
#include "handover/failures_sent.h"
#include "handover/lineage.h"
#include "handover/session_receiver.h"
#include "handover/sources_sent.h"
#include "net/handover.h"
#include "proxy/instance.h"
#include "proxy/reaper.h"
#include "proxy/successor.h"

/* After a pass: the sessions that were told last take their turns. */
#define PASS_ENDS_MS 5
/* How long the end waits for the successor to read the last sums. */
#define LAST_SUMS_MS 1000

/* A text that is sent line by line. */
struct lines_out {
	enum handover_kind kind;
	char *text;         /* NULL: none */
	const char *unsent; /* of it */
};

struct session_sender {
	struct instance *instance;
	const struct lineage *lineage;
	struct successor *to;
	int channel;
	ev_io io;
	ev_timer tick;
	uint64_t names_by_ms;
	bool named;       /* the successor has told what it knows */
	bool announced;   /* the first PASSED is sent */
	uint32_t *queued; /* the slots of those that are told first, or NULL */
	size_t queued_n, queued_told;
	uint32_t at;       /* the next session to tell */
	uint32_t told;     /* successor.told, when all of them have acted */
	uint64_t acted_ms; /* when one of them last has */
	uint32_t acted;    /* successor.told then */
	uint32_t passed;   /* when this pass began */
	uint64_t wait_ms;  /* tells none before that */
	uint64_t pause_ms; /* before the next pass, if nothing has left */
	uint64_t sums_ms;  /* when to collect sums again */
	struct lines_out later, counts, sums;
	uint64_t events_sent; /* number of the last event in later */
	struct counters_sent counters;
	struct closed_sent closed;
	struct failures_sent failures;
	struct sources_sent sources;
	void (*settled)(void *arg, uint32_t passed, bool lost);
	void *arg;
};

/* -- texts -- */

/* Returns false while the socket is full. */
static bool
send_text(const struct session_sender *s, struct handover *m)
{
	m->version = HANDOVER_VERSION;
	m->n = 0;
	return handover_send(s->channel, m) != -EAGAIN;
}

/* Sends as many lines as the socket takes.  Returns false while some are left.
 */
static bool
send_lines(const struct session_sender *s, struct lines_out *lines)
{
	static struct handover m;

	while (lines->text && *lines->unsent) {
		size_t n = handover_put_lines(&m, lines->unsent);

		m.kind = lines->kind;
		if (!send_text(s, &m))
			return false;
		lines->unsent += n;
	}
	return true;
}

/* Replaces the lines, which have been sent, by those of the open text. */
static bool
take_lines(struct lines_out *lines, struct text_out *out)
{
	if (!text_out_close(out))
		return false;
	free(lines->text);
	lines->unsent = lines->text = out->text;
	return true;
}

/* Writes how many sessions of this process each server and each frontend has
 * that the successor knows.  Counts that were not sent so far are out of
 * date. */
static bool
collect_counts(struct session_sender *s)
{
	char line[SUCCESSOR_LINE_MAX];
	struct text_out out;

	if (!text_out_open(&out))
		return false;
	model_for_each_server (v, s->instance->model) {
		uint32_t n = backend_own_sessions(v);
		uint32_t number =
		    successor_find(s->to, successor_server_line(v, line));

		if (number > 0)
			fprintf(out.stream, "%u %u\n", number, n);
	}
	model_for_each_frontend (f, s->instance->model) {
		uint32_t number =
		    successor_find(s->to, successor_frontend_line(f, line));

		if (number > 0)
			fprintf(out.stream, "%u %u\n", number,
			    atomic_load_relaxed(&f->sessions->now));
	}
	return take_lines(&s->counts, &out);
}

/* Writes what was counted since the last time. */
static bool
collect_sums(struct session_sender *s)
{
	struct text_out out;

	if (!text_out_open(&out))
		return false;
	if (!counters_write_numbered(
	        &s->counters, s->instance->model, s->to, out.stream)) {
		if (text_out_close(&out))
			free(out.text);
		return false;
	}
	return take_lines(&s->sums, &out);
}

/* Sends sums, and collects those that were counted since, from time to time:
 * what the successor tells is never less than what this one has told.
 * Returns false while some are left. */
static bool
send_sums(struct session_sender *s, uint64_t now_ms)
{
	if (!send_lines(s, &s->sums))
		return false;
	if (now_ms < s->sums_ms)
		return true;
	s->sums_ms = now_ms + SENDER_SUMS_MS;
	return !collect_sums(s) || send_lines(s, &s->sums);
}

/* Gives back the places of sessions that have left, to sessions that stay: one
 * that waits here for a server leaves too, and must not be given such a place
 * before. */
static void
release_passed(struct session_sender *s)
{
	model_for_each_server (v, s->instance->model)
		backend_release_passed(v);
}

/* Adds the events since the sender began, with the result of the upgrade.
 * Without memory the successor goes without them. */
static void
collect_last_events(struct session_sender *s)
{
	struct lines_out *later = &s->later;
	struct text_out out;

	if (!text_out_open(&out))
		return;
	fputs(later->text ? later->unsent : "", out.stream);
	events_write_after(s->events_sent, out.stream);
	(void)take_lines(later, &out);
}

/* Ends the sending, once.  lost: the successor has ended. */
static void
end_sending(struct session_sender *s, bool lost)
{
	void (*settled)(void *arg, uint32_t passed, bool lost) = s->settled;

	s->settled = NULL;
	release_passed(s);
	if (!settled)
		return;
	settled(s->arg, atomic_load_relaxed(&s->to->passed), lost);
	collect_last_events(s);
}

/* Sends the last sums, and waits for the socket: all threads have ended. */
static void
send_last_sums(struct session_sender *s)
{
	struct pollfd channel = {.fd = s->channel, .events = POLLOUT};
	bool last = false;

	for (;;) {
		if (!send_lines(s, &s->later) || !send_lines(s, &s->sums)) {
			if (poll(&channel, 1, LAST_SUMS_MS) <= 0)
				return;
		} else if (last || !collect_sums(s)) {
			return;
		} else {
			last = true;
		}
	}
}

/* Sends a part of what follows the sessions.  Returns -EAGAIN while some is
 * left. */
static int
send_after_sessions(struct session_sender *s, bool *ret_full)
{
	int rc = sources_sent_step(
	    &s->sources, s->instance->model, s->channel, ret_full);

	if (rc == 0)
		rc = closed_sent_step(&s->closed, s->channel, ret_full);
	return rc < 0 ? rc
	              : failures_sent_step(&s->failures,
	                    &s->instance->proxy.failures, s->channel, ret_full);
}

/* Begins a round of the records of sessions that have ended, and of the
 * failures. */
static void
begin_ended_sessions(struct session_sender *s)
{
	closed_sent_begin(&s->closed, &s->instance->proxy.closed);
	failures_sent_begin(&s->failures);
}

/* Sends all that is left, with the records of sessions that have ended since
 * the last round, and waits for the socket: all threads have ended. */
static void
send_last_rest(struct session_sender *s)
{
	struct pollfd channel = {.fd = s->channel, .events = POLLOUT};
	bool full;

	/* A round that is under way, and the last one. */
	for (int i = 0; i < 2; i++) {
		begin_ended_sessions(s);
		while (send_after_sessions(s, &full) == -EAGAIN)
			if (full && poll(&channel, 1, LAST_SUMS_MS) <= 0)
				return;
	}
}

/* Returns false while the socket is full. */
static bool
send_passed(struct session_sender *s)
{
	static struct handover m;
	uint32_t left = session_receiver_status(s->lineage->predecessor).left;

	/* Sessions of a process before this one are at its servers as well. */
	m.kind = HANDOVER_PASSED;
	snprintf(m.text, sizeof(m.text), "%u",
	    proxy_sessions(&s->instance->proxy) + left);
	return send_text(s, &m);
}

/* Tells how many sessions may come, for which new ones leave room.  Returns
 * false while the socket is full. */
static bool
announce(struct session_sender *s)
{
	if (!s->announced)
		s->announced = send_passed(s);
	return s->announced;
}

/* -- passes over the sessions -- */

static bool
channel_is_full(struct session_sender *s)
{
	struct pollfd channel = {.fd = s->channel, .events = POLLOUT};

	if (!atomic_load_relaxed(&s->to->full))
		return false;
	if (poll(&channel, 1, 0) == 1 && channel.revents & POLLOUT)
		atomic_store_relaxed(&s->to->full, 0u);
	return atomic_load_relaxed(&s->to->full);
}

/* Returns how many sessions are on their way: told and still to act, or in the
 * channel.  One that was told and has ended never acts. */
static uint32_t
on_their_way(struct session_sender *s, uint64_t now_ms)
{
	uint32_t acted = atomic_load_relaxed(&s->to->told);
	int unread = 0;

	if (acted != s->acted || s->told == acted)
		s->acted_ms = now_ms;
	else if (now_ms >= s->acted_ms + SENDER_LOST_MS)
		s->told = acted;
	s->acted = acted;
	/* Sessions that were thought to have ended may act after all. */
	if (acted - s->told < UINT32_MAX / 2)
		s->told = acted;
	if (ioctl(s->channel, SIOCOUTQ, &unread) < 0)
		unread = 0;
	return s->told - acted + (uint32_t)unread / SENDER_MESSAGE;
}

/* Tells as many sessions as there is room for.  Those of queues go first, in
 * their order. */
static void
tell_some(struct session_sender *s, uint64_t now_ms)
{
	struct proxy *proxy = &s->instance->proxy;
	uint32_t n = on_their_way(s, now_ms), room;

	room = n < SENDER_WINDOW ? SENDER_WINDOW - n : 0;
	s->told += room;
	for (; room > 0 && s->queued_told < s->queued_n; room--)
		proxy_note_one(proxy, s->queued[s->queued_told++], NOTE_LEAVE);
	if (room > 0)
		s->at = proxy_note_some(proxy, s->at, &room, NOTE_LEAVE);
	s->told -= room;
}

/* Ends a pass, in which all sessions were told to leave.  Each pass in which
 * none has left is followed by a longer pause. */
static void
end_pass(struct session_sender *s, uint64_t now_ms)
{
	uint32_t passed = atomic_load_relaxed(&s->to->passed);
	uint32_t left = proxy_sessions(&s->instance->proxy);

	(void)collect_counts(s);
	s->sums_ms = now_ms;
	if (send_sums(s, now_ms))
		(void)send_lines(s, &s->counts);
	(void)send_passed(s);
	if (passed != s->passed) {
		s->pause_ms = 0;
	} else {
		s->pause_ms =
		    s->pause_ms == 0 ? SENDER_PAUSE_MIN_MS : 2 * s->pause_ms;
		if (s->pause_ms > SENDER_PAUSE_MAX_MS)
			s->pause_ms = SENDER_PAUSE_MAX_MS;
	}
	/* A session that has just begun its connect is ready after a while. */
	if (!s->settled || left == 0 || s->pause_ms > 8 * SENDER_PAUSE_MIN_MS)
		end_sending(s, false);
	if (!s->settled)
		begin_ended_sessions(s);
	s->at = 0;
	s->passed = passed;
	s->wait_ms = now_ms + s->pause_ms;
}

static void
sender_on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct session_sender *s = timer->data;
	struct proxy *proxy = &s->instance->proxy;
	uint64_t now_ms = clock_now_ms();
	bool full;

	(void)loop;
	(void)events;
	/* Sessions go first. */
	if (!s->settled && s->named)
		(void)send_after_sessions(s, &full);
	if (!s->named) {
		if (now_ms >= s->names_by_ms) {
			log_warning("the successor takes no sessions: it does "
			            "not announce the records that it knows");
			session_sender_stop(s);
			end_sending(s, false);
		}
		return;
	}
	if (now_ms < s->wait_ms || !send_lines(s, &s->later) ||
	    !send_sums(s, now_ms) || !send_lines(s, &s->counts) ||
	    !announce(s) || channel_is_full(s))
		return;
	if (s->at < slab_made(&proxy->sessions)) {
		tell_some(s, now_ms);
		if (s->at >= slab_made(&proxy->sessions))
			s->wait_ms = now_ms + PASS_ENDS_MS;
		return;
	}
	end_pass(s, now_ms);
}

/* -- what the successor knows -- */

/* SIGUSR1 has come to this process when the other one had opened its files. */
static void
pass_reopen(const struct session_sender *s)
{
	static struct handover m;

	m.kind = HANDOVER_REOPEN;
	if (s->lineage->reopened)
		(void)send_text(s, &m);
}

static void
begin_passes(struct session_sender *s)
{
	struct proxy *proxy = &s->instance->proxy;

	s->named = true;
	pass_reopen(s);
	if (!collect_counts(s)) {
		end_sending(s, false);
		return;
	}
	/* The successor lets clients in when it has these. */
	if (send_lines(s, &s->later) && send_sums(s, clock_now_ms()) &&
	    send_lines(s, &s->counts))
		(void)announce(s);
	atomic_store_release(&proxy->successor, s->to); /* [P41] */
	s->queued = proxy_list_queued(proxy, &s->queued_n);
}

/* The successor is gone, or says what it should not.  The sessions that it
 * has not taken stay. */
static void
give_up_sending(struct session_sender *s)
{
	ev_io_stop(s->instance->loop, &s->io);
	ev_timer_stop(s->instance->loop, &s->tick);
	end_sending(s, true);
}

static void
take_names(struct session_sender *s, int rc, const struct handover *m)
{
	if (rc == 1 && m->kind == HANDOVER_NAMES &&
	    successor_add_lines(s->to, m->text))
		return;
	if (rc == 1 && m->kind == HANDOVER_NAMES_END)
		begin_passes(s);
	else
		give_up_sending(s);
}

/* Opens the files of the access log again, here and in the process before this
 * one. */
static void
reopen_all(const struct lineage *lineage)
{
	log_reopen();
	session_receiver_reopen(lineage->predecessor);
}

static void
sender_on_channel(struct ev_loop *loop, ev_io *io, int events)
{
	struct session_sender *s = io->data;
	static struct handover m;
	int rc = handover_receive(s->channel, &m);

	(void)loop;
	(void)events;
	if (rc == -EAGAIN)
		return;
	/* None of the messages that are expected has descriptors. */
	if (rc == 1)
		handover_drop(&m);
	if (!s->named)
		take_names(s, rc, &m);
	else if (rc == 1 && m.kind == HANDOVER_REOPEN)
		reopen_all(s->lineage);
	else if (rc < 1 && rc != -EBADMSG)
		give_up_sending(s);
}

struct session_sender *
session_sender_new(struct instance *instance, const struct lineage *lineage,
    int channel, char *later,
    void (*settled)(void *arg, uint32_t passed, bool lost), void *arg)
{
	struct session_sender *s = calloc(1, sizeof(*s));

	if (s)
		s->to = successor_new(channel);
	if (!s || !s->to) {
		free(s);
		free(later);
		close(channel);
		return NULL;
	}
	s->instance = instance;
	s->lineage = lineage;
	s->channel = channel;
	s->later = (struct lines_out){
	    .kind = HANDOVER_LATER, .text = later, .unsent = later};
	s->events_sent = events_last();
	s->counts.kind = HANDOVER_COUNTS;
	s->sums.kind = HANDOVER_COUNTERS;
	s->settled = settled;
	s->arg = arg;
	s->names_by_ms = clock_now_ms() + SENDER_NAMES_MS;
	ev_io_init(&s->io, sender_on_channel, channel, EV_READ);
	ev_timer_init(&s->tick, sender_on_tick, SENDER_TICK_MS / 1e3,
	    SENDER_TICK_MS / 1e3);
	s->io.data = s->tick.data = s;
	ev_io_start(instance->loop, &s->io);
	ev_timer_start(instance->loop, &s->tick);
	return s;
}

void
session_sender_stop(struct session_sender *sender)
{
	if (!sender)
		return;
	ev_io_stop(sender->instance->loop, &sender->io);
	ev_timer_stop(sender->instance->loop, &sender->tick);
}

void
session_sender_free(struct session_sender *sender)
{
	if (!sender)
		return;
	if (sender->named) {
		send_last_sums(sender);
		send_last_rest(sender);
	}
	closed_sent_fini(&sender->closed);
	failures_sent_fini(&sender->failures);
	close(sender->channel);
	successor_free(sender->to);
	counters_sent_fini(&sender->counters);
	free(sender->queued);
	free(sender->later.text);
	free(sender->counts.text);
	free(sender->sums.text);
	free(sender);
}
