/* SPDX-License-Identifier: MIT
 * See file_members.h.
 */
#include "resolve/file_members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/printable.h"

#define BLANKS " \t\r\f\v"
/* `line 123456`, with its NUL. */
#define NOTE_SIZE 16

struct parsing {
	const char *path;
	unsigned line;
	struct file_members *members;
	struct err *err;
};

static void
put_member(
    struct parsing *p, const char *key, const char *options, const char *wrong)
{
	struct file_members *m = p->members;
	char *note = m->notes + m->n * NOTE_SIZE;

	snprintf(note, NOTE_SIZE, "line %u", p->line);
	m->all[m->n++] = (struct discovered){.key = key,
	    .address = key,
	    .options = options,
	    .note = note,
	    .wrong = wrong};
}

/* Returns the key of a wrong line, with the reason behind its NUL, or NULL with
 * err set. */
static char *__attribute__((format(printf, 3, 4)))
make_wrong(const struct parsing *p, const char *key, const char *fmt, ...)
{
	char *why = NULL, *texts = NULL, shown[81];
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&why, fmt, args) < 0)
		why = NULL;
	va_end(args);
	if (why)
		printable_clean(why, '?');
	printable_copy(shown, sizeof(shown), key, '?');
	if (!why || asprintf(&texts, "%s%c%s", shown, '\0', why) < 0) {
		texts = NULL;
		err_oom(p->err);
	}
	free(why);
	return texts;
}

static const char *
reason_behind(const char *key)
{
	return key + strlen(key) + 1;
}

/* Adds the line as a wrong one, and takes ownership of its texts.  Returns
 * false if they are NULL. */
static bool
put_wrong(struct parsing *p, const char *texts)
{
	if (!texts)
		return false;
	if (p->members->wrong_n++ == 0)
		err_set(p->err, "%s:%u: %s", p->path, p->line,
		    reason_behind(texts));
	put_member(p, texts, "", reason_behind(texts));
	return true;
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

/* Returns what is wrong with the characters of the line, or NULL. */
static const char *
line_fault(const char *line, size_t len)
{
	if (len > FILE_MEMBERS_LINE_MAX)
		return "the line has more than 4096 characters";
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)line[i] < ' ' &&
		        !strchr("\t\r\f\v", line[i])) ||
		    line[i] == '\0' || line[i] == 0x7f)
			return "the line has a control character; this is not "
			       "a file of servers";
	return NULL;
}

/* Returns whether the line begins with an address, and not with an option or a
 * name. */
static bool
begins_with_address(const char *address, const char *rest)
{
	size_t second = strcspn(rest, BLANKS);
	bool is_name = rest[0] == '=' || (memchr(rest, ':', second) &&
	                                     !memchr(rest, '=', second));
	bool is_option =
	    strchr(address, '=') && strncmp(address, "unix:", 5) != 0;

	return !is_name && !is_option;
}

/* Adds the member of a line, which begins with a word.  The array has room.
 * Returns false when memory is short. */
static bool
add_member_line(struct parsing *p, char *line)
{
	char *rest = line + strcspn(line, BLANKS);
	char whole[84];

	snprintf(whole, sizeof(whole), "%s", line);
	if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, BLANKS);
	if (!begins_with_address(line, rest))
		return put_wrong(p,
		    make_wrong(p, whole,
		        "'%.80s' is not an address; a line begins with the "
		        "address, without a name, as in 10.0.0.1:80 weight=5",
		        line));
	put_member(p, line, rest, NULL);
	return true;
}

/* Adds the member of a line, if there is one.  Returns false when memory is
 * short. */
static bool
parse_line(struct parsing *p, char *line, size_t len)
{
	const char *fault = line_fault(line, len);
	char key[NOTE_SIZE];

	if (fault) {
		snprintf(key, sizeof(key), "line %u", p->line);
		return put_wrong(p, make_wrong(p, key, "%s", fault));
	}
	line[len] = '\0';
	line = trim_line(line);
	return !*line || add_member_line(p, line);
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
		char *to = newline ? newline : end;

		if (!parse_line(p, text, (size_t)(to - text)))
			return false;
		text = to + 1;
	}
	return true;
}

static int
by_key(const void *one, const void *other)
{
	struct discovered *const *a = one, *const *b = other;
	int order = strcmp((*a)->key, (*b)->key);

	return order ? order : (*a > *b) - (*a < *b);
}

/* Makes the line a wrong one, because an earlier one has its key.  The key of
 * no other line has a # behind a blank, which begins a comment.  Returns false
 * when memory is short. */
static bool
make_repeated(const struct parsing *p, const struct discovered *first,
    struct discovered *again)
{
	char key[96];
	char *texts;

	snprintf(key, sizeof(key), "%.60s # %s", again->key, again->note);
	texts = again->wrong ? make_wrong(p, key, "%s", again->wrong)
	                     : make_wrong(p, key,
	                           "the address is in %s as well; keep one",
	                           first->note);
	if (!texts)
		return false;
	if (again->wrong)
		free((void *)(uintptr_t)again->key);
	p->members->wrong_n += !again->wrong;
	again->key = again->address = texts;
	again->wrong = reason_behind(texts);
	return true;
}

/* Makes all keys distinct.  Returns false when memory is short. */
static bool
mark_repeated(const struct parsing *p)
{
	const struct file_members *m = p->members;
	struct discovered **all = calloc(m->n + 1, sizeof(*all));
	size_t first = 0;
	bool ok = all;

	for (size_t i = 0; ok && i < m->n; i++)
		all[i] = &m->all[i];
	if (ok)
		qsort(all, m->n, sizeof(*all), by_key);
	for (size_t i = 1; ok && i < m->n; i++) {
		if (strcmp(all[i]->key, all[first]->key) == 0)
			ok = make_repeated(p, all[first], all[i]);
		else
			first = i;
	}
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
	if (m.all && m.notes && parse_lines(&p, text, len) &&
	    mark_repeated(&p) && (m.wrong_n == 0 || m.wrong_n < m.n)) {
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
	int fd = open(
	    fault_hang(path), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
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
	for (size_t i = 0; i < members->n; i++)
		if (members->all[i].wrong)
			free((void *)(uintptr_t)members->all[i].key);
	free(members->all);
	free(members->text);
	free(members->notes);
	*members = (struct file_members){.n = 0};
}
