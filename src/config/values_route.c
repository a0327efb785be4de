/* SPDX-License-Identifier: MIT
 * Values of rules: `route = CONDITION ... backend=NAME` and its short form
 * `sni = NAME ... backend=NAME`.
 *
 * Both keys fill one array, in the order of the file.  config/config.c prints
 * each rule as it was written; `route` prints all of them in the long form, for
 * differences and explanations, and `sni` prints nothing.
 */
#include "config/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "net/tls_hello.h"

/* The backend of a rule that has none. */
#define RULE_NO_BACKEND SIZE_MAX

#define ALPN_NAME_MAX 255 /* RFC 7301, section 3.1 */

/* Cuts the next word off a list with commas; a word may be empty.  Returns NULL
 * behind the last one. */
static char *
next_of_list(char **list)
{
	char *word = *list;

	if (!word)
		return NULL;
	*list = strchr(word, ',');
	if (*list)
		*(*list)++ = '\0';
	return word;
}

/* Adds an error for an empty word of a list, and returns false then. */
static bool
check_word(const struct value *v, const char *word)
{
	return *word || value_fail(v,
	                    "'%s' has a comma too many; write commas between "
	                    "values alone",
	                    v->text);
}

/* -- names -- */

/* Writes the name in the form in which it is compared.  Returns false after an
 * error, if it is certain that no client asks for it. */
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

/* Appends the normalized name to the names, with blanks between.  A normalized
 * name is never longer than the one that was written.  Returns false after an
 * error. */
static bool
add_rule_name(
    const struct value *v, const char *written, char names[DRAFT_VALUE_MAX + 1])
{
	char name[2 + TLS_NAME_MAX + 1];
	size_t len = strlen(names);

	if (!normalize(v, written, name))
		return false;
	snprintf(names + len, DRAFT_VALUE_MAX + 1 - len, "%s%s",
	    len > 0 ? " " : "", name);
	return true;
}

static bool
parse_rule_names(const struct value *v)
{
	char names[DRAFT_VALUE_MAX + 1] = "", copy[DRAFT_VALUE_MAX + 1];
	char *list = copy, *word;
	bool ok = true;

	snprintf(copy, sizeof(copy), "%s", v->text);
	while ((word = next_of_list(&list)))
		ok &= check_word(v, word) && add_rule_name(v, word, names);
	return ok && value_set_string(v, value_target(v), names);
}

/* Prints words that are separated by blanks, with commas between. */
static bool
print_rule_words(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	if (!value_print_string(s, out))
		return false;
	for (char *c = out; *c; c++)
		if (*c == ' ')
			*c = ',';
	return true;
}

/* -- protocols -- */

static bool
check_protocol(const struct value *v, const char *name)
{
	return strlen(name) <= ALPN_NAME_MAX ||
	       value_fail(v,
	           "'%.40s...' has %zu bytes; the name of a protocol has at "
	           "most %d",
	           name, strlen(name), ALPN_NAME_MAX);
}

static bool
parse_rule_alpn(const struct value *v)
{
	char copy[DRAFT_VALUE_MAX + 1], names[DRAFT_VALUE_MAX + 1] = "";
	char *list = copy, *word;
	size_t len = 0;

	snprintf(copy, sizeof(copy), "%s", v->text);
	while ((word = next_of_list(&list))) {
		if (!check_word(v, word) || !check_protocol(v, word))
			return false;
		len += (size_t)snprintf(names + len, sizeof(names) - len,
		    "%s%s", len > 0 ? " " : "", word);
	}
	return value_set_string(v, value_target(v), names);
}

/* -- addresses and ports -- */

/* Reads `list:NAME`.  Returns false after an error. */
static bool
add_rule_list(
    const struct value *v, const char *name, struct rule_ranges *ranges)
{
	struct list_use use = {.name = NULL};

	if (value_find_list(v, name, &use.list) &&
	    value_set_string(v, &use.name, name) &&
	    value_append(
	        v, &ranges->lists, &ranges->lists_n, &use, sizeof(use)))
		return true;
	free(use.name);
	return false;
}

static bool
parse_rule_ranges(const struct value *v)
{
	struct rule_ranges *ranges = value_target(v);
	char copy[DRAFT_VALUE_MAX + 1];
	char *list = copy, *word;
	struct cidr range;
	struct err err;
	bool ok = true;

	snprintf(copy, sizeof(copy), "%s", v->text);
	while ((word = next_of_list(&list))) {
		if (strncmp(word, VALUE_LIST_PREFIX,
		        strlen(VALUE_LIST_PREFIX)) == 0)
			ok &= add_rule_list(
			    v, word + strlen(VALUE_LIST_PREFIX), ranges);
		else if (!cidr_parse(word, &range, &err))
			ok = value_fail(v, "%s", err.text);
		else
			ok &= value_append(
			    v, &ranges->all, &ranges->n, &range, sizeof(range));
	}
	return ok;
}

