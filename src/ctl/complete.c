/* SPDX-License-Identifier: MIT
 * See complete.h.
 */
#include "ctl/complete.h"

#include <stdbool.h>
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

/* Returns the answer, without data if the server does not answer or refuses. */
static struct ctl_text
ask_server(const char *where, const char *command)
{
	struct ctl_answer answer;
	struct err err;

	if (!ctl_ask_one(where, command, TIMEOUT_MS, &answer, &err))
		return (struct ctl_text){NULL, 0, 0};
	if (answer.is_error)
		ctl_text_fini(&answer.text);
	return answer.text;
}

/* The placeholders of `help`, and the commands that list the names.  A name
 * follows `before`, and ends at one of `ends` or with the line. */
static const struct name_list {
	const char *placeholder, *command, *before, *ends;
	enum { NAME_WHOLE, NAME_PAIR, NAME_BEGUN, NAME_IN_BRACKETS } form;
} name_lists[] = {
    {"<pool>", "show pool", "pool ", "", NAME_WHOLE},
    {"<frontend>", "show stat -1 1 -1", "", ",", NAME_WHOLE},
    {"<backend>", "show stat -1 2 -1", "", ",", NAME_WHOLE},
    {"<proxy>", "show stat -1 3 -1", "", ",", NAME_WHOLE},
    {"<px>", "show stat -1 3 -1", "", ",", NAME_WHOLE},
    {"<bk>/<srv>", "show stat -1 4 -1", "", ",", NAME_PAIR},
    {"<tls>", "show tls", "tls ", ",", NAME_WHOLE},
    {"<table>", "show table", "# table: ", ",", NAME_WHOLE},
    {"<acl>", "show acl", "", ")", NAME_IN_BRACKETS},
    {"<certfile>", "show ssl cert", "", "", NAME_WHOLE},
    {"<drained>", "show drains", "", " ", NAME_WHOLE},
    {"<expiring>", "show expiring", "", " ", NAME_WHOLE},
    {"<limited>", "show bandwidth clients", "", " ", NAME_WHOLE},
    {"<bk>/", "show stat -1 2 -1", "", ",", NAME_BEGUN},
};

/* Adds the name in a line.  NAME_PAIR makes the first two columns of `show
 * stat` `BACKEND/SERVER`; NAME_BEGUN only puts a slash behind the first
 * column. */
static void
complete_name(struct candidates *c, char *line, const struct name_list *list)
{
	size_t before = strlen(list->before), n;

	if ((*line == '#' && *list->before != '#') ||
	    strncmp(line, list->before, before) != 0)
		return;
	line += before;
	if (list->form == NAME_IN_BRACKETS)
		line += strcspn(line, "(") + (strchr(line, '(') != NULL);
	n = strcspn(line, list->ends);
	if ((list->form == NAME_PAIR || list->form == NAME_BEGUN) && line[n])
		line[n++] = '/';
	if (list->form == NAME_PAIR)
		n += strcspn(line + n, list->ends);
	add_candidate(c, line, n);
}

static void
complete_names(struct candidates *c, const char *placeholder)
{
	struct ctl_text answer;
	const struct name_list *list = name_lists;
	const struct name_list *end =
	    list + sizeof(name_lists) / sizeof(name_lists[0]);
	char *rest, *line;

	while (list < end && strcmp(placeholder, list->placeholder) != 0)
		list++;
	if (list == end)
		return;
	answer = ask_server(c->where, list->command);
	rest = answer.data;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			complete_name(c, line, list);
	ctl_text_fini(&answer);
}

/* -- values that `help` does not list -- */

/* The codes of the access log. */
#define CLOSE_CODES                                                            \
	"-- CC CR cR cQ cC cD PR PT PL RR CQ CD SC SQ sQ sC SD sD PD RC RD "   \
	"KR KC KQ KD BD DC DD UC UD"

#define SORT_KEYS "bytes bytes-in bytes-out duration"

#define TABLE_SET                                                              \
	"data.bytes_in_cnt data.bytes_left data.bytes_out_cnt data.conn_cnt "  \
	"data.refused data.server_id data.server_key data.tokens"
#define TABLE_DATA                                                             \
	"data.bytes_in_cnt data.bytes_left data.bytes_out_cnt data.conn_cnt "  \
	"data.conn_cur data.refused data.server_id data.tokens"

/* Words of a command line, with `*` for any word, `@*` for one that begins with
 * `@` and `...` for any number of words, and the values that may follow
 * them. */
