/* SPDX-License-Identifier: MIT
 * Values of pools, and of frontends with regard to their pool.
 */
#include "config/values.h"

#include <stdio.h>
#include <string.h>

#include "config/cpus.h"
#include "config/hint.h"
#include "config/pool_text.h"

/* The number of `auto` is known once the whole section is read:
 * config/build_pool.c sets the classes then. */
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
	pool->threads_auto = wish.is_auto;
	pool->threads_min = wish.min;
	pool->threads_max = wish.max;
	return true;
}

static bool
print_threads(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct pool_spec *pool = s->object;
	char text[THREADS_TEXT_SIZE];

	if (i > 0)
		return false;
	if (pool->threads_max > 0)
		snprintf(out, VALUE_TEXT_SIZE, "%u..%u", pool->threads_min,
		    pool->threads_max);
	else
		snprintf(out, VALUE_TEXT_SIZE, "%s%s",
		    pool->threads_auto ? "auto ; here " : "",
		    threads_text(pool->classes, pool->classes_n, text));
	return true;
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
print_shards(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct pool_spec *pool = s->object;

	if (i > 0)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s%u",
	    pool->shards_auto ? "auto ; here " : "", pool->shards);
	return true;
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
print_cpus(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct pool_spec *pool = s->object;
	char text[CPU_LIST_TEXT_SIZE];

	if (i > 0)
		return false;
	/* The printed list is never longer than the one that was read. */
	snprintf(out, VALUE_TEXT_SIZE, "%s",
	    pool->cpus_given ? cpu_list_text(&pool->cpus, text) : "all");
	return true;
}

static bool
parse_association(const struct value *v)
{
	struct frontend_spec *frontend = v->object;
	const char *const *choices = v->key->choices;
	struct hint hint;

	for (int i = 0; choices[i]; i++)
		if (strcmp(v->text, choices[i]) == 0) {
			frontend->bound = i == 1;
			return true;
		}
	hint_init(&hint, v->text);
	for (int i = 0; choices[i]; i++)
		hint_offer(&hint, choices[i]);
	return value_fail(
	    v, "'%s' is unknown; %s", v->text, hint_text(&hint, "allowed"));
}

static bool
print_association(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *frontend = s->object;

	if (i > 0)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s", s->key->choices[frontend->bound]);
	return true;
}

VALUE_TYPE(threads, print_threads, THREADS_ALLOWED, 0);
VALUE_TYPE(shards, print_shards, "auto, or 1 to the number of threads", 0);
VALUE_TYPE(cpus, print_cpus, "all, or numbers and ranges as in 0-3,5", 0);
VALUE_TYPE(association, print_association, NULL, 0);
