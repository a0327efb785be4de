/* SPDX-License-Identifier: MIT
 * See ini_lines.h.
 */
#include "config/ini_lines.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"

static const char byte_order_mark[] = "\xef\xbb\xbf";

void
ini_lines_init(struct ini_lines *lines, const char *file, const char *text,
    size_t len, struct err_list *errors)
{
	size_t skip = strlen(byte_order_mark);

	if (len < skip || memcmp(text, byte_order_mark, skip) != 0)
		skip = 0;
	lines->at = text + skip;
	lines->end = text + len;
	lines->file = file;
	lines->errors = errors;
	lines->read = lines->number = 0;
	lines->damaged = false;
	lines->len = 0;
	lines->text[0] = '\0';
}

/* Returns the next physical line without its end. */
static const char *
take_physical_line(struct ini_lines *l, size_t *ret_len)
{
	size_t left = (size_t)(l->end - l->at);
	const char *line = l->at;
	const char *newline = memchr(line, '\n', left);

	*ret_len = newline ? (size_t)(newline - line) : left;
	l->at = newline ? newline + 1 : l->end;
	l->read++;
	if (*ret_len > 0 && line[*ret_len - 1] == '\r')
		--*ret_len;
	return line;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void
trim(const char **line, size_t *len)
{
	while (*len > 0 && is_blank((*line)[0])) {
		++*line;
		--*len;
	}
	while (*len > 0 && is_blank((*line)[*len - 1]))
		--*len;
}

/* Characters that look like a blank, or like nothing, and are neither. */
static const struct {
	uint16_t first, last;
	const char *name;
} false_blanks[] = {
    {0x85, 0x85, "a next-line character"},
    {0xa0, 0xa0, "a no-break space"},
    {0xad, 0xad, "a soft hyphen"},
    {0x1680, 0x1680, "an Ogham space"},
    {0x2000, 0x200a, "a space that is not ASCII"},
    {0x200b, 0x200d, "a character without width"},
    {0x200e, 0x200f, "a left-to-right or right-to-left mark"},
    {0x2028, 0x2029, "a line or paragraph separator"},
    {0x202f, 0x202f, "a narrow no-break space"},
    {0x205f, 0x205f, "a space that is not ASCII"},
    {0x2060, 0x2060, "a word joiner"},
    {0x3000, 0x3000, "an ideographic space"},
    {0xfeff, 0xfeff, "a byte-order mark in its midst"},
};

#define FALSE_BLANKS (sizeof(false_blanks) / sizeof(false_blanks[0]))

/* Returns false after an error for a control character: it would be printed
 * into a terminal or a log, and a NUL would hide the rest of the line. */
static bool
check_controls(struct ini_lines *l, const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t c = (uint8_t)line[i];

		if (c == '\0') {
			err_list_add(l->errors, l->file, l->read,
			    "the line has a NUL byte; this must be a text "
			    "file");
			return false;
		}
		if ((c < ' ' && c != '\t') || c == 0x7f) {
			err_list_add(l->errors, l->file, l->read,
			    "the line has the control character 0x%02x; only "
			    "printable text is allowed",
			    c);
			return false;
		}
	}
	return true;
}

static bool
check_blanks(struct ini_lines *l, const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char next[4 + 1] = "";
		uint32_t c;

		if (!(line[i] & 0x80))
			continue;
		memcpy(next, line + i, len - i < 4 ? len - i : 4);
		if (utf8_decode(next, &c) <= 1)
			continue;
		for (size_t j = 0; j < FALSE_BLANKS; j++) {
			if (c < false_blanks[j].first ||
			    c > false_blanks[j].last)
				continue;
			err_list_add(l->errors, l->file, l->read,
			    "the line has %s (U+%04" PRIX32 "); write an "
			    "ordinary blank, or none",
			    false_blanks[j].name, c);
			return false;
		}
	}
	return true;
}

/* Cuts off a comment, which begins with a ';' behind a blank. */
static bool
cut_comment(const char *line, size_t *len)
{
	for (size_t i = 1; i < *len; i++) {
		if (line[i] == ';' && is_blank(line[i - 1])) {
			*len = i;
			return true;
		}
	}
	return false;
}

/* Appends as much as there is room for, and replaces what cannot be text.
 * *whole counts everything. */
static void
append_part(struct ini_lines *l, const char *part, size_t len, size_t *whole)
{
	if (l->len > 0 && len > 0) {
		if (l->len < INI_LINE_MAX)
			l->text[l->len++] = ' ';
		++*whole;
	}
	*whole += len;
	for (size_t i = 0; i < len && l->len < INI_LINE_MAX; i++)
		l->text[l->len++] =
		    (uint8_t)part[i] < ' ' && part[i] != '\t' ? '?' : part[i];
	l->text[l->len] = '\0';
}

/* Takes a physical line into the logical one.  Returns whether another line
 * must follow. */
static bool
take_part(struct ini_lines *l, size_t *whole)
{
	bool has_comment, continues;
	const char *line;
	size_t len;

	line = take_physical_line(l, &len);
	trim(&line, &len);
	if (!check_controls(l, line, len))
		l->damaged = true;
	if (len > 0 && strchr(";#", line[0]))
		return *whole > 0;
	has_comment = cut_comment(line, &len);
	trim(&line, &len);
	if (!l->damaged && !check_blanks(l, line, len))
		l->damaged = true;
	continues = !has_comment && len > 0 && line[len - 1] == '\\' &&
	            (*whole > 0 || line[0] != '[');
	len -= continues;
	trim(&line, &len);
	if (*whole == 0)
		l->number = l->read;
	append_part(l, line, len, whole);
	/* A lone backslash begins a line as well. */
	if (continues && *whole == 0)
		*whole = 1;
	return continues;
}

bool
ini_lines_next(struct ini_lines *l)
{
	size_t whole = 0;

	l->len = 0;
	l->text[0] = '\0';
	l->damaged = false;
	while (l->at < l->end) {
		bool continues = take_part(l, &whole);

		if (continues && l->at == l->end) {
			err_list_add(l->errors, l->file, l->read,
			    "the last line ends in a backslash, and no line "
			    "follows that would continue it");
			l->damaged = true;
		}
		if (continues)
			continue;
		if (whole > INI_LINE_MAX) {
			err_list_add(l->errors, l->file, l->number,
			    "the line has %zu characters; at most %d are "
			    "allowed",
			    whole, INI_LINE_MAX);
			l->damaged = true;
		}
		if (l->len > 0)
			return true;
		whole = 0;
		l->damaged = false;
	}
	return l->len > 0;
}
