/* SPDX-License-Identifier: MIT
 * See document.h.
 */
#include "import/document.h"

#include <ctype.h>
#include <string.h>

#define NAME_MAX_LEN 40
/* Lines of lfproxy.ini have at most 8192 characters. */
#define COMMENT_MAX 1000
#define VALUE_MAX   8000

struct doc_name {
	struct doc_name *next;
	const char *kind, *name;
};

void
doc_fini(struct document *doc)
{
	arena_fini(&doc->arena);
}

static struct ini_section *
imported_add_section(struct document *doc, const char *head)
{
	struct ini_section *section =
	    arena_alloc(&doc->arena, sizeof(*section));

	section->head = head;
	if (doc->last)
		doc->last->next = section;
	else
		doc->first = section;
	doc->last = section;
	return section;
}

struct ini_section *
doc_section(struct document *doc, const char *fmt, ...)
{
	struct ini_section *section;
	va_list args;

	va_start(args, fmt);
	section =
	    imported_add_section(doc, arena_vprintf(&doc->arena, fmt, args));
	va_end(args);
	section->before = doc->pending;
	doc->pending = (struct arena_text){NULL, 0, 0};
	return section;
}

struct ini_section *
doc_find_section(struct document *doc, const char *head)
{
	for (struct ini_section *s = doc->first; s; s = s->next)
		if (s->head && strcmp(s->head, head) == 0)
			return s;
	return imported_add_section(
	    doc, arena_copy(&doc->arena, head, strlen(head)));
}

/* Adds a comment line.  Replaces control characters, and keeps a backslash at
 * the end from continuing the line. */
static void
add_comment(struct document *doc, struct arena_text *to, const char *text)
{
	size_t n = strlen(text);
	char *copy;

	if (n > COMMENT_MAX)
		text =
		    arena_printf(&doc->arena, "%.*s [...]", COMMENT_MAX, text);
	n = strlen(text);
	copy = arena_copy(&doc->arena, text, n);
	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)copy[i]))
			copy[i] = copy[i] == '\t' ? ' ' : '?';
	while (n > 0 && copy[n - 1] == ' ')
		copy[--n] = '\0';
	arena_text_printf(&doc->arena, to, ";%s%s%s\n", n > 0 ? " " : "", copy,
	    n > 0 && copy[n - 1] == '\\' ? " ." : "");
}

void
doc_comment(struct document *doc, const char *text)
{
	add_comment(doc, &doc->pending, text);
}

void
doc_flush(struct document *doc, struct ini_section *section)
{
	if (doc->pending.n > 0)
		arena_text_add(&doc->arena, &section->lines, doc->pending.data,
		    doc->pending.n);
	doc->pending = (struct arena_text){NULL, 0, 0};
}

const char *
doc_take_pending(struct document *doc)
{
	const char *text = doc->pending.data;

	doc->pending = (struct arena_text){NULL, 0, 0};
	return text;
}

/* Writes the remark behind the line, unless it needs a line of its own. */
void
doc_key(struct document *doc, struct ini_section *section, const char *key,
    const char *fmt, ...)
{
	const char *remark = doc->remark;
	va_list args;
	const char *value;

	doc_flush(doc, section);
	va_start(args, fmt);
	value = doc_clean(doc, arena_vprintf(&doc->arena, fmt, args));
	va_end(args);
	doc->remark = NULL;
	if (strlen(key) + strlen(value) > VALUE_MAX) {
		doc_default(doc, section, LOSS_CLIENTS, key,
		    "left out: no line of lfproxy.ini may be that long");
		return;
	}
	if (remark && strlen(remark) + strlen(value) > COMMENT_MAX) {
		add_comment(doc, &section->lines, remark);
		remark = NULL;
	}
	arena_text_printf(&doc->arena, &section->lines, "%s = %s", key, value);
	if (remark) {
		arena_text_add(&doc->arena, &section->lines, "  ", 2);
		add_comment(doc, &section->lines, remark);
	} else {
		arena_text_add(&doc->arena, &section->lines, "\n", 1);
	}
	section->n_keys++;
}

void
doc_note(
    struct document *doc, struct ini_section *section, const char *fmt, ...)
{
	va_list args;

	doc_flush(doc, section);
	va_start(args, fmt);
	add_comment(
	    doc, &section->lines, arena_vprintf(&doc->arena, fmt, args));
	va_end(args);
}

/* Adds a comment of two lines: what differs, and for whom and why. */
static void
add_loss(struct document *doc, struct ini_section *section, enum loss loss,
    const char *what, const char *reason)
{
	static const char *const whom[] = {
	    [LOSS_OPERATORS] = "",
	    [LOSS_SERVERS] = "SERVERS: ",
	    [LOSS_CLIENTS] = "CLIENTS: ",
	};

	doc_flush(doc, section);
	add_comment(doc, &section->lines, what);
	add_comment(doc, &section->lines,
	    arena_printf(&doc->arena, "  %s%s", whom[loss], reason));
}

/* Returns whether the section, or any section if the line is inherited, has the
 * same loss already. */
static bool
is_repeated(struct document *doc, const struct ini_section *section,
    struct origin at, const char *words, const char *reason)
{
	struct arena *arena = &doc->arena;
	bool anywhere = ledger_said(
	    arena, at.row, arena_printf(arena, "%s %s", words, reason));
	bool here = ledger_said(arena, at.row,
	    arena_printf(
	        arena, "%p %s %s", (const void *)section, words, reason));

