/* SPDX-License-Identifier: MIT
 * See running.h.
 */
#include "commands/running.h"

#include <inttypes.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/content.h"
#include "commands/add_acl.h"
#include "commands/certificates.h"
#include "commands/expiring.h"
#include "commands/set_bandwidth.h"
#include "commands/setting_access.h"
#include "config/edit.h"
#include "model/model.h"
#include "proxy/proxy.h"

#define TEXT_SIZE (CONFIG_SERVER_TEXT_SIZE + SETTING_VALUE_SIZE + 512)

struct walk {
	const struct command_env *env;
	running_fn *call;
	void *arg;
	/* The present change, and its texts. */
	struct running_change change;
	bool of_set; /* the server is a member of a set, which has no line */
	bool is_secret;
	const char *unsaved; /* why no key says it; NULL: a key may */
	/* The entries were deleted all at once; a change before has the
	 * command. */
	bool cleared, told_cleared;
	struct spec_place place;
	char section[CALL_NAME_SIZE], server[CALL_NAME_SIZE];
	char undo[2 * CALL_NAME_SIZE + SETTING_VALUE_SIZE];
	char commands[TEXT_SIZE],
	    subject[1024], /* it may have the path of a file */
	    configured[SETTING_VALUE_SIZE], value[SETTING_VALUE_SIZE],
	    base[SETTING_VALUE_SIZE];
	const struct expiring_status *ends; /* NULL: the value is permanent */
};

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

/* Passes the change on.  The caller has written its other texts into the walk;
 * key and text are those of struct running_change. */
static void
tell(struct walk *w, const char *key, const char *text)
{
	w->change = (struct running_change){.commands = w->commands,
	    .subject = w->subject,
	    .configured = w->configured,
	    .value = w->value,
	    .base = w->base[0] ? w->base : NULL,
	    .ends = w->ends,
	    .undo = w->undo[0] ? w->undo : NULL,
	    .is_secret = w->is_secret,
	    .unsaved = w->is_secret ? "it may hold a password"
	               : w->unsaved ? w->unsaved
	                            : "the file cannot say this",
	    .section = w->section,
	    .server = w->server[0] ? w->server : NULL,
	    .place = w->place,
	    .key = w->of_set || w->is_secret || w->unsaved ? NULL : key,
	    .text = text};
	w->call(w->arg, &w->change);
}

/* Returns a state in the words of the audit; other values are as they are. */
static const char *
state_text(const char *value)
{
	return strcmp(value, "enable") == 0     ? "enabled"
	       : strcmp(value, "disable") == 0  ? "disabled"
	       : strcmp(value, "shutdown") == 0 ? "shut down"
	                                        : value;
}

/* Tells a value of a setting that has a row. */
static void
tell_value(struct walk *w, enum setting_id id, const struct setting *setting,
    const char *value)
{
	const struct setting_row *row = &setting_rows[id];
	char in_file[SETTING_VALUE_SIZE];
	const char *text = value;
	size_t len = 0;

	/* Until its sockets are closed, the frontend accepts no client. */
	if (strcmp(value, "shutdown") == 0)
		len = (size_t)PUT(
		    w->commands, "disable frontend %s\n", setting->proxy);
	setting_command(id, setting, value, w->commands + len,
	    sizeof(w->commands) - len - 1);
	strcat(w->commands, "\n");
	PUT(w->value, "%s", setting_shown(setting, state_text(value)));
	if (row->in_file)
		text = row->in_file(value, in_file);
	w->is_secret = setting->is_secret;
	setting_command(
	    id, setting, setting->configured, w->undo, sizeof(w->undo));
	tell(w, text ? row->key : NULL, text);
	w->is_secret = false;
	w->undo[0] = '\0';
}

static void
tell_setting(
    struct walk *w, enum setting_id id, const struct setting_object *of)
{
	struct expiring_status pending;
	struct setting now;

	setting_read(id, of, &now);
	PUT(w->subject, "%s", now.subject);
	PUT(w->configured, "%s",
	    setting_shown(&now, state_text(now.configured)));
	PUT(w->base, "%s", now.base);
	w->unsaved = now.unsaved;
	if (expiring_of(w->env->expiring, &now, &pending)) {
		if (!w->unsaved && setting_rows[id].blocked)
			w->unsaved = setting_rows[id].blocked(
			    pending.former, pending.value);
		if (strcmp(pending.former, now.configured) != 0)
			tell_value(w, id, &now, pending.former);
		w->ends = &pending;
		tell_value(w, id, &now, pending.value);
		w->ends = NULL;
	} else if (now.is_changed) {
		tell_value(w, id, &now, setting_own(&now));
	}
	w->unsaved = NULL;
}

