/* SPDX-License-Identifier: MIT
 * Facts about this process and its system, read from /proc and /sys.
 *
 * Each function reads a file or two of a few hundred bytes, which takes 5 to
 * 60 us.  The functions return false if the kernel does not provide the fact;
 * their output is untouched then.
 */
#ifndef PROCESS_SYSTEM_FACTS_H
#define PROCESS_SYSTEM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads the number that a file consists of; `max` is UINT64_MAX. */
bool system_number(const char *path, uint64_t *ret_n);

/* Gets the number of open descriptors of this process, which the kernel tells
 * without a listing since Linux 6.2. */
bool system_descriptors(uint64_t *ret_n);

/* Gets the bytes of this process that are in memory. */
bool system_resident(uint64_t *ret_bytes);

struct system_memory {
	uint64_t resident, peak, anonymous, swapped; /* bytes */
};
/* Gets the memory of this process.  /proc/self/smaps_rollup, which has more, is
 * not read: the kernel walks all pages for it, a millisecond for 30 MiB. */
bool system_memory(struct system_memory *ret_memory);
/* Gets it from text in the format of /proc/PID/status.  For tests. */
bool system_memory_read(const char *text, struct system_memory *ret_memory);

struct system_process {
	uint64_t threads, virtual_bytes, resident_bytes;
};
/* Gets facts about this process. */
bool system_process(struct system_process *ret_facts);
/* Gets them from text in the format of /proc/PID/stat.  For tests. */
bool system_process_read(const char *text, struct system_process *ret_facts);

/* Returns whether the process has ended and its parent has not reaped it yet.
 * Threads besides its first one may still be about to end. */
bool system_is_zombie(pid_t pid);

/* Gets how many connections the system has dropped because a listener's backlog
 * was full, and how many listeners have dropped in total.  Both include all
 * programs in this network namespace since it was created. */
bool system_listen_drops(uint64_t *ret_overflows, uint64_t *ret_drops);

/* Gets a value from text in the format of /proc/net/netstat.  For tests. */
bool system_netstat(const char *text, const char *name, uint64_t *ret_n);

/* Gets the number of local ports for outgoing connections, without those of
 * ip_local_reserved_ports. */
bool system_ports(uint64_t *ret_n);
/* Gets the number of ports from texts in the format of /proc/sys/net/ipv4.  For
 * tests. */
bool system_count_ports(
    const char *range, const char *reserved, uint64_t *ret_n);

/* The names of the files of a control group: of those that hold this process,
 * the one with the lowest memory limit; without any limit, the process's
 * own. */
#define SYSTEM_PATH_SIZE 512
struct cgroup_memory {
	char used[SYSTEM_PATH_SIZE], limit[SYSTEM_PATH_SIZE]; /* "": none */
};
/* Finds that control group.  groups: text as in /proc/self/cgroup.  root: where
 * version 2 is mounted, such as /sys/fs/cgroup, or version 1 in a folder
 * below. */
void system_find_cgroup(
    const char *groups, const char *root, struct cgroup_memory *ret_cgroup);
/* Finds the control group of this process.  The names are empty if it is
 * unknown. */
void system_own_cgroup(struct cgroup_memory *ret_cgroup);

#endif
