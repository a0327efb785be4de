/* SPDX-License-Identifier: MIT
 * foreign_detect: see ini.h.  One error for a whole file of another program
 * says more than one for each of its lines.
 */
#include <string.h>

#include "config/hint.h"
#include "config/ini.h"

#define BLANKS             " \t\r"
#define LINE_MAX_LOOKED_AT 200

static bool
is_one_of(const char *word, size_t len, const char *list)
{
	char copy[LINE_MAX_LOOKED_AT + 1];

	memcpy(copy, word, len);
	copy[len] = '\0';
	return hint_word_is_in(copy, list);
}

/* `global`, `frontend web`. */
static bool
is_haproxy(const char *line)
{
	size_t len = strcspn(line, BLANKS "=:");
	const char *rest = line + len + strspn(line + len, BLANKS);
	bool ends = *rest == '\0' || *rest == '#';

	if (*rest == '=' || *rest == ':')
		return false;
	return is_one_of(line, len, "global, defaults") ||
	       (!ends && !strchr(rest, '{') &&
	           is_one_of(line, len, "frontend, backend, listen"));
}

/* `stream {`, `upstream app { server 10.0.0.1:80; }`. */
static bool
is_nginx(const char *line)
{
	size_t len = strcspn(line, BLANKS "{=:");
	const char *brace = strchr(line, '{');

	return brace && !memchr(line, '=', (size_t)(brace - line)) &&
	       is_one_of(
	           line, len, "events, http, stream, server, upstream, map");
}

/* Copies the beginning of the next line, without the blanks before it, and
 * moves the text behind it. */
static void
copy_next_line(
    const char **text, const char *end, char out[LINE_MAX_LOOKED_AT + 1])
{
	const char *line = *text;
	const char *newline = memchr(line, '\n', (size_t)(end - line));
	const char *stop = newline ? newline : end;
	size_t len;

	while (line < stop && strchr(BLANKS, *line))
		line++;
	len = (size_t)(stop - line);
	if (len > LINE_MAX_LOOKED_AT)
		len = LINE_MAX_LOOKED_AT;
	memcpy(out, line, len);
	out[len] = '\0';
	out[strcspn(out, "\r")] = '\0';
	*text = newline ? newline + 1 : end;
}

/* Whose line it is, or NULL. */
static const char *
owner(const char *line)
{
	return is_haproxy(line) ? "HAProxy" : is_nginx(line) ? "nginx" : NULL;
}

bool
foreign_detect(const char *text, size_t len, struct err *err)
{
	char line[LINE_MAX_LOOKED_AT + 1];
	const char *end = text + len;
	unsigned number = 0;
	bool found = false;

	if (len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 ||
	                    memcmp(text, "\xfe\xff", 2) == 0))
		return !err_set(err, "is UTF-16 text; save it as UTF-8");
	while (text < end) {
		copy_next_line(&text, end, line);
		number++;
		if (line[0] == '[')
			return false;
		if (!found && owner(line))
			found = !err_set(err,
			    "is a configuration of %s (line %u: '%.40s'); "
			    "lfproxy reads [section] and key = value lines, "
			    "see lfproxy.ini(5)",
			    owner(line), number, line);
	}
	return found;
}
