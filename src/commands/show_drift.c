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
#include "commands/expiring.h"
#include "commands/report.h"
#include "commands/running.h"
#include "control/drift.h"

/* A change by a command that the files could have. */
struct wanted {
	char *label, *key, *text; /* NULL: a temporary one, or of no file */
	bool in_file;             /* the files have it: it is no drift */
};

struct drift {
	struct report report;
	struct spec *file; /* NULL: the files cannot be read */
	struct wanted *all;
	size_t n, at;
	size_t permanent, temporary;
	bool short_of_memory;
};

/* -- changes by commands -- */

static void
note_wanted(void *arg, const struct running_change *c)
{
	struct drift *d = arg;
	struct wanted *grown = reallocarray(d->all, d->n + 1, sizeof(*grown)),
	              *w;

	d->short_of_memory |= !grown;
	if (!grown)
		return;
	d->all = grown;
	w = &d->all[d->n++];
	*w = (struct wanted){.label = NULL};
	if (c->ends || !c->key)
		return;
	w->key = strdup(c->key);
	w->text = c->text ? strdup(c->text) : NULL;
	if (asprintf(&w->label, "%s%s%s", c->section,
	        c->server ? ": server " : "", c->server ? c->server : "") < 0)
		w->label = NULL;
}

static void
free_wanted(struct drift *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->all[i].label);
		free(d->all[i].key);
		free(d->all[i].text);
	}
	free(d->all);
}

/* Returns whether the list, with commas, has the text. */
static bool
list_has(const char *list, const char *text, size_t len)
{
	for (const char *p = list; (p = strstr(p, text)) != NULL; p += len)
		if ((p == list || p[-1] == ' ') &&
		    (p[len] == ',' || p[len] == '\0'))
			return true;
	return false;
}

/* Notes which entries in the file commands have added, and returns whether that
 * is the whole change. */
static bool
entries_run(
    struct drift *d, const char *label, const char *old, const char *new)
{
	size_t added = 0, commas = 0;
	bool was_empty = old[0] == '(';

	for (size_t i = 0; i < d->n; i++) {
		struct wanted *w = &d->all[i];

		if (!w->label || !w->text || strcmp(w->key, "entry") != 0 ||
		    strcmp(w->label, label) != 0 ||
		    list_has(old, w->text, strlen(w->text)) ||
		    !list_has(new, w->text, strlen(w->text)))
			continue;
		w->in_file = true;
		added++;
	}
	for (const char *p = new; *p; p++)
		commas += *p == ',';
	for (const char *p = old; *p; p++)
		commas -= *p == ',';
	return added > 0 && commas + was_empty == added &&
	       (was_empty || strncmp(new, old, strlen(old)) == 0);
}

/* Returns whether the text that is shown of a key is that value: `(none)` is
 * the default, a rate of 5 is shown as `5/s`, and one of 0 as `off`. */
static bool
has_value(const char *shown, const char *value)
{
	size_t n = value ? strlen(value) : 0;

	if (!shown || !value)
		return shown == value;
	if (shown[0] == '(' || strcmp(shown, "off") == 0)
		return strcmp(value, "off") == 0 || strcmp(value, "0") == 0;
	return strncmp(shown, value, n) == 0 &&
	       (shown[n] == '\0' || strcmp(shown + n, "/s") == 0);
}

/* See struct changes. */
static bool
runs(void *arg, const char *label, const char *key, const char *old,
    const char *new)
{
	struct drift *d = arg;

	if (strcmp(key, "entry") == 0)
		return entries_run(d, label, old, new);
	for (size_t i = 0; i < d->n; i++) {
		struct wanted *w = &d->all[i];

		if (!w->label || !w->key || strcmp(w->key, key) != 0 ||
		    strcmp(w->label, label) != 0 || !has_value(new, w->text))
			continue;
		w->in_file = true;
		return true;
	}
	return false;
}

static void
count_change(void *arg, const struct running_change *c)
{
	struct drift *d = arg;
	size_t i = d->at++;

	if (c->ends)
		d->temporary++;
	else if (i >= d->n || !d->all[i].in_file)
		d->permanent++;
}

/* -- the answer -- */

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

