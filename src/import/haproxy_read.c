/* SPDX-License-Identifier: MIT
 * Reads HAProxy's configuration language: lines, words, quotes, variables,
 * conditional blocks, sections.
 *
 * Source: HAProxy 2.6 Configuration Manual, 2.2 "Quoting and escaping", 2.3
 * "Environment variables", 2.4 "Conditional blocks".
 */
#include "import/haproxy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NEST_MAX 16
#define WORD_MAX 8000

/* The state of reading one line. */
struct word_reader {
	struct hap_file *file;
	const char *at, *end;
	struct arena_text word;
	bool started; /* also for an empty word in quotes */
	bool single, dual;
	const char *error;
};

static const char *
variable_value(const struct hap_file *file, const char *name, size_t n)
{
	for (size_t i = file->set.n; i-- > 0;)
		if (strncmp(file->set.word[i], name, n) == 0 &&
		    file->set.word[i][n] == '=')
			return file->set.word[i] + n + 1;
	return NULL;
}

/* Reads `$NAME`, `${NAME}` or `${NAME-default}`.  Variables that setenv of the
 * file sets are replaced; others remain variables. */
static void
read_variable(struct word_reader *r)
{
	struct arena *arena = &r->file->doc->arena;
	bool braces = r->at + 1 < r->end && r->at[1] == '{';
	const char *name = r->at + 1 + braces, *end = name, *value;
	const char *otherwise = "";
	size_t n;

	while (end < r->end && (isalnum((unsigned char)*end) || *end == '_' ||
	                           (*end == '.' && end == name)))
		end++;
	n = (size_t)(end - name);
	if (n == 0) {
		arena_text_add(arena, &r->word, r->at++, 1);
		return;
	}
	r->at = end;
	if (braces) {
		const char *brace = memchr(end, '}', (size_t)(r->end - end));

		if (!brace) {
			r->error = "missing '}' behind ${";
			return;
		}
		if (*end == '-')
			otherwise = arena_copy(
			    arena, end + 1, (size_t)(brace - end - 1));
		r->at = brace + 1;
	}
	value = variable_value(r->file, name, n);
	if (value)
		arena_text_printf(arena, &r->word, "%s", value);
	else
		arena_text_printf(
		    arena, &r->word, "${%.*s:-%s}", (int)n, name, otherwise);
}

static int
hex_pair(const char *at, const char *end)
{
	char pair[3] = "";

	if (end - at < 2 || !isxdigit((unsigned char)at[0]) ||
	    !isxdigit((unsigned char)at[1]))
		return -1;
	memcpy(pair, at, 2);
	return (int)strtol(pair, NULL, 16);
}

static void
read_escape(struct word_reader *r)
{
	static const char names[] = "nrt", bytes[] = "\n\r\t";
	char c = r->at + 1 < r->end ? r->at[1] : '\\';
	const char *known = c ? strchr(names, c) : NULL;
	int hex;

	r->at += r->at + 1 < r->end ? 2 : 1;
	if (known) {
		c = bytes[known - names];
	} else if (c == 'x') {
		hex = hex_pair(r->at, r->end);
		if (hex <= 0) {
			r->error = "two hexadecimal digits are missing "
			           "behind \\x";
			return;
		}
		c = (char)hex;
		r->at += 2;
	} else if (r->dual && !strchr("\\\"$'# ", c)) {
		arena_text_add(&r->file->doc->arena, &r->word, "\\", 1);
	} else if (!r->dual && !strchr("\\\"'# ", c)) {
		arena_text_add(&r->file->doc->arena, &r->word, "\\", 1);
	}
	arena_text_add(&r->file->doc->arena, &r->word, &c, 1);
}

