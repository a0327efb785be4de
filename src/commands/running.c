/* SPDX-License-Identifier: MIT
 * See running.h.
 */
#include "commands/running.h"

#include <string.h>

#include "acl/acl.h"
#include "commands/expiring.h"
#include "commands/settings.h"
#include "config/edit.h"
#include "control/pools.h"
#include "model/model.h"

#define TEXT_SIZE (CONFIG_SERVER_TEXT_SIZE + 512)

struct walk {
	const struct command_env *env;
	running_fn *call;
	void *arg;
	/* The present change, and its texts. */
	struct running_change change;
	bool of_set; /* the server is a member of a set, which has no line */
	struct spec_place place;
	char section[CALL_NAME_SIZE], server[CALL_NAME_SIZE];
	char commands[TEXT_SIZE],
	    subject[sizeof(((struct setting *)NULL)->subject)], configured[512],
	    value[512], base[512];
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
	    .section = w->section,
	    .server = w->server[0] ? w->server : NULL,
	    .place = w->place,
	    .key = w->of_set ? NULL : key,
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
	PUT(w->value, "%s", state_text(value));
	if (row->in_file)
		text = row->in_file(value, in_file);
	tell(w, text ? row->key : NULL, text);
}

/* Begins to tell the setting.  Returns whether it was changed for a time; then
 * value is the one that will be put back. */
static bool
begin_setting(struct walk *w, const struct setting *setting,
    struct expiring_status *ret_status)
{
	PUT(w->subject, "%s", setting->subject);
	PUT(w->configured, "%s", state_text(setting->configured));
	PUT(w->base, "%s", setting->base);
	return expiring_of(w->env->expiring, setting, ret_status);
}

static void
tell_setting(
    struct walk *w, enum setting_id id, const struct setting_object *of)
{
	struct expiring_status pending;
	struct setting now;

	setting_read(id, of, &now);
	if (begin_setting(w, &now, &pending)) {
		if (strcmp(pending.former, now.configured) != 0)
			tell_value(w, id, &now, pending.former);
		w->ends = &pending;
		tell_value(w, id, &now, pending.value);
		w->ends = NULL;
	} else if (now.is_changed) {
		tell_value(
		    w, id, &now, now.ordered[0] ? now.ordered : now.value);
	}
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
	PUT(w->value, "%s", text + strlen(s->spec->name) + 1);
	tell(w, "server", text);
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

/* Returns whether no setting of the server can be another than in the file. */
static bool
is_as_in_file(const struct walk *w, const struct server *s)
{
	static const struct server_overrides none;

	return memcmp(&s->state->overrides, &none, sizeof(none)) == 0 &&
	       server_ordered_admin(s) == server_file_admin(s) &&
	       !expiring_has_server(
	           w->env->expiring, s->backend->spec->name, s->spec->name);
}

/* Tells the changes of a server.  added: only if a command has added the
 * server; otherwise only if none has.  Most of thousands of servers have none.
 */
static void
walk_server(struct walk *w, struct server *s, bool added)
{
	char name[2 * CALL_NAME_SIZE];

	if (s->spec->added != added || (!added && is_as_in_file(w, s)))
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
	for (enum setting_id id = 0; id < SETTINGS; id++)
		if (setting_rows[id].scope == OF_SERVER)
			tell_setting(w, id,
			    &(struct setting_object){w->env, .server = s});
	w->server[0] = '\0';
	w->of_set = false;
}

/* -- frontends, the process, lists, pools -- */

/* Tells the changes of a frontend, or of the process. */
static void
walk_others(struct walk *w, enum setting_scope scope, struct frontend *f)
{
	for (enum setting_id id = 0; id < SETTINGS; id++)
		if (setting_rows[id].scope == scope)
			tell_setting(w, id,
			    &(struct setting_object){w->env, .frontend = f});
}

/* Tells the entries that commands have added, and not those that they have
 * deleted: a reload reads these from the files again. */
static void
walk_list(
    struct walk *w, const struct list_spec *spec, const struct acl_list *list)
{
	struct acl_listed entry;
	char text[CIDR_TEXT_SIZE];

	if (acl_list_changes(list).added == 0)
		return;
	w->place = spec->place;
	PUT(w->section, "list %s", acl_list_name(list));
	PUT(w->subject, "list %s", acl_list_name(list));
	w->base[0] = '\0';
	PUT(w->configured, "none");
	for (size_t i = 0; acl_list_at(list, i, &entry); i++) {
		if (entry.source)
			continue;
		PUT(w->commands, "add acl %s %s\n", acl_list_name(list),
		    cidr_text(&entry.range, text));
		PUT(w->value, "%s", text);
		tell(w, "entry", w->value);
	}
}

static void
tell_pool_value(struct walk *w, const struct setting *setting, const char *key,
    const char *value)
{
	PUT(w->commands, "set pool %s %s %s\n", setting->proxy, key, value);
	PUT(w->value, "%s", value);
	tell(w, key, w->value);
}

static void
walk_pool(struct walk *w, const struct pool_spec *spec)
{
	struct pools *pools = control_pools(w->env->control);
	struct expiring_status pending;
	struct pools_setting at;
	struct setting now;

	w->place = spec->place;
	PUT(w->section, "pool %s", spec->name);
	for (size_t i = 0; pools_setting_at(pools, spec, i, &at); i++) {
		memset(&now, 0, sizeof(now));
		(void)setting_of_pool(NULL, spec->name, &at, &now);
		if (begin_setting(w, &now, &pending)) {
			if (strcmp(pending.former, at.file) != 0)
				tell_pool_value(
				    w, &now, at.key, pending.former);
			w->ends = &pending;
			tell_pool_value(w, &now, at.key, pending.value);
			w->ends = NULL;
		} else if (now.is_changed) {
			tell_pool_value(w, &now, at.key, at.now);
		}
	}
}

void
running_changes(const struct command_env *env, running_fn *call, void *arg)
{
	struct walk w = {.env = env, .call = call, .arg = arg};
	struct model *model = control_model(env->control);
	const struct spec *spec = model->spec;

	model_for_each_server (s, model)
		walk_server(&w, s, false);
	model_for_each_frontend (f, model) {
		w.place = f->spec->place;
		PUT(w.section, "frontend %s", f->spec->name);
		walk_others(&w, OF_FRONTEND, f);
	}
	w.place = (struct spec_place){.file = NULL};
	PUT(w.section, "global");
	walk_others(&w, OF_PROCESS, NULL);
	for (size_t i = 0; i < spec->lists_n; i++)
		walk_list(&w, &spec->lists[i],
		    model_find_list(model, spec->lists[i].name));
	model_for_each_server (s, model)
		walk_server(&w, s, true);
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].deleted_n; j++)
			tell_deleted(&w, &spec->backends[i],
			    spec->backends[i].deleted[j]);
	w.server[0] = '\0';
	for (size_t i = 0; i < spec->pools_n; i++)
		walk_pool(&w, &spec->pools[i]);
}
