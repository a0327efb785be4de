/* SPDX-License-Identifier: MIT
 * `show drift`: what differs between the files on disk, the files as they were
 * loaded, and what runs.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "commands/command.h"
#include "commands/expiring.h"
#include "commands/report.h"
#include "commands/running.h"
#include "commands/savable.h"
#include "live/drift.h"

/* Writes the path from the root, since lfproxyctl has another working
 * directory. */
static void
put_path(struct report *r, const char *name, const char *path)
{
	char *whole = path ? realpath(path, NULL) : NULL;

	report_json_string(r, name, whole ? whole : path);
	free(whole);
}

static void
put_files(struct report *r, const struct spec *spec)
{
	report_list(r, "files");
	for (size_t i = 0; i < spec->files_n; i++)
		put_path(r, NULL, spec->files[i]);
	report_close(r);
}

/* Writes the errors in the files, or what has changed in them.  Returns what
 * they have now, for spec_free, or NULL. */
static struct spec *
put_file_changes(struct report *r, const struct command_env *env)
{
	struct spec *file;
	struct err_list errors;
	struct changes changes;
	bool ok;

	err_list_init(&errors);
	changes_init(&changes);
	ok = control_drift(env->control, &changes, &errors, &file);
	if (ok)
		report_text(r,
		    "# %zu change%s of the files since they were "
		    "loaded\n",
		    changes.n, text_s(changes.n));
	else
		report_text(r, "# the files are not valid now\n");
	report_list(r, "errors");
	for (size_t i = 0; i < errors.n; i++) {
		const struct err_entry *e = &errors.entries[i];
		char *text = err_entry_text(e);

		report_text(r, "%s\n", text ? text : e->text);
		report_json_string(r, NULL, text ? text : e->text);
		free(text);
	}
	report_close(r);
	report_list(r, "file");
	for (size_t i = 0; i < changes.n; i++) {
		report_text(r, "%s%s\n", changes.all[i].text,
		    changes.all[i].restart ? " (takes a restart)" : "");
		report_json_string(r, NULL, changes.all[i].text);
	}
	report_close(r);
	changes_fini(&changes);
	err_list_fini(&errors);
	return file;
}

/* Returns where the server's line is now: lines may have moved since the files
 * were loaded. */
static struct spec_place
place_of(const struct spec *file, const struct running_change *c)
{
	const char *backend = c->section + strlen("backend ");
	size_t at, server;

	if (!file || !c->server ||
	    !name_table_find(INDEXED_TABLE(file, backends), backend, &at) ||
	    !name_table_find(
	        SERVER_TABLE(&file->backends[at]), c->server, &server))
		return c->place;
	return file->backends[at].servers[server]->place;
}

struct drift {
	struct report report;
	struct spec *file; /* NULL: the files cannot be read */
	struct savable savable;
	size_t n; /* permanent changes so far */
};

static void
count_change(void *arg, const struct running_change *change)
{
	size_t *n = arg;

	n[change->ends != NULL]++;
}

static void
put_drift(void *arg, const struct running_change *c)
{
	struct drift *d = arg;
	struct report *r = &d->report;
	struct spec_place place = place_of(d->file, c);
	const char *why = c->key ? NULL : c->unsaved;

	if (c->ends)
		return;
	if (d->n < d->savable.n && d->savable.why[d->n])
		why = d->savable.why[d->n];
	d->n++;
	report_text(r, "%s: %s -> %s%s%s%s\n", c->subject, c->configured,
	    c->value, why ? " (" : "", why ? why : "", why ? ")" : "");
	report_object(r, NULL);
	report_json_string(r, "what", c->subject);
	report_json_string(r, "configured", c->configured);
	report_json_string(r, "value", c->value);
	report_json_string(r, "commands", c->is_secret ? NULL : c->commands);
	report_json_string(r, "section", c->section);
	report_json_string(r, "server", c->server);
	report_json_string(r, "key", why ? NULL : c->key);
	report_json_string(r, "text", c->is_secret ? NULL : c->text);
	report_json_string(r, "unsaved", why);
	put_path(r, "path", place.file);
	report_json(r, "line", "%u", place.line);
	report_close(r);
}

