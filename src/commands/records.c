/* SPDX-License-Identifier: MIT
 * See records.h.
 */
#include "commands/records.h"

#include <ctype.h>
#include <string.h>

#include "base/log.h"
#include "commands/audit.h"
#include "commands/carry_over.h"
#include "commands/certificates.h"
#include "commands/command.h"
#include "commands/expiring.h"
#include "handover/counters_lines.h"
#include "handover/events_later.h"
#include "orders/drains.h"
#include "servers/ejections_later.h"

struct record {
	const char *name;
	enum handed_part part;
	bool in_file;
	const char *begins; /* NULL: commands, or messages */
	void (*write)(const struct command_env *env, FILE *out);
	void (*read)(const struct command_env *env, char *line);
	const char *text;
};

/* -- writing -- */

static void
write_expiring(const struct command_env *env, FILE *out)
{
	if (env->expiring)
		expiring_write(env->expiring, out);
}

static void
write_drains(const struct command_env *env, FILE *out)
{
	drains_write(&env->orders->drains, out);
}

static void
write_ejections(const struct command_env *env, FILE *out)
{
	ejections_write(env->followup, out);
}

static void
write_audit(const struct command_env *env, FILE *out)
{
	audit_write(env->audit, out);
}

static void
write_events(const struct command_env *env, FILE *out)
{
	(void)env;
	events_write(out);
}

static void
write_counters(const struct command_env *env, FILE *out)
{
	counters_write_named(env->instance->model, out);
}

/* -- reading -- */

static const struct command *
command_of(const char *line)
{
	char words[80];

	if (!later_text(line, "command", words, sizeof(words)))
		return NULL;
	for (size_t i = 0; i < commands_n; i++)
		if (strcmp(commands[i].words, words) == 0)
			return &commands[i];
	return NULL;
}

static void
read_expiring(const struct command_env *env, char *line)
{
	struct err err;

	if (env->expiring &&
	    !expiring_read(env->expiring, command_of(line), line, &err))
		carry_over_log_left_out(line, err.text);
}

static void
read_drain(const struct command_env *env, char *line)
{
	struct err err;

	if (!drains_read(&env->orders->drains, line, &err))
		carry_over_log_left_out(line, err.text);
}

static void
read_ejection(const struct command_env *env, char *line)
{
	struct err err;

	if (!ejections_read(env->followup, line, &err))
		carry_over_log_left_out(line, err.text);
}

static void
read_change(const struct command_env *env, char *line)
{
	audit_read(env->audit, line);
}

static void
read_event(const struct command_env *env, char *line)
{
	(void)env;
	events_read(line);
}

static void
read_counter(const struct command_env *env, char *line)
{
	counters_read_named(env->instance->model, line);
}

/* -- the table -- */

static const struct record records[] = {
#define X(id, part, in_file, begins, write, read, text)                        \
	{#id, part, in_file, begins, write, read, text},
    RECORDS_TABLE(X)
#undef X
};

#define RECORDS (sizeof(records) / sizeof(records[0]))

void
records_write(const struct command_env *env, enum handed_part part, FILE *out)
{
	for (size_t i = 0; i < RECORDS; i++)
		if (records[i].part == part && records[i].write)
			records[i].write(env, out);
}

void
records_write_file(const struct command_env *env, FILE *out)
{
	for (size_t i = 0; i < RECORDS; i++)
		if (records[i].in_file && records[i].write)
			records[i].write(env, out);
}

bool
records_read(const struct command_env *env, char *line)
{
	for (size_t i = 0; i < RECORDS; i++) {
		const char *begins = records[i].begins;

		if (!begins || strncmp(line, begins, strlen(begins)) != 0)
			continue;
		records[i].read(env, line);
		return true;
	}
	return false;
}

void
records_list(FILE *out)
{
	for (size_t i = 0; i < RECORDS; i++) {
		for (const char *c = records[i].name; *c; c++)
			putc(tolower(*c), out);
		fprintf(out, "\tupgrade%s\t%s\n",
		    records[i].in_file ? " state_file" : "", records[i].text);
	}
#define X(text) fprintf(out, "left_out\t\t%s\n", text);
	RECORDS_LEFT_OUT(X)
#undef X
}