/* Writes the errors in the files, or what has changed in them. */
static void
put_file_changes(struct report *r, bool ok, const struct changes *changes,
    const struct err_list *errors)
{
	if (ok)
		report_text(r,
		    "# %zu change%s of the files since they were "
		    "loaded\n",
		    changes->n, text_s(changes->n));
	else
		report_text(r, "# the files are not valid now\n");
	report_list(r, "errors");
	for (size_t i = 0; i < errors->n; i++) {
		const struct err_entry *e = &errors->entries[i];
		char *text = err_entry_text(e);

		report_text(r, "%s\n", text ? text : e->text);
		report_json_string(r, NULL, text ? text : e->text);
		free(text);
	}
	report_close(r);
	report_list(r, "file");
	for (size_t i = 0; i < changes->n; i++) {
		report_text(r, "%s%s\n", changes->all[i].text,
		    changes->all[i].restart ? " (takes a restart)" : "");
		report_json_string(r, NULL, changes->all[i].text);
	}
	report_close(r);
}

/* Returns where the server's line is now: a save may have moved it. */
static struct spec_place
place_of(const struct spec *file, const struct running_change *c)
{
	const char *backend = c->section + strlen("backend ");
	size_t at, server;

	if (!file || !c->server ||
	    !name_table_find(INDEXED_TABLE(file, backends), backend, &at) ||
	    !name_table_find(INDEXED_TABLE(&file->backends[at], servers),
	        c->server, &server))
		return c->place;
	return file->backends[at].servers[server].place;
}

static void
put_drift(void *arg, const struct running_change *c)
{
	struct drift *d = arg;
	struct report *r = &d->report;
	struct spec_place place = place_of(d->file, c);
	size_t i = d->at++;

	if (c->ends || (i < d->n && d->all[i].in_file))
		return;
	report_text(r, "%s: %s -> %s%s\n", c->subject, c->configured, c->value,
	    c->key ? "" : " (the file cannot say this)");
	report_object(r, NULL);
	report_json_string(r, "what", c->subject);
	report_json_string(r, "configured", c->configured);
	report_json_string(r, "value", c->value);
	report_json_string(r, "commands", c->commands);
	report_json_string(r, "section", c->section);
	report_json_string(r, "server", c->server);
	report_json_string(r, "key", c->key);
	report_json_string(r, "text", c->text);
	put_path(r, "path", place.file);
	report_json(r, "line", "%u", place.line);
	report_close(r);
}

/* Writes a value that is set for a time: no file is to have it. */
static void
put_temporary(void *arg, const struct running_change *c)
{
	struct drift *d = arg;
	struct report *r = &d->report;
	char left[SPAN_TEXT_SIZE];

	if (!c->ends)
		return;
	report_text(r, "%s: %s, and %s in %s\n", c->subject, c->value,
	    c->ends->former, left_text(c->ends->left_ms, left));
	report_object(r, NULL);
	report_json_string(r, "what", c->subject);
	report_json_string(r, "configured", c->configured);
	report_json_string(r, "value", c->value);
	report_json_string(r, "former", c->ends->former);
	report_json(r, "left_ms", "%" PRIu64, c->ends->left_ms);
	report_close(r);
}

static void
put_running(struct drift *d, const struct command_env *env)
{
	struct report *r = &d->report;

	d->at = 0;
	running_changes(env, count_change, d);
	report_text(r,
	    "# %zu change%s by commands that the files do not have\n",
	    d->permanent, text_s(d->permanent));
	report_list(r, "running");
	d->at = 0;
	running_changes(env, put_drift, d);
	report_close(r);
	if (d->temporary > 0)
		report_text(r, "# %zu change%s for a time\n", d->temporary,
		    text_s(d->temporary));
	report_list(r, "temporary");
	running_changes(env, put_temporary, d);
	report_close(r);
}

bool
run_show_drift(struct call *call)
{
	struct control *control = call->env->control;
	struct drift d = {.file = NULL};
	bool json = call_take_json(call), ok;
	struct changes changes;
	struct err_list errors;

	running_changes(call->env, note_wanted, &d);
	err_list_init(&errors);
	changes_init(&changes);
	if (!d.short_of_memory) {
		changes.runs = runs;
		changes.arg = &d;
	}
	ok = control_drift(control, &changes, &errors, &d.file);
	report_begin(&d.report, json, call->out);
	report_row(&d.report);
	put_files(&d.report, control_model(control)->spec);
	put_file_changes(&d.report, ok, &changes, &errors);
	put_running(&d, call->env);
	report_end(&d.report);
	changes_fini(&changes);
	err_list_fini(&errors);
	spec_free(d.file);
	free_wanted(&d);
	return true;
}
