/* SPDX-License-Identifier: MIT
 * See complete.h.
 */
#include "ctl/complete.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/help.h"

#define TIMEOUT_MS 2000 /* the user of the shell waits */
#define WORD_SIZE  64

/* The candidates found so far, without duplicates. */
struct candidates {
	const char *where;    /* the socket */
	struct ctl_text seen; /* a line each */
};

static void
add_candidate(struct candidates *c, const char *word, size_t n)
{
	const char *at = c->seen.data, *end = at + c->seen.n;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));

		if ((size_t)(eol - at) == n && memcmp(at, word, n) == 0)
			return;
		at = eol + 1;
	}
	ctl_text_add(&c->seen, word, n);
	ctl_text_add(&c->seen, "\n", 1);
}

/* -- names -- */

/* Returns false if the server does not answer or refuses. */
static bool
ask_server(const char *where, const char *command, struct ctl_text *ret_answer)
{
	struct ctl_text answer = {NULL, 0, 0};
	struct ctl_reply reply;
	struct err err;

	if (!ctl_ask_one(where, command, TIMEOUT_MS, &answer, &reply, &err))
		return false;
	if (!reply.is_error)
		ctl_text_add(ret_answer, reply.text, reply.n);
	ctl_text_fini(&answer);
	return !reply.is_error;
}

/* The position of a name in a line of an answer. */
enum name_place {
	NAME_OF_POOL,   /* `pool NAME` in show pool */
	NAME_OF_PROXY,  /* the first column of show stat */
	NAME_BEGUN,     /* the first column and a slash, to be continued */
	NAME_OF_SERVER, /* the first two columns */
	NAME_FIRST,     /* the first word */
};

static void
complete_name(struct candidates *c, char *line, enum name_place place)
{
	char *comma = strchr(line, ',');

	if (place == NAME_FIRST) {
		add_candidate(c, line, strcspn(line, " "));
	} else if (place == NAME_OF_POOL) {
		if (strncmp(line, "pool ", 5) == 0)
			add_candidate(c, line + 5, strlen(line + 5));
	} else if (comma && *line != '#') {
		*comma = '/';
		add_candidate(c, line,
		    place == NAME_OF_SERVER
		        ? strcspn(line, ",")
		        : (size_t)(comma - line) + (place == NAME_BEGUN));
	}
}

/* The placeholders of `help`, and the commands that list the names. */
static const struct {
	const char *placeholder, *command;
	enum name_place place;
} names[] = {
    {"<pool>", "show pool", NAME_OF_POOL},
    {"<frontend>", "show stat -1 1 -1", NAME_OF_PROXY},
    {"<backend>", "show stat -1 2 -1", NAME_OF_PROXY},
    {"<proxy>", "show stat -1 3 -1", NAME_OF_PROXY},
    {"<px>", "show stat -1 3 -1", NAME_OF_PROXY},
    {"<bk>/<srv>", "show stat -1 4 -1", NAME_OF_SERVER},
    {"<drained>", "show drains", NAME_FIRST},
    {"<expiring>", "show expiring", NAME_FIRST},
    {"<bk>/", "show stat -1 2 -1", NAME_BEGUN},
};