/* Tells the changes of a server, a frontend, a pool, or the process. */
static void
walk_settings(
    struct walk *w, enum setting_scope scope, struct setting_object of)
{
	const struct setting_object process = setting_object_of(w->env);

	of.limits = process.limits;
	of.pools = process.pools;
	for (enum setting_id id = 0; id < SETTINGS; id++)
		if (setting_rows[id].scope == scope)
			tell_setting(w, id, &of);
}

/* -- servers -- */

static void
tell_added(struct walk *w, const struct server *s, const char *name)
{
	const struct spec *spec = s->backend->model->spec;
	const struct server_overrides *o = &s->state->overrides;
	char text[CONFIG_SERVER_TEXT_SIZE];
	size_t len;

	config_server_text(spec, s->backend->spec, s->spec, text);
	PUT(w->subject, "server %s", name);
	PUT(w->commands, "add server %s%s\nset server %s state %s\n", name,
	    text + strlen(s->spec->name), name,
	    server_admin_name(server_ordered_admin(s)));
	len = strlen(w->commands);
	if (!o->check_paused && s->check.on)
		snprintf(w->commands + len, sizeof(w->commands) - len,
		    "enable health %s\n", name);
	len = strlen(w->commands);
	if (!o->agent_paused && s->agent.on)
		snprintf(w->commands + len, sizeof(w->commands) - len,
		    "enable agent %s\n", name);
	w->base[0] = '\0';
	PUT(w->configured, "none");
	/* The text that an agent is sent may be a password. */
	w->is_secret = s->spec->agent.send.n > 0;
	PUT(w->value, "%s",
	    w->is_secret ? s->spec->address : text + strlen(s->spec->name) + 1);
	tell(w, "server", text);
	w->is_secret = false;
}

static void
tell_deleted(struct walk *w, const struct backend_spec *b, const char *server)
{
	PUT(w->section, "backend %s", b->name);
	PUT(w->server, "%s", server);
	w->place = b->place;
	PUT(w->subject, "server %s/%s", b->name, server);
	PUT(w->commands, "set server %s/%s state maint\ndel server %s/%s\n",
	    b->name, server, b->name, server);
	w->base[0] = '\0';
	PUT(w->configured, "in the file");
	PUT(w->value, "deleted");
	tell(w, "server", NULL);
}

bool
running_is_as_in_file(
    const struct command_env *env, const struct server *server)
{
	static const struct server_overrides none;
	const struct server *s = server;

	return memcmp(&s->state->overrides, &none, sizeof(none)) == 0 &&
	       server_ordered_admin(s) == server_file_admin(s) &&
	       !expiring_has_server(
	           env->expiring, s->backend->spec->name, s->spec->name);
}

/* Tells the changes of a server.  added: only if a command has added the
 * server; otherwise only if none has.  Most of thousands of servers have none.
 */
static void
walk_server(struct walk *w, struct server *s, bool added)
{
	char name[2 * CALL_NAME_SIZE];

	if (s->spec->added != added ||
	    (!added && running_is_as_in_file(w->env, s)))
		return;
	PUT(name, "%s/%s", s->backend->spec->name, s->spec->name);
	PUT(w->section, "backend %s", s->backend->spec->name);
	PUT(w->server, "%s", s->spec->name);
	w->of_set = s->spec->set.is_set;
	w->place = s->spec->place;
	if (s->spec->added) {
		w->place = s->backend->spec->place;
		tell_added(w, s, name);
	}
	walk_settings(w, OF_SERVER, (struct setting_object){.server = s});
	w->server[0] = '\0';
	w->of_set = false;
}

/* -- lists -- */

/* Returns whether an entry before that one has the same range. */
static bool
is_repeated(const struct list_spec *spec, size_t entry)
{
	for (size_t i = 0; i < entry; i++)
		if (memcmp(&spec->entries[i].range, &spec->entries[entry].range,
		        sizeof(spec->entries[i].range)) == 0)
			return true;
	return false;
}

/* Returns whether the section itself has an entry with that range. */
static bool
is_of_section(const struct list_spec *spec, const struct cidr *range)
{
	for (size_t i = 0; i < spec->entries_n; i++)
		if (memcmp(&spec->entries[i].range, range, sizeof(*range)) == 0)
			return true;
	return false;
}

/* Returns whether the entry is deleted, and the first one with its range. */
static bool
is_deleted(
    const struct list_spec *spec, size_t entry, const struct acl_content *read)
{
	struct acl_entry same;

	return !acl_content_get(read, &spec->entries[entry].range, &same) &&
	       !is_repeated(spec, entry);
}

