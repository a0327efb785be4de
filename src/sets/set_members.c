/* SPDX-License-Identifier: MIT
 * See set_members.h.
 */
#include "sets/set_members.h"

#include <stdlib.h>
#include <string.h>

/* A comparison in progress.  Arrays are indexed as the report is sorted. */
struct comparison {
	const struct set_members *now;
	const struct discovered **report; /* by key, distinct addresses */
	size_t n;
	const struct set_member **match; /* of each; NULL: a new member */
	unsigned *number;                /* of each; 0: not yet */
	bool *taken;                     /* used numbers, by number - 1 */
	bool *kept;                      /* members of now that were found */
	unsigned max;
};

static void
set_member_fini(struct set_member *m)
{
	free(m->key);
	free(m->address);
	free(m->options);
	free(m->note);
	free(m->former_options);
	free(m->why);
}

void
set_members_fini(struct set_members *members)
{
	for (size_t i = 0; i < members->n; i++)
		set_member_fini(&members->all[i]);
	free(members->all);
	*members = (struct set_members){.n = 0};
}

size_t
set_members_used(const struct set_members *members)
{
	size_t n = 0;

	for (size_t i = 0; i < members->n; i++)
		n += set_member_is_used(&members->all[i]);
	return n;
}

/* -- the report -- */

static int
by_report_key(const void *one, const void *other)
{
	const struct discovered *const *a = one, *const *b = other;
	int order = strverscmp((*a)->key, (*b)->key);

	return order ? order : strcmp((*a)->address, (*b)->address);
}

static int
by_report_address(const void *one, const void *other)
{
	const struct discovered *const *a = one, *const *b = other;
	int order = strcmp((*a)->address, (*b)->address);

	return order ? order : strverscmp((*a)->key, (*b)->key);
}

static int
by_member_address(const void *one, const void *other)
{
	const struct set_member *const *a = one, *const *b = other;

	return strcmp((*a)->address, (*b)->address);
}

static int
by_member_key(const void *one, const void *other)
{
	const struct set_member *const *a = one, *const *b = other;

	return strcmp((*a)->key, (*b)->key);
}

/* Drops all but one of the members with the same address, and members beyond
 * max. */
static void
choose_members(struct comparison *c, struct set_change *change)
{
	size_t n = 0;

	qsort(c->report, c->n, sizeof(*c->report), by_report_address);
	for (size_t i = 0; i < c->n; i++) {
		if (n > 0 && strcmp(c->report[n - 1]->address,
		                 c->report[i]->address) == 0) {
			change->twice++;
			change->twice_key = c->report[i]->key;
		} else {
			c->report[n++] = c->report[i];
		}
	}
	c->n = n;
	qsort(c->report, c->n, sizeof(*c->report), by_report_key);
	if (c->n > c->max) {
		change->excess = c->n - c->max;
		c->n = c->max;
	}
}

/* -- matching the report -- */

/* Returns the members of now with that value of `gone`, sorted, or NULL when
 * memory is short. */
static const struct set_member **
sort_members(const struct set_members *now, bool gone, size_t *ret_n,
    int (*order)(const void *, const void *))
{
	const struct set_member **all = calloc(now->n + 1, sizeof(*all));

	*ret_n = 0;
	for (size_t i = 0; all && i < now->n; i++)
		if (now->all[i].gone == gone)
			all[(*ret_n)++] = &now->all[i];
	if (all)
		qsort(all, *ret_n, sizeof(*all), order);
	return all;
}

static void
match_member(struct comparison *c, size_t i, const struct set_member *member)
{
	size_t at = (size_t)(member - c->now->all);

	/* The number may be above max: the set may have become smaller. */
	if (c->kept[at] || member->number > c->max ||
	    c->taken[member->number - 1])
		return;
	c->kept[at] = true;
	c->taken[member->number - 1] = true;
	c->number[i] = member->number;
	c->match[i] = member->gone ? NULL : member;
}

/* Matches members, gone ones or live ones, with entries of the report that have
 * no match yet: by address or by key, as order compares.  Returns false when
 * memory is short. */
static bool
find_members(
    struct comparison *c, bool gone, int (*order)(const void *, const void *))
{
	const struct set_member **all;
	size_t n, open = 0;

	for (size_t i = 0; i < c->n; i++)
		open += c->number[i] == 0;
	if (open == 0)
		return true;
	all = sort_members(c->now, gone, &n, order);
	if (!all)
		return false;
	for (size_t i = 0; i < c->n; i++) {
		const struct set_member wanted = {
		    .key = (char *)(uintptr_t)c->report[i]->key,
		    .address = (char *)(uintptr_t)c->report[i]->address};
		const struct set_member *key = &wanted;
		const struct set_member **found;

		if (c->number[i] > 0)
			continue;
		found = bsearch(&key, all, n, sizeof(*all), order);
		if (found)
			match_member(c, i, *found);
	}
	free(all);
	return true;
}

/* Gives new members the lowest free numbers, in the order of their keys. */
static void
number_members(struct comparison *c)
{
	unsigned next = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (c->number[i] > 0)
			continue;
		while (c->taken[next])
			next++;
		c->taken[next] = true;
		c->number[i] = next + 1;
	}
}

