/* SPDX-License-Identifier: MIT
 * Queries about a file of HAProxy's and its proxies, and reports of lost lines,
 * for all parts of the conversion.
 */
#include <string.h>

#include "import/haproxy.h"

struct origin
hap_at(const struct hap_file *file, const struct hap_line *line)
{
	return (struct origin){
	    file->name, line->line, line->row, line->inherited};
}

const char *
hap_word(const struct hap_line *line, size_t i)
{
	return words_get(&line->words, i);
}

void
hap_lost(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line, enum loss loss, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	doc_lost(file->doc, section, hap_at(file, line), loss, line->text, "%s",
	    arena_vprintf(&file->doc->arena, fmt, args));
	va_end(args);
}

void
hap_lost_words(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line, enum loss loss, const char *words,
    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	doc_lost(file->doc, section, hap_at(file, line), loss, words, "%s",
	    arena_vprintf(&file->doc->arena, fmt, args));
	va_end(args);
}

bool
hap_begins(const struct hap_line *line, size_t first, const char *words)
{
	for (size_t i = first; *words; i++) {
		size_t n = strcspn(words, " ");

		if (i >= line->words.n || strlen(line->words.word[i]) != n ||
		    strncmp(line->words.word[i], words, n) != 0)
			return false;
		words += n + (words[n] == ' ');
	}
	return true;
}

const struct hap_line *
hap_find(const struct hap_proxy *proxy, const char *words)
{
	for (size_t i = proxy->lines.n; i-- > 0;) {
		const struct hap_line *line = &proxy->lines.all[i];

		if (line->reason)
			continue;
		if (hap_begins(line, 0, words))
			return line;
		if (strcmp(hap_word(line, 0), "no") == 0 &&
		    hap_begins(line, 1, words))
			return NULL;
	}
	return NULL;
}

static bool
has_backend(const struct hap_section *section)
{
	const char *kind = hap_word(&section->head, 0);

	return strcmp(kind, "backend") == 0 || strcmp(kind, "listen") == 0;
}

const struct hap_section *
hap_find_backend(const struct hap_file *file, const char *name)
{
	for (size_t i = 0; i < file->n; i++) {
		const struct hap_section *s = &file->sections[i];

		if ((has_backend(s)) &&
		    strcmp(hap_word(&s->head, 1), name) == 0)
			return s;
	}
	return NULL;
}

const char *
hap_backend_name(struct hap_file *file, const char *name)
{
	for (size_t i = 0; i < file->n; i++) {
		struct hap_section *s = &file->sections[i];

		if ((has_backend(s)) &&
		    strcmp(hap_word(&s->head, 1), name) == 0) {
			if (!s->name)
				s->name = doc_name(file->doc, "backend", name);
			return s->name;
		}
	}
	return name;
}

bool
hap_is_http(const struct hap_section *section)
{
	bool http = false;

	if (section->defaults)
		http = hap_is_http(section->defaults);
	for (size_t i = 0; i < section->lines.n; i++) {
		const struct hap_line *line = &section->lines.all[i];

		if (!line->reason && strcmp(hap_word(line, 0), "mode") == 0)
			http = strcmp(hap_word(line, 1), "http") == 0;
	}
	return http;
}

/* Takes a line that all sections treat alike: a comment, a conditional block,
 * or a line of a branch that is not taken.  Returns false for others. */
bool
hap_common_line(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line)
{
	if (line->words.n == 0) {
		doc_comment(file->doc, line->comment);
		return true;
	}
	if (line->reason) {
		hap_lost(file, section, line, LOSS_OPERATORS, "left out: %s",
		    line->reason);
		return true;
	}
	if (line->unknown) {
		hap_lost(file, section, line, LOSS_CLIENTS,
		    "only HAProxy itself knows whether this holds; the branch "
		    "below was chosen");
		return true;
	}
	if (line->words.word[0][0] == '.') {
		hap_lost(file, section, line, LOSS_OPERATORS,
		    "lfproxy.ini has no conditional blocks: the branch above "
		    "or below was chosen when this file was made");
		return true;
	}
	if (line->comment && line->comment[0])
		file->doc->remark = line->comment;
	return false;
}

/* If nothing was made of the line, its remark becomes a comment before the next
 * line. */
void
hap_end_line(struct hap_file *file)
{
	const char *remark = file->doc->remark;

	file->doc->remark = NULL;
	if (remark)
		doc_comment(file->doc, remark);
}