/* Puts the command that deletes all entries at once into the first of the
 * changes that it makes. */
static void
put_clear(struct walk *w, const char *list)
{
	w->commands[0] = '\0';
	if (!w->told_cleared)
		PUT(w->commands, "clear acl %s\n", list);
	w->told_cleared = true;
}

/* Tells that the entry was added.  ends may be NULL. */
static void
tell_added_entry(struct walk *w, const struct acl_list *list,
    const struct cidr *range, const struct expiring_status *ends)
{
	char text[CIDR_TEXT_SIZE];

	PUT(w->commands, "add acl %s %s\n", acl_list_name(list),
	    cidr_text(range, text));
	PUT(w->configured, "none");
	PUT(w->value, "%s", text);
	w->ends = ends;
	tell(w, "entry", w->value);
	w->ends = NULL;
}

/* Tells that the entry is deleted.  in_file: a file of the list has it. */
static void
tell_deleted_entry(
    struct walk *w, const char *list, const struct cidr *range, bool in_file)
{
	char text[CIDR_TEXT_SIZE];
	const char *unsaved = w->unsaved;

	PUT(w->configured, "%s", cidr_text(range, text));
	PUT(w->value, "deleted");
	if (w->cleared)
		put_clear(w, list);
	else
		PUT(w->commands, "del acl %s %s\n", list, text);
	if (in_file && !unsaved)
		w->unsaved = "delete it from the list's file";
	tell(w, "entry", NULL);
	w->unsaved = unsaved;
}

/* Tells the entries of the list's files that are deleted, which are so many. If
 * all entries were deleted at once, nothing keeps these, and a command deletes
 * them likewise. */
static void
walk_deleted_of_files(struct walk *w, const struct list_spec *spec,
    const struct acl_list *list, size_t n)
{
	struct acl_listed entry;

	if (w->cleared) {
		put_clear(w, spec->name);
		PUT(w->configured, "%zu entr%s of its files", n,
		    n == 1 ? "y" : "ies");
		PUT(w->value, "deleted");
		tell(w, NULL, NULL);
	}
	for (size_t i = 0; acl_list_deleted_at(list, i, &entry); i++)
		if (!is_of_section(spec, &entry.range))
			tell_deleted_entry(w, spec->name, &entry.range, true);
}

/* Tells the deleted entries, those of the configuration first. */
static void
walk_deleted(
    struct walk *w, const struct list_spec *spec, const struct acl_list *list)
{
	const struct acl_content *read = acl_list_content(list);
	struct acl_changes by = acl_list_changes(list);
	size_t of_files = by.deleted;

	if (of_files == 0)
		return;
	for (size_t i = 0; i < spec->entries_n; i++)
		of_files -= is_deleted(spec, i, read);
	w->cleared = by.cleared > 0;
	w->told_cleared = false;
	if (w->cleared && of_files > 0)
		w->unsaved =
		    "its files have entries that this would bring back";
	for (size_t i = 0; i < spec->entries_n; i++)
		if (is_deleted(spec, i, read))
			tell_deleted_entry(
			    w, spec->name, &spec->entries[i].range, false);
	if (of_files > 0)
		walk_deleted_of_files(w, spec, list, of_files);
	w->cleared = false;
}

struct listed {
	struct walk *walk;
	const struct list_spec *spec;
	const struct acl_list *list;
};

/* Tells the entry that a command has deleted and another one has put back for a
 * time: first the deletion, which will be back. */
static void
tell_put_back(void *arg, const struct expiring_status *pending)
{
	const struct listed *l = arg;
	struct walk *w = l->walk;
	const char *text = strrchr(pending->subject, ' ') + 1;
	struct expiring_status end;
	struct cidr range;

	if (!cidr_parse(text, &range, NULL) ||
	    !acl_list_presence(l->list, &range).was_read ||
	    !acl_entry_end(w->env->expiring, l->list, &range, &end))
		return;
	PUT(w->base, "%016" PRIx64, acl_list_digest(l->list));
	tell_deleted_entry(
	    w, l->spec->name, &range, !is_of_section(l->spec, &range));
	w->base[0] = '\0';
	tell_added_entry(w, l->list, &range, &end);
}

/* Tells the entries that commands have added or deleted. */
static void
walk_list(
    struct walk *w, const struct list_spec *spec, const struct acl_list *list)
{
	struct listed of = {w, spec, list};
	struct expiring_status end;
	struct acl_listed entry;
	char what[CALL_NAME_SIZE + 8];
	bool ends;

