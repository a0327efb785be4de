/* SPDX-License-Identifier: MIT
 * See build.h: warnings about allow, deny and limit.
 */
#include "config/build.h"

#include <string.h>
#include <sys/socket.h>

/* Returns whether every client that the rule matches is matched by the earlier
 * one, as far as that can be told without the contents of lists. */
static bool
rule_covers(const struct access_spec *earlier, const struct access_spec *rule)
{
	if (earlier->kind == ACCESS_ALL)
		return true;
	if (earlier->kind != rule->kind)
		return false;
	if (rule->kind == ACCESS_LIST)
		return earlier->list == rule->list;
	return cidr_covers(&earlier->range, &rule->range);
}

static const struct access_spec *
find_covering_rule(const struct frontend_spec *f, size_t rule)
{
	for (size_t i = 0; i < rule; i++)
		if (rule_covers(&f->access[i], &f->access[rule]))
			return &f->access[i];
	return NULL;
}

/* The lines of the rules that cover another one together. */
struct cover_lines {
	unsigned first, last;
};

static unsigned
address_size(uint16_t family)
{
	return family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;
}

bool
build_step_behind(const struct cidr *range, struct endpoint *at)
{
	unsigned size = address_size(range->family);

	for (unsigned i = range->bits; i < 8 * size; i++)
		at->ip[i / 8] |= (uint8_t)(0x80u >> i % 8);
	for (unsigned i = size; i-- > 0;)
		if (++at->ip[i] != 0)
			return true;
	return false;
}

/* Returns the first of the rules whose range has the address, or NULL. */
static const struct access_spec *
find_range_with(
    const struct frontend_spec *f, size_t rules, const struct endpoint *at)
{
	for (size_t i = 0; i < rules; i++)
		if (f->access[i].kind == ACCESS_RANGE &&
		    cidr_has(&f->access[i].range, at))
			return &f->access[i];
	return NULL;
}

/* Returns whether the ranges of the first rules have every address of the
 * range, and notes their lines. */
static bool
rules_cover_range(const struct frontend_spec *f, size_t rules,
    const struct cidr *range, struct cover_lines *lines)
{
	struct endpoint at = {.family = range->family};
	const struct access_spec *by;

	memcpy(at.ip, range->ip, sizeof(at.ip));
	do {
		by = find_range_with(f, rules, &at);
		if (!by)
			return false;
		if (lines->last == 0 || by->place.line < lines->first)
			lines->first = by->place.line;
		if (by->place.line > lines->last)
			lines->last = by->place.line;
	} while (build_step_behind(&by->range, &at) && cidr_has(range, &at));
	return true;
}

/* Returns whether the rules before the rule match all of its clients together.
 * A rule for all is for the clients of three families. */
static bool
rules_cover(
    const struct frontend_spec *f, size_t rule, struct cover_lines *lines)
{
	static const struct cidr all[] = {
	    {.family = AF_INET}, {.family = AF_INET6}, {.family = AF_UNIX}};
	const struct access_spec *r = &f->access[rule];

	*lines = (struct cover_lines){.first = 0};
	if (r->kind == ACCESS_RANGE)
		return rules_cover_range(f, rule, &r->range, lines);
	if (r->kind == ACCESS_LIST)
		return false;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!rules_cover_range(f, rule, &all[i], lines))
			return false;
	return true;
}

static void
warn_of_unreachable(
    const struct frontend_spec *f, size_t rule, struct err_list *warnings)
{
	const struct access_spec *r = &f->access[rule];
	const struct access_spec *cover = find_covering_rule(f, rule);
	char text[ACCESS_TEXT_SIZE], earlier[ACCESS_TEXT_SIZE];
	struct cover_lines lines;

	if (!cover && rules_cover(f, rule, &lines))
		ERROR_AT(r, warnings,
		    "warning: [frontend %s]: '%s' is never reached: the rules "
		    "on lines %u to %u together decide before; remove it, or "
		    "put it first",
		    f->name, access_spec_text(r, text), lines.first,
		    lines.last);
	if (cover)
		ERROR_AT(r, warnings,
		    "warning: [frontend %s]: '%s' is never reached: '%s' on "
		    "line %u decides before; remove one, or put the narrower "
		    "one first",
		    f->name, access_spec_text(r, text),
		    access_spec_text(cover, earlier), cover->place.line);
}

/* Warns of allow rules without a deny, which change nothing: clients without a
 * match are admitted. */
static void
warn_of_no_deny(const struct frontend_spec *f, struct err_list *warnings)
{
	for (size_t i = 0; i < f->access_n; i++)
		if (!f->access[i].allow)
			return;
	if (f->access_n > 0)
		ERROR_AT(&f->access[0], warnings,
		    "warning: [frontend %s]: allow refuses no client "
		    "without a deny; add deny = all behind it",
		    f->name);
}

/* -- limits -- */

/* Returns whether a counts the clients of b in the same way, and perhaps more
 * of them. */
