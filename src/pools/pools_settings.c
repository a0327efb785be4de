/* SPDX-License-Identifier: MIT
 * The settings of a pool that commands and reloads may change, a row each; see
 * pools.h.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "config/cpus.h"
#include "config/hint.h"
#include "config/pool_text.h"
#include "pools/pools_internal.h"

#define SETTING_TEXT_SIZE POOLS_SETTING_SIZE

static void
put_setting(char out[SETTING_TEXT_SIZE], const char *text)
{
	snprintf(out, SETTING_TEXT_SIZE, "%s", text);
}

static void
put_number(char out[SETTING_TEXT_SIZE], unsigned n)
{
	snprintf(out, SETTING_TEXT_SIZE, "%u", n);
}

/* -- threads -- */

static const char *
range_text(unsigned min, unsigned max, char out[THREADS_TEXT_SIZE])
{
	snprintf(out, THREADS_TEXT_SIZE, "%u..%u", min, max);
	return out;
}

const char *
pools_threads_text(const struct pools *pools, const struct pool *pool,
    char out[THREADS_TEXT_SIZE])
{
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned min, max;

	if (pools_autoscale(pools, pool, &min, &max))
		return range_text(min, max, out);
	return threads_text(classes, pool_classes(pool, classes), out);
}

bool
pools_threads_are_auto(const struct pools *pools, const struct pool *pool)
{
	return pools_entry_of(pools, pool)->threads_auto > 0;
}

static void
threads_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools_threads_text(pools, pool, out);
}

static void
threads_wanted(const struct pool_spec *spec, char *out)
{
	if (spec->threads_max > 0)
		(void)range_text(spec->threads_min, spec->threads_max, out);
	else
		(void)threads_text(spec->classes, spec->classes_n, out);
}

void
pool_cpus(struct pool *pool, cpu_set_t *ret_cpus)
{
	struct thread_status t;

	for (unsigned at = 0; pool_thread_status(pool, at, &t);
	     at = t.place + 1)
		if (sched_getaffinity(t.tid, sizeof(*ret_cpus), ret_cpus) == 0)
			return;
	CPU_ZERO(ret_cpus);
}

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
	if (!wish.is_auto)
		return pools_set_threads(
		    pools, pool, wish.classes, wish.classes_n, err);
	pool_cpus(pool, &cpus);
	return pools_set_threads_auto(pools, pool, threads_auto(&cpus), err);
}

/* -- other settings -- */

static void
shards_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools;
	put_number(out, pool_shards_wanted(pool));
}

static void
shards_wanted(const struct pool_spec *spec, char *out)
{
	put_number(out, spec->shards);
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

static void
promotion_now(struct pools *pools, struct pool *pool, char *out)
{
	struct pool_status now;

	(void)pools;
	pool_status(pool, &now);
	put_setting(out, policy_name(now.policy));
}

static void
promotion_wanted(const struct pool_spec *spec, char *out)
{
	put_setting(out, policy_name(spec->promotion));
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

static void
order_now(struct pools *pools, struct pool *pool, char *out)
{
	struct pool_status now;

	(void)pools;
	pool_status(pool, &now);
	put_setting(out, promotion_order_name(now.order));
}

static void
order_wanted(const struct pool_spec *spec, char *out)
{
	put_setting(out, promotion_order_name(spec->order));
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

static void
long_turns_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools;
	(void)handshake_threads_text(pool_long_turns(pool), out);
}

static void
long_turns_wanted(const struct pool_spec *spec, char *out)
{
	(void)handshake_threads_text(spec->handshake_threads, out);
}

static bool
set_long_turns(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	unsigned n;

	(void)pools;
	if (!handshake_threads_parse(text, &n, err))
		return false;
	pool_set_long_turns(pool, n);
	return true;
}

static void
long_nice_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools;
	put_number(out, pool_long_nice(pool));
}

static void
long_nice_wanted(const struct pool_spec *spec, char *out)
{
	put_number(out, spec->handshake_nice);
}

static bool
set_long_nice(
    struct pools *pools, struct pool *pool, const char *text, struct err *err)
{
	uint64_t n;

	(void)pools;
	return text_parse_number(text, 0, HANDSHAKE_NICE_MAX, &n, err) &&
	       pool_set_long_nice(pool, (unsigned)n, err);
}

static void
cpus_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools;
	(void)cpu_list_text(pool_cpu_set(pool), out);
}

