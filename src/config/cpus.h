/* SPDX-License-Identifier: MIT
 * The CPUs that this process may use, and their number, for the keys cpus and
 * threads.
 */
#ifndef CONFIG_CPUS_H
#define CONFIG_CPUS_H

#include <sched.h>

/* Returns the CPUs of the calling thread (sched_getaffinity(2)), at least one.
 * CPUs beyond CPU_SETSIZE are left out. */
void cpus_allowed(cpu_set_t *ret_cpus);

/* Returns how many CPUs the cgroup, of version 1 or 2, and its ancestors grant,
 * a fraction rounded up; 0 when nothing limits them.  `root` is where /proc and
 * /sys/fs/cgroup are found: "" except in tests.  Reads files. */
unsigned cpus_quota(const char *root);

/* Returns the smaller of the quota and the number of CPUs of cpus_allowed, at
 * least 1.  Reads files. */
unsigned cpus_usable(const char *root);

#endif