static bool
print_rule_ranges(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct rule_ranges *ranges = shown_source(s);
	char text[CIDR_TEXT_SIZE];
	size_t len = 0;

	for (size_t i = 0; i < ranges->n; i++)
		len += (size_t)snprintf(out + len, VALUE_TEXT_SIZE - len,
		    "%s%s", i > 0 ? "," : "", cidr_text(&ranges->all[i], text));
	for (size_t i = 0; i < ranges->lists_n; i++)
		len += (size_t)snprintf(out + len, VALUE_TEXT_SIZE - len,
		    "%s" VALUE_LIST_PREFIX "%s", len > 0 ? "," : "",
		    ranges->lists[i].name);
	return len > 0;
}

static bool
parse_rule_ports(const struct value *v)
{
	struct rule_ports *ports = value_target(v);
	char copy[DRAFT_VALUE_MAX + 1];
	char *list = copy, *word;

	snprintf(copy, sizeof(copy), "%s", v->text);
	while ((word = next_of_list(&list))) {
		struct port_range range;
		unsigned low, high;

		if (!value_read_range(word, 1, UINT16_MAX, &low, &high))
			return value_fail(v,
			    "'%s' is not a port; allowed are 1 to 65535, and "
			    "ranges as 8000-8099, with commas between",
			    word);
		range = (struct port_range){(uint16_t)low, (uint16_t)high};
		if (!value_append(
		        v, &ports->all, &ports->n, &range, sizeof(range)))
			return false;
	}
	return true;
}

static bool
print_rule_ports(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct rule_ports *ports = shown_source(s);
	size_t len = 0;

	for (size_t i = 0; i < ports->n; i++) {
		const struct port_range *p = &ports->all[i];

		len += (size_t)snprintf(out + len, VALUE_TEXT_SIZE - len,
		    "%s%u", i > 0 ? "," : "", p->low);
		if (p->high > p->low)
			len += (size_t)snprintf(
			    out + len, VALUE_TEXT_SIZE - len, "-%u", p->high);
	}
	return ports->n > 0;
}

/* -- whether the client speaks TLS -- */

static bool
parse_rule_tls(const struct value *v)
{
	enum sock_switch *tls = value_target(v);
	bool on;

	if (!value_read_boolean(v->text, &on))
		return value_fail(
		    v, "'%s' is unknown; allowed are yes, no", v->text);
	*tls = on ? SWITCH_ON : SWITCH_OFF;
	return true;
}

static bool
print_rule_tls(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const enum sock_switch *tls = shown_source(s);

	return *tls != SWITCH_DEFAULT &&
	       value_write(out, "%s", *tls == SWITCH_ON ? "yes" : "no");
}

/* -- the highest version of TLS -- */

static const char *const rule_versions[TLS_VERSION_MAX + 1] = {
    "ssl3", "1.0", "1.1", "1.2", "1.3"};

static bool
parse_rule_versions(const struct value *v)
{
	unsigned *versions = value_target(v);
	char copy[DRAFT_VALUE_MAX + 1];
	char *list = copy, *word;

	snprintf(copy, sizeof(copy), "%s", v->text);
	while ((word = next_of_list(&list))) {
		unsigned i = 0;

		while (
		    i <= TLS_VERSION_MAX && strcmp(rule_versions[i], word) != 0)
			i++;
		if (i > TLS_VERSION_MAX)
			return value_fail(v,
			    "'%s' is unknown; allowed are 1.3, 1.2, 1.1, 1.0 "
			    "and ssl3, with commas between",
			    word);
		*versions |= 1u << i;
	}
	return true;
}

static bool
print_rule_versions(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *versions = shown_source(s);
	size_t len = 0;

	for (unsigned i = 0; i <= TLS_VERSION_MAX; i++)
		if (*versions & 1u << i)
			len +=
			    (size_t)snprintf(out + len, VALUE_TEXT_SIZE - len,
			        "%s%s", len > 0 ? "," : "", rule_versions[i]);
	return len > 0;
}

/* -- the backend -- */

static bool
parse_rule_backend(const struct value *v)
{
	return value_find_backend(v, v->text, value_target(v));
}

static bool
print_rule_backend(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const size_t *backend = shown_source(s);

	return *backend != RULE_NO_BACKEND &&
	       value_write(out, "%s", s->spec->backends[*backend].name);
}

/* -- rules -- */

/* Appends the rule, and takes over what it owns, also on failure. */
static bool
append_rule(const struct value *v, struct rule_spec *rule)
{
	struct frontend_spec *f = v->object;

	if (value_append(v, &f->rules, &f->rules_n, rule, sizeof(*rule)))
		return true;
	rule_spec_clear(rule);
	return false;
}

