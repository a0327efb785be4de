/* SPDX-License-Identifier: MIT
 * See ini_edit.h.
 */
#include "ctl/ini_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLANKS    " \t"
#define FILE_MOST (16u << 20)

/* -- reading and writing -- */

static bool
fail_path(struct err *err, const char *path, const char *what)
{
	return err_set(err, "%s: %s: %s", path, what, strerror(errno));
}

static bool
split_lines(struct ini_file *f)
{
	const char *at = f->before, *end = at + f->before_size;
	size_t room = 2;

	for (const char *c = at; c < end; c++)
		room += *c == '\n';
	f->lines = calloc(room, sizeof(*f->lines));
	f->inserted = calloc(room, sizeof(*f->inserted));
	f->n = 1;
	if (!f->lines || !f->inserted)
		return false;
	f->lines[0] = strdup("");
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);

		f->lines[f->n++] = strndup(at, n);
		at += n + (newline != NULL);
	}
	for (size_t i = 0; i < f->n; i++)
		if (!f->lines[i])
			return false;
	return true;
}

static bool
read_ini_file(struct ini_file *f, struct err *err)
{
	FILE *in = fopen(f->path, "re");

	if (!in)
		return fail_path(err, f->path, "cannot be opened");
	f->before = malloc(FILE_MOST);
	if (f->before)
		f->before_size = fread(f->before, 1, FILE_MOST, in);
	if (!f->before || ferror(in) || f->before_size == FILE_MOST) {
		fclose(in);
		return err_set(err, "%s: cannot be read", f->path);
	}
	fclose(in);
	return split_lines(f) || err_oom(err);
}

struct ini_file *
ini_file_read(const char *path, struct err *err)
{
	struct ini_file *f = calloc(1, sizeof(*f));

	if (f)
		f->path = strdup(path);
	if (!f || !f->path) {
		free(f);
		err_oom(err);
		return NULL;
	}
	list_init(&f->node);
	if (read_ini_file(f, err))
		return f;
	ini_file_free(f);
	return NULL;
}

void
ini_file_free(struct ini_file *file)
{
	if (!file)
		return;
	list_remove(&file->node);
	for (size_t i = 0; file->lines && file->inserted && i < file->n; i++) {
		free(file->lines[i]);
		free(file->inserted[i]);
	}
	free(file->lines);
	free(file->inserted);
	free(file->before);
	free(file->path);
	free(file);
}

/* Writes the lines; one that was removed is NULL. */
static void
put_lines(const struct ini_file *f, FILE *out)
{
	for (size_t i = 0; i < f->n; i++) {
		if (i > 0 && f->lines[i])
			fprintf(out, "%s\n", f->lines[i]);
		if (f->inserted[i])
			fputs(f->inserted[i], out);
	}
}

bool
ini_file_write(const struct ini_file *file, bool former, struct err *err)
{
	char new[4096];
	struct stat st;
	FILE *out;
	bool ok;
	int fd;

	if (stat(file->path, &st) < 0)
		return fail_path(err, file->path, "cannot be looked at");
	if ((size_t)snprintf(new, sizeof(new), "%s.XXXXXX", file->path) >=
	    sizeof(new))
		return err_set(err, "%s: the path is too long", file->path);
	fd = mkstemp(new);
	if (fd < 0)
		return fail_path(
		    err, file->path, "no file can be made beside it");
	ok = fchmod(fd, st.st_mode & 07777) == 0 &&
	     (fchown(fd, st.st_uid, st.st_gid) == 0 ||
	         (st.st_uid == geteuid() && st.st_gid == getegid()));
	out = fdopen(fd, "w");
	if (!out)
		close(fd);
	if (out && former)
		ok = fwrite(file->before, 1, file->before_size, out) ==
		         file->before_size &&
		     ok;
	else if (out)
		put_lines(file, out);
	ok = out && ok && fflush(out) == 0 && fsync(fd) == 0;
	if (out && fclose(out) != 0)
		ok = false;
	if (ok && rename(new, file->path) == 0)
		return true;
	(void)fail_path(err, file->path, "cannot be written");
	unlink(new);
	return false;
}