static const struct value {
	const char *words, *values;
} values[] = {
    {"add acl @*", "<acl>"},
    {"add acl @* * *", ""},
    {"add acl * *", "for"},
    {"add acl *", ""},
    {"clear acl @*", "<acl>"},
    {"clear acl *", ""},
    {"show acl @*", "<acl>"},
    {"show acl *", "json"},
    {"explain", "unix"},
    {"explain *", "<frontend> to sni alpn tls json"},
    {"explain * to", ""},
    {"explain * sni", ""},
    {"explain * alpn", ""},
    {"explain * *", "to sni alpn tls json"},
    {"cancel drain", "<drained>"},
    {"cancel expiring", "<expiring>"},
    {"del bandwidth client", "<limited>"},
    {"drain server *", "over then"},
    {"drain server * over *", "then"},
    {"drain server * then", "kill maint"},
    {"rebalance backend *", "over dry-run json"},
    {"resolve now", "backend"},
    {"add server", "<bk>/"},
    {"set bandwidth client", ""},
    {"set bandwidth client *", "in= out= off"},
    {"set bandwidth client * *", "in= out= for"},
    {"set bandwidth client * * *", "for"},
    {"set pool *", "threads shards promotion order cpus"},
    {"set pool * threads", "auto"},
    {"set pool * shards", "auto"},
    {"set pool * promotion", "adaptive always kernel"},
    {"set pool * order", "lifo fifo priority"},
    {"set pool * cpus", "all"},
    {"set server *", "state weight addr maxconn health agent check-port "
                     "check-addr agent-port agent-addr agent-send"},
    {"set server * addr", "file"},
    {"set server * check-addr", "file"},
    {"set server * agent-addr", "file"},
    {"set server * state", "ready drain maint"},
    {"set server * health", "up stopping down"},
    {"set server * agent", "up down"},
    {"set server * * *", "for"},
    {"set rate-limit", "connections sessions"},
    {"set rate-limit *", "global"},
    {"set rate-limit * global *", "for"},
    {"set timeout", "cli"},
    {"show closed ... backend", "<backend>"},
    {"show closed ... cause", CLOSE_CODES},
    {"show closed ... frontend", "<frontend>"},
    {"show closed ... server", "<bk>/<srv>"},
    {"show closed ... sort", SORT_KEYS},
    {"show closed ... client", ""},
    {"show closed ... last", ""},
    {"show closed ... min-bytes", ""},
    {"show closed ...", "backend cause client frontend last min-bytes server "
                        "sort json"},
    {"show failures ... backend", "<backend>"},
    {"show failures ... cause", CLOSE_CODES},
    {"show failures ... frontend", "<frontend>"},
    {"show failures ... server", "<bk>/<srv>"},
    {"show failures ... last", ""},
    {"show failures ...", "backend cause frontend last server json"},
    {"show sess ... backend", "<backend>"},
    {"show sess ... frontend", "<frontend>"},
    {"show sess ... server", "<bk>/<srv>"},
    {"show sess ... sort", SORT_KEYS},
    {"show sess ... client", ""},
    {"show sess ... older", ""},
    {"show sess ... min-bytes", ""},
    {"show sess ...", "all backend client frontend min-bytes older server "
                      "sort json"},
    {"show stat", "<proxy> typed json desc no-maint up"},
    {"show table *", "key " TABLE_DATA " json"},
    {"show table * *", "eq ne le ge lt gt"},
    {"show table * * * *", TABLE_DATA " json"},
    {"clear table *", "key " TABLE_DATA},
    {"clear table * *", "eq ne le ge lt gt"},
    {"clear table * * * *", TABLE_DATA},
    {"set table *", "key"},
    {"set table * key *", TABLE_SET},
    {"set table * key * * *", TABLE_SET},
    {"wait *", "srv-removable drained"},
    {"wait * drained", "<bk>/<srv>"},
    {"wait * srv-removable", "<bk>/<srv>"},
};

/* The options of `add server`, in any order. */
static const char server_options[] =
    "addr agent-addr agent-check agent-inter agent-port agent-send backup "
    "check check-send-proxy disabled downinter enabled fall fastinter inter "
    "interface maxconn port rise send-proxy send-proxy-v2 slowstart source "
    "tfo track weight";

static void
complete_value(struct candidates *c, const char *value, size_t n)
{
	char word[WORD_SIZE];

	snprintf(word, sizeof(word), "%.*s", (int)n, value);
	if (strchr(word, '<'))
		complete_names(c, word);
	else
		add_candidate(c, value, n);
}