/* Returns the number of names: words without a `=`, which come before
 * others. */
static size_t
count_names(const struct words *words)
{
	size_t n = 0;

	while (n < words->n && !strchr(words->word[n], '='))
		n++;
	return n;
}

/* Reads a rule.  Duplicate names are found once all rules are known:
 * config/build_sni.c. */
static bool
parse_sni_rule(const struct value *v)
{
	struct rule_spec rule = {.place = v->entry->place,
	    .is_short = true,
	    .backend = RULE_NO_BACKEND};
	char names[DRAFT_VALUE_MAX + 1] = "";
	struct words words;
	bool ok = true;
	size_t n;

	words_split(&words, v->text);
	n = count_names(&words);
	if (n == 0)
		return value_fail(v,
		    "'%s' has no name; write NAME ... backend=BACKEND",
		    v->text);
	for (size_t i = 0; i < n; i++)
		ok &= add_rule_name(v, words.word[i], names);
	if (n == words.n)
		return value_fail(v,
		    "'%s' has no backend; write NAME ... backend=BACKEND",
		    v->text);
	ok &= options_read(v, &words, n, &rule, 0, "");
	if (!ok || !value_set_string(v, &rule.names, names)) {
		rule_spec_clear(&rule);
		return false;
	}
	return append_rule(v, &rule);
}

static bool
print_sni_rule(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	(void)s;
	out[0] = '\0';
	return false;
}

static bool
has_condition(const struct rule_spec *r)
{
	return r->names || r->alpn || r->versions || r->tls != SWITCH_DEFAULT ||
	       rule_ranges_any(&r->src) || rule_ranges_any(&r->dst) ||
	       r->ports.n > 0;
}

/* Checks what can be checked of a rule by its line alone.  Returns false after
 * an error. */
static bool
check_rule(const struct value *v, const struct rule_spec *r)
{
	if (!has_condition(r))
		return value_fail(v,
		    "'%s' has no condition; write backend = NAME for the "
		    "clients that no rule is for",
		    v->text);
	if (r->backend == RULE_NO_BACKEND)
		return value_fail(v,
		    "'%s' has no backend; write CONDITION ... backend=BACKEND",
		    v->text);
	if (r->tls == SWITCH_OFF && (r->names || r->alpn || r->versions))
		return value_fail(v,
		    "'%s' never matches: with tls=no a client has no %s",
		    v->text,
		    r->names  ? "sni"
		    : r->alpn ? "alpn"
		              : "version");
	return true;
}

static bool
parse_route_rule(const struct value *v)
{
	struct rule_spec rule = {
	    .place = v->entry->place, .backend = RULE_NO_BACKEND};
	struct words words;

	words_split(&words, v->text);
	if (!options_read(v, &words, 0, &rule, 0, "") ||
	    !check_rule(v, &rule)) {
		rule_spec_clear(&rule);
		return false;
	}
	return append_rule(v, &rule);
}

static bool
print_route_rule(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;
	const struct rule_spec *r;
	size_t len;

	if (s->nth >= f->rules_n)
		return false;
	r = &f->rules[s->nth];
	out[0] = '\0';
	options_print(s, r, NULL, 0, out);
	/* Cut off the blank before the first option. */
	len = strlen(out);
	memmove(out, out + 1, len);
	return len > 0;
}

bool
value_print_short_rule(const struct shown *shown, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = shown->object;
	const struct rule_spec *r = &f->rules[shown->nth];

	return value_write(out, "%s", r->names) &&
	       options_print(shown, r, NULL, 0, out);
}

VALUE_TYPE(rule_names, print_rule_words,
    "names as in www.example.com,*.example.org", 0);
VALUE_TYPE(rule_alpn, print_rule_words, "protocols as in h2,http/1.1", 0);
VALUE_TYPE(rule_ranges, print_rule_ranges,
    "IP addresses, ranges of them as 10.0.0.0/8, list:NAME, and unix, with "
    "commas between",
    0);
VALUE_TYPE(rule_ports, print_rule_ports,
    "ports, and ranges of them as 8000-8099, with commas between", 0);
VALUE_TYPE(rule_tls, print_rule_tls, "yes, no", VALUE_BOOLEAN);
VALUE_TYPE(rule_versions, print_rule_versions, "versions as in 1.2,1.3", 0);
VALUE_TYPE(rule_backend, print_rule_backend, "the name of a [backend NAME]", 0);
VALUE_TYPE(sni_rule, print_sni_rule,
    "names as in www.example.com and *.example.com, then backend=NAME", 0);
VALUE_TYPE(route_rule, print_route_rule,
    "conditions as in sni=*.example.com alpn=h2, then backend=NAME", 0);
