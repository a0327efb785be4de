/* SPDX-License-Identifier: MIT
 * See upgrade_program.h.
 */
#include "control/upgrade_program.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/notify.h"
#include "control/root.h"
#include "control/syscall_filter.h"
#include "net/handover.h"
#include "net/inherited.h"

static char *const *own_argv;

void
upgrade_set_arguments(char *const *argv)
{
	own_argv = argv;
}

/* Returns the environment of this process with what the other one needs, in one
 * block for free(3), or NULL when memory is short. */
static char **
make_environment(char *variables[], size_t n)
{
	size_t old_n = 0;
	char **all;

	while (environ[old_n])
		old_n++;
	all = calloc(old_n + n + 1, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, environ, old_n * sizeof(*all));
	memcpy(all + old_n, variables, n * sizeof(*all));
	return all;
}

/* The process has a group of its own until it takes over (takeover.c), so that
 * what a program that fails has started can be ended: the listening sockets
 * would stay open with the channel. */
int
upgrade_spawn(const char *path, int channel, pid_t *ret_pid)
{
	char handover[40], notify[160], watchdog[48];
	char filter[SYSCALL_FILTER_VARIABLE_SIZE];
	char root[ROOT_VARIABLE_SIZE];
	char *variables[5] = {handover};
	size_t n = 1;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	char **environment;
	int rc;

	snprintf(
	    handover, sizeof(handover), HANDOVER_ENV "=%d", INHERITED_FIRST);
	if (notify_variables(
	        notify, sizeof(notify), watchdog, sizeof(watchdog))) {
		variables[n++] = notify;
		if (*watchdog)
			variables[n++] = watchdog;
	}
	if (syscall_filter_variable(filter))
		variables[n++] = filter;
	if (root_variable(root))
		variables[n++] = root;
	environment = make_environment(variables, n);
	if (!environment)
		return ENOMEM;
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(
	    &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&actions);
	rc = posix_spawn_file_actions_adddup2(
	    &actions, channel, INHERITED_FIRST);
	if (rc == 0)
		rc = posix_spawn(ret_pid, path, &actions, &attributes, own_argv,
		    environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	free(environment);
	return rc;
}

/* There may be no /proc in a chroot. */
bool
upgrade_own_path(char *out, size_t size, struct err *err)
{
	static const char gone[] = " (deleted)";
	const char *at_exec = (const char *)getauxval(AT_EXECFN);
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	size_t tail = sizeof(gone) - 1;

	if (n < 0 && at_exec && at_exec[0] == '/' && strlen(at_exec) < size) {
		strcpy(out, at_exec);
		return true;
	}
	if (n < 0)
		return err_set(err,
		    "the path of this program cannot be read: %s; name one",
		    strerror(errno));
	out[n] = '\0';
	if ((size_t)n > tail && strcmp(out + n - tail, gone) == 0)
		out[n - (ssize_t)tail] = '\0';
	return true;
}

bool
upgrade_is_due(void)
{
	struct stat runs, there;
	char path[4096];
	struct err err;

	return upgrade_own_path(path, sizeof(path), &err) &&
	       stat("/proc/self/exe", &runs) == 0 && stat(path, &there) == 0 &&
	       (runs.st_dev != there.st_dev || runs.st_ino != there.st_ino);
}
