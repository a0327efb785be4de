/* SPDX-License-Identifier: MIT
 * Tells whether a session has processes:
 *
 *	insession ID
 *
 * Exits with 0 if a process of it runs, 1 if none does.  A zombie does not run;
 * the one of a grandchild waits for init.  Nor does a process that was killed,
 * which on a busy machine takes a while until it has ended.  Every test asks
 * this when its lfproxy has ended; pgrep, which reads four files of every
 * process, takes ten times as long.
 */
#include <dirent.h>

#include "tool.h"

#define EXITING 0x4 /* PF_EXITING of the flags in /proc/PID/stat */

/* Reads the file's beginning.  Returns false if the process is gone. */
static bool
read_of(const char *pid, const char *name, char *out, size_t size)
{
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	f = fopen(path, "r");
	if (!f)
		return false;
	n = fread(out, 1, size - 1, f);
	fclose(f);
	out[n] = '\0';
	return n > 0;
}

/* Returns whether SIGKILL is among the signals that wait for it. */
static bool
is_killed(const char *pid)
{
	static const char *const fields[] = {"\nSigPnd:", "\nShdPnd:"};
	uint64_t pending = 0;
	char status[4096];

	if (!read_of(pid, "status", status, sizeof(status)))
		return true;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *at = strstr(status, fields[i]);

		if (at)
			pending |= strtoull(at + strlen(fields[i]), NULL, 16);
	}
	return pending & UINT64_C(1) << (SIGKILL - 1);
}

static bool
has_ended(const char *pid)
{
	char stat[512], state;
	unsigned flags;
	const char *at;

	if (!read_of(pid, "stat", stat, sizeof(stat)))
		return true;
	/* The state follows the name, which may have parentheses in it. */
	at = strrchr(stat, ')');
	return !at ||
	       sscanf(at, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 ||
	       state == 'Z' || state == 'X' || flags & EXITING;
}

int
main(int argc, char **argv)
{
	const struct dirent *entry;
	pid_t id;
	DIR *dir;

	if (argc != 2)
		tool_die(TOOL_USAGE, "usage: insession ID");
	id = (pid_t)tool_number(argv[1], INT32_MAX);
	dir = opendir("/proc");
	if (!dir)
		tool_die(TOOL_SYSTEM, "/proc: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		/* A signal that waits no more is followed by the end. */
		if (pid > 0 && getsid(pid) == id && !is_killed(entry->d_name) &&
		    !has_ended(entry->d_name))
			return TOOL_OK;
	}
	closedir(dir);
	return TOOL_FAILED;
}
