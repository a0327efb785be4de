/* SPDX-License-Identifier: MIT
 * The CPUs that this process may use, and their number: for `cpus` and for
 * `threads = auto`.
 */
#ifndef CONFIG_CPUS_H
#define CONFIG_CPUS_H

#include <sched.h>

/* Those of the calling thread (sched_getaffinity(2)), at least one; those
 * beyond CPU_SETSIZE are left out. */
void cpus_allowed(cpu_set_t *ret_cpus);

/* CPUs that the cgroup (version 2) and its ancestors grant, a part of a CPU
 * counted as a whole one; 0 when nothing limits them.  `root` is where /proc
 * and /sys/fs/cgroup are found: "" but in tests.  Reads files. */
unsigned cpus_quota(const char *root);

/* The smaller of the quota and the CPUs that sched_getaffinity(2) allows, at
 * least 1. */
unsigned cpus_usable(const char *root);

#endif
