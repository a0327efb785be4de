/* SPDX-License-Identifier: MIT
 * See reload.h.
 */
#include "control/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text_out.h"
#include "base/notify.h"
#include "base/text.h"
#include "config/config.h"
#include "config/edit.h"
#include "config/warnings.h"
#include "control/control_internal.h"
#include "control/limits.h"
#include "control/server_sockets.h"
#include "proxy/accesslog.h"

struct reload {
	struct control *control;
	unsigned refs;
	bool done;
	struct spec *spec; /* until it is done; NULL after an error */
	struct reload_result result;
	struct timed_task waiting;
	uint64_t until_ms; /* names are waited for, clock_now_ms */
	void (*when_done)(bool ok, const struct reload_result *result);
};

/* Always false. */
static bool
refuse(struct reload_result *result, const char *why)
{
	err_list_add(&result->errors, NULL, 0, "%s", why);
	return false;
}

static bool
may_reload(const struct control *c, struct reload_result *result)
{
	if (c->phase != RUNNING)
		return refuse(result, "lfproxy is stopping");
	if (c->files_n == 0)
		return refuse(result,
		    "this lfproxy was started without a file; start it with -c "
		    "FILE to be able to reload");
	return true;
}

/* Against what is in force now, which may have been edited while names were
 * waited for. */
static bool
compare(
    const struct control *c, struct spec *spec, struct reload_result *result)
{
	if (!config_diff(c->model->spec, spec, &result->changes))
		return refuse(result, "out of memory");
	config_tell_edits(c->model->spec, spec, &result->changes);
	return true;
}

/* Everything that can fail; false when nothing was changed. */
static bool
prepare(struct control *c, struct model *model, struct reload_result *result)
{
	struct err err;

	if (!server_sockets_try(model->spec, false, &err) ||
	    !accesslog_open(model, &err) ||
	    !listeners_prepare(c->listeners, model, &err))
		return refuse(result, err.text);
	if (!pools_prepare(c->pools, model->spec, &err)) {
		listeners_cancel(c->listeners);
		return refuse(result, err.text);
	}
	if (!checker_prepare(c->checker, model))
		refuse(result, "out of memory");
	else if (!c->follower.prepare || c->follower.prepare(c->follower.arg,
	                                     model->spec, &result->errors))
		return true;
	checker_cancel(c->checker);
	pools_cancel(c->pools);
	listeners_cancel(c->listeners);
	return false;
}

static void
remember_closed(
    struct control *c, const struct spec *before, struct reload_result *result)
{
	uint32_t n = c->model->spec->global.closed_sessions;

	if (n != before->global.closed_sessions &&
	    !closed_rings_resize(&c->proxy.closed, n, c->grace))
		changes_add(&result->changes, true,
		    "there is no memory to remember %u closed sessions; fewer "
		    "are remembered",
		    n);
}

/* Publishes lineups before frontends: a session that begins under the new model
 * finds its servers.  The old model is retired when no thread can find it any
 * more. */
static void
commit(struct control *c, struct model *model, struct reload_result *result)
{
	struct model *before = c->model;

	model_publish(model, before);
	checker_commit(c->checker, model);
	c->model = model;
	server_names_commit(c);
	pools_apply(c->pools, model->spec, &result->changes);
	control_follow_limits(c);
	listeners_commit(c->listeners, c->pools, &result->changes);
	remember_closed(c, before->spec, result);
	if (c->follower.commit)
		c->follower.commit(
		    c->follower.arg, model->spec, &result->changes);
	model_retire(before);
	server_followup_review(c);
	c->reloads++;
}

/* Sessions have their memory and descriptors since the start. */
static void
warn_of_descriptors(struct control *c, struct reload_result *result)
{
	uint32_t sessions;

	if (!limits_suffice(&c->budget, c->model->spec, &sessions))
		changes_add(&result->changes, true,
		    "with these listeners and checks the descriptors are "
		    "enough for %u session%s and not for %u; allow more "
		    "(LimitNOFILE= in the unit) and restart",
		    sessions, text_s(sessions), c->budget.sessions);
}

/* Logs each entry; returns the text, cut into its lines, for the caller to
 * free, or NULL when memory is short. */
static char *
log_list(const struct err_list *list, enum log_level level)
{
	char *rest, *line;
	struct text_out out;

	if (!text_out_open(&out))
		return NULL;
	err_list_print(list, out.stream);
	(void)text_out_close(&out);
	rest = out.text;
	while ((line = strsep(&rest, "\n")))
		if (*line && level == LOG_LEVEL_ERROR)
			log_error("%s", line);
		else if (*line)
			log_warning("%s", line);
	return out.text;
}

static void
log_errors(const struct err_list *errors)
{
	char *text = log_list(errors, LOG_LEVEL_ERROR);

	/* The text is cut into its lines: this is the first. */
	event_add(EVENT_RELOAD_FAILED, LOG_LEVEL_ERROR, NULL, NULL,
	    "the configuration was not reloaded; the former one stays in "
	    "force: %s",
	    text ? text : "out of memory");
	free(text);
}

/* The most changes of a reload that become events, so that other events are not
 * displaced.  The log and the answer have all changes. */
#define EVENTS_OF_CHANGES 100

static void
log_change(const struct change *change, bool keep)
{
	if (keep)
		event_add(EVENT_CHANGE,
		    change->restart ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, NULL,
		    NULL, "%s", change->text);
	else if (change->restart)
		log_warning("%s", change->text);
	else
		log_info("%s", change->text);
}

