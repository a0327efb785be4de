/* SPDX-License-Identifier: MIT
 * The filter of system calls, seccomp(2), that lfproxy sets for itself.
 *
 * The filter has to let through what lfproxy, its check scripts and the program
 * of an upgrade do: a process keeps all filters of the process that started it.
 * control/syscalls.h has the lists.  What is refused fails with EPERM; what
 * neither list has, because the lists are older than the kernel, fails with
 * ENOSYS, so that the C library uses what it used before.
 */
#ifndef CONTROL_SYSCALL_FILTER_H
#define CONTROL_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/spec.h"

/* Sets the filter for all threads of this process, unless a filter that is in
 * force is as strict.  Takes no_new_privs, or CAP_SYS_ADMIN.  SECCOMP_AUTO: a
 * kernel or container that permits no filter is logged and is no failure.
 * Returns false with err set; then nothing has changed.  Blocks for some 10 ms.
 * Runs on the control thread. */
bool syscall_filter_set(enum seccomp_mode mode, struct err *err) MUST_CHECK;

/* Returns `on`, `log` or `off`, or `inherited` if lfproxy has set none itself
 * and the process that started it has. */
const char *syscall_filter_text(void);

#define SYSCALL_FILTER_VARIABLE_SIZE 64

/* Writes the variable for the environment of an upgrade's program which says
 * that this filter is in force there, too.  Returns false without a filter. */
bool syscall_filter_variable(char out[SYSCALL_FILTER_VARIABLE_SIZE]);

/* Takes that variable out of the environment.  Before any thread starts. */
void syscall_filter_inherit(void);

#endif
