/* SPDX-License-Identifier: MIT
 * See limit.h.
 */
#include "model/limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/limit_lookup.h"
#include "model/model.h"

/* A table of one entry needs no second one. */
#define SIZE_FOR_ALL 1u

struct source_key
limit_key(const struct limit *limit, const struct endpoint *client)
{
	const struct limit_spec *s = limit->spec;
	struct source_key all = {.ip = {0}};

	return s->per == LIMIT_PER_SOURCE
	           ? source_key_of(client, s->prefix4, s->prefix6)
	           : all;
}

const struct list_use *
limit_spec_list(const struct limit_spec *limit, enum limit_for *ret_for)
{
	*ret_for = limit->except.name ? LIMIT_FOR_OTHERS : LIMIT_FOR_LIST;
	if (limit->together.name)
		return &limit->together;
	if (limit->only.name || limit->except.name)
		return limit->only.name ? &limit->only : &limit->except;
	*ret_for = LIMIT_FOR_ALL;
	return NULL;
}

const char *
limit_what(enum source_answer answer)
{
	return answer == SOURCE_RATE    ? "rate"
	       : answer == SOURCE_BYTES ? "bytes"
	                                : "sessions";
}

/* Writes the bytes as `1MiB/m`. */
static const char *
bytes_text(const struct limit_bytes *bytes, char out[TEXT_BYTE_RATE_SIZE])
{
	text_byte_rate(bytes->count, out);
	out[strlen(out) - 1] = bytes->unit;
	return out;
}

const char *
limit_spec_text(const struct limit_spec *limit, char out[LIMIT_TEXT_SIZE])
{
	char bytes[TEXT_BYTE_RATE_SIZE];
	size_t len = 0;

	if (limit->sessions > 0)
		len += (size_t)snprintf(
		    out, LIMIT_TEXT_SIZE, "sessions=%u ", limit->sessions);
	if (limit->rate.count > 0)
		len += (size_t)snprintf(out + len, LIMIT_TEXT_SIZE - len,
		    "rate=%u/%c burst=%u%s ", limit->rate.count,
		    limit->rate.unit, limit_spec_burst(limit),
		    limit->count == LIMIT_COUNT_ALL ? " count=all" : "");
	if (limit->bytes.count > 0)
		len += (size_t)snprintf(out + len, LIMIT_TEXT_SIZE - len,
		    "bytes=%s ", bytes_text(&limit->bytes, bytes));
	len += (size_t)snprintf(out + len, LIMIT_TEXT_SIZE - len, "per=%s%s",
	    limit->per == LIMIT_PER_LIST       ? "list:"
	    : limit->per == LIMIT_PER_FRONTEND ? "frontend"
	                                       : "client",
	    limit->per == LIMIT_PER_LIST ? limit->together.name : "");
	if (limit->only.name || limit->except.name)
		snprintf(out + len, LIMIT_TEXT_SIZE - len, " %s=list:%s",
		    limit->only.name ? "only" : "except",
		    limit->only.name ? limit->only.name : limit->except.name);
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
	b.counts_refused = spec->count == LIMIT_COUNT_ALL;
	if (spec->action.action == GATE_DELAY)
		b.wait_max_ns = spec->action.hold_ms * NS_PER_MS;
	b.bytes = spec->bytes.count;
	b.bytes_ns = b.bytes > 0 ? unit_ns(spec->bytes.unit) : 0;
	return b;
}

bool
limit_spec_counts_alike(const struct limit_spec *a, const struct limit_spec *b)
{
	enum limit_for for_a, for_b;
	const struct list_use *list_a = limit_spec_list(a, &for_a);
	const struct list_use *list_b = limit_spec_list(b, &for_b);

	return a->per == b->per && a->prefix4 == b->prefix4 &&
	       a->prefix6 == b->prefix6 && a->size == b->size &&
	       for_a == for_b && (a->bytes.count > 0) == (b->bytes.count > 0) &&
	       (!list_a || strcmp(list_a->name, list_b->name) == 0);
}

static bool
is_taken(const struct limits *limits, const struct source_table *table)
{
	for (size_t i = 0; i < limits->n; i++)
		if (limits->all[i].table == table)
			return true;
	return false;
}

/* Returns the table of that name which a limit of the model has, if the spec's
 * limit can count there; else NULL.  model may be NULL. */
static struct source_table *
find_shared(const struct limit_spec *spec, const struct model *model)
{
	const struct limit *l =
	    model ? model_find_limit(model, spec->table) : NULL;

	return l && l->spec->table && limit_spec_counts_alike(l->spec, spec)
	           ? source_table_ref(l->table)
	           : NULL;
}

/* Returns a table of `before` that no limit has taken over, or NULL. */
static struct source_table *
find_own(const struct limits *limits, const struct limit_spec *spec,
    enum source_extra extra, const struct limits *before)
{
	for (size_t i = 0; before && i < before->n; i++) {
		const struct limit *l = &before->all[i];

		if (!l->spec->table && limit_spec_counts_alike(l->spec, spec) &&
		    source_table_extra(l->table) == extra &&
		    !is_taken(limits, l->table))
			return source_table_ref(l->table);
	}
	return NULL;
}

