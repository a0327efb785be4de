/* SPDX-License-Identifier: MIT
 * Values that name something: a user, a backend.
 */
#include "config/values.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
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
		    "'%s' is no name; allowed are " NAME_ALLOWED
		    ", at most %zu of them",
		    s, max);
	return true;
}

static char **
slot(const struct value *v)
{
	return (char **)(void *)((char *)v->object + v->key->offset);
}

static bool
print_string(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	char *const *string =
	    (const void *)((const char *)s->object + s->key->offset);

	if (i > 0 || !*string)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s", *string);
	return true;
}

/* getpwnam(3) and getgrnam(3) leave errno alone when there is no such name,
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
	return value_set_string(v, slot(v), v->text);
}

static bool
parse_group(const struct value *v)
{
	errno = 0;
	if (!getgrnam(v->text))
		return fail_lookup(v, "group", errno);
	return value_set_string(v, slot(v), v->text);
}

static bool
parse_node(const struct value *v)
{
	struct err err;

	if (!name_check(v->text, v->key->max, &err))
		return value_fail(v, "%s", err.text);
	return value_set_string(v, slot(v), v->text);
}

/* An array of things that start with their name, as pools and backends do. */
static bool
parse_reference(const struct value *v, const char *what, const char *const *at,
    size_t n, size_t stride)
{
	size_t *index = (size_t *)(void *)slot(v);
	struct hint hint;

	hint_init(&hint, v->text);
	for (size_t i = 0; i < n; i++) {
		const char *const *name =
		    (const void *)((const char *)at + i * stride);

		if (strcmp(*name, v->text) == 0) {
			*index = i;
			return true;
		}
		hint_offer(&hint, *name);
	}
	return value_fail(v, "there is no %s '%s'; %s", what, v->text,
	    hint_text(&hint, "there"));
}

static bool
parse_backend(const struct value *v)
{
	const struct spec *s = v->spec;

	return parse_reference(v, "backend",
	    (const char *const *)&s->backends->name, s->backends_n,
	    sizeof(*s->backends));
}

static bool
parse_pool(const struct value *v)
{
	const struct spec *s = v->spec;

	return parse_reference(v, "pool", (const char *const *)&s->pools->name,
	    s->pools_n, sizeof(*s->pools));
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
	if (i > 0)
		return false;
	snprintf(
	    out, VALUE_TEXT_SIZE, "%s", s->spec->backends[index_of(s)].name);
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

const struct value_type type_user = {parse_user, print_string};
const struct value_type type_group = {parse_group, print_string};
const struct value_type type_node = {parse_node, print_string};
const struct value_type type_backend = {parse_backend, print_backend};
const struct value_type type_pool = {parse_pool, print_pool};
