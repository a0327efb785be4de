/* SPDX-License-Identifier: MIT
 * See carry_over.h.
 */
#include "commands/carry_over.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/content.h"
#include "base/clock.h"
#include "base/log.h"
#include "commands/certificates.h"
#include "commands/command.h"
#include "commands/records.h"
#include "commands/running.h"
#include "commands/tables.h"
#include "handover/counters_lines.h"
#include "handover/later.h"
#include "model/model.h"
#include "model/server_change.h"
#include "model/server_operator.h"
#include "model/sticky.h"
#include "stats/answer.h"

/* A line about the value of the file behind a command (handover/later.h). */
#define BASE "base"

/* A line about the place of a server whose lines are written. */
#define PLACE        "place"
#define PLACE_FORMAT "%016" PRIx64

/* The most sticky choices that have a command.  The next process runs them
 * before it serves. */
#define CHOICES_MAX 10000u

/* Words before a text that may be a password. */
#define SECRET "agent-send "

/* Why a server has the health that it is given. */
#define BEFORE "as before the start of this process"

static void
write_commands(void *arg, const struct running_change *change)
{
	fputs(change->commands, arg);
}

/* Writes which value the file has while the command's holds. */
static void
write_base(void *arg, const struct running_change *change)
{
	const char *at = change->commands;

	for (; change->base && *at; at = strchr(at, '\n') + 1)
		fprintf(arg, LATER BASE "\tvalue=%s\tcommand=%.*s\n",
		    change->base, (int)strcspn(at, "\n"), at);
}

/* Returns whether the server is down by its check or by a command. */
static bool
is_down(const struct server *s)
{
	return s->check.on ? !s->state->up : s->state->forced_down;
}

/* Writes the places of the server in the file and by commands.  A file with
 * none of them has another server of that name. */
static void
write_place(const struct command_env *env, const struct server *s, FILE *out)
{
	const struct server_state *state = s->state;

	if (s->spec->added ||
	    (!is_down(s) && !state->stopping && !state->agent_down &&
	        running_is_as_in_file(env, s)))
		return;
	fprintf(out,
	    LATER PLACE "\tserver=%s/%s\taddress=%s\tplaces=" PLACE_FORMAT,
	    s->backend->spec->name, s->spec->name, s->spec->address,
	    server_spec_place(s->spec, NULL));
	for (size_t i = 0; i < SERVER_PLACES; i++)
		fprintf(out, " " PLACE_FORMAT, state->overrides.places[i]);
	fputc('\n', out);
}

/* Writes the lines that set the health of a server which is down or stopping,
 * for restore_health.  What the agent said is set as such: without a check, the
 * server would never leave another `down`. */
static void
write_health(const struct server *s, FILE *out)
{
	const struct server_state *state = s->state;
	const char *backend = s->backend->spec->name, *name = s->spec->name;
	bool down = is_down(s);

	/* A server has the health of the one that it tracks. */
	if (s->tracked)
		return;
	if (down || state->stopping)
		fprintf(out, "set server %s/%s health %s\n", backend, name,
		    down ? "down" : "stopping");
	if (state->agent_down && s->agent.on)
		fprintf(out, "set server %s/%s agent down\n", backend, name);
}

/* Returns whether the health can be set only after the changes of operators:
 * until then the server does not exist, or is in maintenance and has no
 * health. */
static bool
health_comes_last(const struct server *s)
{
	return s->spec->added || s->spec->disabled;
}

/* Writes commands for the sticky choices of the backend.  An upgrade sends the
 * others later (sources_sent.h).  Returns how many were written. */
static size_t
write_choices(const struct limit *l, size_t most, FILE *out)
{
	char key[INET6_ADDRSTRLEN];
	struct source_facts facts;
	uint64_t at = 0;
	size_t n = 0;
	bool found;

	while (n < most && source_table_next(l->table, &at, &facts, &found)) {
		const struct server *s = found && !sticky_is_expired(l, &facts)
		                             ? sticky_server(l, &facts.choice)
		                             : NULL;

		if (!s)
			continue;
		fprintf(out,
		    "set table %s key %s data.server_key %s data.last_use "
		    "%" PRIu64 "\n",
		    l->name, table_key_text(l, &facts.key, key), s->spec->name,
		    later_to_wall_ms(facts.due_ns / NS_PER_MS));
		n++;
	}
	return n;
}