static bool
match_all(struct comparison *c)
{
	return find_members(c, false, by_member_address) &&
	       find_members(c, false, by_member_key) &&
	       find_members(c, true, by_member_address);
}

/* -- the next members -- */

/* Copies the text.  NULL stays NULL.  Returns false when memory is short. */
static bool
copy_member_text(char **ret, const char *text)
{
	*ret = text ? strdup(text) : NULL;
	return *ret || !text;
}

static bool
copy_gone(const struct set_member *from, struct set_member *to)
{
	*to = (struct set_member){.number = from->number, .gone = true};
	return copy_member_text(&to->key, from->key) &&
	       copy_member_text(&to->address, from->address);
}

/* Copies the report of a member.  from NULL: the member is new.  Returns false
 * when memory is short. */
static bool
copy_reported(const struct discovered *report, const struct set_member *from,
    struct set_member *to)
{
	bool stays = from && strcmp(from->address, report->address) == 0;
	bool same = stays && strcmp(from->options, report->options) == 0;
	const char *former = !stays      ? NULL
	                     : same      ? from->former_options
	                     : from->why ? from->former_options
	                                 : from->options;

	to->same = same;
	if (stays) {
		to->since_ms = from->since_ms;
		to->joined = from->joined;
	}
	return copy_member_text(&to->key, report->key) &&
	       copy_member_text(&to->address, report->address) &&
	       copy_member_text(&to->options, report->options) &&
	       copy_member_text(&to->note, report->note) &&
	       copy_member_text(&to->former_options, former) &&
	       copy_member_text(&to->why, same ? from->why : NULL);
}

static void
count_difference(const struct discovered *report, const struct set_member *from,
    struct set_change *change)
{
	if (!from)
		change->added++;
	else if (strcmp(from->address, report->address) != 0)
		change->moved++;
	else if (strcmp(from->options, report->options) != 0)
		change->changed++;
}

static int
by_number(const void *one, const void *other)
{
	const struct set_member *a = one, *b = other;

	return (a->number > b->number) - (a->number < b->number);
}

/* Adds members that have left, if no other member has their number.  Counts
 * those that leave now.  Returns false when memory is short. */
static bool
keep_gone(const struct comparison *c, struct set_members *next,
    struct set_change *change)
{
	bool ok = true;

	for (size_t i = 0; i < c->now->n; i++) {
		const struct set_member *m = &c->now->all[i];

		if (!c->kept[i] && !m->gone)
			change->removed++;
		if (!c->kept[i] && m->number <= c->max &&
		    !c->taken[m->number - 1])
			ok &= copy_gone(m, &next->all[next->n++]);
	}
	return ok;
}

static bool
make_next(const struct comparison *c, uint64_t now_ms, bool joined,
    struct set_members *next, struct set_change *change)
{
	bool ok;

	next->all = calloc(c->now->n + c->n + 1, sizeof(*next->all));
	if (!next->all)
		return false;
	ok = keep_gone(c, next, change);
	for (size_t i = 0; i < c->n; i++) {
		struct set_member *m = &next->all[next->n++];

		*m = (struct set_member){.number = c->number[i],
		    .since_ms = now_ms,
		    .joined = joined};
		ok &= copy_reported(c->report[i], c->match[i], m);
		count_difference(c->report[i], c->match[i], change);
	}
	next->live = c->n;
	qsort(next->all, next->n, sizeof(*next->all), by_number);
	return ok;
}

bool
set_reconcile(const struct set_members *now, const struct set_report *report,
    struct set_members *ret_next, struct set_change *ret_change)
{
	size_t n = report->n;
	struct comparison c = {.now = now,
	    .report = calloc(n + 1, sizeof(*c.report)),
	    .n = n,
	    .match = calloc(n + 1, sizeof(*c.match)),
	    .number = calloc(n + 1, sizeof(*c.number)),
	    .taken = calloc(report->max + 1, sizeof(*c.taken)),
	    .kept = calloc(now->n + 1, sizeof(*c.kept)),
	    .max = report->max};
	struct set_members next = {.n = 0};
	struct set_change change = {.added = 0};
	bool ok = c.report && c.match && c.number && c.taken && c.kept;

	for (size_t i = 0; ok && i < n; i++)
		c.report[i] = &report->all[i];
	if (ok) {
		choose_members(&c, &change);
		ok = match_all(&c);
	}
	if (ok) {
		number_members(&c);
		ok = make_next(
		    &c, report->now_ms, report->joined, &next, &change);
	}
	free(c.report);
	free(c.match);
	free(c.number);
	free(c.taken);
	free(c.kept);
	if (!ok) {
		set_members_fini(&next);
		return false;
	}
	*ret_next = next;
	*ret_change = change;
	return true;
}

bool
set_needs_confirmation(
    enum set_confirm confirm, const struct set_change *change, size_t live)
{
	size_t leave = change->removed + change->moved;

	switch (confirm) {
	case SET_CONFIRM_OFF:
		return false;
	case SET_CONFIRM_ALWAYS:
		return leave > 0;
	case SET_CONFIRM_HALF:
		return 2 * leave > live;
	}
	return false;
}
