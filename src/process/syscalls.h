/* SPDX-License-Identifier: MIT
 * The system calls that lfproxy and its children may make, and those that they
 * may not: see process/syscall_filter.h.
 *
 * The lists follow systemd's group @system-service, which is made for network
 * services, as the unit's SystemCallFilter= does.  They are wide enough for
 * what check scripts run: shells, curl, psql, Python.  No list has calls that
 * did not exist when the lists were written.
 */
#ifndef PROCESS_SYSCALLS_H
#define PROCESS_SYSCALLS_H

/* Names as libseccomp knows them, ending with NULL.  An architecture has only
 * some of these calls. */
extern const char *const syscalls_allowed[];
/* Calls that neither lfproxy nor a check needs.  Most of them give access to
 * other processes, or to parts of the kernel where errors were found often. */
extern const char *const syscalls_refused[];
/* Calls that are allowed with some arguments only: syscall_filter.c has a rule
 * for each. */
extern const char *const syscalls_conditional[];
/* Calls of sanitizers, which look for leaks as a debugger does.  Empty in other
 * builds. */
extern const char *const syscalls_of_sanitizers[];

#endif
