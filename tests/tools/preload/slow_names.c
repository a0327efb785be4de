/* SPDX-License-Identifier: MIT
 * In the place of the resolver of a program that this is preloaded into: what
 * names stand for, and name servers that do not answer, without touching the
 * machine.
 *
 * SLOW_NAMES names a file of lines `NAME ADDRESS`, `NAME none` for a name that
 * does not exist, and `NAME silent` for one whose name server keeps silent:
 * the look-up takes SLOW_NAMES_S seconds (10) and ends with EAI_AGAIN, as
 * glibc's does.  The file is read for each look-up and once more every 20 ms
 * while it is silent.  A name that is not in it is looked up in earnest.
 *
 * Each look-up of a name in the file appends a line `NAME THREAD` to the file
 * FILE.asked.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_MS 20

typedef int (*lookup)(const char *node, const char *service,
    const struct addrinfo *hints, struct addrinfo **ret_found);

static lookup
real_lookup(void)
{
	void *found = dlsym(RTLD_NEXT, "getaddrinfo");
	lookup l;

	/* ISO C has no conversion between the two kinds of pointers. */
	memcpy(&l, &found, sizeof(l));
	return l;
}

/* What the file says of the name. */
static bool
find(const char *name, char out[64])
{
	const char *path = getenv("SLOW_NAMES");
	FILE *f = path ? fopen(path, "re") : NULL;
	char host[256];
	bool found = false;

	if (!f)
		return false;
	while (!found && fscanf(f, "%255s %63s", host, out) == 2)
		found = strcmp(host, name) == 0;
	fclose(f);
	return found;
}

static void
note(const char *name)
{
	char path[4096], thread[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s.asked", getenv("SLOW_NAMES"));
	pthread_getname_np(pthread_self(), thread, sizeof(thread));
	f = fopen(path, "ae");
	if (!f)
		return;
	fprintf(f, "%s %s\n", name, thread);
	fclose(f);
}

/* False: nothing was said for as long as a resolver waits. */
static bool
wait_for_answer(const char *name, char out[64])
{
	const char *seconds = getenv("SLOW_NAMES_S");
	const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
	long ticks = (seconds ? atol(seconds) : 10) * 1000 / TICK_MS;

	while (strcmp(out, "silent") == 0 && ticks-- > 0) {
		nanosleep(&tick, NULL);
		if (!find(name, out))
			return false;
	}
	return strcmp(out, "silent") != 0;
}

int
getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
    struct addrinfo **ret_found)
{
	char said[64];

	if (!node || (hints && (hints->ai_flags & AI_NUMERICHOST)) ||
	    !find(node, said))
		return real_lookup()(node, service, hints, ret_found);
	note(node);
	if (!wait_for_answer(node, said))
		return EAI_AGAIN;
	if (strcmp(said, "none") == 0)
		return EAI_NONAME;
	return real_lookup()(said, service, hints, ret_found);
}