static bool
count_alike(const struct limit_spec *a, const struct limit_spec *b)
{
	enum limit_for for_a, for_b;
	const struct list_use *list_a = limit_spec_list(a, &for_a);
	const struct list_use *list_b = limit_spec_list(b, &for_b);

	return a->per == b->per && for_a == for_b && !b->table &&
	       (!list_a || list_a->list == list_b->list) &&
	       (a->per != LIMIT_PER_SOURCE ||
	           (a->prefix4 == b->prefix4 && a->prefix6 == b->prefix6 &&
	               a->size >= b->size));
}

static double
per_hour(double count, char unit)
{
	return count * (unit == 's' ? 3600 : unit == 'm' ? 60 : 1);
}

static bool
rate_is_bound(const struct limit_spec *by, const struct limit_spec *limit)
{
	return limit->rate.count == 0 ||
	       (by->rate.count > 0 && by->count >= limit->count &&
	           per_hour(by->rate.count, by->rate.unit) <=
	               per_hour(limit->rate.count, limit->rate.unit) &&
	           limit_spec_burst(by) <= limit_spec_burst(limit));
}

/* Returns whether `by` allows no more bytes than limit: a client may use those
 * of the whole unit at once. */
static bool
bytes_are_bound(const struct limit_spec *by, const struct limit_spec *limit)
{
	return limit->bytes.count == 0 ||
	       (by->bytes.count > 0 && by->bytes.count <= limit->bytes.count &&
	           per_hour((double)by->bytes.count, by->bytes.unit) <=
	               per_hour((double)limit->bytes.count, limit->bytes.unit));
}

/* Returns whether each client that `by` admits is within the limit.  That is
 * not so if `by` delays clients, since it admits those that come too early. */
static bool
limit_covers(const struct limit_spec *by, const struct limit_spec *limit)
{
	return by->action.action != GATE_DELAY && count_alike(by, limit) &&
	       (limit->sessions == 0 ||
	           (by->sessions > 0 && by->sessions <= limit->sessions)) &&
	       rate_is_bound(by, limit) && bytes_are_bound(by, limit);
}

/* Returns a limit that covers the other one, or NULL.  If two cover each other,
 * only the second counts as covered. */
static const struct limit_spec *
find_covering_limit(const struct frontend_spec *f, size_t limit)
{
	const struct limit_spec *l = &f->limits[limit];

	for (size_t i = 0; i < f->limits_n; i++)
		if (i != limit && limit_covers(&f->limits[i], l) &&
		    (i < limit || !limit_covers(l, &f->limits[i])))
			return &f->limits[i];
	return NULL;
}

static void
warn_of_limit(
    const struct frontend_spec *f, size_t limit, struct err_list *warnings)
{
	const struct limit_spec *l = &f->limits[limit];
	const struct limit_spec *cover = find_covering_limit(f, limit);
	char text[LIMIT_TEXT_SIZE], other[LIMIT_TEXT_SIZE];

	if (cover)
		ERROR_AT(l, warnings,
		    "warning: [frontend %s]: the limit '%s' refuses no client: "
		    "'%s' on line %u is not higher; remove one",
		    f->name, limit_spec_text(l, text),
		    limit_spec_text(cover, other), cover->place.line);
}

/* -- tables that limits share -- */

/* Returns the first limit before that one, of the frontend f and those before
 * it, which names the same table; or NULL. */
static const struct limit_spec *
find_sharer(
    const struct spec *spec, const struct frontend_spec *f, const char *table)
{
	for (const struct frontend_spec *g = spec->frontends; g <= f; g++)
		for (size_t i = 0; i < g->limits_n; i++)
			if (g->limits[i].table &&
			    strcmp(g->limits[i].table, table) == 0)
				return &g->limits[i];
	return NULL;
}

static void
check_table(const struct spec *spec, const struct frontend_spec *f,
    const struct limit_spec *l, struct err_list *errors)
{
	const struct limit_spec *first = find_sharer(spec, f, l->table);
	size_t unused;

	if (name_table_find(INDEXED_TABLE(spec, frontends), l->table, &unused))
		ERROR_AT(l, errors,
		    "limit: table: '%s' is the name of a frontend, whose own "
		    "limit has a table of that name; write another one",
		    l->table);
	if (first == l)
		return;
	if (first >= f->limits && first < l)
		ERROR_AT(l, errors,
		    "limit: table: another limit of [frontend %s], on line %u, "
		    "counts in '%s'; a session would count twice",
		    f->name, first->place.line, l->table);
	else if (!limit_spec_counts_alike(first, l))
		ERROR_AT(l, errors,
		    "limit: table: the limit on line %u counts in '%s' in "
		    "another way; limits that share a table have the same per, "
		    "only, except, prefix4, prefix6 and size, and all of them "
		    "or none have bytes",
		    first->place.line, l->table);
}

void
build_check_tables(const struct spec *spec, const struct frontend_spec *f,
    struct err_list *errors)
{
	for (size_t i = 0; i < f->limits_n; i++)
		if (f->limits[i].table)
			check_table(spec, f, &f->limits[i], errors);
}

void
build_access_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->access_n; j++)
			warn_of_unreachable(f, j, warnings);
		warn_of_no_deny(f, warnings);
		for (size_t j = 0; j < f->limits_n; j++)
			warn_of_limit(f, j, warnings);
	}
}
