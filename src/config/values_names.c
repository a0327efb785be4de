/* SPDX-License-Identifier: MIT
 * Values that name something: a user, a backend, the TLS server names of rules.
 */
#include "config/values.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/tls_hello.h"

/* The backend of an sni rule that has none. */
#define RULE_NO_BACKEND SIZE_MAX

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

/* Names of hosts, as they are in a URL. */
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

/* A name of at most key->max letters. */
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

static bool
find_backend(const struct value *v, const char *name, size_t *ret_index)
{
	const struct spec *s = v->spec;

	return find_reference(v, name, "backend",
	    NAME_TABLE(s->backends, s->backends_n), ret_index);
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
	return find_backend(v, words.word[0], &r.backend) &&
	       check_route(v, words.word[0], r.backend) && ok &&
	       value_append(v, &f->routes, &f->routes_n, &r, sizeof(r));
}

static bool
parse_pool(const struct value *v)
{
	const struct spec *s = v->spec;

	return find_reference(v, v->text, "pool",
	    NAME_TABLE(s->pools, s->pools_n), value_target(v));
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
	/* A single backend gets all sessions: a weight would say nothing. */
	if (f->routes_n > 1)
		options_print(s, r, NULL, 0, out);
	return true;
}

static bool
print_pool(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const size_t *pool = shown_source(s);

	return value_write(out, "%s", s->spec->pools[*pool].name);
}

/* -- rules on the TLS server name: `NAME ... backend=B` -- */

/* Whether clients can ask for it, as far as that can be seen; in the form in
 * which it is compared. */
static bool
normalize(
    const struct value *v, const char *name, char out[2 + TLS_NAME_MAX + 1])
{
	bool wild = strncmp(name, "*.", 2) == 0;
	const char *rest = wild ? name + 2 : name;
	uint8_t len;

	if (tls_name_normalize(rest, strlen(rest), out + 2 * wild, &len)) {
		if (wild)
			memcpy(out, "*.", 2);
		return true;
	}
	if (strchr(name, '*'))
		return value_fail(v,
		    "'%s' is not a valid name; a wildcard stands for all "
		    "labels at the beginning, as in *.example.com, and nowhere "
		    "else",
		    name);
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c >= 0x80)
			return value_fail(v,
			    "'%s' is not a name as clients send it; write it "
			    "as in xn--bcher-kva.example",
			    name);
	return value_fail(v,
	    "'%s' is not a valid name; allowed are letters, digits, - and _, "
	    "with single dots between, as in www.example.com or *.example.com",
	    name);
}

/* The words without a `=` are names, and stand before the others. */
static size_t
count_names(const struct words *words)
{
	size_t n = 0;

	while (n < words->n && !strchr(words->word[n], '='))
		n++;
	return n;
}

static bool
add_names(const struct value *v, const struct words *words, size_t n,
    char names[DRAFT_VALUE_MAX + 1])
{
	char name[2 + TLS_NAME_MAX + 1];
	bool ok = true;
	size_t len = 0;

	names[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (!normalize(v, words->word[i], name)) {
			ok = false;
			continue;
		}
		/* A normalized name is never longer than the one that was
		 * written. */
		len += (size_t)snprintf(names + len, DRAFT_VALUE_MAX + 1 - len,
		    "%s%s", len > 0 ? " " : "", name);
	}
	return ok;
}

/* Duplicate names are found once all rules are known: config/build_sni.c. */
static bool
parse_sni_rule(const struct value *v)
{
	struct sni_spec rule = {
	    .place = v->entry->place, .backend = RULE_NO_BACKEND};
	struct frontend_spec *f = v->object;
	char names[DRAFT_VALUE_MAX + 1];
	struct words words;
	size_t n;
	bool ok;

	words_split(&words, v->text);
	n = count_names(&words);
	if (n == 0)
		return value_fail(v,
		    "'%s' has no name; write NAME ... backend=BACKEND",
		    v->text);
	ok = add_names(v, &words, n, names);
	if (n == words.n)
		return value_fail(v,
		    "'%s' has no backend; write NAME ... backend=BACKEND",
		    v->text);
	ok &= options_read(v, &words, n, &rule, 0, "");
	if (!ok || !value_set_string(v, &rule.names, names))
		return false;
	if (value_append(v, &f->sni, &f->sni_n, &rule, sizeof(rule)))
		return true;
	free(rule.names);
	return false;
}

static bool
print_sni_rule(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;

	if (s->nth >= f->sni_n)
		return false;
	return value_write(out, "%s", f->sni[s->nth].names) &&
	       options_print(s, &f->sni[s->nth], NULL, 0, out);
}

static bool
parse_rule_backend(const struct value *v)
{
	return find_backend(v, v->text, value_target(v));
}

static bool
print_rule_backend(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const size_t *backend = shown_source(s);

	return *backend != RULE_NO_BACKEND &&
	       value_write(out, "%s", s->spec->backends[*backend].name);
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

VALUE_TYPE(include, print_include,
    "a file, a folder, or a pattern as in conf.d/*.ini", 0);
VALUE_TYPE(user, value_print_string, "a user of this host", 0);
VALUE_TYPE(group, value_print_string, "a group of this host", 0);
VALUE_TYPE(people, value_print_string,
    "users of this host, and groups as in @adm, commas between", 0);
VALUE_TYPE(hosts, value_print_string, "names with commas between, or *", 0);
VALUE_TYPE(node, value_print_string, "up to 64 " NAME_ALLOWED, 0);
const struct value_type type_tag = {
    parse_node, value_print_string, "up to 32 " NAME_ALLOWED, 0};
VALUE_TYPE(backend, print_backend, "the name of a [backend NAME]", 0);
VALUE_TYPE(pool, print_pool, "the name of a [pool NAME]", 0);
VALUE_TYPE(sni_rule, print_sni_rule,
    "names as in www.example.com and *.example.com, then backend=NAME", 0);
VALUE_TYPE(rule_backend, print_rule_backend, "the name of a [backend NAME]", 0);