/* Takes one character, or the quote, escape or variable that it begins. */
static void
read_character(struct word_reader *r)
{
	char c = *r->at;

	r->started = true;
	if (c == '\'' && !r->dual) {
		r->single = !r->single;
		r->at++;
	} else if (c == '"' && !r->single) {
		r->dual = !r->dual;
		r->at++;
	} else if (c == '\\' && !r->single) {
		read_escape(r);
	} else if (c == '$' && !r->single &&
	           (r->dual || (r->at + 1 < r->end && r->at[1] == '{'))) {
		read_variable(r);
	} else {
		arena_text_add(&r->file->doc->arena, &r->word, r->at++, 1);
	}
}

static void
end_word(struct word_reader *r, struct words *words)
{
	struct arena *arena = &r->file->doc->arena;

	if (r->word.n > WORD_MAX)
		r->error = "a word is too long";
	else if (r->started)
		words_add(arena, words, r->word.data ? r->word.data : "");
	r->word = (struct arena_text){NULL, 0, 0};
	r->started = false;
}

/* Splits a line.  Returns NULL, or the error in it. */
static const char *
read_words(
    struct hap_file *file, const char *text, size_t n, struct hap_line *line)
{
	struct word_reader r = {.file = file, .at = text, .end = text + n};
	struct arena *arena = &file->doc->arena;
	size_t len = n;

	while (r.at < r.end && !r.error) {
		bool quoted = r.single || r.dual;

		if (!quoted && *r.at == '#') {
			len = (size_t)(r.at - text);
			line->comment = arena_copy(
			    arena, r.at + 1, (size_t)(r.end - r.at) - 1);
			break;
		}
		if (!quoted && isspace((unsigned char)*r.at)) {
			end_word(&r, &line->words);
			r.at++;
		} else {
			read_character(&r);
		}
	}
	end_word(&r, &line->words);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	while (len > 0 && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	line->text = arena_copy(arena, text, len);
	if (line->comment && line->comment[0] == ' ')
		line->comment++;
	return r.error              ? r.error
	       : r.single || r.dual ? "a quote is not closed"
	                            : NULL;
}

static bool
is_section(const char *word)
{
	static const char *const names[] = {"global", "defaults", "frontend",
	    "backend", "listen", "peers", "resolvers", "mailers", "userlist",
	    "cache", "program", "ring", "fcgi-app", "http-errors",
	    "log-forward", "crt-store", "traces", "ruleset", "log-profile",
	    "acme", "namespace_list"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(word, names[i]) == 0)
			return true;
	return false;
}

/* Returns whether the condition of the line holds.  One that cannot be
 * evaluated is taken to hold, and the line is marked. */
static bool
holds(struct hap_file *file, struct hap_line *line)
{
	enum truth truth = hap_evaluate(file, line);

	line->unknown = truth == TRUTH_UNKNOWN;
	return truth != TRUTH_NO;
}

/* A conditional block. */
struct block {
	bool taken; /* one of its branches was */
	bool on;    /* the present branch is */
	unsigned line;
};

struct blocks {
	struct block all[NEST_MAX];
	size_t n;
};

static bool
is_on(const struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->n; i++)
		if (!blocks->all[i].on)
			return false;
	return true;
}

/* Follows .if, .elif, .else and .endif.  Returns NULL or an error. */
static const char *
follow_block(
    struct hap_file *file, struct blocks *blocks, struct hap_line *line)
{
	const char *word = line->words.word[0];
	struct block *top = blocks->n > 0 ? &blocks->all[blocks->n - 1] : NULL;

	if (strcmp(word, ".if") == 0) {
		bool inside = is_on(blocks), on;

		if (blocks->n == NEST_MAX)
			return "too many blocks of .if";
		on = inside && holds(file, line);
		/* No branch is taken inside of a branch that is left out. */
		blocks->all[blocks->n++] =
		    (struct block){on || !inside, on, line->line};
	} else if (strcmp(word, ".elif") == 0 || strcmp(word, ".else") == 0) {
		if (!top)
			return "an .if before it is missing";
		top->on = !top->taken && (word[3] == 's' || holds(file, line));
		top->taken |= top->on;
	} else if (strcmp(word, ".endif") == 0) {
		if (!top)
			return "an .if before it is missing";
		blocks->n--;
	}
	return NULL;
}

