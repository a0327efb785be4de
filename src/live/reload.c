/* SPDX-License-Identifier: MIT
 * See reload.h.
 */
#include "live/reload.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/notify.h"
#include "base/text.h"
#include "base/text_out.h"
#include "config/config.h"
#include "config/edit.h"
#include "live/control.h"
#include "live/transition.h"
#include "process/limits.h"
#include "watch/list_diff.h"
#include "watch/list_load.h"
#include "watch/tls_diff.h"

/* The time after which a reload is logged that waits for lists.  lfproxyctl
 * gives up after ten seconds. */
#define LISTS_SLOW_MS 5000
/* How long a reload may read lists while another one waits for it. */
#define LISTS_PATIENCE_MS 60000

struct reload {
	struct control *control;
	unsigned refs;
	bool done;
	struct spec *spec;       /* until it is done; NULL after an error */
	struct list_load *lists; /* NULL: none, or taken over */
	struct reload_result result;
	struct timed_task waiting;
	bool begun;
	bool is_slow; /* which was logged */
	uint64_t began_ms;
	struct reload *next; /* ordered later; waits for this one */
	void (*when_done)(bool ok, const struct reload_result *result);
};

/* Logs each entry.  Returns the text, cut into its lines, which the caller
 * frees, or NULL when memory is short. */
static char *
log_list(const struct err_list *list, enum log_level level)
{
	char *rest, *line;
	struct text_out out;

	if (!text_out_open(&out))
		return NULL;
	err_list_print(list, "", out.stream);
	(void)text_out_close(&out);
	rest = out.text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			log_message(level, "%s", line);
	return out.text;
}

static void
log_errors(const struct err_list *errors)
{
	char *text = log_list(errors, LOG_LEVEL_ERROR);

	/* The text is cut into its lines: this is the first one. */
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
log_changes(const struct changes *changes)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->all[i];

		if (i < EVENTS_OF_CHANGES)
			event_add(EVENT_CHANGE,
			    change->restart ? LOG_LEVEL_WARNING
			                    : LOG_LEVEL_INFO,
			    NULL, NULL, "%s", change->text);
		else
			log_message(change->restart ? LOG_LEVEL_WARNING
			                            : LOG_LEVEL_INFO,
			    "%s", change->text);
	}
	event_add(EVENT_RELOAD, LOG_LEVEL_INFO, NULL, NULL,
	    "reloaded: %zu change%s", changes->n, text_s(changes->n));
}

/* Warns if the descriptors do not suffice for the new configuration: sessions
 * got their memory and descriptors at the start. */
static void
warn_of_budget(
    const struct control *c, unsigned maxconn_before, struct changes *changes)
{
	const struct spec *spec = c->instance.model->spec;
	unsigned maxconn = spec->global.maxconn;
	struct err err;

	if (!limits_suffice(&c->orders.limits.budget, spec,
	        "these listeners and checks", &err))
		changes_add(changes, true, "%s", err.text);
	if (maxconn != maxconn_before &&
	    (maxconn > c->orders.limits.budget.sessions ||
	        (maxconn == 0 && c->orders.limits.budget.by_maxconn)))
		changes_add(changes, true,
		    "global: maxconn: there is room for %u sessions since the "
		    "start; more takes a restart",
		    c->orders.limits.budget.sessions);
}

/* Lists the servers whose addresses commands have set.  Returns false when
 * memory is short. */
static bool
list_moved(const struct model *model, struct changes *changes)
{
	size_t room = 0;

	model_for_each_server (s, model)
		room += s->state->overrides.places[0] != 0;
	if (room == 0)
		return true;
	changes->moved = calloc(room, sizeof(*changes->moved));
	if (!changes->moved)
		return false;
	model_for_each_server (s, model)
		if (s->state->overrides.places[0] != 0)
			changes->moved[changes->moved_n++] =
			    (struct moved_server){s->spec,
			        s->state->overrides.places, SERVER_PLACES};
	return true;
}

/* Puts the spec in force, and takes ownership of it.  Returns false with
 * errors.  The comparison is with what is in force now, which may have been
 * edited while names were waited for. */
static bool
put_in_force(struct control *c, struct spec *spec, struct reload_result *result)
{
	const struct spec *before = c->instance.model->spec;
	unsigned maxconn_before = before->global.maxconn;
	struct changes *changes = &result->changes;
	struct transition t = {.parts = &transition_of_model,
	    .control = c,
	    .spec = spec,
	    .changes = changes,
	    .errors = &result->errors,
	    .before = c->instance.model};

	if (!control_may_change(c, &result->errors)) {
		spec_free(spec);
		return false;
	}
	if (!list_moved(c->instance.model, changes) ||
	    !config_diff(before, spec, changes)) {
		spec_free(spec);
		return control_refuse(&result->errors, "out of memory");
	}
	config_tell_edits(before, spec, changes);
	if (!transition_prepare(&t))
		return false;
	tls_diff(before, spec, changes);
	spec_adopt_tls(spec, before);
	/* Lists lose their contents to the model. */
	config_warnings(spec, &result->warnings);
	transition_commit(&t);
	server_names_warn(&c->server_names, changes);
	warn_of_budget(c, maxconn_before, changes);
	return true;
}

/* Reports the result to the service manager, for `systemctl status`. */
static void
notify_result(bool ok, const struct reload_result *result)
{
	const struct err_list *errors = &result->errors;
	size_t n = result->changes.n;

	if (ok)
		notify_ready("Ready; reloaded with %zu change%s", n, text_s(n));
	else
		notify_ready("Ready; a reload was refused: %s",
		    errors->n > 0 && errors->entries ? errors->entries[0].text
		                                     : "out of memory");
}

