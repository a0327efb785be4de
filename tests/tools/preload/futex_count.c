/* SPDX-License-Identifier: MIT
 * Counts the futex calls of the pools' threads in a program that this is
 * preloaded into: calls of syscall(), locks that another thread holds, waits
 * for a condition, and posts of a semaphore.  Calls that the C library or a
 * sanitizer makes for itself are not among them.  The count is in the file that
 * FUTEX_COUNT names (tools/pool_count.h).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "tools/pool_count.h"

__attribute__((constructor)) static void
open_futex_count(void)
{
	pool_count_open("FUTEX_COUNT");
}

/* Sets *ret_function to the function of this name that would be called without
 * this library.  ISO C has no conversion between the two kinds of pointers. */
static void
find_next(const char *name, void *ret_function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(ret_function, &found, sizeof(found));
}

long
syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long args[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		find_next("syscall", &next);
	if (number == SYS_futex)
		pool_count_note();
	return next(
	    number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*next)(pthread_mutex_t * mutex);

	if (pthread_mutex_trylock(mutex) == 0)
		return 0;
	if (!next)
		find_next("pthread_mutex_lock", &next);
	pool_count_note();
	return next(mutex);
}

int
pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	static int (*next)(pthread_cond_t * cond, pthread_mutex_t * mutex);

	if (!next)
		find_next("pthread_cond_wait", &next);
	pool_count_note();
	return next(cond, mutex);
}

int
sem_post(sem_t *semaphore)
{
	static int (*next)(sem_t * semaphore);

	if (!next)
		find_next("sem_post", &next);
	pool_count_note();
	return next(semaphore);
}