/* -- what a line is -- */

static const char *
skip_blanks(const char *text)
{
	return text + strspn(text, BLANKS);
}

static bool
is_comment(const char *line)
{
	const char *at = skip_blanks(line);

	return *at == ';' || *at == '#';
}

/* Returns the length of the line without its comment and the blanks before. */
static size_t
content_length(const char *line)
{
	size_t n = strlen(line);

	if (n > 0 && line[n - 1] == '\r')
		n--;
	for (size_t i = 1; i < n; i++)
		if (line[i] == ';' && strchr(BLANKS, line[i - 1]))
			n = i;
	while (n > 0 && strchr(BLANKS, line[n - 1]))
		n--;
	return n;
}

/* Returns whether the entry goes on in the next line.  A comment behind the
 * line's text ends the entry. */
static bool
is_continued(const char *line)
{
	size_t n = strlen(line), content = content_length(line);

	if (n > 0 && line[n - 1] == '\r')
		n--;
	while (n > 0 && strchr(BLANKS, line[n - 1]))
		n--;
	return content > 0 && content == n && line[content - 1] == '\\';
}

/* Returns the last line of the entry that begins in the line. */
static size_t
entry_end(const struct ini_file *f, size_t line)
{
	size_t last = line;

	while (last + 1 < f->n && f->lines[last] &&
	       (is_continued(f->lines[last]) ||
	           (last > line && is_comment(f->lines[last]))))
		last++;
	return last;
}

/* Returns where the value begins if the line is `key = value`, or NULL. */
static const char *
entry_value(const char *line, const char *key)
{
	const char *at = skip_blanks(line);
	size_t n = strlen(key);

	if (strncmp(at, key, n) != 0)
		return NULL;
	at = skip_blanks(at + n);
	return *at == '=' ? skip_blanks(at + 1) : NULL;
}

static bool
is_head(const char *line)
{
	return *skip_blanks(line) == '[';
}

static bool
is_head_of(const char *line, const char *section)
{
	const char *at = skip_blanks(line);
	size_t n = strlen(section);

	if (*at++ != '[')
		return false;
	at = skip_blanks(at);
	if (strncmp(at, section, n) != 0)
		return false;
	return *skip_blanks(at + n) == ']';
}

size_t
ini_find_section(const struct ini_file *file, const char *section)
{
	for (size_t i = 1; i < file->n; i++)
		if (file->lines[i] && is_head_of(file->lines[i], section))
			return i;
	return 0;
}

/* Returns the line behind the last one of the section. */
static size_t
section_end(const struct ini_file *f, size_t head)
{
	size_t i = head + 1;

	while (i < f->n && !(f->lines[i] && is_head(f->lines[i])))
		i++;
	return i;
}

/* -- edits -- */

/* Replaces the line by text, and takes ownership of it.  NULL: memory is
 * short. */
static bool
replace_line(struct ini_file *f, size_t line, char *text, struct err *err)
{
	if (!text)
		return err_oom(err);
	free(f->lines[line]);
	f->lines[line] = text;
	f->changed = true;
	return true;
}

/* Replaces n characters at `at` in the line. */
static bool
replace_part(struct ini_file *f, size_t line, size_t at, size_t n,
    const char *by, struct err *err)
{
	char *text = NULL;

	if (asprintf(&text, "%.*s%s%s", (int)at, f->lines[line], by,
	        f->lines[line] + at + n) < 0)
		text = NULL;
	return replace_line(f, line, text, err);
}

static bool
insert_behind(
    struct ini_file *f, size_t line, const char *text, struct err *err)
{
	const char *before = f->inserted[line] ? f->inserted[line] : "";
	char *both = NULL;

	if (asprintf(&both, "%s%s\n", before, text) < 0)
		return err_oom(err);
	free(f->inserted[line]);
	f->inserted[line] = both;
	f->changed = true;
	return true;
}

