/* SPDX-License-Identifier: MIT
 * Makes the file that THREAD_NOTE names when the program that this is preloaded
 * into starts a thread.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
    void *(*start)(void *), void *arg)
{
	int (*next)(
	    pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	const char *path = getenv("THREAD_NOTE");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *found = dlsym(RTLD_NEXT, "pthread_create");

	if (fd < 0 || !found)
		_exit(127);
	close(fd);
	memcpy(&next, &found, sizeof(found));
	return next(thread, attributes, start, arg);
}
