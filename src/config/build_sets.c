/* SPDX-License-Identifier: MIT
 * See build.h: sets of servers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/build.h"

/* Returns whether the rest of a name, behind the set's prefix, is a number that
 * a member may have. */
static bool
is_number_of(const struct set_spec *set, const char *rest)
{
	uint64_t n;

	return rest[0] != '0' && text_parse_number(rest, 1, set->max, &n, NULL);
}

static bool
set_may_name(const struct set_spec *set, const char *name)
{
	size_t len = strlen(set->prefix);

	return strncmp(name, set->prefix, len) == 0 &&
	       is_number_of(set, name + len);
}

const struct set_spec *
build_set_named(const struct backend_spec *backend, const char *name)
{
	for (size_t i = 0; i < backend->sets_n; i++)
		if (set_may_name(&backend->sets[i], name))
			return &backend->sets[i];
	return NULL;
}

void
build_check_set_name(const struct backend_spec *backend,
    const struct server_spec *server, struct err_list *errors)
{
	const struct set_spec *set = build_set_named(backend, server->name);

	if (set)
		ERROR_AT(server, errors,
		    "server: the name '%s' is a name of the set '%s' of "
		    "[backend %s], %s1 to %s%u; choose another",
		    server->name, set->prefix, backend->name, set->prefix,
		    set->prefix, set->max);
}

/* Returns whether members of both sets may get the same name: app11 is one of
 * `app`, and the first of `app1`. */
static bool
sets_clash(const struct set_spec *a, const struct set_spec *b)
{
	const struct set_spec *longer =
	    strlen(a->prefix) > strlen(b->prefix) ? a : b;
	const struct set_spec *shorter = longer == a ? b : a;
	size_t len = strlen(shorter->prefix);
	const char *rest = longer->prefix + len;
	uint64_t n;

	if (strncmp(longer->prefix, shorter->prefix, len) != 0)
		return false;
	/* The lowest name of the longer prefix ends in 1. */
	return !*rest ||
	       (rest[0] != '0' &&
	           text_parse_number(rest, 1, SET_MEMBERS_MAX, &n, NULL) &&
	           n * 10 + 1 <= shorter->max);
}

/* Checks that the files that a source over HTTP needs can be read. */
static void
check_set_settings(const struct set_spec *set, struct err_list *errors)
{
	const struct discovery_kind_facts *facts = &discovery_kinds[set->kind];
	struct discovery_settings settings = set_spec_settings(set);
	struct err err;

	if (set->source && facts->check_settings &&
	    !facts->check_settings(&settings, &err))
		ERROR_AT(set, errors, "servers: %s", err.text);
}

void
build_check_sets(const struct backend_spec *backend, struct err_list *errors)
{
	const struct backend_spec *b = backend;
	char first[DRAFT_FIRST_SIZE];

	for (size_t i = 0; i < b->servers_n && b->sets_n > 0; i++)
		build_check_set_name(b, b->servers[i], errors);
	for (size_t i = 0; i < b->sets_n; i++) {
		const struct set_spec *set = &b->sets[i];

		build_check_server(b, &set->member, errors);
		check_set_settings(set, errors);
		for (size_t j = 0; j < i; j++)
			if (sets_clash(&b->sets[j], set))
				ERROR_AT(set, errors,
				    "servers: the names of the sets '%s' and "
				    "'%s' overlap%s; give one set another "
				    "prefix",
				    b->sets[j].prefix, set->prefix,
				    draft_first(
				        b->sets[j].place, set->place, first));
	}
}
