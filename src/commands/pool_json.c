/* SPDX-License-Identifier: MIT
 * See pool_json.h.
 */
#include "commands/pool_json.h"

#include <stddef.h>
#include <stdlib.h>

#include "config/pool_text.h"

/* Significant digits: nanoseconds of a day, without 0.1 becoming
 * 0.10000000000000001. */
#define DIGITS 15

/* Takes the value over; NULL, for short memory, is passed on. */
static bool
add(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value) == 0;
}

static bool
add_number(json_t *object, const char *name, uint64_t n)
{
	return add(object, name, json_integer((json_int_t)n));
}

static bool
add_us(json_t *object, const char *name, uint64_t ns)
{
	return add(object, name, json_real((double)ns / 1e3));
}

/* The counters of a thread, or their sums over a pool. */
static bool
add_counters(json_t *object, const struct thread_stats *stats)
{
	static const struct {
		const char *name;
		size_t offset;
	} words[] = {
	    {"waits", offsetof(struct thread_stats, waits)},
	    {"wait_errors", offsetof(struct thread_stats, wait_errors)},
	    {"fetched", offsetof(struct thread_stats, fetched)},
	    {"dispatched", offsetof(struct thread_stats, dispatched)},
	    {"merged", offsetof(struct thread_stats, merged)},
	    {"stale", offsetof(struct thread_stats, stale)},
	    {"resumed", offsetof(struct thread_stats, resumed)},
	    {"turns", offsetof(struct thread_stats, turns)},
	    {"inline_turns", offsetof(struct thread_stats, inline_turns)},
	    {"hand_offs", offsetof(struct thread_stats, hand_offs)},
	    {"promotions", offsetof(struct thread_stats, promotions)},
	    {"wakes", offsetof(struct thread_stats, wakes)},
	    {"adoptions", offsetof(struct thread_stats, adoptions)},
	};
	bool ok = true;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const uint64_t *word =
		    (const void *)((const char *)stats + words[i].offset);

		ok = ok && add_number(object, words[i].name,
		               atomic_load_relaxed(word));
	}
	return ok;
}

static json_t *
times_json(const struct histogram *histogram)
{
	struct times t = times_of(histogram);

	return json_pack("{s:I, s:f, s:f, s:f, s:f}", "count",
	    (json_int_t)t.count, "p50", t.p50_us, "p90", t.p90_us, "p99",
	    t.p99_us, "max", t.max_us);
}

static bool
add_histograms(json_t *object, const struct thread_stats *stats)
{
	return add(object, "promotion_delay_us",
	           times_json(&stats->promotion_delay)) &&
	       add(object, "poll_gap_us", times_json(&stats->poll_gap)) &&
	       add(object, "service_us", times_json(&stats->service));
}

static json_t *
classes_json(const struct pool_facts *facts)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < facts->classes_n; i++)
		if (json_array_append_new(
		        array, json_pack("{s:i, s:i}", "threads",
		                   (int)facts->classes[i].threads, "nice",
		                   facts->classes[i].nice)) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static bool
add_threads(json_t *object, const struct pool_facts *f)
{
	const unsigned *roles = f->status.roles;

	return add_number(object, "threads", f->threads) &&
	       add_number(object, "resident", f->status.threads) &&
	       add(object, "roles",
	           json_pack("{s:i, s:i, s:i}", thread_role_name(ROLE_LEADING),
	               (int)roles[ROLE_LEADING],
	               thread_role_name(ROLE_PROCESSING),
	               (int)roles[ROLE_PROCESSING],
	               thread_role_name(ROLE_FOLLOWING),
	               (int)roles[ROLE_FOLLOWING])) &&
	       add(object, "classes", classes_json(f)) &&
	       add(object, "autoscale",
	           f->autoscale_max == 0
	               ? json_null()
	               : json_pack("{s:i, s:i}", "min", (int)f->autoscale_min,
	                     "max", (int)f->autoscale_max));
}

static bool
add_settings(json_t *object, const struct pool_facts *f)
{
	char cpus[CPU_LIST_TEXT_SIZE];

	return add_number(object, "shards", f->status.shards) &&
	       add_number(object, "shards_closing", f->shards_closing) &&
	       add(object, "promotion",
	           json_string(policy_name(f->status.policy))) &&
	       add(object, "order",
	           json_string(promotion_order_name(f->status.order))) &&
	       add(object, "cpus",
	           json_string(cpu_list_text(&f->cpus, cpus))) &&
	       add_number(object, "handlers", f->status.handlers);
}

static bool
add_status(json_t *object, const struct pool_status *s)
{
	return add_counters(object, &s->sum) &&
	       add_number(object, "in_batch", s->in_batch) &&
	       add_number(object, "taken_over", s->taken_over) &&
	       add_number(object, "guarded", s->guarded) &&
	       add_us(object, "wake_us", s->wake_ns) &&
	       add_us(object, "relay_turn_us", s->turn_ns[TURN_RELAY]) &&
	       add_us(object, "accept_turn_us", s->turn_ns[TURN_ACCEPT]) &&
	       add_histograms(object, &s->sum);
}

static json_t *
whole(json_t *object, bool ok)
{
	if (ok)
		return object;
	json_decref(object);
	return NULL;
}

json_t *
pool_json(const struct pool_facts *facts)
{
	json_t *o = json_object();

	return whole(o, add(o, "name", json_string(facts->name)) &&
	                    add_threads(o, facts) && add_settings(o, facts) &&
	                    add_status(o, &facts->status));
}

json_t *
thread_json(const char *pool, const struct thread_status *thread)
{
	const struct thread_status *t = thread;
	json_t *o = json_object();

	return whole(
	    o, add(o, "pool", json_string(pool)) &&
	           add_number(o, "thread", t->place) &&
	           add(o, "tid", json_integer(t->tid)) &&
	           add_number(o, "shard", t->shard) &&
	           add_number(o, "class", t->grade) &&
	           add(o, "nice", json_integer(t->nice)) &&
	           add(o, "retiring", json_boolean(t->retiring)) &&
	           add(o, "role", json_string(thread_role_name(t->role))) &&
	           add_us(o, "following_us", t->role_ns[ROLE_FOLLOWING]) &&
	           add_us(o, "leading_us", t->role_ns[ROLE_LEADING]) &&
	           add_us(o, "processing_us", t->role_ns[ROLE_PROCESSING]) &&
	           add_counters(o, t->stats) && add_histograms(o, t->stats));
}

bool
json_print(json_t *value, bool complete, FILE *out, struct err *err)
{
	const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS);
	char *text = complete ? json_dumps(value, flags) : NULL;

	json_decref(value);
	if (!text)
		return err_oom(err);
	fprintf(out, "%s\n", text);
	free(text);
	return true;
}