/* Finds or makes the table of the limit: NULL when memory is short. */
static void
set_table(const struct limits *limits, struct limit *l, enum source_extra extra,
    const struct limit_origin *from)
{
	const struct limit_spec *spec = l->spec;

	if (!spec->table)
		l->table = find_own(limits, spec, extra, from->before);
	else if ((l->table = find_shared(spec, from->model)))
		l->shared = true;
	else
		l->table = find_shared(spec, from->former);
	if (!l->table)
		l->table = source_table_new(
		    spec->per == LIMIT_PER_SOURCE || spec->per == LIMIT_PER_KEY
		        ? (uint32_t)spec->size
		        : SIZE_FOR_ALL,
		    extra);
}

/* Returns the name with that end, or NULL when memory is short. */
static char *
name_with(const char *name, const char *end)
{
	char *text;

	return asprintf(&text, "%s/%s", name, end) < 0 ? NULL : text;
}

/* Returns the name of a frontend's table, or NULL when memory is short.  The
 * first table has the name of the frontend, as in HAProxy. */
static char *
name_table(const char *frontend, size_t number)
{
	char *name;
	int rc;

	if (number == 1)
		rc = asprintf(&name, "%s", frontend);
	else
		rc = asprintf(&name, "%s/%zu", frontend, number);
	return rc < 0 ? NULL : name;
}

/* Appends a limit.  Returns false when memory is short. */
static bool
add_limit(struct limits *limits, const struct limit_spec *spec,
    enum source_extra extra, const struct limit_origin *from)
{
	struct limit *l = &limits->all[limits->n];
	const struct list_use *list = limit_spec_list(spec, &l->clients);

	l->spec = spec;
	l->list = list && from->model ? from->model->lists[list->list] : NULL;
	l->bounds = bounds_of(spec);
	set_table(limits, l, extra, from);
	if (extra == SOURCE_WITH_BYTES)
		limits->with_bytes |= (uint16_t)(1u << limits->n);
	limits->n++;
	return l->table;
}

/* Appends the limit of a bandwidth per=client, if there is one.  name: that of
 * the table, or NULL: memory is short.  Takes ownership of name.  Returns false
 * when memory is short. */
static bool
add_bandwidth(struct limits *limits, const struct bandwidth_spec *b, char *name,
    const struct limit_origin *from)
{
	if (!bandwidth_has_sources(b)) {
		free(name);
		return true;
	}
	limits->all[limits->n].name = name;
	limits->implied = (struct limit_spec){.per = LIMIT_PER_SOURCE,
	    .prefix4 = b->prefix4,
	    .prefix6 = b->prefix6,
	    .size = b->size};
	return add_limit(limits, &limits->implied, SOURCE_WITH_BUCKETS, from) &&
	       name;
}

static bool
add_limits(struct limits *limits, const struct frontend_spec *spec,
    const struct limit_origin *from)
{
	for (size_t i = 0; i < spec->limits_n; i++) {
		const struct limit_spec *s = &spec->limits[i];

		if (!add_limit(limits, s,
		        s->bytes.count > 0 ? SOURCE_WITH_BYTES : SOURCE_PLAIN,
		        from))
			return false;
		limits->all[i].name =
		    s->table ? strdup(s->table) : name_table(spec->name, i + 1);
		if (!limits->all[i].name)
			return false;
	}
	return add_bandwidth(
	    limits, &spec->bandwidth, name_with(spec->name, "bandwidth"), from);
}

bool
limits_are_needed(const struct frontend_spec *spec)
{
	return spec->limits_n > 0 || bandwidth_has_sources(&spec->bandwidth);
}

struct limits *
limits_new(const struct frontend_spec *spec, const struct limit_origin *from)
{
	struct limits *limits = calloc(
	    1, sizeof(*limits) + (spec->limits_n + 1) * sizeof(limits->all[0]));

	if (!limits || add_limits(limits, spec, from))
		return limits;
	limits_free(limits);
	return NULL;
}

struct limits *
limits_new_of_backend(
    const struct backend_spec *spec, const struct limits *before)
{
	const struct limit_origin from = {.before = before};
	struct limits *limits =
	    calloc(1, sizeof(*limits) + sizeof(limits->all[0]));

	if (!limits || add_bandwidth(limits, &spec->bandwidth,
	                   name_with(spec->name, "backend/bandwidth"), &from))
		return limits;
	limits_free(limits);
	return NULL;
}

