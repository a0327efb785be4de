/* SPDX-License-Identifier: MIT
 * The system calls that lfproxy and its children may make, and those that they
 * may not: see control/syscall_filter.h.
 *
 * The lists follow systemd's group @system-service, which is made for network
 * services, as the unit's SystemCallFilter= does.  They are wide enough for
 * what check scripts run: shells, curl, psql, Python.  In none of the lists is
 * what did not exist when they were written.
 */
#ifndef CONTROL_SYSCALLS_H
#define CONTROL_SYSCALLS_H

/* Names as libseccomp knows them, NULL at the end.  An architecture has only a
 * part of them. */
extern const char *const syscalls_allowed[];
/* Neither lfproxy nor a check has a use for these.  Most of them give access to
 * other processes, or to parts of the kernel where errors were found often. */
extern const char *const syscalls_refused[];
/* Allowed with some arguments only: syscall_filter.c has a rule for each. */
extern const char *const syscalls_conditional[];
/* Sanitizers look for leaks as a debugger does.  Empty in other builds. */
extern const char *const syscalls_of_sanitizers[];

#endif