/* Writes a value that is set for a time: no file is to have it. */
static void
put_temporary(void *arg, const struct running_change *c)
{
	struct report *r = arg;
	char left[SPAN_TEXT_SIZE];
	const char *former;

	if (!c->ends)
		return;
	former = setting_shown(c->ends->setting, c->ends->former);
	report_text(r, "%s: %s, and %s in %s\n", c->subject, c->value, former,
	    left_text(c->ends->left_ms, left));
	report_object(r, NULL);
	report_json_string(r, "what", c->subject);
	report_json_string(r, "configured", c->configured);
	report_json_string(r, "value", c->value);
	report_json_string(r, "former", former);
	report_json(r, "left_ms", "%" PRIu64, c->ends->left_ms);
	report_close(r);
}

bool
run_show_drift(struct call *call)
{
	struct drift d = {.file = NULL};
	struct report *r = &d.report;
	bool json = call_take_json(call);
	size_t n[2] = {0, 0}; /* permanent, for a time */

	running_changes(call->env, count_change, n);
	report_begin(r, json, call->out);
	report_row(r);
	put_files(r, call->env->instance->model->spec);
	d.file = put_file_changes(r, call->env);
	if (n[0] > 0)
		savable_find(&d.savable, call->env, d.file);
	report_text(r,
	    "# %zu change%s by commands that the files do not have\n", n[0],
	    text_s(n[0]));
	report_list(r, "running");
	if (n[0] > 0)
		running_changes(call->env, put_drift, &d);
	report_close(r);
	if (n[1] > 0)
		report_text(
		    r, "# %zu change%s for a time\n", n[1], text_s(n[1]));
	report_list(r, "temporary");
	if (n[1] > 0)
		running_changes(call->env, put_temporary, r);
	report_close(r);
	report_end(r);
	savable_fini(&d.savable);
	spec_free(d.file);
	return true;
}

/* -- undo drift -- */

/* A setting that is looked for among the changes. */
struct undoing {
	char what[sizeof(((struct setting *)NULL)->subject)]; /* its subject */
	char *command; /* that undoes the change; NULL: not found */
	char *made;    /* the command for a change that no command undoes */
};

static void
find_undo(void *arg, const struct running_change *c)
{
	struct undoing *u = arg;

	if (u->command || strcmp(c->subject, u->what) != 0)
		return;
	if (c->undo)
		u->command = strdup(c->undo);
	else if (!u->made && !c->is_secret && c->commands)
		u->made = strndup(c->commands, strcspn(c->commands, "\n"));
}

/* Runs the command that sets the value of the file, so that all rules of that
 * command apply. */
bool
run_undo_drift(struct call *call)
{
	struct undoing u = {.what = ""};
	size_t len = 0;

	for (char **word = call->args; *word && len < sizeof(u.what); word++)
		len += (size_t)snprintf(u.what + len, sizeof(u.what) - len,
		    "%s%s", len > 0 ? " " : "", *word);
	if (len == 0)
		return err_set(call->err,
		    "A setting is expected as 'show drift' names it, as in "
		    "'undo drift server app/a weight'.");
	running_changes(call->env, find_undo, &u);
	if (!u.command) {
		if (u.made)
			err_set(call->err,
			    "'undo drift' is for settings; undo '%.200s' by "
			    "the command that belongs to it.",
			    u.made);
		else
			err_set(call->err,
			    "No command has changed a setting '%s' (use 'show "
			    "drift').",
			    u.what);
		free(u.made);
		return false;
	}
	free(u.made);
	call->rest =
	    command_run(call->env, call->mode, u.command, NULL, call->out);
	free(u.command);
	return true;
}
