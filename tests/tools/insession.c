/* SPDX-License-Identifier: MIT
 * Tells whether a session has processes:
 *
 *	insession ID
 *
 * Exits with 0 if a process of it runs, 1 if none does.  A zombie does not run;
 * the one of a grandchild waits for init.  Every test asks this when its
 *lfproxy has ended; pgrep, which reads four files of every process, takes ten
 *times as long.
 */
#include <dirent.h>

#include "tool.h"

static bool
is_zombie(const char *pid)
{
	char path[64], stat[512];
	const char *state;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return true; /* it is gone */
	n = fread(stat, 1, sizeof(stat) - 1, f);
	fclose(f);
	stat[n] = '\0';
	/* The state follows the name, which may have parentheses in it. */
	state = strrchr(stat, ')');
	return !state || state[1] != ' ' || state[2] == 'Z' || state[2] == 'X';
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

		if (pid > 0 && getsid(pid) == id && !is_zombie(entry->d_name))
			return TOOL_OK;
	}
	closedir(dir);
	return TOOL_FAILED;
}
