/* SPDX-License-Identifier: MIT
 * `show events`.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>

#include "commands/report.h"
#include "base/events.h"
#include "base/text.h"
#include "base/time_text.h"

struct event_filter {
	uint64_t last;     /* show at most this many */
	const char *about; /* NULL: all */
};

static bool
read_event_filter(struct call *call, struct event_filter *ret)
{
	char **args = call->args;

	*ret = (struct event_filter){.last = EVENTS_MAX};
	if (*args && strspn(*args, "0123456789") == strlen(*args)) {
		if (!text_parse_number(*args, 1, EVENTS_MAX, &ret->last, NULL))
			return err_set(call->err,
			    "'%s' events cannot be shown; the last %d are "
			    "kept.",
			    *args, EVENTS_MAX);
		args++;
	}
	if (*args)
		ret->about = *args++;
	return !*args ||
	       err_set(call->err,
	           "Unexpected argument '%s'; give a number, or the name of a "
	           "backend, BACKEND/SERVER or pool, or both, and json or "
	           "nothing.",
	           *args);
}

/* Returns whether the event is about that object.  A backend's name stands for
 * its servers as well. */
static bool
is_about(const struct event *e, const char *about)
{
	size_t len = about ? strlen(about) : 0;

	return !about || (strncmp(e->about, about, len) == 0 &&
	                     (e->about[len] == '\0' || e->about[len] == '/'));
}

/* Returns the index of the first event to show. */
static size_t
first_event(const struct event_filter *w)
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
	report_put(r, "level", " %s", log_level_name(e->level));
	report_put(r, "event", " %s", event_name(e->kind));
	report_json_string(r, "about", e->about);
	report_text(r, " %s", e->about[0] ? e->about : "-");
	report_put(r, "text", ": %s", e->text);
	report_row_end(r);
}

/* Returns whether there is a backend, server, frontend or pool of that name. */
static bool
is_name_of_model(struct call *call, const char *about)
{
	const struct command_env *env = call->env;
	const struct model *m = env->instance->model;

	return strchr(about, '/') ? call_server(call, about) != NULL
	                          : model_find_backend(m, about) ||
	                                model_find_frontend(m, about) ||
	                                pools_find(env->pools, about, NULL);
}

/* Accepts the names of removed objects too, while there are events of them. */
static bool
check_about(struct call *call, const struct event_filter *w)
{
	if (!w->about || is_name_of_model(call, w->about))
		return true;
	for (size_t i = 0; i < events_count(); i++)
		if (is_about(events_at(i), w->about))
			return true;
	return err_set(call->err,
	    "Nothing is named '%s'; give the name of a backend, "
	    "BACKEND/SERVER, frontend or pool.",
	    w->about);
}

/* Tells since when the answer is complete, if events have made room for later
 * ones. */
static void
put_events_loss(struct report *r)
{
	char time[TIME_TEXT_SIZE];

	if (events_count() == EVENTS_MAX)
		report_text(r,
		    "# complete since %s: the last %d events are kept\n",
		    time_text(TIME_RFC3339, events_at(0)->wall_us, 3, time),
		    EVENTS_MAX);
}

bool
run_show_events(struct call *call)
{
	struct event_filter w;
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	if (!read_event_filter(call, &w) || !check_about(call, &w))
		return false;
	report_head(&r, "");
	for (size_t i = first_event(&w); i < events_count(); i++)
		if (is_about(events_at(i), w.about))
			put_event(&r, events_at(i));
	put_events_loss(&r);
	report_end(&r);
	return true;
}
