/* SPDX-License-Identifier: MIT
 * Rules of frontends: see build.h.  Names are sorted, so ten thousand of them
 * take no time.
 */
#include "config/build.h"

#include <stdlib.h>
#include <string.h>

#include "config/draft.h"
#include "model/sni_map.h"

struct named {
	const char *name; /* not ended by a NUL */
	size_t len;
	size_t rule;
};

struct names {
	struct named *all;
	size_t n;
};

static int
compare_names(const struct named *a, const struct named *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->name, b->name, len);

	if (order == 0)
		order = (a->len > b->len) - (a->len < b->len);
	return order;
}

/* Orders by name.  Equal names keep the order of the file. */
static int
compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = compare_names(x, y);

	return order != 0 ? order : (x->rule > y->rule) - (x->rule < y->rule);
}

/* Returns the names of the rule if it has nothing else; otherwise "". */
static const char *
names_alone(const struct rule_spec *rule)
{
	return rule_spec_has_names_alone(rule) ? rule->names : "";
}

static bool
sort_names(const struct frontend_spec *f, struct names *ret_names)
{
	struct names names = {.n = 0};
	size_t len, room = 0;

	for (size_t i = 0; i < f->rules_n; i++)
		for (const char *at = names_alone(&f->rules[i]);
		     sni_names_next(&at, &len);)
			room++;
	names.all = calloc(room + 1, sizeof(*names.all));
	if (!names.all)
		return false;
	for (size_t i = 0; i < f->rules_n; i++) {
		const char *at = names_alone(&f->rules[i]), *name;

		while ((name = sni_names_next(&at, &len)))
			names.all[names.n++] = (struct named){name, len, i};
	}
	qsort(names.all, names.n, sizeof(*names.all), compare_named);
	*ret_names = names;
	return true;
}

/* Returns whether all rules from one to the other have nothing but names: they
 * are tried together. */
static bool
are_neighbours(const struct frontend_spec *f, size_t from, size_t to)
{
	while (from < to && rule_spec_has_names_alone(&f->rules[from]))
		from++;
	return from == to;
}

static void
check_duplicates(const struct frontend_spec *f, const struct names *names,
    struct err_list *errors)
{
	char first[DRAFT_FIRST_SIZE];

	for (size_t i = 1; i < names->n; i++) {
		const struct named *a = &names->all[i - 1];
		const struct named *b = &names->all[i];
		struct spec_place here = f->rules[b->rule].place;

		if (compare_names(a, b) != 0 ||
		    !are_neighbours(f, a->rule, b->rule))
			continue;
		err_list_add(errors, here.file, here.line,
		    "%s: '%.*s' is given twice in [frontend %s]%s; keep one",
		    f->rules[b->rule].is_short ? "sni" : "route", (int)b->len,
		    b->name, f->name,
		    draft_first(f->rules[a->rule].place, here, first));
	}
}

/* Counts the different protocols of the rules.  Returns the rule with the first
 * one that is too many, or NULL. */
static const struct rule_spec *
find_excess_protocol(const struct frontend_spec *f)
{
	struct named seen[RULE_PROTOCOLS_MAX];
	size_t n = 0, k;

	for (size_t i = 0; i < f->rules_n; i++) {
		struct named p = {.rule = i};
		const char *at = f->rules[i].alpn ? f->rules[i].alpn : "";

		while ((p.name = sni_names_next(&at, &p.len))) {
			for (k = 0; k < n && compare_names(&seen[k], &p); k++)
				;
			if (k == RULE_PROTOCOLS_MAX)
				return &f->rules[i];
			seen[k] = p;
			n += k == n;
		}
	}
	return NULL;
}

static void
check_protocols(const struct frontend_spec *f, struct err_list *errors)
{
	const struct rule_spec *rule = find_excess_protocol(f);

	if (rule)
		ERROR_AT(rule, errors,
		    "route: the rules of [frontend %s] have more than %d "
		    "different protocols in alpn",
		    f->name, RULE_PROTOCOLS_MAX);
}

void
build_check_sni(const struct spec *spec, const struct frontend_spec *frontend,
    struct err_list *errors)
{
	struct names names;

	if (spec->backends_n > FRONTEND_BACKENDS_MAX && frontend->rules_n > 0)
		ERROR_AT(frontend, errors,
		    "[frontend %s]: with rules there may be %d backends, "
		    "and there are %zu",
		    frontend->name, FRONTEND_BACKENDS_MAX, spec->backends_n);
	if (!sort_names(frontend, &names)) {
		err_list_add(errors, NULL, 0, "out of memory");
		return;
	}
	check_duplicates(frontend, &names, errors);
	check_protocols(frontend, errors);
	free(names.all);
}

static const char *
name_backend(const struct spec *spec, const struct frontend_spec *f,
    const struct named *name)
{
	return spec->backends[f->rules[name->rule].backend].name;
}

bool
build_rules_are_names(const struct frontend_spec *frontend)
{
	for (size_t i = 0; i < frontend->rules_n; i++)
		if (!rule_spec_has_names_alone(&frontend->rules[i]))
			return false;
	return true;
}

bool
build_diff_sni(const struct spec *old_spec, const struct frontend_spec *old,
    const struct spec *new_spec, const struct frontend_spec *new,
    const char *label, struct changes *changes)
{
	struct names was, is;
	size_t i = 0, j = 0;

	if (!sort_names(old, &was))
		return false;
	if (!sort_names(new, &is)) {
		free(was.all);
		return false;
	}
	while (i < was.n || j < is.n) {
		const struct named *a = i < was.n ? &was.all[i] : NULL;
		const struct named *b = j < is.n ? &is.all[j] : NULL;
		int order = !a ? 1 : !b ? -1 : compare_names(a, b);
		const char *from = a ? name_backend(old_spec, old, a) : NULL;
		const char *to = b ? name_backend(new_spec, new, b) : NULL;

		if (order < 0)
			changes_add(changes, false,
			    "%s: sni: %.*s -> %s is removed", label,
			    (int)a->len, a->name, from);
		else if (order > 0)
			changes_add(changes, false,
			    "%s: sni: %.*s -> %s is new", label, (int)b->len,
			    b->name, to);
		else if (strcmp(from, to) != 0)
			changes_add(changes, false, "%s: sni: %.*s: %s -> %s",
			    label, (int)a->len, a->name, from, to);
		i += order <= 0;
		j += order >= 0;
	}
	free(was.all);
	free(is.all);
	return true;
}
