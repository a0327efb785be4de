/* SPDX-License-Identifier: MIT
 * See file_members.h.
 */
#include "resolve/file_members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLANKS " \t\r\f\v"
/* `line 123456`, with its NUL. */
#define NOTE_SIZE 16

struct parsing {
	const char *path;
	unsigned line;
	struct file_members *members;
	struct err *err;
};

static bool
fail_member_line(const struct parsing *p, const char *what)
{
	return err_set(p->err, "%s:%u: %s", p->path, p->line, what);
}

/* Ends the line before its comment, and without blanks around it.  Returns
 * where it begins. */
static char *
trim_line(char *line)
{
	char *from = line + strspn(line, BLANKS), *to;

	for (to = from; *to; to++)
		if ((*to == '#' || *to == ';') &&
		    (to == from || strchr(BLANKS, to[-1])))
			break;
	while (to > from && strchr(BLANKS, to[-1]))
		to--;
	*to = '\0';
	return from;
}

static bool
check_line(const struct parsing *p, const char *line, size_t len)
{
	if (len > FILE_MEMBERS_LINE_MAX)
		return fail_member_line(
		    p, "the line has more than 4096 characters");
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)line[i] < ' ' &&
		        !strchr("\t\r\f\v", line[i])) ||
		    line[i] == '\0' || line[i] == 0x7f)
			return fail_member_line(p,
			    "the line has a control character; this is not a "
			    "file of servers");
	return true;
}

/* Returns whether the line begins with an address, and not with an option or a
 * name; else false with err set. */
static bool
check_member_words(
    const struct parsing *p, const char *address, const char *rest)
{
	size_t second = strcspn(rest, BLANKS);
	bool is_name = rest[0] == '=' || (memchr(rest, ':', second) &&
	                                     !memchr(rest, '=', second));
	bool is_option =
	    strchr(address, '=') && strncmp(address, "unix:", 5) != 0;

	return (!is_name && !is_option) ||
	       err_set(p->err,
	           "%s:%u: '%.80s' is not an address; a line begins with the "
	           "address, without a name, as in 10.0.0.1:80 weight=5",
	           p->path, p->line, address);
}

/* Adds the member of a line, which begins with a word.  The array has room.
 * Returns false with err set. */
static bool
add_member_line(struct parsing *p, char *line)
{
	char *rest = line + strcspn(line, BLANKS);
	struct file_members *m = p->members;
	char *note = m->notes + m->n * NOTE_SIZE;

	if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, BLANKS);
	if (!check_member_words(p, line, rest))
		return false;
	snprintf(note, NOTE_SIZE, "line %u", p->line);
	m->all[m->n++] = (struct discovered){
	    .key = line, .address = line, .options = rest, .note = note};
	return true;
}

static size_t
count_member_lines(const char *text, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

static bool
parse_lines(struct parsing *p, char *text, size_t len)
{
	char *end = text + len;

	for (p->line = 1; text < end; p->line++) {
		char *newline = memchr(text, '\n', (size_t)(end - text));
		char *to = newline ? newline : end, *from;

		if (!check_line(p, text, (size_t)(to - text)))
			return false;
		*to = '\0';
		from = trim_line(text);
		if (*from && !add_member_line(p, from))
			return false;
		text = to + 1;
	}
	return true;
}

static int
by_key(const void *one, const void *other)
{
	const struct discovered *const *a = one, *const *b = other;
	int order = strcmp((*a)->key, (*b)->key);

	return order ? order : (*a > *b) - (*a < *b);
}

/* Returns whether all keys are distinct, or false with err set. */
static bool
check_twice(const struct parsing *p)
{
	const struct file_members *m = p->members;
	const struct discovered **all = calloc(m->n + 1, sizeof(*all));
	bool ok = all;

	for (size_t i = 0; ok && i < m->n; i++)
		all[i] = &m->all[i];
	if (ok)
		qsort(all, m->n, sizeof(*all), by_key);
	for (size_t i = 1; ok && i < m->n; i++)
		if (strcmp(all[i]->key, all[i - 1]->key) == 0)
			ok = err_set(p->err,
			    "%s: the address %.80s is in %s and in %s; keep "
			    "one",
			    p->path, all[i]->key, all[i - 1]->note,
			    all[i]->note);
	if (!all)
		err_oom(p->err);
	free(all);
	return ok;
}

bool
file_members_parse(const char *path, char *text, size_t len,
    struct file_members *ret_members, struct err *err)
{
	struct file_members m = {
	    .text = text, .whole = len > 0 && text[len - 1] == '\n'};
	struct parsing p = {.path = path, .members = &m, .err = err};
	size_t lines = count_member_lines(text, len);

	m.all = calloc(lines, sizeof(*m.all));
	m.notes = calloc(lines, NOTE_SIZE);
	text[len] = '\0';
	err_oom(err);
	if (m.all && m.notes && parse_lines(&p, text, len) && check_twice(&p)) {
		*ret_members = m;
		return true;
	}
	file_members_fini(&m);
	return false;
}

/* Reads a regular file.  Returns its text, or NULL with err set. */
static char *
read_regular(int fd, const char *path, size_t *ret_len, struct err *err)
{
	size_t len = 0, room = 0;
	char *text = NULL;
	struct stat st;
	ssize_t n = 1;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err_set(err, "%s: this is not a regular file", path);
		return NULL;
	}
	while (n > 0 && len <= FILE_MEMBERS_SIZE_MAX) {
		if (len + 1 >= room) {
			char *grown;

			room = room ? room * 2 : (size_t)st.st_size + 4096;
			grown = realloc(text, room);
			if (!grown) {
				err_oom(err);
				free(text);
				return NULL;
			}
			text = grown;
		}
		n = read(fd, text + len, room - len - 1);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n == 0) {
		*ret_len = len;
		return text;
	}
	if (n < 0)
		err_set(err, "%s: cannot be read: %s", path, strerror(errno));
	else
		err_set(err, "%s: the file has more than 16 MiB", path);
	free(text);
	return NULL;
}

bool
file_members_read(
    const char *path, struct file_members *ret_members, struct err *err)
{
	/* Without O_NONBLOCK a FIFO would block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t len;
	char *text;

	if (fd < 0)
		return err_set(
		    err, "%s: cannot be opened: %s", path, strerror(errno));
	text = read_regular(fd, path, &len, err);
	close(fd);
	return text && file_members_parse(path, text, len, ret_members, err);
}

void
file_members_fini(struct file_members *members)
{
	free(members->all);
	free(members->text);
	free(members->notes);
	*members = (struct file_members){.n = 0};
}
