/* SPDX-License-Identifier: MIT
 * See ini_lines.h.
 */
#include "config/ini_lines.h"

#include <stdint.h>
#include <string.h>

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
	const char *utf8;
	const char *name;
} false_blanks[] = {
    {"\xc2\x85", "a next-line character (U+0085)"},
    {"\xc2\xa0", "a no-break space (U+00A0)"},
    {"\xc2\xad", "a soft hyphen (U+00AD)"},
    {"\xe1\x9a\x80", "an Ogham space (U+1680)"},
    {"\xe2\x80\x80", "a space that is not ASCII (U+2000)"},
    {"\xe2\x80\x81", "a space that is not ASCII (U+2001)"},
    {"\xe2\x80\x82", "an en space (U+2002)"},
    {"\xe2\x80\x83", "an em space (U+2003)"},
    {"\xe2\x80\x84", "a space that is not ASCII (U+2004)"},
    {"\xe2\x80\x85", "a space that is not ASCII (U+2005)"},
    {"\xe2\x80\x86", "a space that is not ASCII (U+2006)"},
    {"\xe2\x80\x87", "a figure space (U+2007)"},
    {"\xe2\x80\x88", "a space that is not ASCII (U+2008)"},
    {"\xe2\x80\x89", "a thin space (U+2009)"},
    {"\xe2\x80\x8a", "a hair space (U+200A)"},
    {"\xe2\x80\x8b", "a zero-width space (U+200B)"},
    {"\xe2\x80\x8c", "a zero-width non-joiner (U+200C)"},
    {"\xe2\x80\x8d", "a zero-width joiner (U+200D)"},
    {"\xe2\x80\x8e", "a left-to-right mark (U+200E)"},
    {"\xe2\x80\x8f", "a right-to-left mark (U+200F)"},
    {"\xe2\x80\xa8", "a line separator (U+2028)"},
    {"\xe2\x80\xa9", "a paragraph separator (U+2029)"},
    {"\xe2\x80\xaf", "a narrow no-break space (U+202F)"},
    {"\xe2\x81\x9f", "a space that is not ASCII (U+205F)"},
    {"\xe2\x81\xa0", "a word joiner (U+2060)"},
    {"\xe3\x80\x80", "an ideographic space (U+3000)"},
    {byte_order_mark, "a byte-order mark (U+FEFF) in its midst"},
};

#define FALSE_BLANKS (sizeof(false_blanks) / sizeof(false_blanks[0]))

static const char *
find_false_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((uint8_t)line[i] < 0x80)
			continue;
		for (size_t j = 0; j < FALSE_BLANKS; j++) {
			size_t n = strlen(false_blanks[j].utf8);

			if (n <= len - i &&
			    memcmp(line + i, false_blanks[j].utf8, n) == 0)
				return false_blanks[j].name;
		}
	}
	return NULL;
}

/* A control character would be printed into a terminal or a log, and a NUL
 * would hide the rest of the line.  Returns false after an error. */
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
	const char *name = find_false_blank(line, len);

	if (name)
		err_list_add(l->errors, l->file, l->read,
		    "the line has %s; write an ordinary blank, or none", name);
	return !name;
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

/* Appends as much as there is room for, with what cannot be text replaced;
 * *whole counts all of it. */
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

/* Takes a physical line into the logical one; true when another one must
 * follow. */
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