/* Adds the values in the text, which characters of `between` separate. */
static void
complete_values(struct candidates *c, const char *text, const char *between)
{
	while (*(text += strspn(text, between))) {
		size_t n = strcspn(text, between);

		if (strncmp(text, "<option>", n) == 0)
			complete_values(c, server_options, " ");
		else
			complete_value(c, text, n);
		text += n;
	}
}

/* Returns whether the word matches the n characters of a row of `values`. */
static bool
is_word(const char *word, const char *row, size_t n)
{
	if (n == 2 && memcmp(row, "@*", n) == 0)
		return *word == '@';
	return (n == 1 && *row == '*') ||
	       (strlen(word) == n && memcmp(word, row, n) == 0);
}

/* Skips the words that text and *words have in common; `*` in text is any word.
 * Returns the rest of text, with *words moved to the rest of the given words.
 * Returns NULL if two words differ. */
static const char *
skip_common_words(const char *text, const char *const **words)
{
	while (*text && **words) {
		size_t n = strcspn(text, " ");

		if (!is_word(**words, text, n))
			return NULL;
		text += n + (text[n] == ' ');
		++*words;
	}
	return text;
}

/* Returns whether the words are those of the row. */
static bool
is_row(const char *row, const char *const *words)
{
	const char *dots = strstr(row, " ...");
	const char *const *left = words;
	char begin[WORD_SIZE];
	const char *rest;

	snprintf(begin, sizeof(begin), "%.*s",
	    dots ? (int)(dots - row) : (int)strlen(row), row);
	rest = skip_common_words(begin, &left);
	if (!rest || *rest)
		return false;
	if (!dots || !*left)
		return !*left && (!dots || !dots[4]);
	while (left[1])
		left++;
	return !dots[4] || strcmp(*left, dots + 5) == 0;
}

static bool
complete_known_values(struct candidates *c, const char *const *words)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (!is_row(values[i].words, words))
			continue;
		complete_values(c, values[i].values, " ");
		return true;
	}
	return false;
}

/* -- commands and arguments, from `help` -- */

/* Adds the argument that follows `given` others, such as `[<pool>]` or
 * `[desc|json|typed]*`.  If it is optional or may be repeated, also adds those
 * behind it. */
static void
complete_arguments(struct candidates *c, char *args, size_t given)
{
	char *arg;

	for (size_t i = 0; (arg = strsep(&args, " ")); i++) {
		bool many = strchr(arg, '*') != NULL;
		bool optional = *arg == '[';

		if (i >= given || many)
			complete_values(c, arg, "[]*|");
		if (i >= given && !optional)
			return;
	}
}

static void
complete_from_usage(struct candidates *c, const struct ctl_usage *usage,
    const char *const *words)
{
	const char *const *left = words;
	const char *rest = skip_common_words(usage->words, &left);
	size_t given = 0;

	if (rest && *rest && !*left) {
		add_candidate(c, rest, strcspn(rest, " "));
	} else if (rest && !*rest && !complete_known_values(c, words)) {
		while (left[given])
			given++;
		complete_arguments(c, usage->args, given);
	}
}

void
ctl_complete(const char *where, const char *const *words, FILE *out)
{
	struct candidates c = {.where = where};
	struct ctl_usage usage;
	struct ctl_text help;
	char *at;

	if (words[0] && strcmp(words[0], "top") == 0) {
		fputs("-c\n-d\n-n\n", out);
		return;
	}
	if (words[0] && strcmp(words[0], "import") == 0) {
		/* The shell completes the name of the file. */
		bool checks =
		    words[1] && strcmp(words[1], "--serve-check") == 0;

		fputs(!words[1]             ? "--serve-check\nhaproxy\nnginx\n"
		      : checks && !words[2] ? "haproxy\nnginx\n"
		                            : "",
		    out);
		return;
	}
	if (words[0] && strcmp(words[0], "save") == 0) {
		fputs(!words[1]   ? "config\n"
		      : !words[2] ? "dry-run\n"
		                  : "",
		    out);
		return;
	}
	if (!words[0]) {
		add_candidate(&c, "import", 6);
		add_candidate(&c, "save", 4);
		add_candidate(&c, "top", 3);
	}
	help = ask_server(where, "help");
	at = help.data;
	while (ctl_next_usage(&at, &usage))
		complete_from_usage(&c, &usage, words);
	if (c.seen.n)
		fwrite(c.seen.data, 1, c.seen.n, out);
	ctl_text_fini(&help);
	ctl_text_fini(&c.seen);
}
