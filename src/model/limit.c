/* SPDX-License-Identifier: MIT
 * See limit.h.
 */
#include "model/limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* A table of one entry needs no second one. */
#define SIZE_FOR_ALL 1u

struct source_key
limit_key(const struct limit *limit, const struct endpoint *client)
{
	const struct limit_spec *s = limit->spec;
	struct source_key all = {.ip = {0}};

	return s->per == LIMIT_PER_FRONTEND
	           ? all
	           : source_key_of(client, s->prefix4, s->prefix6);
}

const char *
limit_spec_text(const struct limit_spec *limit, char out[LIMIT_TEXT_SIZE])
{
	size_t len = 0;

	if (limit->sessions > 0)
		len += (size_t)snprintf(
		    out, LIMIT_TEXT_SIZE, "sessions=%u ", limit->sessions);
	if (limit->rate.count > 0)
		len += (size_t)snprintf(out + len, LIMIT_TEXT_SIZE - len,
		    "rate=%u/%c burst=%u ", limit->rate.count, limit->rate.unit,
		    limit_spec_burst(limit));
	snprintf(out + len, LIMIT_TEXT_SIZE - len, "per=%s",
	    limit->per == LIMIT_PER_FRONTEND ? "frontend" : "source");
	return out;
}

static uint64_t
unit_ns(char unit)
{
	return (unit == 'h' ? 3600 : unit == 'm' ? 60 : 1) * NS_PER_S;
}

static struct source_bounds
bounds_of(const struct limit_spec *spec)
{
	struct source_bounds b = {
	    .sessions = spec->sessions, .burst = limit_spec_burst(spec)};

	if (spec->rate.count > 0)
		b.share_ns = unit_ns(spec->rate.unit) / spec->rate.count;
	if (spec->action.action == GATE_DELAY)
		b.wait_max_ns = spec->action.hold_ms * NS_PER_MS;
	return b;
}

static bool
same_key(const struct limit_spec *a, const struct limit_spec *b)
{
	return a->per == b->per && a->prefix4 == b->prefix4 &&
	       a->prefix6 == b->prefix6 && a->size == b->size;
}

static bool
is_taken(const struct limits *limits, const struct source_table *table)
{
	for (size_t i = 0; i < limits->n; i++)
		if (limits->all[i].table == table)
			return true;
	return false;
}

static struct source_table *
find_table(const struct limits *limits, const struct limit_spec *spec,
    const struct limits *before)
{
	for (size_t i = 0; before && i < before->n; i++) {
		const struct limit *l = &before->all[i];

		if (same_key(l->spec, spec) && !is_taken(limits, l->table))
			return source_table_ref(l->table);
	}
	return source_table_new(spec->per == LIMIT_PER_FRONTEND
	                            ? SIZE_FOR_ALL
	                            : (uint32_t)spec->size);
}

/* The first table has the name of the frontend, as HAProxy's has. */
static char *
name_table(const char *frontend, size_t number)
{
	char *name;
	int rc = number == 1 ? asprintf(&name, "%s", frontend)
	                     : asprintf(&name, "%s/%zu", frontend, number);

	return rc < 0 ? NULL : name;
}

struct limits *
limits_new(const struct frontend_spec *spec, const struct limits *before)
{
	struct limits *limits = calloc(
	    1, sizeof(*limits) + spec->limits_n * sizeof(limits->all[0]));

	for (size_t i = 0; limits && i < spec->limits_n; i++) {
		struct limit *l = &limits->all[i];

		l->spec = &spec->limits[i];
		l->bounds = bounds_of(l->spec);
		l->table = find_table(limits, l->spec, before);
		l->name = name_table(spec->name, i + 1);
		limits->n++;
		if (!l->table || !l->name) {
			limits_free(limits);
			return NULL;
		}
	}
	return limits;
}

void
limits_free(struct limits *limits)
{
	for (size_t i = 0; limits && i < limits->n; i++) {
		source_table_unref(limits->all[i].table);
		free(limits->all[i].name);
	}
	free(limits);
}

static bool
is_refused(enum source_answer answer)
{
	return answer == SOURCE_SESSIONS || answer == SOURCE_RATE;
}

/* Rounded up: a client that waits as long is not too early. */
static void
note_wait(struct limit_answer *answer, uint64_t wait_ns)
{
	uint32_t wait_ms = (uint32_t)((wait_ns + NS_PER_MS - 1) / NS_PER_MS);

	if (wait_ms > answer->wait_ms)
		answer->wait_ms = wait_ms;
}

void
limits_cancel(
    const struct limits *limits, uint8_t counted, const struct endpoint *client)
{
	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);

		if (counted & 1u << i)
			source_table_cancel(l->table, &key, &l->bounds);
	}
}

struct limit_answer
limits_enter(
    const struct limits *limits, const struct endpoint *client, uint64_t now_ns)
{
	struct limit_answer answer = {.by = NULL};

	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);
		uint64_t wait_ns;
		enum source_answer a = source_table_enter(
		    l->table, &key, &l->bounds, now_ns, &wait_ns);

		if (is_refused(a)) {
			limits_cancel(limits, answer.counted, client);
			return (struct limit_answer){
			    .by = l, .too_often = a == SOURCE_RATE};
		}
		if (a == SOURCE_COUNTED)
			answer.counted |= (uint8_t)(1u << i);
		note_wait(&answer, wait_ns);
	}
	return answer;
}

struct limit_answer
limits_peek(
    const struct limits *limits, const struct endpoint *client, uint64_t now_ns)
{
	struct limit_answer answer = {.by = NULL};

	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);
		uint64_t wait_ns;
		enum source_answer a = source_table_peek(
		    l->table, &key, &l->bounds, now_ns, &wait_ns);

		if (is_refused(a))
			return (struct limit_answer){
			    .by = l, .too_often = a == SOURCE_RATE};
		note_wait(&answer, wait_ns);
	}
	return answer;
}

void
limits_leave(
    const struct limits *limits, uint8_t counted, const struct endpoint *client)
{
	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);

		if (counted & 1u << i)
			source_table_leave(l->table, &key);
	}
}
