/* SPDX-License-Identifier: MIT
 * See interests.h.
 */
#include "base/interests.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

/* The kernel's limit on links in a path, see path_resolution(7). */
#define LINKS_MAX 40

/* IN_MODIFY is left out: a file is read when its writer has closed it. */
#define WATCH_MASK                                                             \
	(IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_DELETE_SELF | \
	    IN_MOVE_SELF | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)

struct interests_search {
	int inotify;
	struct interests *found;
	/* Most files share their directory with the one before. */
	char watched[PATH_MAX]; /* the directory of wd */
	int wd;
	char asked[PATH_MAX], answer[PATH_MAX]; /* of the last resolution */
};

/* A path that is being followed: dir is resolved, rest is not. */
struct walk {
	char dir[PATH_MAX], rest[PATH_MAX];
	unsigned links;
};

/* Watches a directory.  Returns the watch, or -1. */
static int
watch_directory(struct interests_search *search, const char *dir)
{
	struct interests *found = search->found;

	if (search->wd >= 0 && strcmp(search->watched, dir) == 0)
		return search->wd;
	search->wd = inotify_add_watch(search->inotify, dir, WATCH_MASK);
	if (search->wd >= 0) {
		snprintf(search->watched, sizeof(search->watched), "%s", dir);
	} else if (found->error == 0) {
		found->error = errno;
		found->error_path = strdup(dir);
	}
	return search->wd;
}

/* Adds an interest in a name of the directory; NULL: every name. */
static void
interest_append(
    struct interests_search *search, const char *dir, const char *name)
{
	struct interests *found = search->found;
	int wd = watch_directory(search, dir);
	struct interest *grown;
	char *copy = NULL;

	if (wd < 0)
		return;
	grown = grow(found->all, found->n, &found->room, sizeof(*grown));
	if (!grown || (name && !(copy = strdup(name)))) {
		found->out_of_memory = true;
		return;
	}
	found->all = grown;
	grown[found->n++] = (struct interest){.wd = wd, .name = copy};
}

/* Moves the first part of rest, which has one, to part. */
static void
part_take(struct walk *walk, char part[NAME_MAX + 1])
{
	char *rest = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(rest, "/");

	snprintf(part, NAME_MAX + 1, "%.*s", (int)len, rest);
	rest += len;
	rest += strspn(rest, "/");
	memmove(walk->rest, rest, strlen(rest) + 1);
}

static bool
path_join(const char *dir, const char *name, char out[PATH_MAX])
{
	const char *slash = dir[strlen(dir) - 1] == '/' ? "" : "/";

	return snprintf(out, PATH_MAX, "%s%s%s", dir, slash, name) < PATH_MAX;
}

/* Puts the target of the link in front of what is left of the path.  Returns
 * false if that is not possible. */
static bool
link_follow(struct walk *walk, const char *link)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n <= 0 || ++walk->links > LINKS_MAX)
		return false;
	target[n] = '\0';
	if (snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest) >=
	    (int)sizeof(rest))
		return false;
	strcpy(walk->rest, rest);
	if (target[0] == '/')
		strcpy(walk->dir, "/");
	return true;
}

/* Follows the path to its end, or to the first part that does not exist, and
 * notes every link, and the last part unless it is a directory.  Returns
 * whether the path leads to a directory, which walk->dir is then. */
static bool
path_follow(struct interests_search *search, struct walk *walk)
{
	while (walk->rest[strspn(walk->rest, "/")]) {
		char part[NAME_MAX + 1], path[PATH_MAX];
		struct stat st;

		part_take(walk, part);
		if (!path_join(walk->dir, part, path))
			return false;
		if (lstat(path, &st) < 0) {
			interest_append(search, walk->dir, part);
			return false;
		}
		if (S_ISDIR(st.st_mode)) {
			strcpy(walk->dir, path);
			continue;
		}
		interest_append(search, walk->dir, part);
		if (!S_ISLNK(st.st_mode) || !link_follow(walk, path))
			return false;
	}
	return true;
}

static void
path_walk_begin(struct walk *walk, const char *path)
{
	walk->links = 0;
	strcpy(walk->dir, path[0] == '/' ? "/" : ".");
	snprintf(walk->rest, sizeof(walk->rest), "%s", path);
}

