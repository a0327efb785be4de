/* SPDX-License-Identifier: MIT
 * See discard.h.
 */
#include "acl/discard.h"

#include "base/thread.h"

/* Freeing less than this takes no longer than starting a thread. */
#define LARGE_BYTES (UINT64_C(2) << 20)

/* Starts a thread that runs the function.  Returns whether it has started. */
static bool
start_discard_thread(void *(*run)(void *object), void *object)
{
	pthread_attr_t attr;
	pthread_t thread;
	int rc = pthread_attr_init(&attr);

	if (rc == 0) {
		(void)pthread_attr_setdetachstate(
		    &attr, PTHREAD_CREATE_DETACHED);
		rc = thread_start(&thread, &attr, run, object);
		(void)pthread_attr_destroy(&attr);
	}
	return rc == 0;
}

static void
discard_object(void *(*run)(void *object), void *object, size_t bytes)
{
	if (bytes < LARGE_BYTES || !start_discard_thread(run, object))
		(void)run(object);
}

static void *
discard_content(void *content)
{
	acl_content_free(content);
	return NULL;
}

static void *
discard_table(void *table)
{
	acl_table_free(table);
	return NULL;
}

void
acl_content_discard(struct acl_content *content)
{
	struct memory_use use = {.count = 0};

	if (content)
		acl_content_memory(content, &use);
	discard_object(discard_content, content, use.heap);
}

void
acl_table_discard(struct acl_table *table)
{
	struct memory_use use = {.count = 0};

	if (table)
		acl_table_memory(table, &use);
	discard_object(discard_table, table, use.heap);
}
