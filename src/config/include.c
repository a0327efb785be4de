/* SPDX-License-Identifier: MIT
 * See include.h.
 */
#include "config/include.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/ini.h"

#define PATTERN_LETTERS "*?["
#define FOLDER_PATTERN  "/*.ini"
#define CANNOT_READ     "cannot be read: %s"

struct loaded {
	const char *file; /* in the draft */
	dev_t dev;
	ino_t ino;
	unsigned depth; /* 0: named on the command line */
};

struct loader {
	struct draft *draft;
	struct err_list *errors;
	struct loaded *files;
	size_t files_n;
	size_t followed; /* how many of the draft's includes were */
};

/* The place that names a path.  place.file NULL: the command line. */
struct origin {
	struct spec_place place;
	unsigned depth;
};

/* Adds an error about the path, at the place of the include. */
__attribute__((format(printf, 4, 5))) static void
include_error(struct loader *l, const struct origin *from, const char *path,
    const char *fmt, ...)
{
	char sentence[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	if (from->place.file)
		err_list_add(l->errors, from->place.file, from->place.line,
		    "include: '%s' %s", path, sentence);
	else
		err_list_add(l->errors, path, 0, "%s", sentence);
}

/* Returns whether the file was read before, maybe by another name. */
static bool
is_loaded(const struct loader *l, const struct stat *st)
{
	for (size_t i = 0; i < l->files_n; i++)
		if (S_ISREG(st->st_mode) && l->files[i].dev == st->st_dev &&
		    l->files[i].ino == st->st_ino)
			return true;
	return false;
}

static void
load_file(struct loader *l, const struct origin *from, const char *path,
    const struct stat *st)
{
	struct loaded *grown;
	const char *file;

	if (is_loaded(l, st)) {
		include_error(l, from, path,
		    "is read already; a file is read once, and may not include "
		    "itself");
		return;
	}
	if (l->files_n == INCLUDE_FILES_MAX) {
		include_error(l, from, path,
		    "is one file too many; %d are allowed", INCLUDE_FILES_MAX);
		return;
	}
	/* A pipe without a writer would block the control thread. */
	if (from->place.file && !S_ISREG(st->st_mode)) {
		include_error(l, from, path, "is not a regular file");
		return;
	}
	grown = reallocarray(l->files, l->files_n + 1, sizeof(*grown));
	if (grown)
		l->files = grown;
	file = grown ? draft_add_file(l->draft, path) : NULL;
	if (!file) {
		include_error(l, from, path, "cannot be read: out of memory");
		return;
	}
	l->files[l->files_n++] = (struct loaded){.file = file,
	    .dev = st->st_dev,
	    .ino = st->st_ino,
	    .depth = from->depth};
	ini_load(file, l->draft, l->errors);
}

static int
keep_error(const char *path, int error)
{
	(void)path;
	errno = error;
	return error != ENOENT && error != ENOTDIR;
}

/* Loads the files that the pattern names.  Returns false if there is none. */
static bool
load_pattern(struct loader *l, const struct origin *from, const char *pattern)
{
	struct stat st;
	glob_t found;
	int rc;

	errno = 0;
	rc = glob(pattern, 0, keep_error, &found);
	if (rc == GLOB_ABORTED)
		include_error(l, from, pattern, CANNOT_READ,
		    strerror(errno ? errno : EIO));
	else if (rc == GLOB_NOSPACE)
		include_error(l, from, pattern, CANNOT_READ, strerror(ENOMEM));
	if (rc != 0)
		return rc != GLOB_NOMATCH;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];

		if (stat(path, &st) < 0)
			include_error(
			    l, from, path, CANNOT_READ, strerror(errno));
		else
			load_file(l, from, path, &st);
	}
	globfree(&found);
	return true;
}

/* Returns the text, with characters that are special to glob(3) escaped,
 * followed by behind; or NULL when memory is short. */
static char *
escape_pattern(const char *text, const char *behind)
{
	char *out = malloc(2 * strlen(text) + strlen(behind) + 1), *to = out;

	for (; out && *text; text++) {
		if (strchr(PATTERN_LETTERS "\\", *text))
			*to++ = '\\';
		*to++ = *text;
	}
	if (out)
		strcpy(to, behind);
	return out;
}

/* Loads a file, or the *.ini of a folder. */
static void
load_path(struct loader *l, const struct origin *from, const char *path)
{
	struct stat st;
	char *pattern;

	if (stat(path, &st) < 0) {
		include_error(l, from, path, CANNOT_READ, strerror(errno));
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		load_file(l, from, path, &st);
		return;
	}
	pattern = escape_pattern(path, FOLDER_PATTERN);
	if (!pattern)
		include_error(l, from, path, CANNOT_READ, strerror(ENOMEM));
	else if (!load_pattern(l, from, pattern) && !from->place.file)
		include_error(l, from, path,
		    "is a directory without *.ini in it; name a file, or a "
		    "directory of such files");
	free(pattern);
}

static unsigned
depth_of(const struct loader *l, const char *file)
{
	for (size_t i = 0; i < l->files_n; i++)
		if (l->files[i].file == file)
			return l->files[i].depth;
	return 0;
}

/* Returns the path as seen from lfproxy's working directory, or NULL when
 * memory is short. */
static char *
include_path(const struct draft_include *include, bool is_pattern)
{
	const char *file = include->place.file;
	const char *slash = strrchr(file, '/');
	char *folder, *path = NULL;

	if (include->path[0] == '/' || !slash)
		return strdup(include->path);
	folder = strndup(file, (size_t)(slash + 1 - file));
	if (folder && is_pattern)
		path = escape_pattern(folder, include->path);
	else if (folder && asprintf(&path, "%s%s", folder, include->path) < 0)
		path = NULL;
	free(folder);
	return path;
}

static void
follow_include(struct loader *l, const struct draft_include *include)
{
	bool is_pattern = strpbrk(include->path, PATTERN_LETTERS) != NULL;
	struct origin from = {.place = include->place};
	char *path;

	from.depth = depth_of(l, include->place.file) + 1;
	if (from.depth > INCLUDE_DEPTH_MAX) {
		include_error(l, &from, include->path,
		    "is included too deep; at most %d files may include one "
		    "another",
		    INCLUDE_DEPTH_MAX);
		return;
	}
	path = include_path(include, is_pattern);
	if (!path)
		include_error(
		    l, &from, include->path, CANNOT_READ, strerror(ENOMEM));
	else if (is_pattern)
		(void)load_pattern(l, &from, path);
	else
		load_path(l, &from, path);
	free(path);
}

void
include_load(const char *const *paths, size_t n, struct draft *draft,
    struct err_list *errors)
{
	struct loader l = {.draft = draft, .errors = errors};
	const struct origin command_line = {.place.file = NULL};

	for (size_t i = 0; i < n; i++) {
		load_path(&l, &command_line, paths[i]);
		while (l.followed < draft->includes_n) {
			/* A copy: the array moves when more are added. */
			struct draft_include include =
			    draft->includes[l.followed++];

			follow_include(&l, &include);
		}
	}
	free(l.files);
}
