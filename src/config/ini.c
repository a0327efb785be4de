/* SPDX-License-Identifier: MIT
 * See ini.h.
 */
#include "config/ini.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/expand.h"

#define BLANKS " \t"

struct reader {
	const char *at, *end; /* what is left of the file */
	struct draft *draft;
	struct err_list *errors;
	struct spec_place place; /* of the line that inih works on */
	bool wants_entry;        /* it must turn out to be an entry */
	bool in_section;
	bool out_of_memory;
};

static void
fail(struct reader *r, const char *sentence)
{
	err_list_add(r->errors, r->place.file, r->place.line, "%s", sentence);
}

/* The next line without its end; its length in ret_len. */
static const char *
take_line(struct reader *r, size_t *ret_len)
{
	size_t left = (size_t)(r->end - r->at);
	const char *line = r->at;
	const char *newline = memchr(line, '\n', left);

	*ret_len = newline ? (size_t)(newline - line) : left;
	r->at = newline ? newline + 1 : r->end;
	r->place.line++;
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

/* A control character would be printed into somebody's terminal or log, and a
 * NUL would hide the rest of the line. */
static bool
check_text(struct reader *r, const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)line[i];

		if (c == '\0') {
			fail(r, "the line has a NUL byte; this must be a text "
			        "file");
			return false;
		}
		if ((c < ' ' && c != '\t') || c == 0x7f) {
			err_list_add(r->errors, r->place.file, r->place.line,
			    "the line has the control character 0x%02x; only "
			    "printable text is allowed",
			    c);
			return false;
		}
	}
	return true;
}

static void
add_section(struct reader *r, const char *from, size_t len)
{
	char *head = strndup(from, len);

	/* Whatever it was to be, the lines below do not belong above. */
	r->in_section = true;
	if (!head || !draft_add_section(r->draft, r->place, head))
		r->out_of_memory = true;
	free(head);
}

/* line is NUL-terminated and starts with '['. */
static void
take_section(struct reader *r, const char *line)
{
	const char *from = line + 1;
	const char *close = strchrnul(from, ']');
	const char *rest = *close ? close + 1 : close;
	size_t len = (size_t)(close - from);

	trim(&from, &len);
	rest += strspn(rest, BLANKS);
	if (!*close)
		fail(r, "the section has no ']'; write [section] or "
		        "[section NAME]");
	else if (len == 0)
		fail(r, "the section has no name; write [section] or "
		        "[section NAME]");
	else if (*rest && *rest != ';')
		err_list_add(r->errors, r->place.file, r->place.line,
		    "'%s' stands after the section's ']'; only a comment "
		    "(; ...) may",
		    rest);
	add_section(r, from, len);
}

/* Whether inih did with the line before what was expected of it. */
static void
settle_line(struct reader *r)
{
	if (r->wants_entry)
		fail(r, "the line is neither [section] nor 'key = value' nor a "
		        "comment (; ...)");
	r->wants_entry = false;
}

/* inih's fgets: one trimmed line, empty where there is nothing for inih to
 * do with it, so that its count of lines goes on. */
static char *
read_line(char *out, int size, void *stream)
{
	struct reader *r = stream;
	const char *line;
	size_t len;

	settle_line(r);
	out[0] = '\0';
	if (r->at == r->end || r->out_of_memory)
		return NULL;
	line = take_line(r, &len);
	trim(&line, &len);
	if (!check_text(r, line, len) || len == 0 || strchr(";#", line[0]))
		return out;
	if (len >= (size_t)size) {
		err_list_add(r->errors, r->place.file, r->place.line,
		    "the line has %zu characters; at most %d are allowed", len,
		    size - 1);
		/* A head, even so: its keys are not those of the one above. */
		if (line[0] == '[')
			add_section(r, "", 0);
		return out;
	}
	memcpy(out, line, len);
	out[len] = '\0';
	if (out[0] == '[')
		take_section(r, out);
	else
		r->wants_entry = true;
	return out;
}

/* One whose variables cannot be filled in is there all the same: the key is
 * not missing. */
static void
add_entry(struct reader *r, const char *name, const char *value)
{
	char expanded[EXPAND_SIZE];
	struct err err;

	value = expand_value(value, expanded, &err);
	if (!value)
		err_list_add(r->errors, r->place.file, r->place.line, "%s: %s",
		    name, err.text);
	if (!draft_add_entry(r->draft, r->place, NULL, name, value))
		r->out_of_memory = true;
}

static int
handle_entry(
    void *user, const char *section, const char *name, const char *value)
{
	struct reader *r = user;

	(void)section; /* cut to inih's buffer; ours is whole */
	r->wants_entry = false;
	if (!*name)
		fail(r, "there is no key before the '='; write key = value");
	else if (!r->in_section)
		err_list_add(r->errors, r->place.file, r->place.line,
		    "the key '%s' stands before any section; write a [section] "
		    "above it",
		    name);
	else
		add_entry(r, name, value);
	return 1;
}

static void
parse(const char *file, const char *text, size_t len, struct draft *draft,
    struct err_list *errors)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct reader r = {.at = text,
	    .end = text + len,
	    .draft = draft,
	    .errors = errors,
	    .place = {.file = file}};

	/* Ours look at the line before inih does. */
	if (len >= strlen(bom) && memcmp(text, bom, strlen(bom)) == 0)
		r.at += strlen(bom);
	/* Its result tells no more than our own look at each line did, but
	 * for the one case in which it gives up. */
	if (ini_parse_stream(read_line, &r, handle_entry, &r) == -2 ||
	    r.out_of_memory)
		err_list_add(errors, file, 0, "out of memory");
}

/* Reads to the end; NULL after an error. */
static char *
read_all(int fd, const char *path, size_t *ret_len, struct err_list *errors)
{
	size_t size = 1u << 16, len = 0;
	char *text = malloc(size);
	ssize_t n = 0;

	while (text && (n = read(fd, text + len, size - len)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		len += (size_t)n;
		if (len > INI_FILE_MAX) {
			err_list_add(errors, path, 0,
			    "is larger than %u MiB; this is no configuration",
			    INI_FILE_MAX >> 20);
			goto fail;
		}
		if (len == size) {
			char *grown = realloc(text, size *= 2);

			if (!grown)
				free(text);
			text = grown;
		}
	}
	if (!text)
		err_list_add(errors, path, 0, "out of memory");
	else if (n < 0 && errno == EISDIR)
		err_list_add(errors, path, 0, "is a directory; name a file");
	else if (n < 0)
		err_list_add(
		    errors, path, 0, "cannot be read: %s", strerror(errno));
	if (!text || n < 0)
		goto fail;
	*ret_len = len;
	return text;
fail:
	free(text);
	return NULL;
}

void
ini_load(const char *path, struct draft *draft, struct err_list *errors)
{
	const char *file = draft_add_file(draft, path);
	char *text;
	size_t len;
	int fd;

	if (!file) {
		err_list_add(errors, path, 0, "out of memory");
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err_list_add(
		    errors, path, 0, "cannot be read: %s", strerror(errno));
		return;
	}
	text = read_all(fd, path, &len, errors);
	close(fd);
	if (text)
		parse(file, text, len, draft, errors);
	free(text);
}
