/* SPDX-License-Identifier: MIT
 * See system_facts.h.
 */
#include "process/system_facts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_SIZE 8192 /* of /proc/net/netstat, some 5 KiB */

/* Reads the file as text with a NUL.  Returns false if it cannot be read. */
static bool
read_proc_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0)
		return false;
	while (n + 1 < size && (got = read(fd, out + n, size - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	out[n] = '\0';
	return got >= 0 && n > 0;
}

bool
system_number(const char *path, uint64_t *ret_n)
{
	char text[64], *end;
	uint64_t n;

	if (!read_proc_file(path, text, sizeof(text)))
		return false;
	if (strncmp(text, "max", 3) == 0) {
		*ret_n = UINT64_MAX;
		return true;
	}
	n = strtoull(text, &end, 10);
	if (end == text)
		return false;
	*ret_n = n;
	return true;
}

bool
system_descriptors(uint64_t *ret_n)
{
	struct stat st;

	if (stat("/proc/self/fd", &st) < 0 || st.st_size == 0)
		return false;
	*ret_n = (uint64_t)st.st_size;
	return true;
}

bool
system_resident(uint64_t *ret_bytes)
{
	char text[128];
	uint64_t pages;

	if (!read_proc_file("/proc/self/statm", text, sizeof(text)) ||
	    sscanf(text, "%*u %" SCNu64, &pages) != 1)
		return false;
	*ret_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

static bool
read_kib(const char *text, const char *name, uint64_t *ret_bytes)
{
	const char *at = strstr(text, name);

	if (!at)
		return false;
	*ret_bytes = strtoull(at + strlen(name), NULL, 10) * 1024;
	return true;
}

bool
system_memory_read(const char *text, struct system_memory *ret_memory)
{
	struct system_memory m;

	if (!read_kib(text, "\nVmRSS:", &m.resident) ||
	    !read_kib(text, "\nVmHWM:", &m.peak) ||
	    !read_kib(text, "\nRssAnon:", &m.anonymous) ||
	    !read_kib(text, "\nVmSwap:", &m.swapped))
		return false;
	*ret_memory = m;
	return true;
}

bool
system_memory(struct system_memory *ret_memory)
{
	char text[4096];

	return read_proc_file("/proc/self/status", text, sizeof(text)) &&
	       system_memory_read(text, ret_memory);
}

#define SKIP_4 " %*s %*s %*s %*s"

/* The name of the program may contain any character, so the search for its end
 * begins at the end of the text.  Behind it follow the fields from the third
 * on. */
bool
system_process_read(const char *text, struct system_process *ret_facts)
{
	const char *name_end = strrchr(text, ')');
	uint64_t threads, bytes, pages;

	if (!name_end || sscanf(name_end,
	                     ") %*c" SKIP_4 SKIP_4 SKIP_4 SKIP_4 " %" SCNu64
	                     " %*s %*s %" SCNu64 " %" SCNu64,
	                     &threads, &bytes, &pages) != 3)
		return false;
	*ret_facts = (struct system_process){.threads = threads,
	    .virtual_bytes = bytes,
	    .resident_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE)};
	return true;
}

bool
system_process(struct system_process *ret_facts)
{
	char text[1024];

	return read_proc_file("/proc/self/stat", text, sizeof(text)) &&
	       system_process_read(text, ret_facts);
}

/* The state follows the name of the program, which may contain any
 * character. */
bool
system_is_zombie(pid_t pid)
{
	char path[32], text[256];
	const char *name_end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_proc_file(path, text, sizeof(text)))
		return false;
	name_end = strrchr(text, ')');
	return name_end && (strncmp(name_end, ") Z", 3) == 0 ||
	                       strncmp(name_end, ") X", 3) == 0);
}

/* The text has a line of names, then one of as many numbers.  Both begin with
 * `TcpExt:`. */
bool
system_netstat(const char *text, const char *name, uint64_t *ret_n)
{
	const char *names = strstr(text, "TcpExt:");
	const char *numbers = names ? strstr(names + 1, "TcpExt:") : NULL;

	while (numbers) {
		size_t name_len = strcspn(names, " \n");
		size_t number_len = strcspn(numbers, " \n");

		if (name_len == strlen(name) &&
		    memcmp(names, name, name_len) == 0) {
			*ret_n = strtoull(numbers, NULL, 10);
			return number_len > 0;
		}
		if (names[name_len] != ' ' || numbers[number_len] != ' ')
			break;
		names += name_len + 1;
		numbers += number_len + 1;
	}
	return false;
}

bool
system_listen_drops(uint64_t *ret_overflows, uint64_t *ret_drops)
{
	char text[TEXT_SIZE];

	return read_proc_file("/proc/net/netstat", text, sizeof(text)) &&
	       system_netstat(text, "ListenOverflows", ret_overflows) &&
	       system_netstat(text, "ListenDrops", ret_drops);
}

/* reserved: `1000-1999,3000`, or empty. */
bool
system_count_ports(const char *range, const char *reserved, uint64_t *ret_n)
{
	unsigned long low, high, n;

	if (sscanf(range, "%lu %lu", &low, &high) != 2 || low > high)
		return false;
	n = high - low + 1;
	while (*reserved >= '0' && *reserved <= '9') {
		char *end;
		unsigned long from = strtoul(reserved, &end, 10), to = from;

		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		from = from > low ? from : low;
		to = to < high ? to : high;
		if (to >= from)
			n -= to - from + 1;
		reserved = end + (*end == ',');
	}
	*ret_n = n;
	return true;
}

bool
system_ports(uint64_t *ret_n)
{
	char range[64], reserved[TEXT_SIZE];

	if (!read_proc_file(
	        "/proc/sys/net/ipv4/ip_local_port_range", range, sizeof(range)))
		return false;
	if (!read_proc_file("/proc/sys/net/ipv4/ip_local_reserved_ports",
	        reserved, sizeof(reserved)))
		reserved[0] = '\0';
	return system_count_ports(range, reserved, ret_n);
}

/* -- control groups -- */

/* Sets the names of the files in the folder dir, as far as they exist.  second:
 * of version 2.  Returns whether the file with the use of memory exists. */
static bool
name_cgroup_files(const char *dir, bool second, struct cgroup_memory *c)
{
	snprintf(c->used, sizeof(c->used), "%.480s/%s", dir,
	    second ? "memory.current" : "memory.usage_in_bytes");
	snprintf(c->limit, sizeof(c->limit), "%.480s/%s", dir,
	    second ? "memory.max" : "memory.limit_in_bytes");
	if (access(c->used, R_OK) < 0)
		c->used[0] = '\0';
	if (access(c->limit, R_OK) < 0)
		c->limit[0] = '\0';
	return c->used[0] != '\0';
}

/* Finds the group with the lowest limit, from the given one up to the root. */
static void
find_lowest_limit(const char *root, const char *group, bool second,
    struct cgroup_memory *ret_cgroup)
{
	char dir[2 * SYSTEM_PATH_SIZE];
	int root_len = snprintf(
	    dir, SYSTEM_PATH_SIZE, "%.400s%s", root, second ? "" : "/memory");
	uint64_t lowest = UINT64_MAX;

	snprintf(dir + root_len, SYSTEM_PATH_SIZE, "%s", group);
	for (char *end = dir; end; end = strrchr(dir + root_len, '/')) {
		uint64_t limit = UINT64_MAX;
		struct cgroup_memory c = {.used = ""};

		if (end > dir)
			*end = '\0';
		if (!name_cgroup_files(dir, second, &c))
			continue;
		(void)system_number(c.limit, &limit);
		if (!ret_cgroup->used[0] || limit < lowest) {
			*ret_cgroup = c;
			lowest = limit;
		}
	}
}

void
system_find_cgroup(
    const char *groups, const char *root, struct cgroup_memory *ret_cgroup)
{
	char group[SYSTEM_PATH_SIZE];

	*ret_cgroup = (struct cgroup_memory){.used = ""};
	for (int version = 2; version > 0 && !ret_cgroup->used[0]; version--)
		for (const char *line = groups; line;
		     line = strchr(line, '\n')) {
			line += *line == '\n';
			if (sscanf(line,
			        version == 2 ? "0::%511[^\n]"
			                     : "%*u:memory:%511[^\n]",
			        group) == 1)
				find_lowest_limit(
				    root, group, version == 2, ret_cgroup);
		}
}

void
system_own_cgroup(struct cgroup_memory *ret_cgroup)
{
	char text[TEXT_SIZE];

	*ret_cgroup = (struct cgroup_memory){.used = ""};
	if (read_proc_file("/proc/self/cgroup", text, sizeof(text)))
		system_find_cgroup(text, "/sys/fs/cgroup", ret_cgroup);
}