void
carry_over_write(const struct command_env *env, FILE *out)
{
	struct model *model = env->instance->model;
	size_t left = CHOICES_MAX;

	model_for_each_server (s, model)
		if (!health_comes_last(s))
			write_health(s, out);
	running_changes(env, write_commands, out);
	model_for_each_server (s, model)
		if (health_comes_last(s))
			write_health(s, out);
	model_for_each_backend (b, model)
		if (b->sticky)
			left -= write_choices(&b->sticky->all[0], left, out);
	running_changes(env, write_base, out);
	model_for_each_server (s, model)
		write_place(env, s, out);
}

void
carry_over_log_left_out(const char *line, const char *why)
{
	const char *secret = strstr(line, SECRET);
	int len = secret ? (int)(secret - line + (ptrdiff_t)strlen(SECRET))
	                 : (int)strlen(line);

	log_warning("the former process's '%.*s%s' could not be done again: %s",
	    len, line, secret ? "..." : "", why);
}

/* Sets the health that a line of write_health has.  The line has the form of a
 * command, which processes of former versions run; here no operator is named as
 * the cause.  Returns false, with nothing changed, for other lines. */
static bool
restore_health(const struct command_env *env, const char *line)
{
	char backend[CALL_NAME_SIZE], name[CALL_NAME_SIZE], what[8], word[12];
	struct backend *b;
	struct server *s;

	if (sscanf(line, "set server %63[^/]/%63s %7s %11s", backend, name,
	        what, word) != 4 ||
	    (strcmp(what, "health") != 0 && strcmp(what, "agent") != 0))
		return false;
	b = model_find_backend(env->instance->model, backend);
	s = b ? backend_find_server(b, name) : NULL;
	if (!s || (s->tracked && what[0] == 'h') ||
	    (!s->agent.on && what[0] == 'a'))
		return false;
	if (what[0] == 'h') {
		server_set_health(s,
		    strcmp(word, "down") == 0 ? OPERATOR_DOWN
		                              : OPERATOR_STOPPING,
		    BEFORE);
	} else {
		server_set_agent(s, false, BEFORE);
		/* A reload without an agent forgets this. */
		s->state->agent_heard = true;
	}
	model_update(env->instance->model);
	return true;
}

/* Returns the value that the file had for the setting of the command, from the
 * lines of write_base behind *at, which have the order of the commands; moves
 * *at behind that line.  Returns false if there is none. */
static bool
find_base(const char **at, const char *command, char *ret, size_t size)
{
	size_t len = strlen(command);
	const char *name = "\tcommand=";

	for (const char *p = *at; (p = strstr(p, name)); p++) {
		const char *from = p + strlen(name), *line = p;

		if (strncmp(from, command, len) != 0 || from[len] != '\n')
			continue;
		while (line > *at && line[-1] != '\n')
			line--;
		*at = from + len;
		return later_is(line, BASE) &&
		       later_text(line, "value", ret, size);
	}
	return false;
}

/* Returns the list that the command clears, or NULL. */
static const struct acl_list *
list_of_clear(const struct command_env *env, const char *line)
{
	char name[CALL_NAME_SIZE];

	return sscanf(line, "clear acl %63s", name) == 1
	           ? model_find_list(env->instance->model, name)
	           : NULL;
}

/* Returns whether the command deletes an entry that its list no longer has. */
static bool
is_gone_already(const struct command_env *env, const char *line)
{
	char name[CALL_NAME_SIZE], text[CIDR_TEXT_SIZE];
	const struct acl_list *list;
	struct acl_entry entry;
	struct cidr range;

	if (sscanf(line, "del acl %63s %49s", name, text) != 2)
		return false;
	list = model_find_list(env->instance->model, name);
	if (!list || !acl_list_content(list) ||
	    !cidr_parse(text, &range, NULL) ||
	    acl_content_get(acl_list_content(list), &range, &entry))
		return false;
	log_info("%s is not done again: the list no longer has it", line);
	return true;
}

/* Describes the setting of the command, or the list, whose base is then the
 * hash of its entries.  Returns false for other commands. */
static bool
describe_line(
    const struct command_env *env, const char *line, struct setting *ret)
{
	const struct acl_list *list = list_of_clear(env, line);
	char copy[2 * SETTING_VALUE_SIZE];

	if (list) {
		*ret = (struct setting){.is_changed = true};
		SETTING_PRINT(ret->subject, "%s", line);
		SETTING_PRINT(ret->base, "%016" PRIx64, acl_list_digest(list));
		return true;
	}
	snprintf(copy, sizeof(copy), "%s", line);
	return command_describe(env, copy, ret) && ret->base[0];
}

/* Returns whether the file has another value for the setting of the command
 * than when the command was given; then the file's holds. */
