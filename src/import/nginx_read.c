/* SPDX-License-Identifier: MIT
 * Reads nginx's configuration language: directives, blocks, quotes, comments,
 * includes.
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <string.h>

#include "import/nginx.h"

#define DEPTH_MAX 16
#define FILES_MAX 1000
#define WORD_MAX  4096 /* nginx's own limit */

struct token_reader {
	struct ngx_file *file;
	const char *path; /* for messages */
	const char *name;
	const char *at, *end;
	unsigned line;
	unsigned ended; /* the line on which the last directive ended */
	unsigned depth;
};

static bool
report_refusal(const struct token_reader *r, unsigned line, const char *why)
{
	fprintf(r->file->errors, "%s:%u: %s\n", r->path, line, why);
	return false;
}

static struct ngx_item *
add_item(struct token_reader *r, struct ngx_item *block)
{
	struct arena *arena = &r->file->doc->arena;
	void *larger = arena_grow(
	    arena, block->children, block->n, sizeof(struct ngx_item));

	block->children = larger;
	block->children[block->n] =
	    (struct ngx_item){.file = r->name, .line = r->line};
	return &block->children[block->n++];
}

static void
skip_token_blanks(struct token_reader *r)
{
	for (; r->at < r->end && isspace((unsigned char)*r->at); r->at++)
		r->line += *r->at == '\n';
}

/* Reads a comment, which becomes an item.  A comment behind a directive, on the
 * same line, precedes the directive. */
static void
read_comment(struct token_reader *r, struct ngx_item *block)
{
	const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
	size_t n = (size_t)((end ? end : r->end) - r->at);
	const char *text;

	text = arena_copy(&r->file->doc->arena, r->at + 1, n - 1);
	add_item(r, block)->text = text[0] == ' ' ? text + 1 : text;
	r->at += n;
	if (block->n > 1 && r->ended == r->line &&
	    block->children[block->n - 2].words.n > 0 &&
	    !block->children[block->n - 2].is_block) {
		struct ngx_item comment = block->children[block->n - 1];

		block->children[block->n - 1] = block->children[block->n - 2];
		block->children[block->n - 2] = comment;
	}
}

static char
escaped(char c)
{
	return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
}

/* Reads a word in quotes.  Returns false if they are not closed. */
static bool
read_quoted(struct token_reader *r, struct arena_text *word)
{
	struct arena *arena = &r->file->doc->arena;
	char quote = *r->at++, c;

	while (r->at < r->end && *r->at != quote) {
		r->line += *r->at == '\n';
		if (*r->at == '\\' && r->at + 1 < r->end) {
			c = r->at[1];
			if (!strchr("nrt\\\"'", c) || !c)
				arena_text_add(arena, word, "\\", 1);
			c = escaped(c);
			arena_text_add(arena, word, &c, 1);
			r->at += 2;
		} else {
			arena_text_add(arena, word, r->at++, 1);
		}
	}
	if (r->at == r->end)
		return false;
	r->at++;
	return true;
}

static void
read_plain(struct token_reader *r, struct arena_text *word)
{
	struct arena *arena = &r->file->doc->arena;

	while (r->at < r->end && !isspace((unsigned char)*r->at) &&
	       *r->at != ';' && *r->at != '{') {
		bool variable =
		    *r->at == '$' && r->at + 1 < r->end && r->at[1] == '{';
		size_t n = 1;

		if (variable) {
			const char *brace =
			    memchr(r->at, '}', (size_t)(r->end - r->at));

			n = brace ? (size_t)(brace - r->at) + 1 : 1;
			if (brace)
				arena_text_printf(arena, word, "$%.*s",
				    (int)n - 3, r->at + 2);
			r->at += brace ? n : 0;
			if (brace)
				continue;
		}
		if (*r->at == '\\' && r->at + 1 < r->end &&
		    strchr("\"' {};\\", r->at[1]) && r->at[1])
			r->at++;
		arena_text_add(arena, word, r->at++, n);
	}
}

static bool read_block(struct token_reader *r, struct ngx_item *block);

static bool
read_file_into(struct ngx_file *file, struct ngx_item *block, const char *path,
    const char *text, size_t n, unsigned depth)
{
	const char *slash = strrchr(path, '/');
	struct token_reader r = {.file = file,
	    .path = path,
	    .name = slash ? slash + 1 : path,
	    .at = text,
	    .end = text + n,
	    .line = 1,
	    .depth = depth};

	if (memchr(text, '\0', n))
		return report_refusal(
		    &r, 1, "a NUL byte; this is not a configuration of nginx");
	if (!read_block(&r, block))
		return false;
	if (r.at < r.end)
		return report_refusal(&r, r.line, "unexpected '}'");
	return true;
}

