/* SPDX-License-Identifier: MIT
 * See build.h: warnings about allow and deny.
 */
#include "config/build.h"

#include <string.h>

/* Returns whether every client of the range `inner` is in `outer`. */
static bool
range_covers(const struct cidr *outer, const struct cidr *inner)
{
	struct endpoint first = {.family = inner->family};

	memcpy(first.ip, inner->ip, sizeof(first.ip));
	return outer->bits <= inner->bits && cidr_has(outer, &first);
}

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
	return range_covers(&earlier->range, &rule->range);
}

static const struct access_spec *
find_covering_rule(const struct frontend_spec *f, size_t rule)
{
	for (size_t i = 0; i < rule; i++)
		if (rule_covers(&f->access[i], &f->access[rule]))
			return &f->access[i];
	return NULL;
}

static void
warn_of_unreachable(
    const struct frontend_spec *f, size_t rule, struct err_list *warnings)
{
	const struct access_spec *r = &f->access[rule];
	const struct access_spec *cover = find_covering_rule(f, rule);
	char text[ACCESS_TEXT_SIZE], earlier[ACCESS_TEXT_SIZE];

	if (cover)
		ERROR_AT(r, warnings,
		    "warning: [frontend %s]: '%s' is never reached: '%s' on "
		    "line %u decides before; remove one, or put the narrower "
		    "one first",
		    f->name, access_spec_text(r, text),
		    access_spec_text(cover, earlier), cover->place.line);
}

/* Clients without a match are admitted, so such rules change nothing. */
static void
warn_of_no_deny(const struct frontend_spec *f, struct err_list *warnings)
{
	for (size_t i = 0; i < f->access_n; i++)
		if (!f->access[i].allow)
			return;
	if (f->access_n > 0)
		ERROR_AT(&f->access[0], warnings,
		    "warning: [frontend %s]: allow keeps nobody out as long as "
		    "there is no deny; add deny = all behind",
		    f->name);
}

void
build_access_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->access_n; j++)
			warn_of_unreachable(f, j, warnings);
		warn_of_no_deny(f, warnings);
	}
}
