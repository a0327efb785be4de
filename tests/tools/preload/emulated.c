/* SPDX-License-Identifier: MIT
 * Preloaded into a program that an emulator runs, where the kernel cannot start
 * programs of that machine: what the program takes for its own file is the
 * script that EMULATED names, which starts the emulator with it.  So lfproxy
 * finds a successor that can be started.  Neither variable is passed on to
 * programs of the real machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char script[4096];
static struct stat script_stat; /* when it was started */

/* Maps the script, as the kernel does a program, so that no other file gets its
 * number while this process runs. */
static int
hold_script(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fstat(fd, &script_stat);

	if (rc == 0 &&
	    mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		rc = -1;
	if (fd >= 0)
		close(fd);
	return rc;
}

__attribute__((constructor)) static void
take_variables(void)
{
	const char *name = getenv("EMULATED");

	if (name && hold_script(name) == 0)
		snprintf(script, sizeof(script), "%s", name);
	unsetenv("EMULATED");
	unsetenv("LD_PRELOAD");
}

static int
is_own_file(const char *path)
{
	return script[0] && strcmp(path, "/proc/self/exe") == 0;
}

ssize_t
readlink(const char *restrict path, char *restrict out, size_t size)
{
	size_t n = strlen(script);

	if (!is_own_file(path))
		return readlinkat(AT_FDCWD, path, out, size);
	n = n < size ? n : size;
	memcpy(out, script, n);
	return (ssize_t)n;
}

int
stat(const char *restrict path, struct stat *restrict ret_stat)
{
	if (!is_own_file(path))
		return fstatat(AT_FDCWD, path, ret_stat, 0);
	*ret_stat = script_stat;
	return 0;
}
