/* SPDX-License-Identifier: MIT
 * What is read of the kernel's texts.
 */
#include "process/system_facts.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "unit.h"

static void
a_counter_is_found_by_its_name_alone(void **state)
{
	static const char text[] =
	    "TcpExt: SyncookiesSent ListenOverflows ListenDrops Last\n"
	    "TcpExt: 1 22 333 4444\n"
	    "IpExt: InNoRoutes ListenDropsNot\n"
	    "IpExt: 5 6\n";
	uint64_t n = 7;

	(void)state;
	assert_true(system_netstat(text, "ListenOverflows", &n));
	assert_int_equal(n, 22);
	assert_true(system_netstat(text, "ListenDrops", &n));
	assert_int_equal(n, 333);
	assert_true(system_netstat(text, "Last", &n));
	assert_int_equal(n, 4444);
	n = 7;
	assert_false(system_netstat(text, "Listen", &n));
	assert_false(system_netstat(text, "InNoRoutes", &n));
	assert_false(system_netstat("", "ListenDrops", &n));
	assert_false(system_netstat("TcpExt: ListenDrops", "ListenDrops", &n));
	assert_false(system_netstat("TcpExt: A B\nTcpExt: 1\n", "B", &n));
	assert_int_equal(n, 7);
}

static uint64_t
ports(const char *range, const char *reserved)
{
	uint64_t n = 0;

	assert_true(system_count_ports(range, reserved, &n));
	return n;
}

static void
reserved_ports_are_none_to_be_used(void **state)
{
	uint64_t n = 7;

	(void)state;
	assert_int_equal(ports("32768\t60999\n", ""), 28232);
	assert_int_equal(ports("32768\t60999\n", "\n"), 28232);
	assert_int_equal(ports("10\t19\n", "12\n"), 9);
	assert_int_equal(ports("10\t19\n", "1-11,15-16,19-100\n"), 5);
	assert_int_equal(ports("10\t19\n", "1,2,30-40\n"), 10);
	assert_int_equal(ports("10\t19\n", "5-30\n"), 0);
	assert_false(system_count_ports("", "", &n));
	assert_false(system_count_ports("20 10", "", &n));
	assert_int_equal(n, 7);
}

static char root[] = "/tmp/lfproxy-cgroup-XXXXXX";

static void
put(const char *path, const char *text)
{
	char name[256];
	FILE *f;

	for (char *at = strchr(strcpy(name, path), '/'); at;
	     at = strchr(at + 1, '/')) {
		char whole[512];

		*at = '\0';
		snprintf(whole, sizeof(whole), "%s/%s", root, name);
		(void)mkdir(whole, 0700);
		*at = '/';
	}
	assert_true(snprintf(name, sizeof(name), "%s/%s", root, path) > 0);
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
expect(const char *groups, const char *dir, uint64_t limit)
{
	struct cgroup_memory c;
	char name[SYSTEM_PATH_SIZE];
	uint64_t n;

	system_find_cgroup(groups, root, &c);
	snprintf(name, sizeof(name), "%s/%s", root, dir);
	assert_string_equal(c.used, name);
	assert_true(system_number(c.limit, &n));
	assert_int_equal(n, limit);
}

static void
the_lowest_limit_of_all_groups_above_counts(void **state)
{
	struct cgroup_memory c;
	char command[128];

	(void)state;
	assert_non_null(mkdtemp(root));
	put("a/b/memory.current", "5\n");
	put("a/b/memory.max", "max\n");
	put("a/memory.current", "50\n");
	put("a/memory.max", "1000\n");
	put("x/memory.current", "1\n");
	put("x/memory.max", "max\n");
	put("memory/m/memory.usage_in_bytes", "7\n");
	put("memory/m/memory.limit_in_bytes", "70\n");
	put("memory/memory.usage_in_bytes", "8\n");
	put("memory/memory.limit_in_bytes", "9223372036854771712\n");
	expect("0::/a/b\n", "a/memory.current", 1000);
	expect("1:cpu:/q\n0::/a\n", "a/memory.current", 1000);
	expect("0::/x\n", "x/memory.current", UINT64_MAX);
	expect("4:memory:/m\n1:cpu:/\n0::/\n", "memory/m/memory.usage_in_bytes",
	    70);
	/* A path that another namespace sees is none here. */
	expect("4:memory:/m/elsewhere\n", "memory/m/memory.usage_in_bytes", 70);
	system_find_cgroup("0::/\n1:cpu:/\n", root, &c);
	assert_string_equal(c.used, "");
	system_find_cgroup("", root, &c);
	assert_string_equal(c.used, "");
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void
memory_is_read_by_name(void **state)
{
	struct system_memory m;

	(void)state;
	assert_true(system_memory_read(
	    "Name:\tlfproxy\nVmPeak:\t 9000 kB\nVmHWM:\t 3000 kB\n"
	    "VmRSS:\t 2040 kB\nRssAnon:\t 104 kB\nRssFile:\t 1936 kB\n"
	    "VmSwap:\t 8 kB\n",
	    &m));
	assert_int_equal(m.resident, 2040 * 1024);
	assert_int_equal(m.peak, 3000 * 1024);
	assert_int_equal(m.anonymous, 104 * 1024);
	assert_int_equal(m.swapped, 8 * 1024);
	assert_false(system_memory_read("\nVmRSS: 1 kB\n", &m));
}

static void
this_process_has_memory_and_descriptors(void **state)
{
	uint64_t before, after, bytes;
	int fd;

	(void)state;
	assert_true(system_resident(&bytes));
	assert_true(bytes > 100000);
	if (!system_descriptors(&before)) {
		print_message("this kernel does not tell descriptors\n");
		skip();
	}
	fd = open("/dev/null", O_RDONLY);
	assert_true(system_descriptors(&after));
	assert_int_equal(after, before + 1);
	close(fd);
}

static void
facts_of_a_process_follow_its_name(void **state)
{
	struct system_process facts = {.threads = 1};

	(void)state;
	assert_true(system_process_read("7 (a) b 1 2) R 4 5 6 7 8 9 10 11 12 "
	                                "13 14 15 16 17 18 19 20 21 22 23 24 "
	                                "25 26\n",
	    &facts));
	assert_int_equal(facts.threads, 20);
	assert_int_equal(facts.virtual_bytes, 23);
	assert_int_equal(
	    facts.resident_bytes, 24 * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_false(system_process_read("", &facts));
	assert_false(system_process_read("7 (a) R 4 5", &facts));
	assert_int_equal(facts.threads, 20);
}

static void
facts_of_this_process_are_read(void **state)
{
	struct system_process facts;

	(void)state;
	unit_skip_when_emulated("whole /proc/self/stat");
	assert_true(system_process(&facts));
	assert_int_equal(facts.threads, 1);
	assert_true(facts.resident_bytes > 100000);
	assert_true(facts.virtual_bytes > facts.resident_bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_counter_is_found_by_its_name_alone),
	    cmocka_unit_test(reserved_ports_are_none_to_be_used),
	    cmocka_unit_test(the_lowest_limit_of_all_groups_above_counts),
	    cmocka_unit_test(memory_is_read_by_name),
	    cmocka_unit_test(this_process_has_memory_and_descriptors),
	    cmocka_unit_test(facts_of_a_process_follow_its_name),
	    cmocka_unit_test(facts_of_this_process_are_read),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
