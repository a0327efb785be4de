/* SPDX-License-Identifier: MIT
 * See file.h: files of lines.
 */
#include "acl/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"

/* The most characters of a line without its comment and blanks around. */
#define RANGE_MAX 64u

struct reading {
	const char *path;
	struct acl_content *content;
	struct err_list *errors;
	unsigned source, line, failed;
};

static void
fail_line(struct reading *r, const char *text)
{
	if (r->failed++ < ACL_FILE_ERRORS_MAX)
		err_list_add(r->errors, r->path, r->line, "%s", text);
}

static bool
is_line_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Reads the part of a line before its comment.  Returns false when memory is
 * short. */
static bool
read_line(struct reading *r, const char *from, const char *to)
{
	struct acl_entry entry = {.source = r->source, .line = r->line};
	char text[RANGE_MAX + 1];
	struct err err;
	size_t len;

	while (from < to && is_line_space(*from))
		from++;
	while (to > from && is_line_space(to[-1]))
		to--;
	len = (size_t)(to - from);
	if (len == 0)
		return true;
	if (len > RANGE_MAX || memchr(from, '\0', len)) {
		fail_line(r,
		    "this is not an address; a line has one ADDRESS, "
		    "ADDRESS/BITS, or unix, and a comment begins with #");
		return true;
	}
	memcpy(text, from, len);
	text[len] = '\0';
	if (cidr_parse(text, &entry.range, &err))
		return acl_content_add(r->content, &entry);
	fail_line(r, err.text);
	return true;
}

static bool
read_lines(struct reading *r, const char *text, size_t len)
{
	const char *end = text + len;
	bool ok = true;

	for (r->line = 1; ok && text < end; r->line++) {
		size_t rest = (size_t)(end - text);
		const char *newline = memchr(text, '\n', rest);
		const char *to = newline ? newline : end;
		const char *hash = memchr(text, '#', (size_t)(to - text));

		ok = read_line(r, text, hash ? hash : to);
		text = newline ? newline + 1 : end;
	}
	if (r->failed > ACL_FILE_ERRORS_MAX)
		err_list_add(r->errors, r->path, 0,
		    "%u lines more are wrong; a line has one ADDRESS, "
		    "ADDRESS/BITS, or unix, and a comment begins with #",
		    r->failed - ACL_FILE_ERRORS_MAX);
	return ok;
}

bool
acl_file_parse(const char *path, const char *text, size_t len,
    struct acl_content *content, struct err_list *errors)
{
	struct reading r = {.path = path, .content = content, .errors = errors};
	int source = acl_content_add_source(content, path);

	if (source < 0)
		return false;
	r.source = (unsigned)source;
	return read_lines(&r, text, len);
}

/* Adds an error for the file as a whole.  Always returns true. */
static bool
fail_file(struct err_list *errors, const char *path, int error)
{
	err_list_add(
	    errors, path, 0, "the file cannot be read: %s", strerror(error));
	return true;
}

/* Reads the file to its end.  Returns 0 or an errno. */
static int
read_descriptor(int fd, size_t expected, char **ret_text, size_t *ret_len)
{
	size_t room = expected + 4096, len = 0;
	char *text = malloc(room), *grown;

	while (text) {
		ssize_t n = read(fd, text + len, room - len);
		int error = errno;

		if (n == 0) {
			*ret_text = text;
			*ret_len = len;
			return 0;
		}
		if (n < 0 && error == EINTR)
			continue;
		if (n < 0) {
			free(text);
			return error;
		}
		len += (size_t)n;
		if (len < room)
			continue;
		room *= 2;
		grown = realloc(text, room);
		if (!grown)
			free(text);
		text = grown;
	}
	return ENOMEM;
}

/* Opens a regular file.  Returns a descriptor, or -1 with an error added. */
static int
open_file(const char *path, struct err_list *errors, size_t *ret_size)
{
	/* Without O_NONBLOCK a FIFO would block. */
	int fd = open(
	    fault_hang(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		(void)fail_file(errors, path, errno);
	} else if (!S_ISREG(st.st_mode)) {
		err_list_add(errors, path, 0,
		    "this is not a regular file; write the path of one");
	} else {
		*ret_size = (size_t)st.st_size;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

bool
acl_file_get(
    const char *path, struct err_list *errors, char **ret_text, size_t *ret_len)
{
	size_t size = 0;
	int fd = open_file(path, errors, &size);
	int error;

	*ret_text = NULL;
	if (fd < 0)
		return true;
	error = read_descriptor(fd, size, ret_text, ret_len);
	close(fd);
	return error == 0 ||
	       (error != ENOMEM && fail_file(errors, path, error));
}

bool
acl_file_read_lines(
    const char *path, struct acl_content *content, struct err_list *errors)
{
	size_t len = 0;
	char *text;
	bool ok;

	if (!acl_file_get(path, errors, &text, &len))
		return false;
	ok = !text || acl_file_parse(path, text, len, content, errors);
	free(text);
	return ok;
}
