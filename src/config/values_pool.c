/* SPDX-License-Identifier: MIT
 * Values of pools.
 */
#include "config/values.h"

#include <string.h>

#include "config/cpus.h"
#include "config/pool_text.h"

/* Reads the threads.  The number of `auto` is known once the whole section was
 * read: config/build.c then sets the classes. */
static bool
parse_threads(const struct value *v)
{
	struct pool_spec *pool = v->object;
	struct threads_wish wish;
	struct err err;

	if (!threads_parse(v->text, &wish, &err))
		return value_fail(v, "%s", err.text);
	memcpy(pool->classes, wish.classes, sizeof(pool->classes));
	pool->classes_n = wish.classes_n;
	/* build.c has more to say once the section was read. */
	pool->threads_auto = wish.is_auto;
	pool->threads_min = wish.min;
	pool->threads_max = wish.max;
	return true;
}

static bool
print_threads(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct pool_spec *pool = s->object;
	char text[THREADS_TEXT_SIZE];

	if (pool->threads_max > 0)
		return value_write(
		    out, "%u..%u", pool->threads_min, pool->threads_max);
	return value_write(out, "%s%s",
	    pool->threads_auto ? "auto ; here " : "",
	    threads_text(pool->classes, pool->classes_n, text));
}

static bool
parse_shards(const struct value *v)
{
	struct pool_spec *pool = v->object;
	struct err err;

	if (!shards_parse(v->text, &pool->shards, &err))
		return value_fail(v, "%s", err.text);
	pool->shards_auto = pool->shards == 0;
	return true;
}

static bool
print_shards(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct pool_spec *pool = s->object;

	return value_write(
	    out, "%s%u", pool->shards_auto ? "auto ; here " : "", pool->shards);
}

static bool
parse_cpus(const struct value *v)
{
	struct pool_spec *pool = v->object;
	cpu_set_t usable;
	struct err err;

	cpus_allowed(&usable);
	if (!cpu_list_parse(v->text, &usable, &pool->cpus, &err))
		return value_fail(v, "%s", err.text);
	pool->cpus_given = strcmp(v->text, "all") != 0;
	return true;
}

static bool
print_cpus(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct pool_spec *pool = s->object;
	char text[CPU_LIST_TEXT_SIZE];

	/* The printed list is never longer than the one that was read. */
	return value_write(out, "%s",
	    pool->cpus_given ? cpu_list_text(&pool->cpus, text) : "all");
}

VALUE_TYPE(threads, print_threads, THREADS_ALLOWED, 0);
VALUE_TYPE(shards, print_shards, "auto, or 1 to the number of threads", 0);
VALUE_TYPE(cpus, print_cpus, "all, or numbers and ranges as in 0-3,5", 0);
