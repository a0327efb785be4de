/* SPDX-License-Identifier: MIT
 * Values that name something: a user, a backend.
 */
#include "config/values.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/hint.h"

bool
name_check(const char *s, size_t max, struct err *err)
{
	const char *p = s;

	while (isalnum((unsigned char)*p) || (*p && strchr("-_.:", *p)))
		p++;
	if (p == s && !*p)
		return err_set(err, "a name is missing");
	if (*p || p - s > (ptrdiff_t)max)
		return err_set(err,
		    "'%.100s' is not a valid name; allowed are " NAME_ALLOWED
		    ", at most %zu of them",
		    s, max);
	return true;
}

/* getpwnam(3) and getgrnam(3) leave errno alone when the name does not exist,
 * or set it to one of these. */
static bool
fail_lookup(const struct value *v, const char *what, int error)
{
	if (error == 0 || error == ENOENT || error == ESRCH || error == EBADF ||
	    error == EPERM)
		return value_fail(v,
		    "this host has no %s '%s'; create it or leave the key out",
		    what, v->text);
	return value_fail(v, "the %s '%s' cannot be looked up: %s", what,
	    v->text, strerror(error));
}

static bool
parse_user(const struct value *v)
{
	errno = 0;
	if (!getpwnam(v->text))
		return fail_lookup(v, "user", errno);
	return value_set_string(v, value_string(v), v->text);
}

static bool
parse_group(const struct value *v)
{
	errno = 0;
	if (!getgrnam(v->text))
		return fail_lookup(v, "group", errno);
	return value_set_string(v, value_string(v), v->text);
}

/* Checks one name; that of a group begins with @. */
static bool
check_person(const struct value *v, const char *name)
{
	struct value one = *v;

	one.text = *name == '@' ? name + 1 : name;
	errno = 0;
	if (*name == '@')
		return getgrnam(one.text) || fail_lookup(&one, "group", errno);
	return getpwnam(one.text) || fail_lookup(&one, "user", errno);
}

static bool
parse_people(const struct value *v)
{
	char *names = strdup(v->text), *rest = names, *name;
	bool ok = names != NULL;

	while (ok && (name = strsep(&rest, ",")))
		ok = check_person(v, name);
	free(names);
	return ok && value_set_string(v, value_string(v), v->text);
}

/* Names of hosts, as they are in a URL. */
static bool
parse_hosts(const struct value *v)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	const char *at = v->text;
	bool ok = true;

	if (strcmp(at, "*") == 0)
		return value_set_string(v, value_string(v), at);
	for (; ok; at++) {
		size_t n = strspn(at, letters);

		at += n;
		ok = n > 0;
		if (*at != ',')
			break;
	}
	if (ok && !*at)
		return value_set_string(v, value_string(v), v->text);
	return value_fail(v,
	    "'%s' is not a list of host names; write names with commas "
	    "between, "
	    "without ports, or * for any",
	    v->text);
}

static bool
parse_node(const struct value *v)
{
	struct err err;

	if (!name_check(v->text, v->key->max, &err))
		return value_fail(v, "%s", err.text);
	return value_set_string(v, value_string(v), v->text);
}

static const char *const *
nth_name(const char *const *at, size_t i, size_t stride)
{
	return (const void *)((const char *)at + i * stride);
}

/* An array of things that start with their name, as pools and backends do. */
static bool
find_reference(const struct value *v, const char *text, const char *what,
    const char *const *at, size_t n, size_t stride, size_t *ret_index)
{
	struct hint hint;

	for (size_t i = 0; i < n; i++)
		if (strcmp(*nth_name(at, i, stride), text) == 0) {
			*ret_index = i;
			return true;
		}
	/* A hint takes much longer than a look: only after an error. */
	hint_init(&hint, text);
	for (size_t i = 0; i < n; i++)
		hint_offer(&hint, *nth_name(at, i, stride));
	return value_fail(v, "there is no %s '%s'; %s", what, text,
	    hint_text(&hint, "there"));
}

/* Whether it may be another one of the frontend's; else an error. */
static bool
check_route(const struct value *v, const char *name, size_t backend)
{
	const struct frontend_spec *f = v->object;
	char first[DRAFT_FIRST_SIZE];

	if (f->routes_n == ROUTES_MAX)
		return value_fail(
		    v, "a frontend has at most %d backends", ROUTES_MAX);
	for (size_t i = 0; i < f->routes_n; i++)
		if (f->routes[i].backend == backend)
			return value_fail(v,
			    "'%s' is given twice in [%s]%s; keep one", name,
			    v->section->head,
			    draft_first(
			        f->routes[i].place, v->entry->place, first));
	return true;
}

bool
value_find_backend(
    const struct value *value, const char *name, size_t *ret_index)
{
	const struct spec *s = value->spec;

	return find_reference(value, name, "backend",
	    (const char *const *)&s->backends->name, s->backends_n,
	    sizeof(*s->backends), ret_index);
}

static bool
parse_backend(const struct value *v)
{
	struct frontend_spec *f = v->object;
	struct route_spec r = {.place = v->entry->place};
	struct words words;
	bool ok;

	words_split(&words, v->text);
	ok = options_read(v, &words, 1, &r, 0, "");
	return value_find_backend(v, words.word[0], &r.backend) &&
	       check_route(v, words.word[0], r.backend) && ok &&
	       value_append(v, &f->routes, &f->routes_n, &r, sizeof(r));
}

static bool
parse_pool(const struct value *v)
{
	const struct spec *s = v->spec;

	return find_reference(v, v->text, "pool",
	    (const char *const *)&s->pools->name, s->pools_n, sizeof(*s->pools),
	    (size_t *)(void *)value_string(v));
}

static size_t
index_of(const struct shown *s)
{
	const size_t *index =
	    (const void *)((const char *)s->object + s->key->offset);

	return *index;
}

static bool
print_backend(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;

	if (i >= f->routes_n)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s",
	    s->spec->backends[f->routes[i].backend].name);
	/* A single backend gets all sessions: a weight would say nothing. */
	if (f->routes_n > 1)
		options_print_fitting(s, &f->routes[i], 0, out);
	return true;
}

static bool
print_pool(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	if (i > 0)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s", s->spec->pools[index_of(s)].name);
	return true;
}

static bool
parse_include(const struct value *v)
{
	return value_fail(v, "only a file can include others");
}

/* Prints nothing: the printed configuration has the included lines instead. */
static bool
print_include(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	(void)s;
	(void)i;
	out[0] = '\0';
	return false;
}

VALUE_TYPE(include, print_include,
    "a file, a folder, or a pattern as in conf.d/*.ini", 0);
VALUE_TYPE(user, value_print_string, "a user of this host", 0);
VALUE_TYPE(group, value_print_string, "a group of this host", 0);
VALUE_TYPE(people, value_print_string,
    "users of this host, and groups as in @adm, commas between", 0);
VALUE_TYPE(hosts, value_print_string, "names with commas between, or *", 0);
VALUE_TYPE(node, value_print_string, "up to 64 " NAME_ALLOWED, 0);
VALUE_TYPE(backend, print_backend, "the name of a [backend NAME]", 0);
VALUE_TYPE(pool, print_pool, "the name of a [pool NAME]", 0);
