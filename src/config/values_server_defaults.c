/* SPDX-License-Identifier: MIT
 * `server_defaults = weight=10 maxconn=100`: options for every server line of
 * the backend that does not say otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include "config/values.h"

/* Reads the options into a server of its own, for their errors, and keeps the
 * text. */
static bool
parse_server_defaults(const struct value *v)
{
	struct server_spec scratch = {.name = NULL};
	struct key key = *v->key;
	struct value options = *v;
	struct words words;
	bool ok;

	key.options = key.borrowed_options;
	options.key = &key;
	words_split(&words, v->text);
	if (words.n > 0 && !strchr(words.word[0], '=') &&
	    strchr(words.word[0], ':'))
		return value_fail(v,
		    "'%s' is an address; write options alone, as in weight=10",
		    words.word[0]);
	ok = options_read(&options, &words, 0, &scratch, KEY_TCP_ONLY, "TCP");
	server_spec_clear(&scratch);
	return ok && value_keep_text(v);
}

/* Whether the word is an option that servers with these flags have. */
static bool
is_for(const char *word, const struct key *options, unsigned allowed)
{
	size_t len = strcspn(word, "=");

	for (const struct key *o = options; o->name; o++)
		if (strlen(o->name) == len && strncmp(o->name, word, len) == 0)
			return !(o->flags & ~allowed);
	return false;
}

bool
server_defaults_apply(
    const struct value *value, struct server_spec *server, unsigned allowed)
{
	const struct backend_spec *b = value->object;
	const struct key *options = value->key->options;
	struct words none = {.n = 0}, words, fit = {.n = 0};
	struct value quiet = *value;

	if (!options_read(value, &none, 0, server, allowed, ""))
		return false;
	if (!b->server_defaults)
		return true;
	words_split(&words, b->server_defaults);
	for (size_t i = 0; i < words.n; i++)
		if (is_for(words.word[i], options, allowed))
			fit.word[fit.n++] = words.word[i];
	/* The line of server_defaults has reported its errors already. */
	quiet.errors = NULL;
	return options_read_over(&quiet, &fit, 0, server, allowed, "");
}

VALUE_TYPE(server_defaults, value_print_string,
    "options of a server, as in weight=10 maxconn=100", 0);