struct limits *
limits_new_of_sticky(const struct backend *backend, const struct limits *before)
{
	const struct limit_origin from = {.before = before};
	const struct backend_spec *spec = backend->spec;
	struct limits *limits =
	    calloc(1, sizeof(*limits) + sizeof(limits->all[0]));

	if (!limits)
		return NULL;
	limits->all[0].name = name_with(spec->name, "sticky");
	limits->all[0].backend = backend;
	limits->implied = (struct limit_spec){
	    .per = spec->hash_key == HASH_KEY_SOURCE ? LIMIT_PER_SOURCE
	                                             : LIMIT_PER_KEY,
	    .prefix4 = 32,
	    .prefix6 = 128,
	    .size = spec->sticky_size};
	if (add_limit(limits, &limits->implied, SOURCE_WITH_CHOICE, &from) &&
	    limits->all[0].name)
		return limits;
	limits_free(limits);
	return NULL;
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
	return answer != SOURCE_COUNTED && answer != SOURCE_UNCOUNTED;
}

static bool
is_for(const struct limit *limit, const struct endpoint *client)
{
	return limit->clients == LIMIT_FOR_ALL ||
	       acl_list_has(limit->list, client) ==
	           (limit->clients == LIMIT_FOR_LIST);
}

/* Notes the longest wait, in milliseconds and rounded up: a client that waits
 * that long is not too early. */
static void
note_wait(struct limit_answer *answer, uint64_t wait_ns)
{
	uint32_t wait_ms = (uint32_t)((wait_ns + NS_PER_MS - 1) / NS_PER_MS);

	if (wait_ms > answer->wait_ms)
		answer->wait_ms = wait_ms;
}

void
limits_cancel(const struct limits *limits, uint16_t counted,
    const struct endpoint *client)
{
	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);

		if (counted & 1u << i)
			source_table_cancel(l->table, &key, &l->bounds);
	}
}

/* Takes a client back out of the limits before the one that refuses it.  Limits
 * that count refused connections count this one; the limit that refuses the
 * client has counted it already. */
static struct limit_answer
refuse(const struct limits *limits, const struct limit_answer *answer,
    const struct endpoint *client, uint64_t now_ns)
{
	limits_cancel(limits, answer->counted, client);
	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key;

		if (l == answer->by || !l->bounds.counts_refused ||
		    !is_for(l, client))
			continue;
		key = limit_key(l, client);
		source_table_try(l->table, &key, &l->bounds, now_ns);
	}
	return (struct limit_answer){.by = answer->by, .what = answer->what};
}

struct limit_answer
limits_enter(
    const struct limits *limits, const struct endpoint *client, uint64_t now_ns)
{
	struct limit_answer answer = {.by = NULL};

	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);
		enum source_answer a;
		uint64_t wait_ns;

		if (!is_for(l, client))
			continue;
		a = source_table_enter(
		    l->table, &key, &l->bounds, now_ns, &wait_ns);
		if (is_refused(a)) {
			answer.by = l;
			answer.what = a;
			return refuse(limits, &answer, client, now_ns);
		}
		if (a == SOURCE_COUNTED)
			answer.counted |= (uint16_t)(1u << i);
		note_wait(&answer, wait_ns);
	}
	return answer;
}

uint16_t
limits_rejoin(
    const struct limits *limits, const struct endpoint *client, uint64_t now_ns)
{
	uint16_t counted = 0;

	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);

		if (is_for(l, client) &&
		    source_table_rejoin(l->table, &key, now_ns))
			counted |= (uint16_t)(1u << i);
	}
	return counted;
}

struct limit_answer
limits_peek(
    const struct limits *limits, const struct endpoint *client, uint64_t now_ns)
{
	struct limit_answer answer = {.by = NULL};

	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);
		enum source_answer a;
		uint64_t wait_ns;

		if (!is_for(l, client))
			continue;
		a = source_table_peek(
		    l->table, &key, &l->bounds, now_ns, &wait_ns);
		if (is_refused(a))
			return (struct limit_answer){.by = l, .what = a};
		note_wait(&answer, wait_ns);
	}
	return answer;
}

void
limits_leave(const struct limits *limits, uint16_t counted,
    const struct endpoint *client)
{
	for (size_t i = 0; i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);

		if (counted & 1u << i)
			source_table_leave(l->table, &key);
	}
}

void
limits_charge(const struct limits *limits, uint16_t counted,
    const struct endpoint *client, const uint64_t bytes[BAND_DIRECTIONS],
    uint64_t now_ns)
{
	counted &= limits->with_bytes;
	for (size_t i = 0; counted != 0 && i < limits->n; i++) {
		const struct limit *l = &limits->all[i];
		struct source_key key = limit_key(l, client);

		if (counted & 1u << i)
			source_table_charge(
			    l->table, &key, &l->bounds, bytes, now_ns);
	}
}

struct bucket *
limits_buckets(const struct limits *limits, uint16_t counted,
    const struct endpoint *client)
{
	const struct limit *last = &limits->all[limits->n - 1];
	struct source_key key = limit_key(last, client);

	return counted & 1u << (limits->n - 1)
	           ? source_table_buckets(last->table, &key)
	           : NULL;
}
