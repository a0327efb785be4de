/* SPDX-License-Identifier: MIT
 * See container.h.
 */
#include "base/container.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum first_process { UNKNOWN, OTHER, LFPROXY, INIT };

static bool
read_first_process(char *name, int size)
{
	FILE *file = fopen("/proc/1/comm", "re");
	bool ok = file && fgets(name, size, file);

	if (file)
		fclose(file);
	return ok;
}

static enum first_process
find_first_process(void)
{
	static const char *const inits[] = {
	    "docker-init\n", /* docker run --init */
	    "catatonit\n",   /* podman run --init */
	    "tini\n",
	    "dumb-init\n",
	};
	char name[32];

	if (getpid() == 1)
		return LFPROXY;
	if (!read_first_process(name, sizeof(name)))
		return OTHER;
	for (size_t i = 0; i < sizeof(inits) / sizeof(inits[0]); i++)
		if (strcmp(name, inits[i]) == 0)
			return INIT;
	return strcmp(name, "lfproxy\n") == 0 ? LFPROXY : OTHER;
}

static enum first_process
first_process(void)
{
	static enum first_process known;

	if (known == UNKNOWN)
		known = find_first_process();
	return known;
}

bool
container_is_around(void)
{
	return first_process() != OTHER;
}

bool
container_ends_with_this(void)
{
	return getpid() == 1 || (getppid() == 1 && first_process() == INIT);
}