static bool
is_replaced(const struct command_env *env, const char **bases, const char *line)
{
	char base[SETTING_VALUE_SIZE];
	struct setting now;

	if (is_gone_already(env, line))
		return true;
	if (!*bases || !describe_line(env, line, &now) ||
	    !find_base(bases, line, base, sizeof(base)) ||
	    !setting_is_replaced(&now, base))
		return false;
	if (list_of_clear(env, line))
		log_info(
		    "%s is not done again: the list has other entries", line);
	else
		log_info("%s is not set again: the file has %s, and no longer "
		         "%s",
		    now.subject, setting_shown(&now, now.base),
		    setting_shown(&now, base));
	return true;
}

/* Runs the command.  Returns false, with the line logged, if it fails. */
static bool
run_line(const struct command_env *env, char *line)
{
	struct command_mode mode = {
	    .level = LEVEL_ADMIN, .peer.address = "the former process"};
	/* The former process has recorded the changes. */
	struct command_env unaudited = *env;
	/* The answer matters for the text of an error alone, whose
	 * beginning is enough. */
	char copy[256], answer[512] = "";
	struct answer_rest *rest;
	FILE *out;

	if (restore_health(env, line))
		return true;
	snprintf(copy, sizeof(copy), "%s", line);
	out = fmemopen(answer, sizeof(answer), "w");
	if (!out) {
		carry_over_log_left_out(copy, "out of memory");
		return false;
	}
	unaudited.audit = NULL;
	rest = command_run(&unaudited, &mode, line, NULL, out);
	/* A change of a list has been made (list_task.h); this tells whether it
	 * has failed. */
	if (rest) {
		(void)rest->more(rest, &unaudited, out);
		mode.failed |= rest->failed;
		rest->free(rest);
	}
	fclose(out);
	answer[sizeof(answer) - 1] = '\0';
	if (mode.failed)
		carry_over_log_left_out(copy, answer);
	return !mode.failed;
}

#define WHOLE_NAME_SIZE (2 * CALL_NAME_SIZE)

/* Copies the name BACKEND/SERVER of the server that the line is about.  Returns
 * false if it is about none. */
static bool
server_of_line(const char *line, char ret_name[WHOLE_NAME_SIZE])
{
	const char *slash = strchr(line, '/'), *from = slash;

	if (strncmp(line, LATER, strlen(LATER)) == 0) {
		if (!later_text(line, "server", ret_name, WHOLE_NAME_SIZE) &&
		    !later_text(line, "names", ret_name, WHOLE_NAME_SIZE))
			return false;
		ret_name[strcspn(ret_name, " ")] = '\0';
		return true;
	}
	while (from && from > line && from[-1] != ' ')
		from--;
	return from && snprintf(ret_name, WHOLE_NAME_SIZE, "%.*s",
	                   (int)strcspn(from, " \n"), from) < WHOLE_NAME_SIZE;
}

/* Marks the server of the line of write_place if the file has another one of
 * its name by now. */
static void
read_place(const struct command_env *env, const char *line)
{
	const struct model *model = env->instance->model;
	struct server *s = later_server(line, model);
	char address[512], places[(SERVER_PLACES + 1) * 20], now[20];

	if (!s || s->spec->added || s->state->another ||
	    !later_text(line, "address", address, sizeof(address)) ||
	    !later_text(line, "places", places, sizeof(places)))
		return;
	snprintf(
	    now, sizeof(now), PLACE_FORMAT, server_spec_place(s->spec, NULL));
	s->state->another = !strstr(places, now);
	if (s->state->another)
		log_info("server %s/%s is another one: the file has the "
		         "address %s, and no longer %s; what commands have "
		         "set for it is forgotten",
		    s->backend->spec->name, s->spec->name, s->spec->address,
		    address);
}

static void
read_places(const struct command_env *env, const char *lines)
{
	for (const char *line = lines; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (later_is(line, PLACE))
			read_place(env, line);
	}
}

/* Returns whether the line is about a server that read_place has marked. */
static bool
is_about_another(const struct command_env *env, const char *line)
{
	char name[WHOLE_NAME_SIZE];
	const struct server *s = NULL;

	if (strncmp(line, COUNTERS_LINE, strlen(COUNTERS_LINE)) != 0 &&
	    server_of_line(line, name))
		s = later_find_server(env->instance->model, name);
	return s && s->state->another;
}

/* A server that could not be added again, BACKEND/SERVER; "": none. */
struct refused {
	char name[WHOLE_NAME_SIZE];
};

/* Returns whether the command is about that server: the file may have another
 * one of the name by now. */