	return at.inherited ? anywhere : here;
}

void
doc_lost(struct document *doc, struct ini_section *section, struct origin at,
    enum loss loss, const char *words, const char *fmt, ...)
{
	const char *reason;
	va_list args;

	va_start(args, fmt);
	reason = arena_vprintf(&doc->arena, fmt, args);
	va_end(args);
	ledger_differs(at.row, loss, words, reason);
	if (at.row && is_repeated(doc, section, at, words, reason))
		return;
	add_loss(doc, section, loss,
	    arena_printf(&doc->arena, "%s:%u: %s", at.file, at.line, words),
	    reason);
}

void
doc_default(struct document *doc, struct ini_section *section, enum loss loss,
    const char *name, const char *fmt, ...)
{
	struct origin at = {.file = "default"};
	va_list args;

	va_start(args, fmt);
	add_loss(doc, section, loss,
	    arena_printf(&doc->arena, "default: %s", name),
	    arena_vprintf(&doc->arena, fmt, args));
	va_end(args);
	at.row = ledger_add(&doc->arena, &doc->ledger, at, name, NULL);
	ledger_differs(at.row, loss, name, NULL);
}

void
doc_report_unread(struct document *doc)
{
	struct ini_section *remark = NULL;

	for (struct ledger_row *row = doc->ledger.first; row; row = row->next) {
		const char *words = ledger_unread(&doc->arena, row);

		if (!words)
			continue;
		if (!remark) {
			remark = doc_section(doc, "%s", "");
			remark->head = NULL;
		}
		doc_lost(doc, remark, row->at, LOSS_CLIENTS, words,
		    "no part of the conversion knows these words here");
	}
}

static bool
has_name(const struct document *doc, const char *kind, const char *name)
{
	for (const struct doc_name *n = doc->names; n; n = n->next)
		if (strcmp(n->kind, kind) == 0 && strcmp(n->name, name) == 0)
			return true;
	return false;
}

const char *
doc_name(struct document *doc, const char *kind, const char *want)
{
	struct doc_name *entry = arena_alloc(&doc->arena, sizeof(*entry));
	size_t n = strlen(want);
	char *base =
	    arena_copy(&doc->arena, want, n > NAME_MAX_LEN ? NAME_MAX_LEN : n);
	char *name = base;

	/* lfproxy fills in a variable in a name when it reads the file. */
	if (strstr(want, "${") && n <= 2 * NAME_MAX_LEN && doc_word(doc, want))
		return want;
	for (char *c = base; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_.:", *c))
			*c = '-';
	if (!base[0])
		name = base = arena_copy(&doc->arena, "x", 1);
	for (unsigned i = 2; has_name(doc, kind, name); i++)
		name = arena_printf(&doc->arena, "%.33s-%u", base, i);
	entry->kind = arena_copy(&doc->arena, kind, strlen(kind));
	entry->name = name;
	entry->next = doc->names;
	doc->names = entry;
	return name;
}

const char *
doc_clean(struct document *doc, const char *s)
{
	char *copy = arena_copy(&doc->arena, s, strlen(s));

	for (char *c = copy; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return copy;
}

const char *
doc_word(struct document *doc, const char *s)
{
	if (!*s || *s == ';')
		return NULL;
	for (const char *c = s; *c; c++)
		if (isspace((unsigned char)*c) || iscntrl((unsigned char)*c))
			return NULL;
	if (s[strlen(s) - 1] == '\\')
		return NULL;
	return arena_copy(&doc->arena, s, strlen(s));
}

/* Writes lines as comments. */
static void
write_commented(const char *lines, FILE *out)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		fprintf(
		    out, "%s%.*s\n", *lines == ';' ? "" : "; ", (int)n, lines);
		lines += n + (lines[n] != '\0');
	}
}

void
doc_write(const struct document *doc, FILE *out)
{
	bool first = true;

	for (const struct ini_section *s = doc->first; s; s = s->next) {
		if (!s->before.n && !s->lines.n && !s->head)
			continue;
		if (!first)
			fputc('\n', out);
		first = false;
		if (s->before.n > 0)
			fputs(s->before.data, out);
		if (s->head)
			fprintf(
			    out, "%s[%s]\n", s->left_out ? "; " : "", s->head);
		if (s->lines.n > 0 && s->left_out)
			write_commented(s->lines.data, out);
		else if (s->lines.n > 0)
			fputs(s->lines.data, out);
	}
	if (doc->pending.n > 0)
		fprintf(out, "%s%s", first ? "" : "\n", doc->pending.data);
}

const char *
doc_reject_backend(struct document *doc)
{
	struct ini_section *section;

	if (doc->reject)
		return doc->reject;
	doc->reject = doc_name(doc, "backend", "reject");
	section = doc_find_section(
	    doc, arena_printf(&doc->arena, "backend %s", doc->reject));
	arena_text_printf(&doc->arena, &section->lines,
	    "; Its only server never serves, so sessions are closed at once.\n"
	    "check = off\n"
	    "timeout_queue = 0\n"
	    "server = none 127.0.0.1:9 disabled\n");
	return doc->reject;
}
