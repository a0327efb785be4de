/* SPDX-License-Identifier: MIT
 * What the kernel tells of this process and of what is around it, read from
 * /proc and /sys.
 *
 * Each is a file or two of a few hundred bytes, 5 to 60 us.  What the kernel
 * does not have is answered with false, and the output is untouched.
 */
#ifndef CONTROL_SYSTEM_FACTS_H
#define CONTROL_SYSTEM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file with one number; `max` is UINT64_MAX. */
bool system_number(const char *path, uint64_t *ret_n);

/* Open descriptors: since Linux 6.2 the kernel tells it without listing. */
bool system_descriptors(uint64_t *ret_n);

/* Bytes in memory. */
bool system_resident(uint64_t *ret_bytes);

/* Connections that the system dropped as some listener's backlog was full, and
 * for that or another reason: those of all programs in this network namespace,
 * since it began. */
bool system_listen_drops(uint64_t *ret_overflows, uint64_t *ret_drops);

/* Of a text as /proc/net/netstat has it; for tests. */
bool system_netstat(const char *text, const char *name, uint64_t *ret_n);

/* Ports that connections of this host may come from, those of
 * ip_local_reserved_ports left out. */
bool system_ports(uint64_t *ret_n);
/* Of texts as /proc/sys/net/ipv4 has them; for tests. */
bool system_count_ports(
    const char *range, const char *reserved, uint64_t *ret_n);

/* The control group whose limit of memory is the lowest of those that hold this
 * process; without any limit, the process's own.  The names of its files. */
#define SYSTEM_PATH_SIZE 512
struct cgroup_memory {
	char used[SYSTEM_PATH_SIZE], limit[SYSTEM_PATH_SIZE]; /* "": none */
};
/* groups: as in /proc/self/cgroup; root: where version 2 is mounted, as
 * /sys/fs/cgroup, or version 1 a folder below. */
void system_find_cgroup(
    const char *groups, const char *root, struct cgroup_memory *ret_cgroup);
void system_own_cgroup(struct cgroup_memory *ret_cgroup);

#endif
