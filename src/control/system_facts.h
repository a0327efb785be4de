/* SPDX-License-Identifier: MIT
 * Facts about this process and its system, read from /proc and /sys.
 *
 * Each function reads a file or two of a few hundred bytes, which takes 5 to
 * 60 us.  Returns false if the kernel does not provide the fact; the output is
 * untouched then.
 */
#ifndef CONTROL_SYSTEM_FACTS_H
#define CONTROL_SYSTEM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file with one number; `max` is UINT64_MAX. */
bool system_number(const char *path, uint64_t *ret_n);

/* Open descriptors: since Linux 6.2 the kernel tells it without listing. */
bool system_descriptors(uint64_t *ret_n);

/* Bytes in memory. */
bool system_resident(uint64_t *ret_bytes);

/* Whether the process has ended and its parent has not taken notice; threads
 * besides its first one may still be about to end. */
bool system_is_zombie(pid_t pid);

/* Counts connections that the system has dropped because a listener's backlog
 * was full, and all connections that listeners have dropped.  Counts those of
 * all programs in this network namespace, since it was created. */
bool system_listen_drops(uint64_t *ret_overflows, uint64_t *ret_drops);

/* Reads a value from text in the format of /proc/net/netstat.  For tests. */
bool system_netstat(const char *text, const char *name, uint64_t *ret_n);

/* Counts the local ports for outgoing connections, without those of
 * ip_local_reserved_ports. */
bool system_ports(uint64_t *ret_n);
/* Counts the ports from texts in the format of /proc/sys/net/ipv4.  For tests.
 */
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
/* Finds the control group of this process.  Leaves the names empty if unknown.
 */
void system_own_cgroup(struct cgroup_memory *ret_cgroup);

#endif