size_t
ini_add_section(struct ini_file *file, const char *section)
{
	char **lines, **inserted, *head = NULL;

	lines = reallocarray(file->lines, file->n + 1, sizeof(*lines));
	if (lines)
		file->lines = lines;
	inserted = reallocarray(file->inserted, file->n + 1, sizeof(*inserted));
	if (inserted)
		file->inserted = inserted;
	if (!lines || !inserted || asprintf(&head, "[%s]", section) < 0)
		return 0;
	lines[file->n] = head;
	inserted[file->n] = NULL;
	file->changed = true;
	return file->n++;
}

/* Returns whether the line begins the entry `key = NAME ...`. */
static bool
is_entry_named(const char *line, const char *key, const char *name)
{
	const char *value = line ? entry_value(line, key) : NULL;
	size_t n = strlen(name);

	return value && strncmp(value, name, n) == 0 &&
	       (!value[n] || strchr(BLANKS, value[n]));
}

static bool
check_server_line(
    const struct ini_file *f, size_t line, const char *name, struct err *err)
{
	if (line > 0 && line < f->n &&
	    is_entry_named(f->lines[line], "server", name))
		return true;
	return err_set(
	    err, "%s:%zu: this is not the line that was loaded", f->path, line);
}

/* Skips up to *words words of the line's content, and counts them down. Returns
 * where the rest begins. */
static size_t
skip_words(const char *line, size_t at, unsigned *words)
{
	size_t end = content_length(line);

	for (; *words > 0; --*words) {
		size_t n = strcspn(skip_blanks(line + at), BLANKS);

		at = (size_t)(skip_blanks(line + at) - line);
		if (at >= end || line[at] == '\\')
			break;
		at += n;
	}
	return at;
}

/* Finds the option as a word of the line's content behind `from`.  Returns its
 * length, or 0 if it is not there. */
static size_t
find_option_word(
    const char *line, size_t from, const char *option, size_t *ret_at)
{
	size_t end = content_length(line), n = strlen(option);

	for (size_t at = from > 0 ? from : 1; at + n <= end; at++) {
		size_t len = strcspn(line + at, BLANKS);

		if (!strchr(BLANKS, line[at - 1]) ||
		    strncmp(line + at, option, n) != 0 ||
		    (line[at + n] != '=' && len != n))
			continue;
		*ret_at = at;
		return len < end - at ? len : end - at;
	}
	return 0;
}

bool
ini_set_option(struct ini_file *file, size_t line, const char *name,
    const char *option, const char *value, struct err *err)
{
	char text[512];
	size_t last, at, n, from;
	unsigned skip = 2; /* the name and the address are no options */

	if (!check_server_line(file, line, name, err))
		return false;
	from = (size_t)(strchr(file->lines[line], '=') + 1 - file->lines[line]);
	last = entry_end(file, line);
	snprintf(text, sizeof(text), "%s=%s", option, value);
	for (size_t i = line; i <= last; i++) {
		if (i > line && is_comment(file->lines[i]))
			continue;
		from = skip_words(file->lines[i], i > line ? 0 : from, &skip);
		n = find_option_word(file->lines[i], from, option, &at);
		if (n > 0)
			return replace_part(file, i, at, n, text, err);
	}
	snprintf(text, sizeof(text), " %s=%s", option, value);
	/* Add it at the end of the entry's last part. */
	while (last > line && is_comment(file->lines[last]))
		last--;
	at = content_length(file->lines[last]);
	if (is_continued(file->lines[last])) {
		at--;
		strncat(text, " ", sizeof(text) - strlen(text) - 1);
	}
	return replace_part(file, last, at, 0, text, err);
}

bool
ini_set_address(struct ini_file *file, size_t line, const char *name,
    const char *address, struct err *err)
{
	const char *text, *at;

	if (!check_server_line(file, line, name, err))
		return false;
	text = file->lines[line];
	at = skip_blanks(strchr(text, '=') + 1);
	at = skip_blanks(at + strcspn(at, BLANKS));
	if (!*at || *at == '\\')
		return err_set(err,
		    "%s:%zu: the address is not in this line; edit it by hand",
		    file->path, line);
	return replace_part(
	    file, line, (size_t)(at - text), strcspn(at, BLANKS), address, err);
}