static void
remember_variable(struct hap_file *file, const struct hap_line *line)
{
	const char *word = hap_word(line, 0), *name, *value;
	struct arena *arena = &file->doc->arena;

	if (line->words.n < 3 ||
	    (strcmp(word, "setenv") != 0 && strcmp(word, "presetenv") != 0))
		return;
	name = hap_word(line, 1);
	value = hap_word(line, 2);
	if (strcmp(word, "setenv") == 0)
		words_add(arena, &file->set,
		    arena_printf(arena, "%s=%s", name, value));
	else
		words_add(arena, &file->set,
		    arena_printf(arena, "%s=${%s:-%s}", name, name, value));
}

static void
haproxy_add_line(
    struct arena *arena, struct hap_lines *lines, struct hap_line line)
{
	void *larger = arena_grow(arena, lines->all, lines->n, sizeof(line));

	lines->all = larger;
	lines->all[lines->n++] = line;
}

static void
keep_line(struct hap_file *file, struct hap_line line)
{
	struct arena *arena = &file->doc->arena;
	bool begins =
	    line.words.n > 0 && !line.reason && is_section(line.words.word[0]);

	if (begins || file->n == 0) {
		void *larger = arena_grow(
		    arena, file->sections, file->n, sizeof(*file->sections));

		file->sections = larger;
		file->sections[file->n++] = (struct hap_section){
		    .head = begins ? line : (struct hap_line){.line = 0}};
		if (begins)
			return;
	}
	if (!line.reason)
		remember_variable(file, &line);
	haproxy_add_line(arena, &file->sections[file->n - 1].lines, line);
}

static bool
refuse_line(struct hap_file *file, unsigned line, const char *why)
{
	fprintf(file->errors, "%s:%u: %s\n", file->source->file, line, why);
	return false;
}

/* Reads one line, which may be part of a block that is left out.  Returns false
 * after an error. */
static bool
take_line(struct hap_file *file, struct blocks *blocks, const char *text,
    size_t n, unsigned number)
{
	struct hap_line line = {.line = number};
	const char *error = NULL;

	if (memchr(text, '\0', n))
		return refuse_line(file, number,
		    "a NUL byte; this is not a configuration of HAProxy");
	error = read_words(file, text, n, &line);
	if (error)
		return refuse_line(file, number, error);
	if (line.words.n == 0 && !line.comment)
		return true;
	if (line.words.n > 0 && line.words.word[0][0] == '.') {
		error = follow_block(file, blocks, &line);
		if (error)
			return refuse_line(file, number, error);
	} else if (line.words.n > 0 && !is_on(blocks)) {
		line.reason = "the branch is not taken";
	}
	if (file->n == 0 && line.words.n > 0 && !line.reason &&
	    line.words.word[0][0] != '.' && !is_section(line.words.word[0]))
		return refuse_line(file, number,
		    "a section such as 'global' or 'frontend NAME' is "
		    "expected; this is not a configuration of HAProxy");
	if (line.words.n > 0) {
		words_watch(&file->doc->arena, &line.words);
		line.row = ledger_add(&file->doc->arena, &file->doc->ledger,
		    (struct origin){.file = file->name, .line = number},
		    line.text, &line.words);
	}
	keep_line(file, line);
	return true;
}

bool
hap_read(struct hap_file *file)
{
	const char *at = file->source->text, *end = at + file->source->n;
	struct blocks blocks = {.n = 0};
	unsigned number = 1;

	for (; at < end; number++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = stop ? (size_t)(stop - at) : (size_t)(end - at);

		if (!take_line(file, &blocks, at, n, number))
			return false;
		at = stop ? stop + 1 : end;
	}
	if (blocks.n > 0)
		return refuse_line(
		    file, blocks.all[blocks.n - 1].line, ".endif is missing");
	return true;
}