static bool
is_about_refused(const struct refused *refused, const char *line)
{
	char name[WHOLE_NAME_SIZE];

	return server_of_line(line, name) && strcmp(name, refused->name) == 0;
}

static void
run_command(const struct command_env *env, char *line, struct refused *refused)
{
	char name[sizeof(refused->name)] = "";

	(void)sscanf(line, "add server %127s", name);
	if (!*name && is_about_refused(refused, line))
		return;
	if (!run_line(env, line) && *name)
		memcpy(refused->name, name, sizeof(name));
	else if (*name)
		refused->name[0] = '\0';
}

/* Returns whether the line needs a control that has started, and what the lines
 * before have set. */
static bool
comes_last(const char *line)
{
	static const char *const words[] = {
	    "add server ", "del server ", "set pool ", LATER, COUNTERS_LINE};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(line, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* Returns whether the line closes sockets, which the start would open again;
 * the line before it keeps clients away until then. */
static bool
closes_sockets(const char *line)
{
	return strncmp(line, "shutdown ", strlen("shutdown ")) == 0;
}

/* Returns whether the line is about a server that its backend does not have
 * yet, but may get from a set of servers. */
static bool
is_of_set(const struct command_env *env, const char *line)
{
	char name[WHOLE_NAME_SIZE], *slash;
	const struct backend *b;

	if (strncmp(line, LATER, strlen(LATER)) == 0 ||
	    !server_of_line(line, name))
		return false;
	slash = strchr(name, '/');
	*slash = '\0';
	b = model_find_backend(env->instance->model, name);
	return b && b->spec->sets_n > 0 && !backend_find_server(b, slash + 1);
}

/* Returns whether the line is done before the start.  late: a line before it is
 * not.  The first client is to get the certificates that were set. */
static bool
is_for_start(const char *line, bool late)
{
	return strncmp(line, CERTIFICATES_LINE, strlen(CERTIFICATES_LINE)) ==
	           0 ||
	       (!late && !closes_sockets(line));
}

char *
carry_over_postpone(const struct command_env *env, char *lines)
{
	char *later = calloc(1, strlen(lines) + 1), *end = later;
	char *to = lines, *rest = lines, *line;
	bool last = false;

	while (later && (line = strsep(&rest, "\n"))) {
		char **put;
		size_t n = strlen(line);

		/* Commands that are put off need these as well. */
		if (later && (later_is(line, BASE) || later_is(line, PLACE)) &&
		    strchr(line, '/')) {
			memcpy(end, line, n);
			end += n;
			*end++ = '\n';
		}
		/* The lines behind it are about servers that were added. */
		last |= comes_last(line);
		put = !last && is_of_set(env, line) ? &end : &to;

		memmove(*put, line, n);
		*put += n;
		if (rest || put == &end)
			*(*put)++ = '\n';
	}
	if (later)
		*to = '\0';
	return later;
}

static void
begin_changes_of_lists(const struct command_env *env)
{
	struct acl_list **lists = env->instance->model->lists;

	for (struct acl_list **l = lists; l && *l; l++)
		acl_list_begin_changes(*l);
}

static void
end_changes_of_lists(const struct command_env *env)
{
	const struct model *model = env->instance->model;

	for (struct acl_list **l = model->lists; l && *l; l++)
		if (!acl_list_end_changes(*l, model->grace))
			log_error("list %s: the changes by commands have no "
			          "effect: out of memory",
			    acl_list_name(*l));
}

void
carry_over_run(const struct command_env *env, const char *lines, bool last)
{
	char *copy = strdup(lines), *rest = copy, *line;
	const char *bases = strstr(lines, "\n" LATER BASE);
	struct refused refused = {.name = ""};
	bool late = false;

	if (!copy) {
		log_error("what commands had changed is not in force again: "
		          "out of memory");
		return;
	}
	/* A list may have been changed thousands of times. */
	begin_changes_of_lists(env);
	read_places(env, lines);
	while ((line = strsep(&rest, "\n"))) {
		/* Later lines may be about a server that was added. */
		late |= comes_last(line);
		if (!*line || is_for_start(line, late) == last)
			continue;
		/* A newer process may have written lines of other kinds. */
		if (!is_about_another(env, line) && !records_read(env, line) &&
		    strncmp(line, LATER, strlen(LATER)) != 0 &&
		    !is_replaced(env, &bases, line))
			run_command(env, line, &refused);
	}
	end_changes_of_lists(env);
	explicit_bzero(copy, strlen(lines));
	free(copy);
}
