/* SPDX-License-Identifier: MIT
 * See cpus.h.  The files are described in the kernel's
 * Documentation/admin-guide/cgroup-v2.rst, under "cpu.max".
 */
#include "config/cpus.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Reads the quota in CPUs: `150000 100000` is 150 ms of CPU time in every 100
 * ms.  Returns 0 if there is none, as in `max 100000`. */
static unsigned
read_cpu_max(const char *root, const char *cgroup)
{
	char path[PATH_MAX + 64];
	uint64_t quota, period, cpus = 0;
	FILE *f;

	snprintf(
	    path, sizeof(path), "%s/sys/fs/cgroup%s/cpu.max", root, cgroup);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &quota, &period) == 2 &&
	    quota > 0 && period > 0)
		cpus = quota / period + (quota % period > 0);
	fclose(f);
	return cpus > UINT_MAX ? UINT_MAX : (unsigned)cpus;
}

/* Reads the path of our cgroup from the line `0::PATH`; "" for the root. */
static bool
read_own_cgroup(const char *root, char *ret_path, size_t size)
{
	char name[PATH_MAX], line[PATH_MAX];
	bool found = false;
	FILE *f;

	snprintf(name, sizeof(name), "%s/proc/self/cgroup", root);
	f = fopen(name, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = strncmp(line, "0::/", 4) == 0;
	}
	fclose(f);
	if (!found)
		return false;
	/* `/..`: our cgroup is outside of what this mount shows. */
	snprintf(ret_path, size, "%s", strstr(line, "/..") ? "" : line + 3);
	if (strcmp(ret_path, "/") == 0)
		ret_path[0] = '\0';
	return true;
}

/* Ignores folders that are missing: a container may see only its own part of
 * the tree, mounted as the root, while the path is that in the whole tree. */
unsigned
cpus_quota(const char *root)
{
	char path[PATH_MAX];
	unsigned least = 0;

	if (!read_own_cgroup(root, path, sizeof(path)))
		return 0;
	for (;;) {
		unsigned cpus = read_cpu_max(root, path);
		char *slash;

		if (cpus > 0 && (least == 0 || cpus < least))
			least = cpus;
		slash = strrchr(path, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
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
