/* SPDX-License-Identifier: MIT
 * `show events`.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "commands/report.h"
#include "base/events.h"
#include "base/text.h"
#include "base/time_text.h"

struct wanted {
	uint64_t last;     /* show at most this many */
	const char *about; /* NULL: all */
	bool json;
};

static bool
read_args(const char *const *args, struct wanted *ret, struct err *err)
{
	size_t n = 0;

	*ret = (struct wanted){.last = EVENTS_MAX};
	while (args[n])
		n++;
	if (n > 0 && strcmp(args[n - 1], "json") == 0) {
		ret->json = true;
		n--;
	}
	if (n > 0 && strspn(args[0], "0123456789") == strlen(args[0])) {
		if (!text_parse_number(
		        args[0], 1, EVENTS_MAX, &ret->last, NULL))
			return err_set(err,
			    "'%s' events cannot be shown; the last %d are "
			    "kept.",
			    args[0], EVENTS_MAX);
		args++;
		n--;
	}
	if (n > 0) {
		ret->about = args[0];
		args++;
		n--;
	}
	return n == 0 ||
	       err_set(err,
	           "Unexpected argument '%s'; give a number, or the name of a "
	           "backend, BACKEND/SERVER or pool, or both, and json or "
	           "nothing.",
	           args[0]);
}

/* A backend's name stands for its servers as well. */
static bool
is_about(const struct event *e, const char *about)
{
	size_t len = about ? strlen(about) : 0;

	return !about || (strncmp(e->about, about, len) == 0 &&
	                     (e->about[len] == '\0' || e->about[len] == '/'));
}

/* Returns the index of the first event to show. */
static size_t
first_of(const struct wanted *w)
{
	size_t i = events_count();
	uint64_t left = w->last;

	while (i > 0 && left > 0)
		left -= is_about(events_at(--i), w->about);
	return i;
}

static void
put_event(struct report *r, const struct event *e)
{
	char time[TIME_TEXT_SIZE];

	report_row(r);
	report_put(r, "number", "%" PRIu64, e->number);
	report_put(
	    r, "time", " %s", time_text(TIME_RFC3339, e->wall_us, 3, time));
	report_put(r, "level", " %s", event_level_name(e->level));
	report_put(r, "event", " %s", event_name(e->kind));
	report_json_string(r, "about", e->about);
	report_text(r, " %s", e->about[0] ? e->about : "-");
	report_put(r, "text", ": %s", e->text);
	report_row_end(r);
}

/* Whether there is a backend, server, frontend or pool of that name. */
static bool
is_there(struct control *control, const char *about)
{
	const struct model *m = control_model(control);
	const char *slash = strchr(about, '/');
	char backend[EVENT_ABOUT_SIZE];
	const struct backend *b;
	struct err ignored;

	snprintf(backend, sizeof(backend), "%.*s",
	    (int)(slash ? slash - about : (ptrdiff_t)strlen(about)), about);
	b = model_find_backend(m, backend);
	for (size_t i = 0; b && slash && i < b->spec->servers_n; i++)
		if (strcmp(b->servers[i]->spec->name, slash + 1) == 0)
			return true;
	return !slash &&
	       (b || model_find_frontend(m, about) ||
	           pools_find(control_pools(control), about, &ignored));
}

/* Accepts the names of removed objects too, while there are events of them. */
static bool
check_about(struct call *call, const struct wanted *w)
{
	if (!w->about || is_there(call->env->control, w->about))
		return true;
	for (size_t i = 0; i < events_count(); i++)
		if (is_about(events_at(i), w->about))
			return true;
	return err_set(call->err,
	    "Nothing is named '%s'; give the name of a backend, "
	    "BACKEND/SERVER, frontend or pool.",
	    w->about);
}

bool
run_show_events(struct call *call)
{
	struct wanted w;
	struct report r;

	if (!read_args((const char *const *)call->args, &w, call->err) ||
	    !check_about(call, &w))
		return false;
	report_begin(&r, w.json, call->out);
	report_head(&r, "");
	for (size_t i = first_of(&w); i < events_count(); i++)
		if (is_about(events_at(i), w.about))
			put_event(&r, events_at(i));
	report_end(&r);
	return true;
}
