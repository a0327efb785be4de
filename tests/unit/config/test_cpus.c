/* SPDX-License-Identifier: MIT
 * CPUs that the cgroup grants, on a tree of files of our own.
 */
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "config/cpus.h"

static char root[] = "/tmp/lfproxy-cpus-XXXXXX";

static int
set_up(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int
tear_down(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes root/path, making the folders that lead there. */
static void
put(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = strchr(full + strlen(root) + 1, '/'); p;
	     p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
no_cgroup_means_no_quota(void **state)
{
	(void)state;
	assert_int_equal(cpus_quota(root), 0);
	put("/proc/self/cgroup", "4:cpu:/x\n1:name=systemd:/y\n");
	put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
	assert_int_equal(cpus_quota(root), 0);
}

static void
version_1_has_a_quota_too(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/a/b\n0::/\n");
	put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cpus_quota(root), 0);
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cpus_quota(root), 3);
	put("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "150000\n");
	put("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cpus_quota(root), 2);
	put("/proc/self/cgroup", "4:cpuset:/a\n3:cpuacct:/a\n2:xcpu:/a\n");
	assert_int_equal(cpus_quota(root), 0);
	put("/proc/self/cgroup", "1:cpu:/a\n");
	assert_int_equal(cpus_quota(root), 3);
}

static void
quota_is_rounded_up(void **state)
{
	static const struct {
		const char *text;
		unsigned cpus;
	} rows[] = {{"max 100000\n", 0}, {"100000 100000\n", 1},
	    {"50000 100000\n", 1}, {"100001 100000\n", 2},
	    {"150000 100000\n", 2}, {"200000 100000\n", 2}, {"1000 50000\n", 1},
	    {"12800000 100000\n", 128}, {"", 0}, {"junk\n", 0}, {"100000\n", 0},
	    {"100000 0\n", 0}};

	(void)state;
	put("/proc/self/cgroup", "0::/a.slice/b.service\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put("/sys/fs/cgroup/a.slice/b.service/cpu.max", rows[i].text);
		assert_int_equal(cpus_quota(root), rows[i].cpus);
	}
}

static void
least_quota_on_the_way_up_counts(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "3:memory:/z\n0::/a/b/c\n");
	put("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
	assert_int_equal(cpus_quota(root), 8);
	put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
	assert_int_equal(cpus_quota(root), 3);
	put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	assert_int_equal(cpus_quota(root), 3);
	put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
	assert_int_equal(cpus_quota(root), 2);
	put("/sys/fs/cgroup/z/cpu.max", "100000 100000\n");
	assert_int_equal(cpus_quota(root), 2);
}

/* In a container the file names the whole path, but its own cgroup is mounted
 * as the root; or the path leads out of what is mounted. */
static void
mounted_root_counts_in_containers(void **state)
{
	(void)state;
	put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
	put("/proc/self/cgroup", "0::/docker/0123abc\n");
	assert_int_equal(cpus_quota(root), 4);
	put("/proc/self/cgroup", "0::/\n");
	assert_int_equal(cpus_quota(root), 4);
	put("/proc/self/cgroup", "0::/../outside\n");
	assert_int_equal(cpus_quota(root), 4);
}

static void
usable_is_the_smaller_of_quota_and_affinity(void **state)
{
	cpu_set_t before, one;
	unsigned all;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	all = (unsigned)CPU_COUNT(&before);
	assert_int_equal(cpus_usable(root), all);
	put("/proc/self/cgroup", "0::/\n");
	put("/sys/fs/cgroup/cpu.max", "100000000 100000\n");
	assert_int_equal(cpus_usable(root), all);
	put("/sys/fs/cgroup/cpu.max", "1000 100000\n");
	assert_int_equal(cpus_usable(root), 1);
	put("/sys/fs/cgroup/cpu.max", "max 100000\n");

	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &before))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(cpus_usable(root), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(no_cgroup_means_no_quota),
	    TEST(version_1_has_a_quota_too),
	    TEST(quota_is_rounded_up),
	    TEST(least_quota_on_the_way_up_counts),
	    TEST(mounted_root_counts_in_containers),
	    TEST(usable_is_the_smaller_of_quota_and_affinity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