static void
log_changes(const struct changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		log_change(&changes->all[i], i < EVENTS_OF_CHANGES);
	event_add(EVENT_RELOAD, LOG_LEVEL_INFO, NULL, NULL,
	    "reloaded: %zu change%s", changes->n, changes->n == 1 ? "" : "s");
}

/* The sessions' memory and descriptors are divided at the start. */
static void
warn_of_maxconn(
    const struct control *c, unsigned before, struct reload_result *result)
{
	unsigned now = c->model->spec->global.maxconn;

	if (now != before &&
	    (now > c->budget.sessions || (now == 0 && c->budget.by_maxconn)))
		changes_add(&result->changes, true,
		    "global: maxconn: there is room for %u sessions since the "
		    "start; more takes a restart",
		    c->budget.sessions);
}

/* Takes the spec over. */
static bool
put_in_force(struct control *c, struct spec *spec, struct reload_result *result)
{
	unsigned maxconn = c->model->spec->global.maxconn;
	struct model *model;

	if (!may_reload(c, result) || !compare(c, spec, result)) {
		spec_free(spec);
		return false;
	}
	model = model_new(spec, c->grace, c->model);
	if (!model)
		return refuse(result, "out of memory");
	server_names_prepare(c, model);
	if (!prepare(c, model, result)) {
		model_free(model);
		return false;
	}
	commit(c, model, result);
	warn_of_descriptors(c, result);
	server_names_warn(c, &result->changes);
	config_warnings(c->model->spec, &result->warnings);
	warn_of_maxconn(c, maxconn, result);
	return true;
}

/* For `systemctl status`. */
static void
notify_result(bool ok, const struct reload_result *result)
{
	const struct err_list *errors = &result->errors;
	size_t n = result->changes.n;

	if (ok)
		notify_ready(
		    "Ready; reloaded with %zu change%s", n, n == 1 ? "" : "s");
	else
		notify_ready("Ready; a reload was refused: %s",
		    errors->n > 0 && errors->entries ? errors->entries[0].text
		                                     : "out of memory");
}

static void
finish(struct reload *r)
{
	struct control *c = r->control;
	bool ok = r->spec && put_in_force(c, r->spec, &r->result);

	r->spec = NULL;
	r->done = true;
	if (ok) {
		log_changes(&r->result.changes);
		free(log_list(&r->result.warnings, LOG_LEVEL_WARNING));
	} else {
		log_errors(&r->result.errors);
	}
	if (c->phase == RUNNING)
		notify_result(ok, &r->result);
	if (r->when_done)
		r->when_done(ok, &r->result);
}

/* Instead of waiting any longer. */
static void
finish_waiting(struct control *c)
{
	struct reload *r = c->reloading;

	if (!r)
		return;
	c->reloading = NULL;
	timed_task_cancel(&r->waiting);
	finish(r);
	reload_unref(r);
}

#define LOOK_MS TASK_TIMER_ROUND_MS

static void
on_waiting(struct timed_task *task, uint64_t now_ms)
{
	struct reload *r = container_of(task, struct reload, waiting);
	struct control *c = r->control;

	if (now_ms < r->until_ms && server_names_pending(c, r->spec))
		timed_task_schedule(&r->waiting, now_ms + LOOK_MS);
	else
		finish_waiting(c);
}

static void
wait_for_names(struct reload *r)
{
	uint64_t now_ms = clock_now_ms();

	r->refs++;
	r->control->reloading = r;
	r->until_ms = now_ms + SERVER_NAMES_WAIT_MS;
	timed_task_schedule(&r->waiting, now_ms + 1);
}

struct reload *
control_reload(struct control *control)
{
	struct control *c = control;
	struct reload *r = calloc(1, sizeof(*r));

	if (!r) {
		log_error("out of memory: the configuration was not reloaded");
		return NULL;
	}
	finish_waiting(c);
	r->control = c;
	r->refs = 1;
	timed_task_init(&r->waiting, &c->task_timer, on_waiting);
	err_list_init(&r->result.errors);
	err_list_init(&r->result.warnings);
	changes_init(&r->result.changes);
	if (c->phase == RUNNING)
		notify_reloading();
	if (may_reload(c, &r->result) &&
	    config_load_all((const char *const *)c->files, c->files_n, &r->spec,
	        &r->result.errors))
		server_names_ask(c, r->spec);
	if (r->spec && server_names_pending(c, r->spec))
		wait_for_names(r);
	else
		finish(r);
	return r;
}

const struct reload_result *
reload_result(const struct reload *reload)
{
	return reload->done ? &reload->result : NULL;
}

void
reload_when_done(struct reload *reload,
    void (*call)(bool ok, const struct reload_result *result))
{
	if (reload->done)
		call(reload->result.errors.n == 0, &reload->result);
	else
		reload->when_done = call;
}

void
reload_unref(struct reload *reload)
{
	if (!reload || --reload->refs > 0)
		return;
	spec_free(reload->spec);
	err_list_fini(&reload->result.errors);
	err_list_fini(&reload->result.warnings);
	changes_fini(&reload->result.changes);
	free(reload);
}

void
control_reload_fini(struct control *control)
{
	struct reload *r = control->reloading;

	if (!r)
		return;
	control->reloading = NULL;
	timed_task_cancel(&r->waiting);
	refuse(&r->result, "lfproxy is stopping");
	if (r->when_done)
		r->when_done(false, &r->result);
	reload_unref(r);
}
