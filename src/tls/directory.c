/* SPDX-License-Identifier: MIT
 * See directory.h.
 */
#include "tls/directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int
compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
path_append(struct tls_directory *directory, size_t *room, const char *dir,
    const char *name)
{
	char **grown =
	    grow(directory->paths, directory->n, room, sizeof(*grown));
	size_t len = strlen(dir);
	const char *slash = len > 0 && dir[len - 1] == '/' ? "" : "/";

	if (!grown)
		return false;
	directory->paths = grown;
	if (asprintf(&grown[directory->n], "%s%s%s", dir, slash, name) < 0)
		return false;
	directory->n++;
	return true;
}

bool
tls_directory_read(const char *what, const char *dir,
    bool (*want)(const char *name), struct tls_directory *ret_directory,
    struct err *err)
{
	struct tls_directory directory = {.n = 0};
	DIR *open_dir = opendir(dir);
	struct dirent *entry;
	size_t room = 0;
	bool ok = true;

	if (!open_dir)
		return err_set(err, "%s '%s' cannot be read: %s", what, dir,
		    strerror(errno));
	errno = 0;
	while (ok && (entry = readdir(open_dir))) {
		if (entry->d_name[0] != '.' && want(entry->d_name))
			ok = path_append(&directory, &room, dir, entry->d_name);
		if (!ok)
			err_oom(err);
		errno = 0;
	}
	if (ok && errno != 0)
		ok = err_set(err, "%s '%s' cannot be read: %s", what, dir,
		    strerror(errno));
	closedir(open_dir);
	if (!ok) {
		tls_directory_fini(&directory);
		return false;
	}
	if (directory.n > 0)
		qsort(directory.paths, directory.n, sizeof(*directory.paths),
		    compare_paths);
	*ret_directory = directory;
	return true;
}

void
tls_directory_fini(struct tls_directory *directory)
{
	for (size_t i = 0; i < directory->n; i++)
		free(directory->paths[i]);
	free(directory->paths);
	*directory = (struct tls_directory){.n = 0};
}