static void
cpus_wanted(const struct pool_spec *spec, char *out)
{
	cpu_set_t cpus = spec->cpus;

	if (!spec->cpus_given)
		cpus_allowed(&cpus);
	(void)cpu_list_text(&cpus, out);
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

/* -- the table -- */

/* How to write the present value and that of the spec, and how to set a text.
 * The threads are set before the shards. */
enum { SETTING_THREADS, SETTING_SHARDS, SETTING_CPUS = 4 };
static const struct pool_setting {
	const char *key;
	void (*now)(struct pools *pools, struct pool *pool, char *out);
	void (*wanted)(const struct pool_spec *spec, char *out);
	bool (*set)(struct pools *pools, struct pool *pool, const char *text,
	    struct err *err);
	const char *allowed;
} pool_settings[] = {
    [SETTING_THREADS] = {"threads", threads_now, threads_wanted, set_threads,
        THREADS_ALLOWED},
    [SETTING_SHARDS] = {"shards", shards_now, shards_wanted, set_shards,
        "auto, or 1 to the number of threads"},
    {"promotion", promotion_now, promotion_wanted, set_promotion,
        "adaptive, always, kernel"},
    {"order", order_now, order_wanted, set_order, "lifo, fifo, priority"},
    [SETTING_CPUS] = {"cpus", cpus_now, cpus_wanted, set_cpus,
        "all, or numbers and ranges as in 0-3,5"},
    {"handshake_threads", long_turns_now, long_turns_wanted, set_long_turns,
        HANDSHAKE_THREADS_ALLOWED},
    {"handshake_nice", long_nice_now, long_nice_wanted, set_long_nice,
        "0 to 20"},
};
_Static_assert(
    sizeof(pool_settings) / sizeof(pool_settings[0]) == POOL_SETTINGS,
    "an override each");

#define SETTINGS_TABLE NAME_TABLE(pool_settings, POOL_SETTINGS)

/* Writes the value as an operator would set it, and as the file has it: `auto`,
 * and not the number that this stands for at present. */
static void
write_own(struct pools *pools, const struct pools_entry *e, size_t i, char *out)
{
	if ((i == SETTING_THREADS && e->threads_auto > 0) ||
	    (i == SETTING_SHARDS && e->shards_auto))
		put_setting(out, "auto");
	else
		pool_settings[i].now(pools, e->pool, out);
}

static void
write_file(const struct pool_spec *spec, size_t i, char *out)
{
	if ((i == SETTING_THREADS && spec->threads_auto > 0) ||
	    (i == SETTING_SHARDS && spec->shards_auto))
		put_setting(out, "auto");
	else
		pool_settings[i].wanted(spec, out);
}

static uint64_t
file_digest(const struct pool_spec *spec, size_t i)
{
	char text[SETTING_TEXT_SIZE];

	/* The file's `all` stays the same on a machine with more CPUs. */
	if (i == SETTING_CPUS && !spec->cpus_given)
		put_setting(text, "all");
	else
		write_file(spec, i, text);
	return override_digest(text, strlen(text));
}

/* -- commands -- */

void
pools_setting_read(struct pools *pools, const char *pool, const char *key,
    struct pools_setting *ret_setting)
{
	const struct pools_entry *e = pools_entry_find(pools, pool);
	struct pools_setting *s = ret_setting;
	size_t i;

	ENSURE(e && e->spec && name_table_find(SETTINGS_TABLE, key, &i));
	write_own(pools, e, i, s->now);
	write_file(e->spec, i, s->file);
	s->is_set = e->set[i].is_set;
}

bool
pools_setting_set(struct pools *pools, struct pool *pool, const char *key,
    const char *text, char ret_before[POOLS_SETTING_SIZE],
    char ret_after[POOLS_SETTING_SIZE], struct err *err)
{
	struct pools_entry *e = pools_entry_of(pools, pool);
	char file[SETTING_TEXT_SIZE];
	struct hint hint;
	size_t i;

	if (!name_table_find(SETTINGS_TABLE, key, &i)) {
		const char *allowed =
		    hint_table(&hint, key, SETTINGS_TABLE, "allowed");

		return *key ? err_set(err, "'%.100s' cannot be set; %s", key,
		                  allowed)
		            : err_set(
		                  err, "what to set is missing; %s", allowed);
	}
	if (!*text)
		return err_set(err,
		    "the value of %s is missing; allowed are %s", key,
		    pool_settings[i].allowed);
	write_own(pools, e, i, ret_before);
	if (!pool_settings[i].set(pools, pool, text, err))
		return false;
	write_own(pools, e, i, ret_after);
	if (!e->spec)
		return true;
	write_file(e->spec, i, file);
	override_set(&e->set[i], 0, file_digest(e->spec, i));
	e->set[i].is_set = strcmp(ret_after, file) != 0;
	return true;
}

/* -- reloads -- */

/* Sets the value of the spec.  `auto` threads are those of the spec, whose CPUs
 * the pool may not have yet. */
static bool
set_wanted(struct pools *pools, struct pools_entry *e, size_t i,
    const char *text, struct err *err)
{
	const struct pool_spec *spec = e->spec;

	if (i == SETTING_THREADS && spec->threads_auto > 0)
		return pools_set_threads_auto(
		    pools, e->pool, spec->threads_auto, err);
	return pool_settings[i].set(pools, e->pool,
	    i == SETTING_SHARDS && spec->shards_auto ? "auto" : text, err);
}

/* Writes how many shards suit the pool's present threads with shards = auto. */
static void
follow_threads(
    const struct pools *pools, struct pool *pool, char out[SETTING_TEXT_SIZE])
{
	unsigned min, max;

	if (!pools_autoscale(pools, pool, &min, &max))
		min = pools_own_threads(pools, pool);
	put_number(out, shards_auto(min));
}

static void
apply_setting(struct pools *pools, struct pools_entry *e, size_t i,
    struct changes *changes)
{
	const struct pool_setting *setting = &pool_settings[i];
	char from[SETTING_TEXT_SIZE], to[SETTING_TEXT_SIZE];
	struct err err;

	setting->now(pools, e->pool, from);
	if (i == SETTING_SHARDS && e->spec->shards_auto)
		follow_threads(pools, e->pool, to);
	else
		setting->wanted(e->spec, to);
	if (strcmp(from, to) == 0)
		return;
	if (set_wanted(pools, e, i, to, &err))
		changes_add(changes, false, "pool %s: %s: %s -> %s",
		    pool_name(e->pool), setting->key, from, to);
	else
		changes_add(changes, true,
		    "pool %s: %s: %s -> %s was not possible, it stays %s: %s",
		    pool_name(e->pool), setting->key, from, to, from, err.text);
}

static unsigned
fewest_threads(const struct pool_spec *spec)
{
	return spec->threads_max > 0
	           ? spec->threads_min
	           : pool_class_threads(spec->classes, spec->classes_n);
}

/* Reduces the shards before the threads: a pool never has more shards than
 * threads.  The operator's number of shards cannot hold any longer. */
static void
reduce_shards(
    struct pools *pools, struct pools_entry *e, struct changes *changes)
{
	unsigned before = pool_shards_wanted(e->pool);
	struct err err;

	if (pools_set_shards(pools, e->pool, e->spec->shards, &err))
		changes_add(changes, false, "pool %s: shards: %u -> %u",
		    pool_name(e->pool), before, e->spec->shards);
	e->set[SETTING_SHARDS].is_set = false;
}

void
pools_apply_settings(
    struct pools *pools, struct pools_entry *e, struct changes *changes)
{
	const struct pool_spec *spec = e->spec;

	for (size_t i = 0; i < POOL_SETTINGS; i++)
		override_follow(&e->set[i], file_digest(spec, i));
	if (!e->set[SETTING_THREADS].is_set) {
		e->threads_auto = spec->threads_auto;
		if (fewest_threads(spec) < pool_shards_wanted(e->pool))
			reduce_shards(pools, e, changes);
	}
	/* Let apply_setting report the number of shards by itself. */
	if (!e->set[SETTING_SHARDS].is_set)
		e->shards_auto = false;
	for (size_t i = 0; i < POOL_SETTINGS; i++)
		if (!e->set[i].is_set)
			apply_setting(pools, e, i, changes);
	if (!e->set[SETTING_SHARDS].is_set)
		e->shards_auto = spec->shards_auto;
}
