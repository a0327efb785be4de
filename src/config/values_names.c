/* SPDX-License-Identifier: MIT
 * Values that name something: a user, a backend, a pool.
 */
#include "config/values.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/cidr.h"

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

/* Reports a failed look-up.  getpwnam(3) and getgrnam(3) leave errno alone when
 * the name does not exist, or set it to one of these. */
static bool
fail_lookup(
    const struct value *v, const char *what, const char *name, int error)
{
	if (error == 0 || error == ENOENT || error == ESRCH || error == EBADF ||
	    error == EPERM)
		return value_fail(v,
		    "this host has no %s '%s'; create it or leave the key out",
		    what, name);
	return value_fail(v, "the %s '%s' cannot be looked up: %s", what, name,
	    strerror(error));
}

static bool
check_user(const struct value *v, const char *name)
{
	errno = 0;
	return getpwnam(name) || fail_lookup(v, "user", name, errno);
}

static bool
check_group(const struct value *v, const char *name)
{
	errno = 0;
	return getgrnam(name) || fail_lookup(v, "group", name, errno);
}

static bool
parse_user(const struct value *v)
{
	return check_user(v, v->text) && value_keep_text(v);
}

static bool
parse_group(const struct value *v)
{
	return check_group(v, v->text) && value_keep_text(v);
}

static bool
parse_people(const struct value *v)
{
	char *names = strdup(v->text), *rest = names, *name;
	bool ok = names != NULL;

	while (ok && (name = strsep(&rest, ",")))
		ok = *name == '@' ? check_group(v, name + 1)
		                  : check_user(v, name);
	free(names);
	return ok && value_keep_text(v);
}

/* Reads names of hosts, as they are in a URL. */
static bool
parse_hosts(const struct value *v)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	const char *at = v->text;
	bool ok;

	do {
		size_t n = strspn(at, letters);

		ok = n > 0;
		at += n;
	} while (ok && *at++ == ',');
	if ((ok && !at[-1]) || strcmp(v->text, "*") == 0)
		return value_keep_text(v);
	return value_fail(v,
	    "'%s' is not a list of host names; write names with commas "
	    "between, without ports, or * for any",
	    v->text);
}

/* Reads a name of at most key->max letters. */
static bool
parse_node(const struct value *v)
{
	struct err err;

	if (!name_check(v->text, v->key->max, &err))
		return value_fail(v, "%s", err.text);
	return value_keep_text(v);
}

static bool
find_reference(const struct value *v, const char *text, const char *what,
    const struct name_table *names, size_t *ret_index)
{
	struct hint hint;

	return name_table_find(names, text, ret_index) ||
	       value_fail(v, "unknown %s '%s'; %s", what, text,
	           hint_table(&hint, text, names, "there"));
}

/* Returns whether the backend may be added to the frontend's; adds an error
 * otherwise. */
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

	return find_reference(
	    value, name, "backend", INDEXED_TABLE(s, backends), ret_index);
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

	return find_reference(
	    v, v->text, "pool", INDEXED_TABLE(s, pools), value_target(v));
}

static bool
print_backend(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;
	const struct route_spec *r;

	if (s->nth >= f->routes_n)
		return false;
	r = &f->routes[s->nth];
	value_write(out, "%s", s->spec->backends[r->backend].name);
	/* A single backend gets all sessions, so its weight is of no use. */
	if (f->routes_n > 1)
		return options_print(s, r, NULL, 0, out);
	if (r->fallback.is_set)
		strcat(strcat(out, " fallback="),
		    s->spec->backends[r->fallback.value].name);
	return true;
}

static bool
parse_fallback(const struct value *v)
{
	struct optional *fallback = value_target(v);
	size_t backend;

	if (!value_find_backend(v, v->text, &backend))
		return false;
	fallback->value = (unsigned)backend;
	return true;
}

static bool
print_fallback(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct optional *fallback = shown_source(s);

	return value_write(out, "%s", s->spec->backends[fallback->value].name);
}

static bool
print_pool(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const size_t *pool = shown_source(s);

	return value_write(out, "%s", s->spec->pools[*pool].name);
}

static bool
parse_include(const struct value *v)
{
	return value_fail(v, "only a file can include others");
}

/* Prints nothing: the printed configuration has the included lines instead. */
static bool
print_include(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	(void)s;
	out[0] = '\0';
	return false;
}

static bool
parse_state_file(const struct value *v)
{
	if (*v->text != '/')
		return value_fail(v, "a path that starts with / is needed");
	return value_keep_text(v);
}

/* Reads a token of RFC 9110 section 5.6.2. */
static bool
parse_header_name(const struct value *v)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "!#$%&'*+-.^_`|~";

	if (v->text[strspn(v->text, letters)])
		return value_fail(v,
		    "'%s' is not the name of a header; write it without a "
		    "colon, as in X-Remote-User",
		    v->text);
	return value_keep_text(v);
}

static bool
parse_ranges(const struct value *v)
{
	char *copy = strdup(v->text), *rest = copy, *word;
	bool ok = copy || value_fail(v, "out of memory");

	while (ok && (word = strsep(&rest, ","))) {
		struct cidr cidr;
		struct err err;

		ok = cidr_parse(word, &cidr, &err) ||
		     value_fail(v, "%s", err.text);
	}
	free(copy);
	return ok && value_keep_text(v);
}

VALUE_TYPE(header_name, value_print_string, "the name of a header", 0);
VALUE_TYPE(ranges, value_print_string,
    "addresses and ranges as 10.0.0.0/8, commas between", 0);
VALUE_TYPE(state_file, value_print_string, "the path of a file, from /", 0);
const struct value_type type_root = {parse_state_file, value_print_string,
    "the path of a directory, from /", 0, 0};
const struct value_type type_users_file = {
    parse_state_file, value_print_string, "the path of a file, from /", 0, 0};
VALUE_TYPE(include, print_include,
    "a file, a folder, or a pattern as in conf.d/*.ini", 0);
VALUE_TYPE(user, value_print_string, "a user of this host", 0);
VALUE_TYPE(group, value_print_string, "a group of this host", 0);
VALUE_TYPE(people, value_print_string,
    "users of this host, and groups as in @adm, commas between", 0);
VALUE_TYPE(hosts, value_print_string, "names with commas between, or *", 0);
VALUE_TYPE(node, value_print_string, "up to 64 " NAME_ALLOWED, 0);
const struct value_type type_tag = {
    parse_node, value_print_string, "up to 32 " NAME_ALLOWED, 0, 0};
VALUE_TYPE(
    fallback, print_fallback, "the name of a [backend NAME]", VALUE_OPTIONAL);
VALUE_TYPE(backend, print_backend, "the name of a [backend NAME]", 0);
VALUE_TYPE(pool, print_pool, "the name of a [pool NAME]", 0);
