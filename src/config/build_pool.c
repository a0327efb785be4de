/* SPDX-License-Identifier: MIT
 * See build_parts.h.
 */
#include "config/build_parts.h"

#include <string.h>

#include "config/pool_text.h"

static unsigned
count_threads(const struct pool_spec *pool)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pool->classes_n; i++)
		n += pool->classes[i].threads;
	return n;
}

static void
report_shards(const struct pool_spec *pool, const struct draft_section *section,
    struct err_list *errors)
{
	struct err err;

	if (shards_fit(
	        pool->shards, count_threads(pool), pool->threads_max > 0, &err))
		return;
	for (size_t i = 0; i < section->entries_n; i++)
		if (strcmp(section->entries[i].name, "shards") == 0)
			draft_entry_error(&section->entries[i], errors,
			    "shards: %s", err.text);
}

/* A key with an error, which is told already, has left its numbers 0. */
void
build_pool(struct pool_spec *pool, const struct draft_section *section,
    struct err_list *errors)
{
	if (pool->threads_auto) {
		pool->classes[0] = (struct thread_class_spec){
		    .threads =
		        threads_auto(pool->cpus_given ? &pool->cpus : NULL)};
		pool->classes_n = 1;
	}
	if (pool->shards_auto)
		pool->shards = shards_auto(count_threads(pool));
	else if (pool->classes_n > 0 && pool->shards > 0)
		report_shards(pool, section, errors);
}
