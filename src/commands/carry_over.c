/* SPDX-License-Identifier: MIT
 * See carry_over.h.
 */
#include "commands/carry_over.h"

#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "base/log.h"
#include "base/text_out.h"
#include "commands/command.h"
#include "control/pools.h"
#include "stats/answer.h"
#include "config/pool_text.h"
#include "model/model.h"

#define POOL_COMMAND "set pool "

static void
write_addr(const struct server *s, const char *name, FILE *out)
{
	char text[ADDR_TEXT_SIZE], host[ADDR_TEXT_SIZE];
	struct addr addr = *server_addr(s);
	unsigned port = addr_port(&addr);

	if (addr.sa.sa_family == AF_UNIX)
		return;
	addr_set_port(&addr, 0);
	addr_text(&addr, text);
	snprintf(host, sizeof(host), "%s", text);
	*strrchr(host, ':') = '\0';
	fprintf(out, "set server %s addr %s port %u\n", name, host, port);
}

static void
write_server_changes(const struct server *s, FILE *out)
{
	const struct server_state *state = s->state;
	const struct server_overrides *o = &state->overrides;
	char name[2 * CALL_NAME_SIZE];

	snprintf(
	    name, sizeof(name), "%s/%s", s->backend->spec->name, s->spec->name);
	if (o->addr_set)
		write_addr(s, name, out);
	if (server_ordered_admin(s) != server_file_admin(s))
		fprintf(out, "set server %s state %s\n", name,
		    server_admin_name(server_ordered_admin(s)));
	if (o->set.weight.is_set)
		fprintf(out, "set weight %s %u\n", name, o->set.weight.value);
	if (o->set.maxconn.is_set)
		fprintf(out, "set maxconn server %s %u\n", name,
		    o->set.maxconn.value);
	if (o->check_paused)
		fprintf(out, "disable health %s\n", name);
	if (o->agent_paused)
		fprintf(out, "disable agent %s\n", name);
	if (!server_is_up(s))
		fprintf(out, "set server %s health down\n", name);
}

static void
write_frontend(const struct frontend *f, FILE *out)
{
	const char *name = f->spec->name;

	if (f->state->admin == FRONTEND_SHUT)
		fprintf(out, "shutdown frontend %s\n", name);
	else if (f->state->admin == FRONTEND_PAUSED && !f->spec->disabled)
		fprintf(out, "disable frontend %s\n", name);
	else if (f->state->admin == FRONTEND_OPEN && f->spec->disabled)
		fprintf(out, "enable frontend %s\n", name);
}

/* Entries that commands have deleted are there again in the other process: it
 * reads the files. */
static void
write_list(const struct acl_list *list, FILE *out)
{
	struct acl_listed entry;
	char text[CIDR_TEXT_SIZE];

	if (acl_list_changes(list).added == 0)
		return;
	for (size_t i = 0; acl_list_at(list, i, &entry); i++)
		if (!entry.source)
			fprintf(out, "add acl %s %s\n", acl_list_name(list),
			    cidr_text(&entry.range, text));
}

static void
configured_threads(const struct pool_spec *spec, char out[THREADS_TEXT_SIZE])
{
	if (spec->threads_max > 0)
		snprintf(out, THREADS_TEXT_SIZE, "%u..%u", spec->threads_min,
		    spec->threads_max);
	else
		threads_text(spec->classes, spec->classes_n, out);
}

static void
write_pool(struct pools *pools, const struct pool_spec *spec, FILE *out)
{
	struct pool *pool = pools_find(pools, spec->name, NULL);
	char now[THREADS_TEXT_SIZE], file[THREADS_TEXT_SIZE];

	if (!pool)
		return;
	pools_threads_text(pools, pool, now);
	configured_threads(spec, file);
	if (strcmp(now, file) != 0)
		fprintf(out, POOL_COMMAND "%s threads %s\n", spec->name, now);
}

void
carry_over_write(const struct command_env *env, FILE *out)
{
	struct control *control = env->control;
	struct model *model = control_model(control);
	const struct spec *spec = model->spec;

	model_for_each_server (s, model)
		write_server_changes(s, out);
	model_for_each_frontend (f, model)
		write_frontend(f, out);
	for (size_t i = 0; i < spec->lists_n; i++)
		write_list(model_find_list(model, spec->lists[i].name), out);
	for (size_t i = 0; i < spec->pools_n; i++)
		write_pool(control_pools(control), &spec->pools[i], out);
}

static void
run_line(const struct command_env *env, char *line)
{
	struct command_mode mode = {
	    .level = LEVEL_ADMIN, .peer.address = "the former process"};
	char copy[256];
	struct answer_rest *rest;
	struct text_out out;

	snprintf(copy, sizeof(copy), "%s", line);
	if (!text_out_open(&out))
		return;
	rest = command_run(env, &mode, line, NULL, out.stream);
	if (rest)
		rest->free(rest);
	(void)text_out_close(&out);
	if (mode.failed)
		log_warning("the former process's '%s' could not be done "
		            "again: %s",
		    copy, out.text ? out.text : "out of memory");
	free(out.text);
}

void
carry_over_run(const struct command_env *env, const char *lines, bool pools)
{
	char *copy = strdup(lines), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line && pools == (strncmp(line, POOL_COMMAND,
		                           strlen(POOL_COMMAND)) == 0))
			run_line(env, line);
	free(copy);
}
