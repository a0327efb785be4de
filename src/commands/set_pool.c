/* SPDX-License-Identifier: MIT
 * See set_pool.h.  What is written means the same as in the file: both use
 * config/pool_text.h.
 */
#include "commands/set_pool.h"

#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "stats/pool_facts.h"
#include "config/cpus.h"
#include "config/hint.h"
#include "config/pool_text.h"

static bool
set_threads(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	struct pool_class classes[POOL_CLASSES_MAX];
	struct threads_wish wish;
	cpu_set_t cpus;

	if (!threads_parse(text, &wish, err))
		return false;
	if (wish.max > 0)
		return pools_set_autoscale(
		    pools, pool, wish.min, wish.max, err);
	if (wish.is_auto) {
		pool_cpus(pool, &cpus);
		wish.classes[0].threads = threads_auto(&cpus);
		wish.classes_n = 1;
	}
	for (unsigned i = 0; i < wish.classes_n; i++)
		classes[i] =
		    (struct pool_class){.threads = wish.classes[i].threads,
		        .nice = wish.classes[i].nice};
	return pools_set_threads(pools, pool, classes, wish.classes_n, err);
}

/* With autoscaling the fewest threads count, not those there are now. */
static bool
set_shards(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	unsigned threads = pool_threads(pool), shards, max;
	bool autoscaled = pools_autoscale(pools, pool, &threads, &max);

	if (!shards_parse(text, &shards, err))
		return false;
	if (shards == 0)
		shards = shards_auto(threads);
	return shards_fit(shards, threads, autoscaled, err) &&
	       pools_set_shards(pools, pool, shards, err);
}

/* The index among the names, or -1 with err set. */
static int
choose(const char *text, const char *const *names, struct err *err)
{
	struct hint hint;

	hint_init(&hint, text);
	for (int i = 0; names[i]; i++) {
		if (strcmp(text, names[i]) == 0)
			return i;
		hint_offer(&hint, names[i]);
	}
	err_set(
	    err, "'%.100s' is unknown; %s", text, hint_text(&hint, "allowed"));
	return -1;
}

static bool
set_promotion(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	const char *const names[] = {policy_name(POLICY_ADAPTIVE),
	    policy_name(POLICY_ALWAYS), policy_name(POLICY_KERNEL), NULL};
	int i = choose(text, names, err);

	return i >= 0 &&
	       pools_set_policy(pools, pool, (enum policy_kind)i, err);
}

static bool
set_order(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	const char *const names[] = {promotion_order_name(ORDER_LIFO),
	    promotion_order_name(ORDER_FIFO),
	    promotion_order_name(ORDER_PRIORITY), NULL};
	int i = choose(text, names, err);

	if (i < 0)
		return false;
	pools_set_order(pools, pool, (enum promotion_order)i);
	return true;
}

static bool
set_cpus(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	cpu_set_t usable, cpus;

	cpus_allowed(&usable);
	return cpu_list_parse(text, &usable, &cpus, err) &&
	       pools_set_cpus(pools, pool, &cpus, err);
}

static void
show_threads_now(struct pools *pools, struct pool *pool, char *out, size_t size)
{
	char text[THREADS_TEXT_SIZE];

	snprintf(out, size, "%s", pools_threads_text(pools, pool, text));
}

static void
show_shards_now(struct pools *pools, struct pool *pool, char *out, size_t size)
{
	(void)pools;
	snprintf(out, size, "%u", pool_shards_wanted(pool));
}

static void
show_promotion_now(
    struct pools *pools, struct pool *pool, char *out, size_t size)
{
	struct pool_status status;

	(void)pools;
	pool_status(pool, &status);
	snprintf(out, size, "%s", policy_name(status.policy));
}

static void
show_order_now(struct pools *pools, struct pool *pool, char *out, size_t size)
{
	struct pool_status status;

	(void)pools;
	pool_status(pool, &status);
	snprintf(out, size, "%s", promotion_order_name(status.order));
}

static void
show_cpus_now(struct pools *pools, struct pool *pool, char *out, size_t size)
{
	char text[CPU_LIST_TEXT_SIZE];

	(void)pools;
	cpu_list_text(pool_cpu_set(pool), text);
	snprintf(out, size, "%s", text);
}

