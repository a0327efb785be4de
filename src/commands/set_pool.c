/* SPDX-License-Identifier: MIT
 * `set pool`: changes a pool while it serves traffic.  What is written means
 * the same as in the file: both use config/pool_text.h.
 */
#include "commands/commands.h"

#include <string.h>

#include "base/text.h"
#include "config/cpus.h"
#include "config/hint.h"
#include "config/pool_text.h"
#include "stats/pool_facts.h"

/* Fits the value of every setting. */
#define SPACE_SIZE CPU_LIST_TEXT_SIZE

static bool
set_threads(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	struct threads_wish wish;
	cpu_set_t cpus;

	if (!threads_parse(text, &wish, err))
		return false;
	if (wish.max > 0)
		return pools_set_autoscale(
		    pools, pool, wish.min, wish.max, err);
	if (wish.is_auto) {
		pool_cpus(pool, &cpus);
		return pools_set_threads_auto(
		    pools, pool, threads_auto(&cpus), err);
	}
	return pools_set_threads(
	    pools, pool, wish.classes, wish.classes_n, err);
}

static bool
set_shards(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	unsigned shards;

	return shards_parse(text, &shards, err) &&
	       pools_set_shards(pools, pool, shards, err);
}

/* Finds the name among the n names. */
static bool
find_pool_word(const char *text, const char *const *names, size_t n,
    size_t *ret_index, struct err *err)
{
	const struct name_table *table = NAME_TABLE(names, n);
	struct hint hint;

	return name_table_find(table, text, ret_index) ||
	       err_set(err, "'%.100s' is unknown; %s", text,
	           hint_table(&hint, text, table, "allowed"));
}

static bool
set_promotion(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	const char *const names[] = {policy_name(POLICY_ADAPTIVE),
	    policy_name(POLICY_ALWAYS), policy_name(POLICY_KERNEL)};
	size_t i;

	if (!find_pool_word(text, names, 3, &i, err))
		return false;
	pools_set_policy(pools, pool, (enum policy_kind)i);
	return true;
}

static bool
set_order(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	const char *const names[] = {promotion_order_name(ORDER_LIFO),
	    promotion_order_name(ORDER_FIFO),
	    promotion_order_name(ORDER_PRIORITY)};
	size_t i;

	if (!find_pool_word(text, names, 3, &i, err))
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

static bool
set_handshake_threads(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	unsigned n;

	(void)pools;
	if (!handshake_threads_parse(text, &n, err))
		return false;
	pool_set_long_turns(pool, n);
	return true;
}

static bool
set_handshake_nice(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	uint64_t n;

	(void)pools;
	return text_parse_number(text, 0, HANDSHAKE_NICE_MAX, &n, err) &&
	       pool_set_long_nice(pool, (unsigned)n, err);
}

enum pool_setting {
	SET_THREADS,
	SET_SHARDS,
	SET_PROMOTION,
	SET_ORDER,
	SET_CPUS,
	SET_HANDSHAKE_THREADS,
	SET_HANDSHAKE_NICE,
};

static const struct {
	const char *name;
	bool (*set)(struct pools *pools, struct pool *pool, const char *text,
	    struct err *err);
	const char *allowed;
} settings[] = {
    [SET_THREADS] = {"threads", set_threads, THREADS_ALLOWED},
    [SET_SHARDS] = {"shards", set_shards,
        "auto, or 1 to the number of threads"},
    [SET_PROMOTION] = {"promotion", set_promotion, "adaptive, always, kernel"},
    [SET_ORDER] = {"order", set_order, "lifo, fifo, priority"},
    [SET_CPUS] = {"cpus", set_cpus, "all, or numbers and ranges as in 0-3,5"},
    [SET_HANDSHAKE_THREADS] = {"handshake_threads", set_handshake_threads,
        HANDSHAKE_THREADS_ALLOWED},
    [SET_HANDSHAKE_NICE] = {"handshake_nice", set_handshake_nice, "0 to 20"},
};

/* Returns the present value, which may be in space. */
static const char *
value_now(struct pools *pools, struct pool *pool, enum pool_setting setting,
    char space[SPACE_SIZE])
{
	struct pool_status status;

	pool_status(pool, &status);
	switch (setting) {
	case SET_THREADS:
		if (pools_threads_are_auto(pools, pool))
			return "auto";
		return pools_threads_text(pools, pool, space);
	case SET_SHARDS:
		snprintf(space, SPACE_SIZE, "%u", pool_shards_wanted(pool));
		return space;
	case SET_PROMOTION:
		return policy_name(status.policy);
	case SET_ORDER:
		return promotion_order_name(status.order);
	case SET_HANDSHAKE_THREADS:
		return handshake_threads_text(pool_long_turns(pool), space);
	case SET_HANDSHAKE_NICE:
		snprintf(space, SPACE_SIZE, "%u", pool_long_nice(pool));
		return space;
	case SET_CPUS:
		break;
	}
	return cpu_list_text(pool_cpu_set(pool), space);
}

#define SETTINGS NAME_TABLE(settings, sizeof(settings) / sizeof(settings[0]))

/* Joins the words with a blank between two. */
static bool
join_words(char *const *words, char *ret_text, size_t size, struct err *err)
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
	char text[SPACE_SIZE], before[SPACE_SIZE], after[SPACE_SIZE];
	struct set_pool_change *c = ret_change;
	struct pool *pool;
	struct hint hint;
	size_t i;

	if (!args[0])
		return err_set(err,
		    "the name of a pool is missing, what to set, and its "
		    "value");
	pool = pools_find(pools, args[0], err);
	if (!pool)
		return false;
	if (!name_table_find(SETTINGS, what, &i)) {
		const char *allowed =
		    hint_table(&hint, what, SETTINGS, "allowed");

		return *what ? err_set(err, "'%.100s' cannot be set; %s", what,
		                   allowed)
		             : err_set(
		                   err, "what to set is missing; %s", allowed);
	}
	if (!args[2])
		return err_set(err,
		    "the value of %s is missing; allowed are %s", what,
		    settings[i].allowed);
	if (!join_words(args + 2, text, sizeof(text), err))
		return false;
	snprintf(c->before, sizeof(c->before), "%s",
	    value_now(pools, pool, (enum pool_setting)i, before));
	if (!settings[i].set(pools, pool, text, err))
		return false;
	snprintf(c->after, sizeof(c->after), "%s",
	    value_now(pools, pool, (enum pool_setting)i, after));
	return true;
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

/* Describes a setting of a pool.  The events about it name the pool. */
enum setting_answer
describe_pool(struct call *call, struct setting *ret_setting)
{
	struct pools *pools = control_pools(call->env->control);
	const struct spec *spec = control_model(call->env->control)->spec;
	const char *what = call_arg(call, 1);
	struct pools_setting setting;
	size_t at;

	if (!name_table_find(
	        INDEXED_TABLE(spec, pools), call_arg(call, 0), &at))
		return SETTING_INVALID;
	for (size_t i = 0;
	     pools_setting_at(pools, &spec->pools[at], i, &setting); i++)
		if (strcmp(setting.key, what) == 0)
			return setting_of_pool(
			    call, spec->pools[at].name, &setting, ret_setting);
	return SETTING_INVALID;
}
