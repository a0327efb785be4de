/* SPDX-License-Identifier: MIT
 * See endpoints.h.
 */
#include "lfproxy/endpoints.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text_out.h"
#include "commands/carry_over.h"
#include "commands/records.h"
#include "commands/state_file.h"
#include "handover/takeover.h"
#include "http/http.h"

struct endpoints {
	struct control *control;
	struct admin *admin;
	struct http *http;   /* NULL: none */
	struct http *next;   /* from prepare to commit; NULL: http stays */
	struct list leaving; /* closed ports whose clients are still served */
	struct state_file state;
	bool waits; /* the former process still has these clients */
	char *rest; /* commands that wait for servers of sets; NULL: none */
};

static bool
http_stays(const struct endpoints *s, const struct global_spec *global)
{
	return s->http && global->http.at.text &&
	       http_serves(s->http, &global->http.at);
}

/* Returns the listener of the present configuration that has the port, or
 * NULL. */
static const char *
find_holder(const struct spec *spec, unsigned port)
{
	const struct global_spec *g = &spec->global;

	if (port == 0)
		return NULL;
	if (g->http.at.text && addr_port(&g->http.at.addr) == port)
		return g->http.at.text;
	for (size_t i = 0; i < g->admin.n; i++)
		if (addr_port(&g->admin.all[i].addr) == port)
			return g->admin.all[i].text;
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->listens_n; j++)
			if (addr_port(&f->listens[j].addr) == port)
				return f->listens[j].text;
	}
	return NULL;
}

static bool
prepare_http(
    struct endpoints *s, const struct listen_spec *at, struct err_list *errors)
{
	const char *holder;
	struct err err;

	s->next = http_bind(admin_env(s->admin), at, &err);
	if (s->next)
		return true;
	/* Listeners that this reload closes are still open. */
	holder =
	    find_holder(s->control->instance.model->spec, addr_port(&at->addr));
	if (holder)
		err_list_add(errors, at->place.file, at->place.line,
		    "http: %s; this lfproxy itself listens on %s, so reload "
		    "once without both",
		    err.text, holder);
	else
		err_list_add(errors, at->place.file, at->place.line, "http: %s",
		    err.text);
	return false;
}

/* Prepares both even if one fails, to report all errors at once. */
static bool
prepare_endpoints(void *arg, const struct spec *spec, struct err_list *errors)
{
	const struct global_spec *global = &spec->global;
	struct endpoints *s = arg;
	bool ok = admin_prepare(s->admin, &global->admin, errors);

	if (global->http.at.text && !http_stays(s, global) &&
	    !prepare_http(s, &global->http.at, errors)) {
		if (ok)
			admin_cancel(s->admin);
		return false;
	}
	if (ok)
		return true;
	http_close(s->next);
	s->next = NULL;
	return false;
}

static void
cancel_endpoints(void *arg)
{
	struct endpoints *s = arg;

	admin_cancel(s->admin);
	http_close(s->next);
	s->next = NULL;
}

static void
commit_endpoints(void *arg, const struct spec *spec, struct changes *changes)
{
	struct endpoints *s = arg;

	admin_commit(s->admin, changes);
	state_file_soon(&s->state);
	if (http_stays(s, &spec->global))
		return;
	if (s->http)
		http_drain(s->http, &s->leaving);
	s->http = s->next;
	s->next = NULL;
	if (s->http)
		http_serve(s->http);
}

static void
report_sockets(void *arg,
    void (*add)(void *to, const struct addr *asked, int fd), void *to)
{
	const struct endpoints *s = arg;
	struct addr asked;
	int fd;

	admin_report_sockets(s->admin, add, to);
	if (!s->http)
		return;
	fd = http_fd(s->http, &asked);
	add(to, &asked, fd);
}

static void
describe_part(void *arg, enum handed_part part, FILE *out)
{
	const struct endpoints *s = arg;

	records_write(admin_env(s->admin), part, out);
}

static void
take_later(void *arg, const char *lines)
{
	const struct endpoints *s = arg;

	carry_over_run(admin_env(s->admin), lines, true);
}

void
endpoints_carry_over(
    struct endpoints *endpoints, const char *commands, bool last)
{
	const struct command_env *env = admin_env(endpoints->admin);
	char *copy = strdup(commands);

	/* At a start without another process nothing waits for sets. */
	if (copy && !last && takeover_under_way())
		endpoints->rest = carry_over_postpone(env, copy);
	carry_over_run(env, copy ? copy : commands, last);
	text_wipe(copy);
}

static void
follow_lists(void *arg)
{
	admin_follow_lists(((struct endpoints *)arg)->admin);
}

static void
take_rest(void *arg)
{
	struct endpoints *s = arg;

	if (s->rest)
		carry_over_run(admin_env(s->admin), s->rest, false);
	free(s->rest);
	s->rest = NULL;
}

char *
endpoints_read_state(struct endpoints *endpoints, const char *files)
{
	return state_file_read(admin_env(endpoints->admin), files);
}

void
endpoints_keep_state(struct endpoints *endpoints, const char *files)
{
	state_file_start(&endpoints->state, admin_env(endpoints->admin), files,
	    takeover_under_way());
}

/* Leaves clients in the backlogs: they would be told the figures of a process
 * that has counted nothing so far, and their changes would be lost if it is
 * given up. */
static void
hold_clients(struct endpoints *s)
{
	s->waits = true;
	admin_hold(s->admin);
	if (s->http)
		http_hold(s->http);
}

static void
let_clients_in(void *arg)
{
	struct endpoints *s = arg;

	if (!s->waits)
		return;
	s->waits = false;
	state_file_continue(&s->state);
	admin_resume(s->admin);
	if (s->http)
		http_resume(s->http);
}

static void
hand_over_sockets(void *arg)
{
	struct endpoints *s = arg;

	s->waits = false;
	state_file_stop(&s->state);
	admin_hand_over(s->admin);
	if (s->http)
		http_hand_over(s->http);
}

struct endpoints *
endpoints_open(struct control *control, struct err *err)
{
	const struct listen_spec *at =
	    &control->instance.model->spec->global.http.at;
	struct endpoints *s = calloc(1, sizeof(*s));

	if (!s) {
		err_oom(err);
		return NULL;
	}
	s->control = control;
	list_init(&s->leaving);
	s->admin = admin_open(control, err);
	if (!s->admin)
		goto fail;
	if (at->text) {
		s->http = http_bind(admin_env(s->admin), at, err);
		if (!s->http)
			goto fail;
		http_serve(s->http);
	}
	if (takeover_under_way())
		hold_clients(s);
	control_follow(
	    control, &(struct control_follower){.prepare = prepare_endpoints,
	                 .cancel = cancel_endpoints,
	                 .commit = commit_endpoints,
	                 .follow_lists = follow_lists,
	                 .report = report_sockets,
	                 .describe = describe_part,
	                 .take_later = take_later,
	                 .take_rest = take_rest,
	                 .enter = let_clients_in,
	                 .leave = hand_over_sockets,
	                 .arg = s});
	return s;
fail:
	endpoints_close(s);
	return NULL;
}

void
endpoints_started(struct endpoints *endpoints)
{
	admin_started(endpoints->admin, endpoints->control);
}

void
endpoints_close(struct endpoints *endpoints)
{
	if (!endpoints)
		return;
	control_follow(endpoints->control, NULL);
	state_file_end(&endpoints->state);
	http_close_all(&endpoints->leaving);
	http_close(endpoints->http);
	admin_close(endpoints->admin);
	free(endpoints->rest);
	free(endpoints);
}