/* Follows the directory of a path, and remembers the result.  Returns false if
 * it is no directory. */
static bool
directory_follow(
    struct interests_search *search, struct walk *walk, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	if (!slash || slash == path || slash - path >= PATH_MAX)
		return true;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	if (search->answer[0] == '\0' || strcmp(dir, search->asked) != 0) {
		search->answer[0] = '\0';
		path_walk_begin(walk, dir);
		if (!path_follow(search, walk))
			return false;
		strcpy(search->asked, dir);
		strcpy(search->answer, walk->dir);
	}
	strcpy(walk->dir, search->answer);
	snprintf(walk->rest, sizeof(walk->rest), "%s", slash + 1);
	return true;
}

void
interests_add_file(struct interests_search *search, const char *path)
{
	struct walk walk;

	path_walk_begin(&walk, path);
	if (directory_follow(search, &walk, path))
		(void)path_follow(search, &walk);
}

void
interests_add_directory(struct interests_search *search, const char *path)
{
	struct dirent *entry;
	struct walk walk;
	DIR *dir;

	path_walk_begin(&walk, path);
	if (!path_follow(search, &walk))
		return;
	interest_append(search, walk.dir, NULL);
	dir = opendir(walk.dir);
	while (dir && (entry = readdir(dir))) {
		char link[PATH_MAX];

		if (entry->d_type == DT_LNK &&
		    path_join(walk.dir, entry->d_name, link))
			interests_add_file(search, link);
	}
	if (dir)
		closedir(dir);
}

static int
compare_watches(const void *a, const void *b)
{
	const struct interest *x = a, *y = b;

	return (x->wd > y->wd) - (x->wd < y->wd);
}

/* Compares by watch, then by name, NULL first. */
static int
compare_interests(const void *a, const void *b)
{
	const struct interest *x = a, *y = b;

	if (x->wd != y->wd)
		return compare_watches(a, b);
	if (!x->name || !y->name)
		return (x->name != NULL) - (y->name != NULL);
	return strcmp(x->name, y->name);
}

/* Sorts the interests.  Drops repeated names, and names in a directory of which
 * every name is of interest. */
static void
interests_sort(struct interests *interests)
{
	struct interest *all = interests->all;
	size_t kept = 0;

	if (interests->n == 0)
		return;
	qsort(all, interests->n, sizeof(*all), compare_interests);
	for (size_t i = 0; i < interests->n; i++) {
		const struct interest *last = &all[kept - 1];

		if (kept > 0 && last->wd == all[i].wd &&
		    (!last->name ||
		        (all[i].name && strcmp(last->name, all[i].name) == 0)))
			free(all[i].name);
		else
			all[kept++] = all[i];
	}
	interests->n = kept;
}

struct interests_search *
interests_begin(int inotify, struct interests *ret_interests)
{
	struct interests_search *search = malloc(sizeof(*search));

	*ret_interests = (struct interests){.n = 0};
	if (!search) {
		ret_interests->out_of_memory = true;
		return NULL;
	}
	search->inotify = inotify;
	search->found = ret_interests;
	search->wd = -1;
	search->answer[0] = '\0';
	return search;
}

void
interests_end(struct interests_search *search)
{
	if (!search)
		return;
	interests_sort(search->found);
	free(search);
}

void
interests_fini(struct interests *interests)
{
	for (size_t i = 0; i < interests->n; i++)
		free(interests->all[i].name);
	free(interests->all);
	free(interests->error_path);
	*interests = (struct interests){.n = 0};
}

static bool
find_interest(const struct interests *interests, int wd, char *name)
{
	const struct interest key = {.wd = wd, .name = name};

	return bsearch(&key, interests->all, interests->n, sizeof(key),
	           compare_interests) != NULL;
}

bool
interests_have(const struct interests *interests, int wd, const char *name)
{
	if (interests->n == 0)
		return false;
	if (name)
		return find_interest(interests, wd, NULL) ||
		       find_interest(interests, wd, (char *)(uintptr_t)name);
	return bsearch(&(struct interest){.wd = wd}, interests->all,
	           interests->n, sizeof(*interests->all),
	           compare_watches) != NULL;
}

bool
interests_equal(const struct interests *a, const struct interests *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (compare_interests(&a->all[i], &b->all[i]) != 0)
			return false;
	return true;
}
