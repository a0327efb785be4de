/* SPDX-License-Identifier: MIT
 * See accesslog.h.
 */
#include "proxy/accesslog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log_sink.h"
#include "base/mix.h"
#include "lf/pool.h"
#include "proxy/inspection.h"
#include "proxy/session_record.h"

static const log_render renderers[] = {[LOG_TCPLOG] = line_render_tcplog,
    [LOG_JSON] = line_render_json,
    [LOG_LOGFMT] = line_render_logfmt};

_Static_assert(LOG_LOGFMT + 1 == sizeof(renderers) / sizeof(renderers[0]),
    "each format has a renderer");

static uint32_t
others(const struct gauge *gauge)
{
	uint32_t now = atomic_load_relaxed(&gauge->now);

	return now > 0 ? now - 1 : 0;
}

static void
add_tls_texts(struct line *l, const struct session *s)
{
	struct session_tls_texts texts;
	const char *all[SESSION_TLS_TEXTS];

	session_tls_read_texts(s, &texts);
	session_tls_list_texts(&texts, all);
	for (size_t i = 0; i < SESSION_TLS_TEXTS; i++)
		line_add_text(l, all[i]);
}

static void
fill_line(struct line *l, const struct session *s,
    const struct session_record *record, enum line_event event)
{
	const struct backend *b = session_backend(s);
	const struct model *m = s->frontend->model;
	char text[ADDR_TEXT_SIZE];

	l->session = *record;
	l->active = atomic_load_relaxed(&m->state->sessions.now);
	l->frontend_active = atomic_load_relaxed(&s->frontend->sessions->now);
	/* HAProxy counts these two without this session. */
	l->backend_active = b ? others(b->sessions) : 0;
	l->server_active = s->server ? others(s->server->sessions) : 0;
	l->texts_len = 0;
	l->event = (uint8_t)event;
	line_add_text(l, s->frontend->spec->name);
	line_add_text(l, b ? b->spec->name : "");
	line_add_text(l, s->server ? s->server->spec->name : "");
	line_add_text(
	    l, s->server ? server_address_at(s->server, s->server_port, text)
	                 : "");
	line_add_text(l, inspect_name(s));
	if (record->tls.listen > 0)
		add_tls_texts(l, s);
}

/* Returns whether the session is logged.  The result depends only on values
 * that do not change, so all lines of a session are logged or none. */
static bool
is_sampled(const struct line *l, unsigned sample)
{
	uint64_t x = l->session.accepted_wall_us ^ (uint64_t)l->session.slot
	                                               << 40;

	return sample == 1 || mix64(x) % sample == 0;
}

static void
line_submit(const struct frontend *f, const struct line *l)
{
	size_t size = offsetof(struct line, texts) + l->texts_len;

	for (size_t i = 0; i < f->logs_n; i++) {
		const struct frontend_log *log = &f->logs[i];

		if (is_sampled(l, log->sample))
			(void)log_target_record(
			    log->target, renderers[log->format], l, size);
	}
}

/* Returns whether the client sent nothing at all, as in a port scan.  If no
 * server was available, the client's bytes were not even read, so the session
 * does not count as empty. */
static bool
sent_nothing(const struct session *s, enum close_reason reason)
{
	enum close_blame blame = close_reason_blame(reason);

	return s->side[HANDLE_CLIENT].received == 0 &&
	       !(s->inspection && s->inspection->spoke) &&
	       blame != BLAME_SERVER && blame != BLAME_US;
}

void
accesslog_last(const struct session *s, const struct session_record *record,
    struct accesslog_last *ret_last)
{
	const struct frontend *f = s->frontend;

	ret_last->wanted =
	    f->logs_n > 0 &&
	    (f->spec->log_empty ||
	        !sent_nothing(s, (enum close_reason)record->reason));
	if (ret_last->wanted)
		fill_line(&ret_last->line, s, record, LINE_END);
}

void
accesslog_write(
    const struct frontend *frontend, const struct accesslog_last *last)
{
	if (last->wanted)
		line_submit(frontend, &last->line);
}

bool
accesslog_is_whole(const struct frontend *frontend)
{
	for (size_t i = 0; i < frontend->logs_n; i++)
		if (frontend->logs[i].sample == 1)
			return true;
	return false;
}

/* Writes a line of a session that goes on. */
static void
write_now(
    const struct session *s, enum line_event event, struct pool_thread *self)
{
	struct session_record record;
	struct line l;

	session_record(s, CLOSE_DONE, self, &record);
	fill_line(&l, s, &record, event);
	line_submit(s->frontend, &l);
}

void
accesslog_connected(const struct session *s, struct pool_thread *self)
{
	const struct frontend *f = s->frontend;

	if (f->logs_n == 0 || !f->spec->log_on_connect)
		return;
	write_now(s, LINE_CONNECT, self);
}

