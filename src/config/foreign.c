/* SPDX-License-Identifier: MIT
 * See foreign.h.
 */
#include "config/foreign.h"

#include <string.h>

#define BLANKS             " \t\r"
#define LINE_MAX_LOOKED_AT 200

/* How the sections of others begin. */
static const char *const haproxy_sections[] = {"global", "defaults"};
static const char *const haproxy_named[] = {"frontend", "backend", "listen"};
static const char *const nginx_blocks[] = {
    "events", "http", "stream", "server", "upstream", "map"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool
is_one_of(const char *word, size_t len, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
			return true;
	return false;
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
	return is_one_of(
	           line, len, haproxy_sections, COUNT(haproxy_sections)) ||
	       (!ends && !strchr(rest, '{') &&
	           is_one_of(line, len, haproxy_named, COUNT(haproxy_named)));
}

/* `stream {`, `upstream app { server 10.0.0.1:80; }`. */
static bool
is_nginx(const char *line)
{
	size_t len = strcspn(line, BLANKS "{=:");
	const char *brace = strchr(line, '{');

	return brace && !memchr(line, '=', (size_t)(brace - line)) &&
	       is_one_of(line, len, nginx_blocks, COUNT(nginx_blocks));
}

static bool
tell(const char *whose, const char *line, unsigned number, struct err *err)
{
	err_set(err,
	    "is a configuration of %s (line %u: '%.40s'); lfproxy reads "
	    "[section] and key = value lines, see lfproxy.ini(5)",
	    whose, number, line);
	return true;
}

/* Copies the beginning of the next line, without the blanks before it, and
 * moves the text behind it. */
static void
take_line(const char **text, const char *end, char out[LINE_MAX_LOOKED_AT + 1])
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
	                    memcmp(text, "\xfe\xff", 2) == 0)) {
		err_set(err, "is UTF-16 text; save it as UTF-8");
		return true;
	}
	while (text < end) {
		take_line(&text, end, line);
		number++;
		if (line[0] == '[')
			return false;
		if (!found && owner(line))
			found = tell(owner(line), line, number, err);
	}
	return found;
}