/* Returns whether a search for the pattern could take minutes: it has wildcards
 * in more than two of its parts. */
static bool
has_many_wildcards(const char *pattern)
{
	unsigned n = 0;

	while (*pattern) {
		size_t part = strcspn(pattern, "/");

		n += strcspn(pattern, "*?[") < part;
		pattern += part + (pattern[part] == '/');
	}
	return n > 2;
}

/* Reads the files of an include into the block. */
static bool
include(struct token_reader *r, struct ngx_item *block, struct ngx_item item)
{
	struct arena *arena = &r->file->doc->arena;
	const char *pattern = ngx_path(r->file, ngx_word(&item, 1));
	bool done = true;
	glob_t found;

	if (r->file->source->may_read && has_many_wildcards(pattern)) {
		fprintf(r->file->errors,
		    "%s:%u: include: wildcards in more than two folders\n",
		    r->path, item.line);
		return false;
	}
	if (!r->file->source->may_read || item.words.n != 2 ||
	    glob(pattern, 0, NULL, &found) != 0) {
		/* A pattern may match no file. */
		if (!r->file->source->may_read || item.words.n != 2 ||
		    !strpbrk(pattern, "*?["))
			block->children[block->n++] = item;
		return true;
	}
	for (size_t i = 0; i < found.gl_pathc && done; i++) {
		const char *path = arena_printf(arena, "%s", found.gl_pathv[i]);
		size_t n;
		char *text = value_read_file(arena, path, &n);

		words_add(arena, &r->file->files, path);
		if (!text || r->depth == DEPTH_MAX ||
		    r->file->files.n > FILES_MAX) {
			fprintf(r->file->errors, "%s:%u: cannot include %s\n",
			    r->path, item.line, path);
			done = false;
		} else {
			done = read_file_into(
			    r->file, block, path, text, n, r->depth + 1);
		}
	}
	globfree(&found);
	return done;
}

/* Adds the directive to the ledger. */
static void
watch(struct token_reader *r, struct ngx_item *item)
{
	struct document *doc = r->file->doc;

	words_watch(&doc->arena, &item->words);
	item->row = ledger_add(&doc->arena, &doc->ledger,
	    (struct origin){.file = item->file, .line = item->line}, item->text,
	    &item->words);
}

/* Reads a directive up to its `;`, or its block. */
static bool
read_directive(struct token_reader *r, struct ngx_item *block)
{
	struct arena *arena = &r->file->doc->arena;
	struct ngx_item *item = add_item(r, block);
	unsigned line = r->line;

	for (skip_token_blanks(r); r->at < r->end && !strchr(";{}", *r->at);
	     skip_token_blanks(r)) {
		struct arena_text word = {NULL, 0, 0};

		if (*r->at == '#') {
			const char *eol =
			    memchr(r->at, '\n', (size_t)(r->end - r->at));

			r->at = eol ? eol : r->end;
			continue;
		}
		if (*r->at != '"' && *r->at != '\'')
			read_plain(r, &word);
		else if (!read_quoted(r, &word))
			return report_refusal(r, line, "a quote is not closed");
		if (word.n > WORD_MAX)
			return report_refusal(r, line, "a word is too long");
		words_add(arena, &item->words, word.data ? word.data : "");
	}
	item->text = words_join(arena, &item->words, 0, " ");
	if (r->at == r->end || *r->at == '}')
		return report_refusal(r, line, "';' or '{' is missing");
	if (item->words.n == 0)
		return report_refusal(r, line, "a directive is expected");
	item->is_block = *r->at++ == '{';
	r->ended = r->line;
	watch(r, item);
	if (!item->is_block && ngx_is(item, "include")) {
		struct ngx_item copy = *item;

		block->n--;
		return include(r, block, copy);
	}
	if (!item->is_block)
		return true;
	if (++r->depth > DEPTH_MAX)
		return report_refusal(r, line, "too many blocks in each other");
	if (!read_block(r, item))
		return false;
	r->depth--;
	if (r->at == r->end)
		return report_refusal(r, line, "'}' is missing at the end");
	r->at++;
	return true;
}

/* Reads directives up to the end, or a `}`. */
static bool
read_block(struct token_reader *r, struct ngx_item *block)
{
	for (skip_token_blanks(r); r->at < r->end && *r->at != '}';
	     skip_token_blanks(r)) {
		if (*r->at == '#')
			read_comment(r, block);
		else if (!read_directive(r, block))
			return false;
	}
	return true;
}

bool
ngx_read(struct ngx_file *file)
{
	return read_file_into(file, &file->top, file->source->file,
	    file->source->text, file->source->n, 0);
}
