/* SPDX-License-Identifier: MIT
 * For libraries that are preloaded into lfproxy and count what its pools'
 * threads do, those whose name starts with `lf-`.  The count is a native 64-bit
 * word at the start of a file.
 */
#ifndef TOOLS_POOL_COUNT_H
#define TOOLS_POOL_COUNT_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static uint64_t *pool_count;

/* Maps the file that the environment variable names; exits without one. */
static inline void
pool_count_open(const char *variable)
{
	const char *path = getenv(variable);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *page = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*pool_count)) == 0)
		page = mmap(NULL, sizeof(*pool_count), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		_exit(127);
	close(fd);
	pool_count = page;
}

/* Adds one if the caller is a pool's thread.  Leaves errno as it was. */
static inline void
pool_count_note(void)
{
	char name[16] = "";
	int error = errno;

	if (pool_count && prctl(PR_GET_NAME, name) == 0 &&
	    strncmp(name, "lf-", 3) == 0)
		(void)__atomic_fetch_add(pool_count, 1, __ATOMIC_RELAXED);
	errno = error;
}

#endif
