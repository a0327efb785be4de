/* SPDX-License-Identifier: MIT
 * See ini.h.
 */
#include "config/ini.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "config/expand.h"
#include "config/ini_lines.h"
#include "vocabulary/match.h"

/* The longest key that is read.  A key and what stands for its value must fit
 * into inih's buffer of 200 bytes. */
#define KEY_MAX 100
#define KEY_LETTERS                                                            \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

struct reader {
	struct ini_lines lines;
	struct draft *draft;
	struct err_list *errors;
	const char *file;
	const char *value; /* in the present line, which is an entry */
	bool in_section, in_global;
	bool out_of_memory;
};

static struct spec_place
place_of(const struct reader *r)
{
	return (struct spec_place){.file = r->file, .line = r->lines.number};
}

/* Adds an error at the reader's line. */
#define INI_ERROR(r, ...)                                                      \
	err_list_add((r)->errors, (r)->file, (r)->lines.number, __VA_ARGS__)

static void
add_to_draft(
    struct reader *r, const char *name, const char *value, const char *line)
{
	r->out_of_memory |=
	    !draft_add_entry(r->draft, place_of(r), NULL, name, value, line);
}

static void
add_section(struct reader *r, const char *from, size_t len)
{
	char *head = strndup(from, len);

	/* A head with an error ends the section above, too. */
	r->in_section = true;
	r->in_global = head && strcmp(head, "global") == 0;
	if (!head || !draft_add_section(r->draft, place_of(r), head))
		r->out_of_memory = true;
	free(head);
}

/* Takes a line that begins with '['. */
static void
take_section(struct reader *r, const char *line)
{
	const char *from = line + 1 + strspn(line + 1, INI_BLANKS);
	const char *close = strchrnul(from, ']');
	const char *rest = *close ? close + 1 : close;
	size_t len = (size_t)(close - from);

	while (len > 0 && strchr(INI_BLANKS, from[len - 1]))
		len--;
	rest += strspn(rest, INI_BLANKS);
	if (!*close)
		INI_ERROR(r,
		    "the section has no ']'; write [section] or [section "
		    "NAME]");
	else if (len == 0)
		INI_ERROR(r,
		    "the section has no name; write [section] or [section "
		    "NAME]");
	else if (*rest && *rest != ';')
		INI_ERROR(r,
		    "'%s' follows the section's ']'; only a comment (; ...) "
		    "may",
		    rest);
	add_section(r, from, len);
}

/* Takes a line with an error.  Adds its key, so that the key is not reported as
 * missing. */
static void
take_damaged(struct reader *r, const char *line)
{
	size_t len = strspn(line, KEY_LETTERS);
	char name[KEY_MAX + 1];

	if (line[0] == '[')
		add_section(r, "", 0);
	if (len == 0 || len > KEY_MAX || !r->in_section ||
	    line[len + strspn(line + len, INI_BLANKS)] != '=')
		return;
	memcpy(name, line, len);
	name[len] = '\0';
	add_to_draft(r, name, NULL, NULL);
}

/* Takes a line that is not `key = value`.  What was meant depends on the
 * section: config/build_unknown.c. */
static void
take_odd(struct reader *r, const char *line)
{
	size_t len = strcspn(line, INI_BLANKS ":=");
	char name[KEY_MAX + 1];

	if (len == 0 && line[0] == '=') {
		INI_ERROR(
		    r, "the key before the '=' is missing; write key = value");
		return;
	}
	if (!r->in_section) {
		INI_ERROR(r,
		    "the line is neither [section] nor 'key = value' nor a "
		    "comment (; ...)");
		return;
	}
	len = len < KEY_MAX ? len : KEY_MAX;
	memcpy(name, line, len);
	name[len] = '\0';
	add_to_draft(r, name, NULL, line);
}

static bool
is_entry(const char *line)
{
	size_t len = strcspn(line, INI_BLANKS ":=");

	return len > 0 && len <= KEY_MAX &&
	       line[len + strspn(line + len, INI_BLANKS)] == '=';
}

/* Adds the entry.  If its variables cannot be filled in, adds the key without a
 * value, so that the key is not reported as missing. */
static void
add_entry(struct reader *r, const char *name, const char *text)
{
	bool includes =
	    strcmp(name, "include") == 0 && (!r->in_section || r->in_global);
	char expanded[EXPAND_SIZE];
	const char *value;
	struct err err;

	if (!r->in_section && !includes) {
		INI_ERROR(r,
		    "the key '%s' comes before any section; write a [section] "
		    "above it",
		    name);
		return;
	}
	value = expand_value(name, text, expanded, &err);
	if (!value)
		INI_ERROR(r, "%s: %s", name, err.text);
	if (!includes)
		add_to_draft(r, name, value, NULL);
	else if (value && !*value)
		INI_ERROR(r, "include has no value; write include = PATH");
	else if (value)
		r->out_of_memory |=
		    !draft_add_include(r->draft, place_of(r), value);
}

/* inih treats lines that are longer than its buffer in another way in each
 * version.  So it gets the key and, in place of the value, a letter. */
static void
hand_entry(struct reader *r, const char *line, char *out, size_t size)
{
	static const char rest[] = " = v\n";
	size_t len = strcspn(line, INI_BLANKS "=");

	ENSURE(len + sizeof(rest) <= size);
	memcpy(out, line, len);
	memcpy(out + len, rest, sizeof(rest));
	r->value = strchr(line + len, '=') + 1;
	r->value += strspn(r->value, INI_BLANKS);
}

/* Replaces inih's fgets: returns a short form of an entry, or an empty line if
 * inih has nothing to do. */
