/* SPDX-License-Identifier: MIT
 * Sets of servers: `servers = PREFIX MAX SOURCE=WHERE ...`.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/server_defaults.h"
#include "config/values.h"

/* A name that is never looked up, so rules about servers' addresses allow any
 * address. */
#define ANY_HOST "member"

/* Returns the kind of source that this key sets. */
static enum discovery_kind
kind_of_option(const struct key *key)
{
	enum discovery_kind kind = 0;

	while (strcmp(discovery_kinds[kind].name, key->name) != 0)
		kind++;
	return kind;
}

static bool
parse_set_source(const struct value *v)
{
	const struct discovery_kind_facts *facts;
	enum discovery_kind kind = kind_of_option(v->key);
	struct set_spec *set = v->object;
	struct err err;

	facts = &discovery_kinds[kind];
	if (set->source)
		return value_fail(v,
		    "the set has an origin already, %s=%s; keep one origin, "
		    "and write a second set for the other one",
		    discovery_kinds[set->kind].name, set->source);
	if (!facts->check(v->text, &err))
		return value_fail(v, "%s", err.text);
	set->kind = kind;
	return value_set_string(v, &set->source, v->text);
}

static bool
print_set_source(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct set_spec *set = s->object;

	return set->source && set->kind == kind_of_option(s->key) &&
	       value_write(out, "%s", set->source);
}

static bool
parse_set_token(const struct value *v)
{
	return value_keep_text(v);
}

VALUE_TYPE(set_source, print_set_source,
    "HOST:PORT for dns, NAME for srv, PATH for file, URL for etcd and consul",
    0);
VALUE_TYPE(
    set_token, value_print_string, "a text without blanks", VALUE_SECRET);

/* -- the set -- */

static bool
check_prefix(const struct value *v, const char *prefix, unsigned max)
{
	size_t digits = 1;
	struct err err;

	for (unsigned n = max; n >= 10; n /= 10)
		digits++;
	return name_check(prefix, NAME_MAX_LEN - digits, &err) ||
	       value_fail(v, "%s; the numbers of the servers are added to it",
	           err.text);
}

/* Returns the flags of the options that the kind of source takes besides those
 * without flags. */
static unsigned
set_allows(const struct set_spec *set)
{
	return KEY_TCP_ONLY |
	       (discovery_kinds[set->kind].over_http ? KEY_HTTP_ONLY : 0);
}

static bool
has_http_options(const struct set_spec *set)
{
	return set->token || set->ca || set->cert || set->key ||
	       set->common_name || set->timeout_ms > 0;
}

/* Sets every option to the value that it has if the line does not have it. */
static bool
set_defaults_apply(const struct value *v, struct set_spec *set)
{
	const struct words none = {.n = 0};
	struct value servers = *v;

	servers.key = key_find(SECTION_BACKEND, "server");
	return options_read(
	           v, &none, 0, set, KEY_TCP_ONLY | KEY_HTTP_ONLY, "") &&
	       server_defaults_apply(&servers, &set->member, KEY_TCP_ONLY);
}

static bool
parse_set_options(
    const struct value *v, const struct words *words, struct set_spec *set)
{
	if (!set_defaults_apply(v, set))
		return value_fail(v, "out of memory");
	if (!options_read_over(
	        v, words, 2, set, KEY_TCP_ONLY | KEY_HTTP_ONLY, ""))
		return false;
	if (!set->source)
		return value_fail(v,
		    "'%s' has no source; write file=PATH, as in servers = app "
		    "20 file=/etc/lfproxy/app.servers",
		    v->text);
	return (set_allows(set) & KEY_HTTP_ONLY) || !has_http_options(set) ||
	       value_fail(v,
	           "token, ca, cert, key, common_name and timeout are for etcd "
	           "and consul, and the source of '%s' is %s",
	           set->prefix, discovery_kinds[set->kind].name);
}

static bool
parse_set_head(
    const struct value *v, const struct words *words, struct set_spec *set)
{
	uint64_t max;
	struct err err;

	if (words->n < 2 || strchr(words->word[0], '=') ||
	    strchr(words->word[1], '='))
		return value_fail(v,
		    "'%s' has no prefix or no number; write PREFIX MAX "
		    "SOURCE=WHERE, as in app 20 file=/etc/lfproxy/app.servers",
		    v->text);
	if (!text_parse_number(words->word[1], 1, SET_MEMBERS_MAX, &max, &err))
		return value_fail(
		    v, "the most servers of the set: %s", err.text);
	set->max = (unsigned)max;
	return check_prefix(v, words->word[0], set->max) &&
	       value_set_string(v, &set->prefix, words->word[0]) &&
	       value_set_string(v, &set->member.name, words->word[0]) &&
	       value_set_string(v, &set->member.host, ANY_HOST) &&
	       value_set_string(v, &set->member.address, ANY_HOST);
}

static bool
parse_servers(const struct value *v)
{
	struct backend_spec *b = v->object;
	struct set_spec set = {.place = v->entry->place,
	    .member = {.place = v->entry->place, .port = 1}};
	struct words words;

	words_split(&words, v->text);
	if (parse_set_head(v, &words, &set) &&
	    parse_set_options(v, &words, &set) &&
	    value_append(v, &b->sets, &b->sets_n, &set, sizeof(set)))
		return true;
	set_spec_clear(&set);
	return false;
}

static bool
print_servers(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct backend_spec *b = s->object;
	struct value v = {.key = s->key,
	    .object = (void *)(uintptr_t)b,
	    .spec = (struct spec *)(uintptr_t)s->spec};
	struct set_spec base = {.max = 0};
	const struct set_spec *set;

	if (s->nth >= b->sets_n)
		return false;
	set = &b->sets[s->nth];
	value_write(out, "%s %u", set->prefix, set->max);
	options_print(s, set,
	    b->server_defaults && set_defaults_apply(&v, &base) ? &base : NULL,
	    set_allows(set), out);
	set_spec_clear(&base);
	return true;
}

VALUE_TYPE(servers, print_servers,
    "PREFIX, the most servers, and a source, as in app 20 "
    "file=/etc/lfproxy/app.servers",
    0);
