/* SPDX-License-Identifier: MIT
 * See discard.h.
 */
#include "acl/discard.h"

#include "base/worker.h"

/* Freeing less than this takes no longer than making a thread. */
#define LARGE_BYTES (UINT64_C(2) << 20)

static struct work_queue discards = {.at_once = 1};

static void
discard_object(void (*run)(void *object), void *object, uint64_t bytes)
{
	if (bytes < LARGE_BYTES)
		run(object);
	else
		worker_call(&discards, run, object);
}

static void
discard_content(void *content)
{
	acl_content_free(content);
}

void
acl_content_discard(struct acl_content *content)
{
	struct memory_use use = {.count = 0};

	if (content)
		acl_content_memory(content, &use);
	discard_object(discard_content, content, use.heap);
}
