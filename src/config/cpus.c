/* SPDX-License-Identifier: MIT
 * See cpus.h.  The files are described in the kernel's
 * Documentation/admin-guide/cgroup-v2.rst, under "cpu.max", and
 * Documentation/scheduler/sched-bwc.rst.
 */
#include "config/cpus.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The place of a version of cgroups below /sys/fs/cgroup. */
struct cgroups {
	const char *controller; /* in /proc/self/cgroup; "": version 2 */
	const char *folder;
};

/* Version 1 mounts its controllers apart, cpu beside or with cpuacct. */
static const struct cgroups all_cgroups[] = {
    {"", ""},
    {"cpu", "/cpu"},
    {"cpu", "/cpu,cpuacct"},
};

/* Returns the quota in CPUs, rounded up; 0 for none. */
static unsigned
quota_cpus(int64_t quota, int64_t period)
{
	int64_t cpus;

	if (quota <= 0 || period <= 0)
		return 0;
	cpus = quota / period + (quota % period > 0);
	return cpus > UINT_MAX ? UINT_MAX : (unsigned)cpus;
}

/* Reads one or two numbers from the file of that name.  What the file does not
 * have stays as it is. */
static void
read_numbers(
    const char *folder, const char *name, int64_t *first, int64_t *second)
{
	char path[PATH_MAX + 128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fscanf(f, "%" SCNd64 " %" SCNd64, first, second) < 1)
		*first = 0;
	fclose(f);
}

/* Reads the quota of a cgroup.  Version 2 has `150000 100000` in cpu.max, 150
 * ms of CPU time in every 100 ms, or `max 100000`; version 1 has a file for
 * each number, and -1 for no quota. */
static unsigned
read_quota(const char *root, const struct cgroups *cgroups, const char *cgroup)
{
	char folder[PATH_MAX + 96];
	int64_t quota = 0, period = 0, none;

	snprintf(folder, sizeof(folder), "%s/sys/fs/cgroup%s%s", root,
	    cgroups->folder, cgroup);
	if (!*cgroups->controller) {
		read_numbers(folder, "cpu.max", &quota, &period);
	} else {
		read_numbers(folder, "cpu.cfs_quota_us", &quota, &none);
		read_numbers(folder, "cpu.cfs_period_us", &period, &none);
	}
	return quota_cpus(quota, period);
}

/* Returns the path in a line of /proc/self/cgroup, as `4:cpu,cpuacct:/a` or
 * `0::/a`, if the line is that of the controller; else NULL. */
static const char *
cgroup_path(const char *line, const char *controller)
{
	const char *word = strchr(line, ':');
	const char *path = word ? strchr(word + 1, ':') : NULL;
	size_t len = strlen(controller);

	while (path && word < path) {
		size_t n = strcspn(++word, ",:");

		if (n == len && strncmp(word, controller, n) == 0)
			return path + 1;
		word += n;
	}
	return NULL;
}

/* Reads the path of our cgroup; "" for the root. */
static bool
read_own_cgroup(
    const char *root, const char *controller, char *ret_path, size_t size)
{
	char name[PATH_MAX], line[PATH_MAX];
	const char *path = NULL;
	FILE *f;

	snprintf(name, sizeof(name), "%s/proc/self/cgroup", root);
	f = fopen(name, "re");
	if (!f)
		return false;
	while (!path && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		path = cgroup_path(line, controller);
	}
	fclose(f);
	if (!path || *path != '/')
		return false;
	/* `/..`: our cgroup is outside of what this mount shows. */
	snprintf(ret_path, size, "%s", strstr(path, "/..") ? "" : path);
	if (strcmp(ret_path, "/") == 0)
		ret_path[0] = '\0';
	return true;
}

static void
take_least(unsigned *least, unsigned cpus)
{
	if (cpus > 0 && (*least == 0 || cpus < *least))
		*least = cpus;
}

/* Returns the least quota of our cgroup and its ancestors.  Ignores folders
 * that are missing: a container may see only its own part of the tree, mounted
 * as the root, while the path is that in the whole tree. */
static unsigned
least_quota(const char *root, const struct cgroups *cgroups)
{
	char path[PATH_MAX], *slash;
	unsigned least = 0;

	if (!read_own_cgroup(root, cgroups->controller, path, sizeof(path)))
		return 0;
	for (;;) {
		take_least(&least, read_quota(root, cgroups, path));
		slash = strrchr(path, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

unsigned
cpus_quota(const char *root)
{
	unsigned least = 0;

	for (size_t i = 0; i < sizeof(all_cgroups) / sizeof(*all_cgroups); i++)
		take_least(&least, least_quota(root, &all_cgroups[i]));
	return least;
}

/* Tries larger sets until one is as large as the kernel's, whose size is
 * unknown. */
void
cpus_allowed(cpu_set_t *ret_cpus)
{
	bool again = true;

	CPU_ZERO(ret_cpus);
	for (size_t n = CPU_SETSIZE; again && n <= 1u << 20; n *= 2) {
		cpu_set_t *set = CPU_ALLOC(n);
		int rc =
		    set ? sched_getaffinity(0, CPU_ALLOC_SIZE(n), set) : -1;

		if (rc == 0)
			memcpy(ret_cpus, set, sizeof(*ret_cpus));
		again = set && rc < 0 && errno == EINVAL;
		CPU_FREE(set);
	}
	if (CPU_COUNT(ret_cpus) == 0)
		CPU_SET(0, ret_cpus);
}

unsigned
cpus_usable(const char *root)
{
	unsigned quota = cpus_quota(root), cpus;
	cpu_set_t allowed;

	cpus_allowed(&allowed);
	cpus = (unsigned)CPU_COUNT(&allowed);
	return quota > 0 && quota < cpus ? quota : cpus;
}