static void
complete_names(struct candidates *c, const char *placeholder)
{
	struct ctl_text answer = {NULL, 0, 0};
	size_t i = 0, n = sizeof(names) / sizeof(names[0]);
	char *rest = NULL;

	while (i < n && strcmp(placeholder, names[i].placeholder) != 0)
		i++;
	if (i == n || !ask_server(c->where, names[i].command, &answer))
		return;
	for (char *line = strtok_r(answer.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		complete_name(c, line, names[i].place);
	ctl_text_fini(&answer);
}

/* -- values that `help` does not list -- */

/* The given words, `*` for any word, and what may follow them. */
static const struct value {
	const char *words, *values;
} values[] = {
    {"explain", "unix"},
    {"explain *", "<frontend> to sni json"},
    {"explain * to", ""},
    {"explain * sni", ""},
    {"explain * *", "to sni json"},
    {"cancel drain", "<drained>"},
    {"cancel expiring", "<expiring>"},
    {"drain server *", "over then"},
    {"drain server * over *", "then"},
    {"drain server * then", "kill maint"},
    {"rebalance backend *", "over dry-run json"},
    {"add server", "<bk>/"},
    {"set pool *", "threads shards promotion order cpus"},
    {"set pool * threads", "auto"},
    {"set pool * shards", "auto"},
    {"set pool * promotion", "adaptive always kernel"},
    {"set pool * order", "lifo fifo priority"},
    {"set pool * cpus", "all"},
    {"set server *", "state weight addr maxconn health agent check-port "
                     "check-addr agent-port agent-addr agent-send"},
    {"set server * state", "ready drain maint"},
    {"set server * health", "up stopping down"},
    {"set server * agent", "up down"},
    {"set server * * *", "for"},
    {"set rate-limit", "connections sessions"},
    {"set rate-limit *", "global"},
    {"set timeout", "cli"},
    {"show closed", "backend cause frontend last server json"},
    {"show closed backend", "<backend>"},
    {"show closed cause", "-- CC CR cR cQ cC cD PR CQ CD SC SQ sQ sC "
                          "SD sD PD RC RD RR KR KC KQ KD BD DC DD UC UD"},
    {"show closed frontend", "<frontend>"},
    {"show closed server", "<bk>/<srv>"},
    {"show sess", "all backend frontend older server json"},
    {"show sess backend", "<backend>"},
    {"show sess frontend", "<frontend>"},
    {"show sess server", "<bk>/<srv>"},
    {"show stat", "<proxy> typed json desc no-maint up"},
    {"wait *", "srv-removable drained"},
    {"wait * drained", "<bk>/<srv>"},
    {"wait * srv-removable", "<bk>/<srv>"},
};

/* The options of `add server`, in any order. */
static const char *const server_options[] = {"addr", "agent-addr",
    "agent-check", "agent-inter", "agent-port", "agent-send", "backup", "check",
    "check-send-proxy", "disabled", "downinter", "enabled", "fall", "fastinter",
    "inter", "interface", "maxconn", "port", "rise", "send-proxy",
    "send-proxy-v2", "slowstart", "source", "tfo", "track", "weight", NULL};

static void
complete_server_options(struct candidates *c)
{
	for (size_t i = 0; server_options[i]; i++)
		add_candidate(c, server_options[i], strlen(server_options[i]));
}

static void
complete_value(struct candidates *c, const char *value, size_t n)
{
	char word[WORD_SIZE];

	if (n >= sizeof(word))
		return;
	memcpy(word, value, n);
	word[n] = '\0';
	if (strcmp(word, "<option>") == 0)
		complete_server_options(c);
	else if (*word == '<')
		complete_names(c, word);
	else
		add_candidate(c, word, n);
}

/* Compares the given words with those of the text, where `*` matches any word.
 * True if the given words begin with all words of the text; *ret_n is their
 * number.  False otherwise; *ret_n is the number of given words if the text
 * begins with them, else SIZE_MAX. */
static bool
match_words(const char *text, size_t n, const char *const *words, size_t *ret_n)
{
	const char *end = text + n;
	size_t i = 0;

	*ret_n = SIZE_MAX;
	while (text < end) {
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		size_t len = (size_t)((blank ? blank : end) - text);

		if (!words[i])
			break;
		if (!(len == 1 && *text == '*') &&
		    (strlen(words[i]) != len ||
		        memcmp(words[i], text, len) != 0))
			return false;
		i++;
		text = blank ? blank + 1 : end;
	}
	*ret_n = i;
	return text == end;
}

static bool
complete_known_values(struct candidates *c, const char *const *words)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *at = values[i].values;
		size_t n;

		if (!match_words(
		        values[i].words, strlen(values[i].words), words, &n) ||
		    words[n])
			continue;
		while (*at) {
			size_t len = strcspn(at, " ");

			complete_value(c, at, len);
			at += len + (at[len] == ' ');
		}
		return true;
	}
	return false;
}

/* -- commands and arguments, from `help` -- */

/* Adds the alternatives of an argument such as `[<pool>]` or
 * `[desc|json|typed]*`. */
static void
complete_alternatives(struct candidates *c, const char *argument, size_t n)
{
	const char *end = argument + n;

	while (argument < end) {
		size_t len = 0;

		if (strchr("[]*|", *argument)) {
			argument++;
			continue;
		}
		while (argument + len < end && !strchr("[]*|", argument[len]))
			len++;
		complete_value(c, argument, len);
		argument += len;
	}
}

/* Adds argument number `at`.  If it is optional or may be repeated, the
 * arguments behind it are candidates as well. */
static void
complete_arguments(
    struct candidates *c, const struct ctl_usage *usage, size_t at)
{
	const char *arg = usage->args, *end = arg + usage->args_n;

	for (size_t i = 0; arg < end; i++) {
		const char *blank = memchr(arg, ' ', (size_t)(end - arg));
		const char *stop = blank ? blank : end;
		bool many = stop[-1] == '*';

		if (i >= at || many)
			complete_alternatives(c, arg, (size_t)(stop - arg));
		if (i >= at && *arg != '[')
			return;
		arg = blank ? blank + 1 : end;
	}
}

static size_t
word_count(const struct ctl_usage *usage)
{
	size_t n = 1;

	for (size_t i = 0; i < usage->words_n; i++)
		n += usage->words[i] == ' ';
	return n;
}

static void
complete_from_usage(struct candidates *c, const struct ctl_usage *usage,
    const char *const *words)
{
	size_t n, given = 0;

	while (words[given])
		given++;
	if (match_words(usage->words, usage->words_n, words, &n)) {
		if (!complete_known_values(c, words))
			complete_arguments(c, usage, given - word_count(usage));
	} else if (n == given) {
		const char *at = usage->words, *end = at + usage->words_n;
		const char *blank;

		while (n-- > 0)
			at = (const char *)memchr(at, ' ', (size_t)(end - at)) +
			     1;
		blank = memchr(at, ' ', (size_t)(end - at));
		add_candidate(c, at, (size_t)((blank ? blank : end) - at));
	}
}

void
ctl_complete(const char *where, const char *const *words, FILE *out)
{
	struct candidates c = {.where = where};
	struct ctl_text help = {NULL, 0, 0};
	struct ctl_usage usage;
	const char *at, *end;

	if (words[0] && strcmp(words[0], "top") == 0) {
		fputs("-d\n-n\n", out);
		return;
	}
	if (!words[0])
		add_candidate(&c, "top", 3);
	if (ask_server(where, "help", &help)) {
		at = help.data;
		end = at + help.n;
		while (ctl_next_usage(&at, end, &usage))
			complete_from_usage(&c, &usage, words);
	}
	if (c.seen.n)
		fwrite(c.seen.data, 1, c.seen.n, out);
	ctl_text_fini(&help);
	ctl_text_fini(&c.seen);
}
