/* SPDX-License-Identifier: MIT
 * The filter of system calls, seccomp(2), that lfproxy sets for itself.
 *
 * The filter has to permit what lfproxy, its check scripts and the program of
 * an upgrade do: a process keeps all filters of the process that started it.
 * process/syscalls.h has the lists.  A call that is refused fails with EPERM.
 * A call that is in no list, because the lists are older than the kernel, fails
 * with ENOSYS, so that the C library falls back on an older call.
 */
#ifndef PROCESS_SYSCALL_FILTER_H
#define PROCESS_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/spec.h"

/* Sets the filter for all threads of this process, unless a filter of lfproxy
 * that is in force is as strict.  The process needs no_new_privs or
 * CAP_SYS_ADMIN.  With SECCOMP_AUTO, a kernel or container that permits no
 * filter is logged and is not a failure.  Returns false with err set; then
 * nothing has changed.  Blocks for some 10 ms.  Runs on the control thread. */
bool syscall_filter_set(enum seccomp_mode mode, struct err *err) MUST_CHECK;

/* Returns `on`, `log` or `off`; or `inherited` if the process that started
 * lfproxy has set a filter and lfproxy itself has not. */
const char *syscall_filter_text(void);

#define SYSCALL_FILTER_VARIABLE_SIZE 64

/* Writes the environment variable that tells the program of an upgrade that
 * this filter is in force there, too.  Returns false if there is no such
 * filter. */
bool syscall_filter_variable(char out[SYSCALL_FILTER_VARIABLE_SIZE]);

/* Removes that variable from the environment, and remembers its filter.  Called
 * before any thread starts. */
void syscall_filter_inherit(void);

#endif