static char *
read_logical_line(char *out, int size, void *stream)
{
	struct reader *r = stream;
	const char *line = r->lines.text;

	if (r->out_of_memory || !ini_lines_next(&r->lines))
		return NULL;
	out[0] = '\0';
	if (r->lines.damaged)
		take_damaged(r, line);
	else if (line[0] == '[')
		take_section(r, line);
	else if (is_entry(line))
		hand_entry(r, line, out, (size_t)size);
	else
		take_odd(r, line);
	return out;
}

static int
handle_entry(
    void *user, const char *section, const char *name, const char *letter)
{
	struct reader *r = user;

	(void)section; /* cut to inih's buffer; ours is whole */
	(void)letter;
	add_entry(r, name, r->value);
	return 1;
}

/* -- files of other programs -- */

#define FOREIGN_BLANKS     INI_BLANKS "\r"
#define LINE_MAX_LOOKED_AT 200

static bool
is_one_of(const char *word, size_t len, const char *list)
{
	char copy[LINE_MAX_LOOKED_AT + 1];

	memcpy(copy, word, len);
	copy[len] = '\0';
	return match_word(copy, list);
}

/* Returns whether the line is HAProxy's: `global`, `frontend web`. */
static bool
is_haproxy(const char *line)
{
	size_t len = strcspn(line, FOREIGN_BLANKS "=:");
	const char *rest = line + len + strspn(line + len, FOREIGN_BLANKS);
	bool ends = *rest == '\0' || *rest == '#';

	if (*rest == '=' || *rest == ':')
		return false;
	return is_one_of(line, len, "global, defaults") ||
	       (!ends && !strchr(rest, '{') &&
	           is_one_of(line, len, "frontend, backend, listen"));
}

/* Returns whether the line is nginx's, as `stream {` or
 * `upstream app { server 10.0.0.1:80; }`. */
static bool
is_nginx(const char *line)
{
	size_t len = strcspn(line, FOREIGN_BLANKS "{=:");
	const char *brace = strchr(line, '{');

	return brace && !memchr(line, '=', (size_t)(brace - line)) &&
	       is_one_of(
	           line, len, "events, http, stream, server, upstream, map");
}

/* Copies the beginning of the next line, without the blanks before it, and
 * moves *text behind the line. */
static void
copy_next_line(
    const char **text, const char *end, char out[LINE_MAX_LOOKED_AT + 1])
{
	const char *line = *text;
	const char *newline = memchr(line, '\n', (size_t)(end - line));
	const char *stop = newline ? newline : end;
	size_t len;

	while (line < stop && strchr(FOREIGN_BLANKS, *line))
		line++;
	len = (size_t)(stop - line);
	if (len > LINE_MAX_LOOKED_AT)
		len = LINE_MAX_LOOKED_AT;
	memcpy(out, line, len);
	out[len] = '\0';
	out[strcspn(out, "\r")] = '\0';
	*text = newline ? newline + 1 : end;
}

/* Returns the program whose line it is, or NULL. */
static const char *
owner(const char *line)
{
	return is_haproxy(line) ? "HAProxy" : is_nginx(line) ? "nginx" : NULL;
}

/* Returns whether the text is a configuration of HAProxy or of nginx, or is not
 * UTF-8, with err set.  Returns false for a text with a [section].  One error
 * for such a file says more than one for each of its lines. */
static bool
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
			    "convert it with `lfproxyctl import %s FILE "
			    ">lfproxy.ini`",
			    owner(line), number, line,
			    owner(line)[0] == 'H' ? "haproxy" : "nginx");
	}
	return found;
}

/* -- a file -- */

static void
ini_parse_text(const char *file, const char *text, size_t len,
    struct draft *draft, struct err_list *errors)
{
	struct reader r = {.draft = draft, .errors = errors, .file = file};
	struct err err;

	if (foreign_detect(text, len, &err)) {
		err_list_add(errors, file, 0, "%s", err.text);
		return;
	}
	ini_lines_init(&r.lines, file, text, len, errors);
	/* The result of inih is of use only where it gives up: otherwise each
	 * line was checked here. */
	if (ini_parse_stream(read_logical_line, &r, handle_entry, &r) == -2 ||
	    r.out_of_memory)
		err_list_add(errors, file, 0, "out of memory");
}

/* Reads to the end, or to more than INI_FILE_MAX bytes.  Returns NULL when
 * memory is short. */
static char *
read_all(FILE *file, size_t *ret_len)
{
	size_t size = 1u << 15, len = 0;
	char *text = NULL, *grown;

	do {
		grown = realloc(text, size *= 2);
		if (!grown) {
			free(text);
			return NULL;
		}
		text = grown;
		len += fread(text + len, 1, size - len, file);
	} while (len == size && len <= INI_FILE_MAX);
	*ret_len = len;
	return text;
}

void
ini_load(const char *file, struct draft *draft, struct err_list *errors)
{
	FILE *stream = fopen(file, "re");
	char *text = NULL;
	size_t len = 0;

	if (stream)
		text = read_all(stream, &len);
	if (stream && !text)
		err_list_add(errors, file, 0, "out of memory");
	else if (stream && ferror(stream) && errno == EISDIR)
		err_list_add(errors, file, 0, "is a directory; name a file");
	else if (!stream || ferror(stream))
		err_list_add(
		    errors, file, 0, "cannot be read: %s", strerror(errno));
	else if (len > INI_FILE_MAX)
		err_list_add(errors, file, 0,
		    "is larger than %u MiB; this is not a configuration",
		    INI_FILE_MAX >> 20);
	else
		ini_parse_text(file, text, len, draft, errors);
	free(text);
	if (stream)
		fclose(stream);
}
