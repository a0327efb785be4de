/* SPDX-License-Identifier: MIT
 * The pages of another machine: a program that includes this answers sysconf
 * itself, in the place of the C library.
 */
#ifndef UNIT_PAGE_SIZE_H
#define UNIT_PAGE_SIZE_H

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The sizes that kernels for arm64 are built with.  ThreadSanitizer calls
 * sysconf before it can stand a replacement: there the machine's size has to
 * do. */
#ifdef __SANITIZE_THREAD__
static const long page_sizes[] = {4096};
#else
static const long page_sizes[] = {4096, 16384, 65536};
#endif
/* The size that sysconf reports; 0: the real one. */
static long page_size;

#ifndef __SANITIZE_THREAD__
long
sysconf(int name)
{
	static long (*next)(int name);
	void *found;

	/* Sanitizers ask before dlsym can be called. */
	if (name == _SC_PAGESIZE)
		return page_size ? page_size : (long)getauxval(AT_PAGESZ);
	if (!next) {
		found = dlsym(RTLD_NEXT, "sysconf");
		memcpy(&next, &found, sizeof(found));
	}
	return next(name);
}
#endif

#endif
