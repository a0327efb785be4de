/* SPDX-License-Identifier: MIT
 * See snapshot.h.
 */
#include "http/snapshot.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/list.h"
#include "commands/command.h"
#include "stats/stat_rows.h"

/* The members, and the commands that they are answers of; NULL: no command. */
static const struct shown_part {
	const char *name, *command;
} members[] = {
    {"history", NULL},
    {"info", "show info flat"},
    {"pools", "show pool json"},
    {"threads", "show threads json"},
    {"events", "show events 30 json"},
    {"stat", NULL},
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

struct snapshot {
	struct answer_rest rest;
	const struct history *history;
	struct answer_rest *part; /* the rest of the present member; or NULL */
	size_t next;              /* member */
};

/* Writes the answer of a command, or its first part. */
static void
put_answer(struct snapshot *s, const char *command,
    const struct command_env *env, FILE *out)
{
	struct command_mode mode = {
	    .level = LEVEL_USER, .peer.address = "http"};
	char line[80];

	snprintf(line, sizeof(line), "%s", command);
	s->part = command_run(env, &mode, line, NULL, out);
	s->rest.failed |= mode.failed;
}

static void
begin_part(struct snapshot *s, const struct command_env *env, FILE *out)
{
	const struct shown_part *member = &members[s->next++];

	fprintf(out, "%s\"%s\":", s->next == 1 ? "{" : ",\n", member->name);
	if (member->command) {
		put_answer(s, member->command, env, out);
	} else if (s->next == 1) {
		history_put(s->history, out);
	} else {
		s->part = stat_rows_all(FIELD_BRIEF);
		s->rest.failed |= !s->part;
	}
}

static bool
more_snapshot(
    struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct snapshot *s = container_of(rest, struct snapshot, rest);

	if (!s->part && s->next < MEMBERS) {
		begin_part(s, env, out);
		return true;
	}
	if (s->part && s->part->more(s->part, env, out))
		return true;
	if (s->part) {
		s->rest.failed |= s->part->failed;
		s->part->free(s->part);
	}
	s->part = NULL;
	if (s->next < MEMBERS)
		return true;
	fprintf(out, ",\"time_ms\":%llu}\n",
	    (unsigned long long)(clock_wall_us() / 1000));
	return false;
}

static void
free_snapshot(struct answer_rest *rest)
{
	struct snapshot *s = container_of(rest, struct snapshot, rest);

	if (s->part)
		s->part->free(s->part);
	free(s);
}

struct answer_rest *
snapshot_new(const struct history *history)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->history = history;
	s->rest =
	    (struct answer_rest){.more = more_snapshot, .free = free_snapshot};
	return &s->rest;
}