	w->place = spec->place;
	PUT(w->section, "list %s", acl_list_name(list));
	PUT(w->subject, "list %s", acl_list_name(list));
	PUT(w->base, "%016" PRIx64, acl_list_digest(list));
	walk_deleted(w, spec, list);
	w->base[0] = '\0';
	/* The entries that commands have added come first. */
	for (size_t i = 0;
	     i < acl_list_changes(list).added && acl_list_at(list, i, &entry);
	     i++) {
		ends =
		    acl_entry_end(w->env->expiring, list, &entry.range, &end);
		tell_added_entry(w, list, &entry.range, ends ? &end : NULL);
	}
	snprintf(what, sizeof(what), "acl %s", acl_list_name(list));
	expiring_each(w->env->expiring, what, tell_put_back, &of);
	w->unsaved = NULL;
}

/* -- client ranges -- */

static void
tell_band(struct walk *w, const struct cidr *range, const char *rates)
{
	char text[CIDR_TEXT_SIZE];

	PUT(w->commands, "set bandwidth client %s %s\n", cidr_text(range, text),
	    rates);
	PUT(w->value, "%s", rates);
	tell(w, NULL, NULL);
}

/* Tells the client ranges whose bandwidth commands have limited. */
static void
walk_bands(struct walk *w)
{
	const struct client_bands *bands =
	    &w->env->instance->proxy.client_bands;

	for (size_t i = 0; i < client_bands_count(bands); i++) {
		struct setting now = {.subject = ""};
		struct expiring_status pending;
		struct client_band band;
		bool ends;

		client_bands_at(bands, i, &band);
		describe_client_band(&band, &now);
		PUT(w->subject, "%s", now.subject);
		PUT(w->configured, "%s", now.configured);
		w->base[0] = '\0';
		ends = expiring_of(w->env->expiring, &now, &pending);
		if (ends && strcmp(pending.former, now.configured) != 0)
			tell_band(w, &band.range, pending.former);
		w->ends = ends ? &pending : NULL;
		tell_band(w, &band.range, now.value);
		w->ends = NULL;
	}
}

/* -- certificates -- */

static void
tell_replaced(void *arg, const struct tls_replaced *r)
{
	struct walk *w = arg;

	PUT(w->subject, "%s %s '%s'", w->section, r->what, r->file);
	PUT(w->value, "%s", r->text);
	tell(w, NULL, NULL);
}

/* Tells what commands have put in place of the files of the section.  The
 * contents go along by lines of their own (certificates.h). */
static void
walk_tls(struct walk *w, const struct tls_spec *tls)
{
	w->place = tls->place;
	PUT(w->section, "tls %s", tls->name);
	w->commands[0] = w->base[0] = '\0';
	PUT(w->configured, "as in the file");
	w->unsaved = "lfproxy writes no certificates and keys; write the file";
	certificates_each(tls, tell_replaced, w);
	w->unsaved = NULL;
}

void
running_changes(const struct command_env *env, running_fn *call, void *arg)
{
	struct walk w = {.env = env, .call = call, .arg = arg};
	struct model *model = env->instance->model;
	const struct spec *spec = model->spec;

	model_for_each_server (s, model)
		walk_server(&w, s, false);
	model_for_each_frontend (f, model) {
		w.place = f->spec->place;
		PUT(w.section, "frontend %s", f->spec->name);
		walk_settings(
		    &w, OF_FRONTEND, (struct setting_object){.frontend = f});
	}
	w.place = (struct spec_place){.file = NULL};
	PUT(w.section, "global");
	walk_settings(&w, OF_PROCESS, (struct setting_object){.server = NULL});
	walk_bands(&w);
	for (size_t i = 0; i < spec->lists_n; i++)
		walk_list(&w, &spec->lists[i],
		    model_find_list(model, spec->lists[i].name));
	for (size_t i = 0; i < spec->tls_n; i++)
		walk_tls(&w, &spec->tls[i]);
	/* An added server may have the name of a deleted one. */
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].deleted_n; j++)
			tell_deleted(&w, &spec->backends[i],
			    spec->backends[i].deleted[j]);
	model_for_each_server (s, model)
		walk_server(&w, s, true);
	w.server[0] = '\0';
	for (size_t i = 0; i < spec->pools_n; i++) {
		w.place = spec->pools[i].place;
		PUT(w.section, "pool %s", spec->pools[i].name);
		walk_settings(&w, OF_POOL,
		    (struct setting_object){.pool = spec->pools[i].name});
	}
}
