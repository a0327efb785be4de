/* SPDX-License-Identifier: MIT
 * See explain.h: for programs.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "commands/explain.h"

#define DIGITS 9

/* Takes the value over. */
static char *
text_of(json_t *value)
{
	char *text =
	    value ? json_dumps(value, JSON_REAL_PRECISION(DIGITS)) : NULL;

	json_decref(value);
	return text;
}

static json_t *
word_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *
routes_json(const struct explanation *e)
{
	json_t *all = json_array();

	for (size_t i = 0; i < e->routes_n; i++)
		if (json_array_append_new(
		        all, json_pack("{s:s, s:i, s:b}", "backend",
		                 e->routes[i].backend, "weight",
		                 (int)e->routes[i].weight, "has_servers",
		                 e->routes[i].has_servers)) < 0) {
			json_decref(all);
			return NULL;
		}
	return all;
}

static json_t *
key_json(const struct explanation *e)
{
	char key[17];

	if (!e->keyed || e->unknown != UNKNOWN_NOTHING)
		return json_null();
	snprintf(key, sizeof(key), "%016" PRIx64, e->key);
	return json_string(key);
}

static json_t *
rule_json(const struct explained_sni *sni)
{
	return sni->rule
	           ? json_pack("{s:s, s:o, s:I}", "name", sni->rule, "file",
	                 word_or_null(sni->file), "line", (json_int_t)sni->line)
	           : json_null();
}

static json_t *
head_json(const struct explained *x, const char *source)
{
	const struct explanation *e = x->e;
	const char *block = explained_accept_block(x);
	const char *otherwise = explained_otherwise(x);

	return json_pack(
	    "{s:s, s:s, s:b, s:o, s:b, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, "
	    "s:b, s:I, s:b, s:I, s:o, s:o, s:o}",
	    "source", source, "frontend", x->frontend, "accepted", !block,
	    "accept_block", word_or_null(block), "inspects", e->sni.inspects,
	    "sni", word_or_null(e->sni.name), "rule", rule_json(&e->sni),
	    "routes", routes_json(e), "turn", (json_int_t)e->turn, "turns",
	    (json_int_t)e->turns, "backend", word_or_null(e->backend),
	    "balance", word_or_null(e->balance), "key", key_json(e), "panic",
	    e->panic, "waiting", (json_int_t)e->waiting, "random", e->random,
	    "draws", (json_int_t)e->draws, "choice",
	    word_or_null(
	        e->chosen == SERVER_NONE ? NULL : e->servers[e->chosen].name),
	    "why", word_or_null(*otherwise ? otherwise : e->why), "measure",
	    word_or_null(e->measure));
}

bool
explain_json_head(
    FILE *out, const struct explained *explained, const char *source)
{
	char *text = text_of(head_json(explained, source));

	if (!text)
		return false;
	/* The object goes on. */
	fprintf(out, "%.*s, \"servers\": [\n", (int)strlen(text) - 1, text);
	free(text);
	return true;
}

bool
explain_json_server(FILE *out, const struct explained *explained, size_t server)
{
	const struct explanation *e = explained->e;
	const struct explained_server *s = &e->servers[server];
	bool scored = e->measure && s->place != PLACE_NONE;
	char *text = text_of(json_pack(
	    "{s:s, s:s, s:s, s:b, s:b, s:b, s:i, s:i, s:i, s:i, s:o, s:f}",
	    "server", s->name, "address", s->address, "standing",
	    standing_names[s->standing], "chosen", server == e->chosen, "up",
	    s->up, "backup", s->backup, "weight", (int)s->weight,
	    "effective_weight", (int)s->effective_weight, "sessions",
	    (int)s->sessions, "maxconn", (int)s->maxconn, "score",
	    scored ? json_real(s->score) : json_null(), "probability",
	    s->probability));

	if (!text)
		return false;
	fprintf(out, "%s%s\n", server > 0 ? "," : " ", text);
	free(text);
	return true;
}

void
explain_json_tail(FILE *out)
{
	fputs("]}", out);
}
