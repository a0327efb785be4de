/* SPDX-License-Identifier: MIT
 * Rules on the TLS server name: `NAME ... backend=B`.
 */
#include "config/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/tls_hello.h"

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
	return value_find_backend(v, v->text, value_target(v));
}

static bool
print_rule_backend(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const size_t *backend = shown_source(s);

	return *backend != RULE_NO_BACKEND &&
	       value_write(out, "%s", s->spec->backends[*backend].name);
}

VALUE_TYPE(sni_rule, print_sni_rule,
    "names as in www.example.com and *.example.com, then backend=NAME", 0);
VALUE_TYPE(rule_backend, print_rule_backend, "the name of a [backend NAME]", 0);