static const struct {
	const char *name;
	bool (*set)(struct pools *pools, struct pool *pool, const char *text,
	    struct err *err);
	void (*show)(
	    struct pools *pools, struct pool *pool, char *out, size_t size);
	const char *allowed;
} settings[] = {
    {"threads", set_threads, show_threads_now, THREADS_ALLOWED},
    {"shards", set_shards, show_shards_now,
        "auto, or 1 to the number of threads"},
    {"promotion", set_promotion, show_promotion_now,
        "adaptive, always, kernel"},
    {"order", set_order, show_order_now, "lifo, fifo, priority"},
    {"cpus", set_cpus, show_cpus_now, "all, or numbers and ranges as in 0-3,5"},
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static bool
unknown_setting(const char *name, struct err *err)
{
	struct hint hint;

	hint_init(&hint, name);
	for (size_t i = 0; i < SETTINGS; i++)
		hint_offer(&hint, settings[i].name);
	if (!*name)
		return err_set(err, "what to set is missing; %s",
		    hint_text(&hint, "allowed"));
	return err_set(err, "'%.100s' cannot be set; %s", name,
	    hint_text(&hint, "allowed"));
}

/* The words as they were, a blank between two. */
static bool
join(char *const *words, char *ret_text, size_t size, struct err *err)
{
	size_t len = 0;

	ret_text[0] = '\0';
	for (; *words; words++) {
		int n = snprintf(ret_text + len, size - len, "%s%s",
		    len > 0 ? " " : "", *words);

		if ((size_t)n >= size - len)
			return err_set(err,
			    "the value is too long; it may have %zu "
			    "characters",
			    size - 1);
		len += (size_t)n;
	}
	return true;
}

bool
set_pool(struct pools *pools, char *const *args,
    struct set_pool_change *ret_change, struct err *err)
{
	const char *what = args[0] && args[1] ? args[1] : "";
	char text[CPU_LIST_TEXT_SIZE];
	char before[SET_POOL_TEXT_SIZE];
	struct pool *pool;

	if (!args[0])
		return err_set(err,
		    "the name of a pool is missing, what to set, and its "
		    "value");
	pool = pools_find(pools, args[0], err);
	if (!pool)
		return false;
	for (size_t i = 0; i < SETTINGS; i++) {
		if (strcmp(what, settings[i].name) != 0)
			continue;
		if (!args[2])
			return err_set(err,
			    "the value of %s is missing; allowed are %s", what,
			    settings[i].allowed);
		if (!join(args + 2, text, sizeof(text), err))
			return false;
		settings[i].show(pools, pool, before, sizeof(before));
		if (!settings[i].set(pools, pool, text, err))
			return false;
		settings[i].show(
		    pools, pool, ret_change->after, sizeof(ret_change->after));
		memcpy(ret_change->before, before, sizeof(before));
		return true;
	}
	return unknown_setting(what, err);
}

bool
set_pool_value(struct pools *pools, const char *pool, const char *what,
    char *ret_text, size_t size)
{
	struct pool *p = pools_find(pools, pool, NULL);

	for (size_t i = 0; p && i < SETTINGS; i++) {
		if (strcmp(what, settings[i].name) != 0)
			continue;
		settings[i].show(pools, p, ret_text, size);
		return true;
	}
	return false;
}

bool
run_set_pool(struct call *call)
{
	struct set_pool_change change;

	if (!set_pool(control_pools(call->env->control), call->args, &change,
	        call->err))
		return err_as_sentence(call->err);
	call_audit(call, change.before, change.after, "pool %s %s",
	    call->args[0], call->args[1]);
	return true;
}

/* The events name the pool only in the subject, so that they are not taken for
 * those of a frontend of its name. */
enum setting_answer
describe_pool(struct call *call, struct setting *ret_setting)
{
	const char *pool = call_arg(call, 0), *what = call_arg(call, 1);
	struct setting *set = ret_setting;

	if (!set_pool_value(control_pools(call->env->control), pool, what,
	        set->value, sizeof(set->value)))
		return SETTING_INVALID;
	if (strlen(set->value) + 1 == sizeof(set->value)) {
		err_set(call->err,
		    "The present %s of the pool are too long a list to be set "
		    "again later.",
		    what);
		return SETTING_UNRESTORABLE;
	}
	SETTING_PRINT(set->proxy, "%s", pool);
	SETTING_PRINT(set->subject, "pool %s %s", pool, what);
	set->reload_resets = true;
	return SETTING_KNOWN;
}