static void
begin_lists(struct reload *r)
{
	if (r->spec->lists_n == 0)
		return;
	r->lists = list_load_begin(r->spec);
	if (!r->lists)
		control_refuse(&r->result.errors,
		    "out of memory: the files of lists are not read");
}

/* Takes over the lists that were read. */
static void
finish_lists(struct reload *r)
{
	struct list_load *lists = r->lists;
	struct err err;

	if (!lists)
		return;
	r->lists = NULL;
	if (!lists->ended) {
		list_load_cancel(lists);
		control_refuse(&r->result.errors,
		    "the files of lists could not be read in time");
		return;
	}
	if (lists->error != 0) {
		err_set(&err, "the files of lists are not read: %s",
		    strerror(lists->error));
		control_refuse(&r->result.errors, err.text);
	} else {
		list_diff(lists, r->control->instance.model, r->spec,
		    &r->result.errors, &r->result.changes);
	}
	list_load_free(lists);
}

/* Returns whether the reload has to wait for lists or names.  There is no limit
 * on the time for lists unless another reload waits, which also ends the wait
 * for names. */
static bool
is_waiting(const struct reload *r, uint64_t now_ms)
{
	if (!r->spec || r->control->stop.phase == KILLING)
		return false;
	if (r->lists && !r->lists->ended &&
	    (!r->next || now_ms < r->began_ms + LISTS_PATIENCE_MS))
		return true;
	return !r->next && now_ms < r->began_ms + SERVER_NAMES_WAIT_MS &&
	       server_names_pending(&r->control->server_names, r->spec);
}

/* Logs, once, that the files of a list keep the reload waiting. */
static void
warn_of_slow_list(struct reload *r, uint64_t now_ms)
{
	if (r->is_slow || !r->lists || r->lists->ended ||
	    now_ms < r->began_ms + LISTS_SLOW_MS)
		return;
	r->is_slow = true;
	log_warning("list %s: its files are not read after %d s; a reload "
	            "waits for them",
	    r->spec->lists[list_load_at(r->lists)].name, LISTS_SLOW_MS / 1000);
}

static void
count_reload(struct reload_status *reloads, bool ok)
{
	reloads->ended_us = clock_wall_us();
	reloads->last_refused = !ok;
	if (ok) {
		reloads->done++;
		reloads->in_force_us = reloads->ended_us;
	} else {
		reloads->refused++;
	}
}

static void
finish_reload(struct reload *r)
{
	struct control *c = r->control;
	bool ok;

	finish_lists(r);
	if (r->result.errors.n > 0) {
		spec_free(r->spec);
		r->spec = NULL;
	}
	ok = r->spec && put_in_force(c, r->spec, &r->result);
	r->spec = NULL;
	r->done = true;
	count_reload(&c->reloads, ok);
	if (ok) {
		log_changes(&r->result.changes);
		free(log_list(&r->result.warnings, LOG_LEVEL_WARNING));
	} else {
		log_errors(&r->result.errors);
	}
	if (c->stop.phase == RUNNING)
		notify_result(ok, &r->result);
	if (r->when_done)
		r->when_done(ok, &r->result);
}

/* Reads the configuration, and begins to read the rest. */
static void
begin_reload(struct reload *r)
{
	struct control *c = r->control;
	struct err_list *errors = &r->result.errors;

	r->begun = true;
	r->began_ms = clock_now_ms();
	if (c->stop.phase == RUNNING)
		notify_reloading();
	if (c->files_n == 0)
		control_refuse(errors,
		    "this lfproxy was started without a file; start it with -c "
		    "FILE to be able to reload");
	else if (control_may_change(c, errors) &&
	         config_load_all((const char *const *)c->files, c->files_n,
	             c->instance.model->spec, &r->spec, errors)) {
		server_names_ask(&c->server_names, r->spec);
		begin_lists(r);
	}
}

/* Carries out the reloads in their order, until one has to wait.  Reading the
 * configuration and putting it in force take long, so each has a turn of the
 * loop. */
static void
carry_on(struct control *c)
{
	struct reload *r;

	while ((r = c->reloading)) {
		uint64_t now_ms = clock_now_ms();
		bool was_begun = r->begun;

		if (!was_begun)
			begin_reload(r);
		if (is_waiting(r, now_ms)) {
			warn_of_slow_list(r, now_ms);
			timed_task_schedule(
			    &r->waiting, now_ms + TASK_TIMER_ROUND_MS);
			return;
		}
		if (!was_begun && r->spec && c->stop.phase != KILLING) {
			timed_task_schedule(&r->waiting, now_ms);
			return;
		}
		c->reloading = r->next;
		timed_task_cancel(&r->waiting);
		finish_reload(r);
		reload_unref(r);
	}
}

static void
on_waiting(struct timed_task *task, uint64_t now_ms)
{
	(void)now_ms;
	carry_on(container_of(task, struct reload, waiting)->control);
}

struct reload *
control_reload(struct control *control,
    void (*when_done)(bool ok, const struct reload_result *result))
{
	struct control *c = control;
	struct reload *r = calloc(1, sizeof(*r)), **last = &c->reloading;

	if (!r) {
		log_error("out of memory: the configuration was not reloaded");
		count_reload(&c->reloads, false);
		return NULL;
	}
	/* The caller's reference, and that of the reloads under way. */
	*r = (struct reload){.control = c, .refs = 2, .when_done = when_done};
	timed_task_init(&r->waiting, &c->instance.timer, on_waiting);
	while (*last)
		last = &(*last)->next;
	*last = r;
	carry_on(c);
	return r;
}

const struct reload_result *
reload_result(const struct reload *reload)
{
	return reload->done ? &reload->result : NULL;
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
	control->stop.phase = KILLING;
	carry_on(control);
}