size_t
ini_find_entry(
    const struct ini_file *file, size_t head, const char *key, const char *name)
{
	size_t end = section_end(file, head);

	for (size_t i = head + 1; i < end; i++) {
		const char *line = file->lines[i];

		if (line && (name ? is_entry_named(line, key, name)
		                  : entry_value(line, key) != NULL))
			return i;
	}
	return 0;
}

bool
ini_set_key(struct ini_file *file, size_t head, const char *key,
    const char *value, struct err *err)
{
	size_t line = ini_find_entry(file, head, key, NULL), last, at;

	if (line == 0)
		return ini_add_key(file, head, key, value, err);
	last = entry_end(file, line);
	for (size_t i = line + 1; i <= last; i++) {
		free(file->lines[i]);
		file->lines[i] = NULL;
	}
	at = (size_t)(entry_value(file->lines[line], key) - file->lines[line]);
	return replace_part(
	    file, line, at, content_length(file->lines[line]) - at, value, err);
}

bool
ini_add_key(struct ini_file *file, size_t head, const char *key,
    const char *value, struct err *err)
{
	const char *like = ""; /* the last entry of the key */
	size_t behind = head, end = section_end(file, head);
	char *text = NULL;
	bool ok;

	for (size_t i = head + 1; i < end; i++)
		if (file->lines[i] && entry_value(file->lines[i], key)) {
			like = file->lines[i];
			behind = entry_end(file, i);
		}
	if (asprintf(&text, "%.*s%s = %s", (int)strspn(like, BLANKS), like, key,
	        value) < 0)
		return err_oom(err);
	ok = insert_behind(file, behind, text, err);
	free(text);
	return ok;
}

/* Removes the words of the line's content behind `from` that are the range.
 * Adds how many words are left, and whether one was removed.  Returns false
 * with err set when memory is short. */
static bool
remove_words(struct ini_file *f, size_t line, size_t from,
    const struct cidr *range, size_t *left, bool *removed, struct err *err)
{
	for (;;) {
		const char *text = f->lines[line];
		size_t end = content_length(text), n;
		char word[CIDR_TEXT_SIZE] = "";
		struct cidr at;
		struct err why;

		from += strspn(text + from, BLANKS);
		n = strcspn(text + from, BLANKS);
		if (from >= end || text[from] == '\\')
			return true;
		if (n < sizeof(word))
			memcpy(word, text + from, n);
		if (!cidr_parse(word, &at, &why) ||
		    memcmp(&at, range, sizeof(at)) != 0) {
			++*left;
			from += n;
			continue;
		}
		n += strspn(text + from + n, BLANKS);
		if (!replace_part(f, line, from, n, "", err))
			return false;
		*removed = true;
	}
}

static void
remove_entry(struct ini_file *f, size_t line, size_t last)
{
	for (size_t i = line; i <= last; i++) {
		free(f->lines[i]);
		f->lines[i] = NULL;
	}
	f->changed = true;
}

bool
ini_remove_range(struct ini_file *file, size_t head, const char *key,
    const struct cidr *range, struct err *err)
{
	size_t end = section_end(file, head);
	char text[CIDR_TEXT_SIZE];
	bool found = false;

	for (size_t i = head + 1; i < end; i++) {
		const char *value =
		    file->lines[i] ? entry_value(file->lines[i], key) : NULL;
		size_t last, from, left = 0;
		bool removed = false;

		if (!value)
			continue;
		from = (size_t)(value - file->lines[i]);
		last = entry_end(file, i);
		for (size_t j = i; j <= last; j++, from = 0)
			if ((j == i || !is_comment(file->lines[j])) &&
			    !remove_words(
			        file, j, from, range, &left, &removed, err))
				return false;
		if (removed && left == 0)
			remove_entry(file, i, last);
		found |= removed;
	}
	return found || err_set(err, "%s:%zu: this section has no %s %s",
	                    file->path, head, key, cidr_text(range, text));
}

bool
ini_remove(struct ini_file *file, size_t head, const char *key,
    const char *name, struct err *err)
{
	size_t line = ini_find_entry(file, head, key, name);

	if (line == 0)
		return err_set(err, "%s:%zu: this section has no %s %s",
		    file->path, head, key, name);
	remove_entry(file, line, entry_end(file, line));
	return true;
}