void
accesslog_ongoing(const struct session *s, struct pool_thread *self)
{
	const struct frontend *f = s->frontend;
	uint64_t deadline_ms;

	if (f->logs_n == 0 || !session_is_relaying(s))
		return;
	deadline_ms = atomic_load_relaxed(&proxy_of(self)->deadlines[s->index]);
	if (accesslog_is_due(s, deadline_ms, turn_now_ms(self)))
		write_now(s, LINE_ONGOING, self);
}

/* Looks up the syslog daemon's address, on the writer's thread, which may
 * block. */
static int
look_up_daemon(const struct log_sink_options *options,
    struct sockaddr_storage *ret_addr, socklen_t *ret_len)
{
	struct addr addr;
	int rc = addr_lookup(options->daemon, AF_UNSPEC, &addr);

	if (rc != 0)
		return rc;
	addr_set_port(&addr, options->daemon_port);
	memcpy(ret_addr, &addr.sa, addr.len);
	*ret_len = addr.len;
	return 0;
}

static void
sink_options(
    const struct log_spec *spec, const char *host, struct log_sink_options *o)
{
	memset(o, 0, sizeof(*o));
	o->kind = spec->kind;
	if (spec->kind == LOG_SINK_FILE) {
		snprintf(o->path, sizeof(o->path), "%s", spec->where);
		o->mode = spec->mode;
	} else if (spec->kind == LOG_SINK_SYSLOG) {
		memcpy(&o->addr, &spec->addr.sa, spec->addr.len);
		o->addr_len = spec->addr.len;
		snprintf(o->daemon, sizeof(o->daemon), "%s",
		    spec->host ? spec->host : "");
		o->daemon_port = (uint16_t)spec->port;
		o->look_up = look_up_daemon;
		o->look_up_error = addr_lookup_error;
		o->tcp = spec->tcp;
		o->facility = spec->facility;
		o->rfc5424 = spec->rfc == LOG_RFC5424;
		snprintf(o->tag, sizeof(o->tag), "%s", spec->tag);
		snprintf(o->host, sizeof(o->host), "%s", host);
	}
}

static bool
open_logs(struct frontend *f, const struct spec *spec, struct err *err)
{
	const struct log_list *list =
	    f->spec->log.n > 0 ? &f->spec->log : &spec->global.log;
	struct log_sink_options options;

	if (list->n == 0 || list->logs[0].kind == LOG_SINK_OFF)
		return true;
	f->logs = calloc(list->n, sizeof(*f->logs));
	if (!f->logs)
		return err_oom(err);
	for (size_t i = 0; i < list->n; i++) {
		const struct log_spec *l = &list->logs[i];
		struct frontend_log *log = &f->logs[i];

		log->format = l->format;
		log->sample = l->sample;
		sink_options(l, spec->global.node, &options);
		if (!log_target_open(&options, &log->target, err))
			return false;
		f->logs_n++;
	}
	return true;
}

/* Returns the format of messages on standard error without `log_messages`: that
 * of the access log there or on standard output, which a container's log
 * merges. */
static enum log_message_format
stream_format(const struct log_list *list)
{
	static const enum log_message_format formats[] = {
	    [LOG_TCPLOG] = LOG_MESSAGE_TEXT,
	    [LOG_JSON] = LOG_MESSAGE_JSON,
	    [LOG_LOGFMT] = LOG_MESSAGE_LOGFMT};

	for (size_t i = 0; i < list->n; i++)
		if (list->logs[i].kind == LOG_SINK_STDOUT ||
		    list->logs[i].kind == LOG_SINK_STDERR)
			return formats[list->logs[i].format];
	return LOG_MESSAGE_TEXT;
}

enum log_message_format
accesslog_message_format(const struct global_spec *global)
{
	const struct log_list *list = &global->messages;

	for (size_t i = 0; i < list->n; i++)
		if (list->logs[i].kind == LOG_SINK_STDERR)
			return list->logs[i].format;
	return list->n > 0 ? LOG_MESSAGE_TEXT : stream_format(&global->log);
}

static bool
open_messages(struct log_message_targets *targets,
    const struct global_spec *global, struct err *err)
{
	const struct log_spec standard = {
	    .kind = LOG_SINK_STDERR, .format = stream_format(&global->log)};
	const struct log_list *list = &global->messages;
	const struct log_spec *specs = list->n > 0 ? list->logs : &standard;
	struct log_sink_options options;

	for (size_t i = 0; i < list->n + (list->n == 0); i++) {
		sink_options(&specs[i], global->node, &options);
		options.severities = true;
		if (!log_target_open(
		        &options, &targets->at[targets->n].target, err))
			return false;
		targets->at[targets->n++].format = specs[i].format;
	}
	return true;
}

bool
accesslog_open(struct model *model, struct err *err)
{
	if (!open_messages(&model->messages, &model->spec->global, err))
		return false;
	for (size_t i = 0; i < model->spec->frontends_n; i++)
		if (!open_logs(model->frontends[i], model->spec, err))
			return false;
	return true;
}
