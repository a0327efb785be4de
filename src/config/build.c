/* SPDX-License-Identifier: MIT
 * See build.h.  Two passes over the sections: the first makes the objects, so
 * that every name is known, the second reads the keys into them.  Defaults do
 * not overwrite and are not overwritten: a key that a section does not have
 * is taken from [defaults], or else from the table.
 */
#include "config/build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/container.h"
#include "base/ensure.h"
#include "config/expand.h"
#include "config/hint.h"
#include "config/ini_lines.h"
#include "config/keys.h"
#include "config/pool_text.h"
#include "config/values.h"
#include "vocabulary/match.h"

struct build {
	struct draft *draft;
	struct spec *spec;
	struct err_list *errors;
	const struct draft_section *defaults; /* NULL: the file has none */
	/* A line could not be read, so what follows from the others may be
	 * wrong. */
	bool incomplete;
};

/* Reports the head, whose first word is no kind of section.  Returns the kind
 * that was meant, or SECTION_KINDS. */
static enum section_kind
report_section(struct build *b, const struct draft_section *s, const char *word)
{
	const struct name_table *all = NAME_TABLE(sections, SECTION_KINDS);
	const char *advice = hint_words_section(s->head), *meant = NULL;
	const char *list;
	struct hint hint;
	size_t kind;

	list = hint_table(&hint, word, all, "allowed");
	ERROR_AT(s, b->errors, "unknown section [%s]; %s", s->head,
	    advice ? advice : list);
	if (!advice)
		meant = hint.near;
	else if (match_word(word, "listen, server, upstream"))
		meant = "backend";
	return meant && name_table_find(all, meant, &kind)
	           ? (enum section_kind)kind
	           : SECTION_KINDS;
}

/* Splits the head and finds its kind, or, after an error, the kind that was
 * meant; SECTION_KINDS: none. */
static enum section_kind
classify(struct build *b, struct draft_section *s)
{
	const struct name_table *all = NAME_TABLE(sections, SECTION_KINDS);
	size_t len = strcspn(s->head, " \t"), kind;
	char word[INI_LINE_MAX + 1];

	s->name = s->head + len + strspn(s->head + len, " \t");
	if (len == 0 || len >= sizeof(word))
		return SECTION_KINDS;
	memcpy(word, s->head, len);
	word[len] = '\0';
	if (name_table_find(all, word, &kind))
		return (enum section_kind)kind;
	s->corrected = true;
	return report_section(b, s, word);
}

/* Makes the section's object in arrays that have room for it. */
static bool
make_object(struct build *b, struct draft_section *s)
{
	struct spec *spec = b->spec;
	char *name;

	if (!sections[s->kind].named)
		return true;
	name = strdup(s->name);
	if (!name)
		return false;
	if (s->kind == SECTION_POOL) {
		s->index = spec->pools_n++;
		spec->pools[s->index].name = name;
		spec->pools[s->index].place = s->place;
	} else if (s->kind == SECTION_TLS) {
		s->index = spec->tls_n++;
		spec->tls[s->index].name = name;
		spec->tls[s->index].place = s->place;
	} else if (s->kind == SECTION_LIST) {
		s->index = spec->lists_n++;
		spec->lists[s->index].name = name;
		spec->lists[s->index].place = s->place;
	} else if (s->kind == SECTION_FRONTEND) {
		s->index = spec->frontends_n++;
		spec->frontends[s->index].name = name;
		spec->frontends[s->index].place = s->place;
	} else {
		s->index = spec->backends_n++;
		spec->backends[s->index].name = name;
		spec->backends[s->index].place = s->place;
	}
	return true;
}

static void *
object_of(struct spec *spec, enum section_kind kind, size_t index)
{
	switch (kind) {
	case SECTION_GLOBAL:
		return &spec->global;
	case SECTION_POOL:
		return &spec->pools[index];
	case SECTION_TLS:
		return &spec->tls[index];
	case SECTION_LIST:
		return &spec->lists[index];
	case SECTION_RESOLVER:
		return &spec->resolver;
	case SECTION_FRONTEND:
		return &spec->frontends[index];
	case SECTION_BACKEND:
		return &spec->backends[index];
	case SECTION_DEFAULTS:
	case SECTION_KINDS:
		break;
	}
	return NULL;
}

/* Checks what holds for values of every type.  A file has been checked line by
 * line already; the command line has not. */
static bool
check_value(struct build *b, const struct draft_entry *e)
{
	const char *v = e->value;
	size_t len = expand_length(v);

	if (v[strspn(v, " \t")] == '\0') {
		ENTRY_ERROR(e, b->errors, "%s has no value", e->name);
		return false;
	}
	if (len > DRAFT_VALUE_MAX) {
		ENTRY_ERROR(e, b->errors,
		    "the value of %s has %zu characters; at most %d are "
		    "allowed",
		    e->name, len, DRAFT_VALUE_MAX);
		return false;
	}
	for (; *v; v++) {
		if (((unsigned char)*v < ' ' && *v != '\t') || *v == 0x7f) {
			ENTRY_ERROR(e, b->errors,
			    "the value of %s has the control character 0x%02x",
			    e->name, *v);
			return false;
		}
	}
	return true;
}

/* Adds an error if the key was given before in the same section. */
static void
check_repeated(
    struct build *b, const struct draft_section *s, const struct draft_entry *e)
{
	char first[DRAFT_FIRST_SIZE];

	for (const struct draft_entry *o = s->entries; o < e; o++) {
		if (o->corrected || strcmp(o->name, e->name) != 0)
			continue;
		ENTRY_ERROR(e, b->errors,
		    "%s is given twice in [%s]%s; keep one", e->name, s->head,
		    draft_first(o->place, e->place, first));
		return;
	}
}

static void
read_entry(struct build *b, const struct draft_section *s,
    const struct draft_entry *e, struct spec *into)
{
	struct value v = {.text = e->value,
	    .spec = into,
	    .section = s,
	    .entry = e,
	    .errors = b->errors};

	b->incomplete |= !e->value;
	v.key = e->key;
	if (!v.key)
		return;
	if (e->corrected)
		v.errors = NULL;
	else if (!(v.key->flags & KEY_REPEATABLE))
		check_repeated(b, s, e);
	if (!e->value || !check_value(b, e))
		return;
	v.object = object_of(into,
	    s->kind == SECTION_DEFAULTS ? key_home(v.key) : s->kind, s->index);
	b->incomplete |= !value_parse(&v) && e->corrected;
}

/* Finds the keys of the entries.  Reports what is not a key of the section, and
 * gives it the name of the key that was meant, so that this key is not reported
 * as missing. */
static void
find_keys(struct build *b, struct draft_section *s)
{
	for (size_t i = 0; i < s->entries_n; i++) {
		struct draft_entry *e = &s->entries[i];
		const struct key *meant;
		char *name;

		e->key = key_find(s->kind, e->name);
		if (e->key && !e->line)
			continue;
		meant = build_unknown(s, e, b->errors);
		e->corrected = true;
		name = meant ? strdup(meant->name) : NULL;
		if (name) {
			free(e->name);
			e->name = name;
			e->key = meant;
		}
	}
}

static const struct draft_entry *
find_entry(const struct draft_section *s, const char *name)
{
	for (size_t i = 0; s && i < s->entries_n; i++)
		if (strcmp(s->entries[i].name, name) == 0)
			return &s->entries[i];
	return NULL;
}

/* Sets the key from [defaults].  Returns false if [defaults] does not have it,
 * or has it with an error, which read_defaults() has reported. */
static bool
set_from_defaults(struct build *b, const struct key *key, void *object)
{
	const struct draft_entry *e = NULL;
	struct value v = {.key = key, .object = object, .spec = b->spec};

	if (key->flags & KEY_IN_DEFAULTS)
		e = find_entry(b->defaults, key->name);
	if (!e || !e->value || expand_length(e->value) > DRAFT_VALUE_MAX ||
	    !*e->value)
		return false;
	v.text = e->value;
	v.section = b->defaults;
	v.entry = e;
	return value_parse(&v);
}

static void
report_missing(
    struct build *b, const struct draft_section *s, const struct key *key)
{
	char allowed[KEY_ALLOWED_SIZE];
	struct hint hint;

	if (key->type != &type_backend) {
		ERROR_AT(s, b->errors, "[%s] has no %s; write %s = ... (%s)",
		    s->head, key->name, key->name, key_allowed(key, allowed));
		return;
	}
	ERROR_AT(s, b->errors, "[%s] has no backend; write backend = NAME, %s",
	    s->head,
	    hint_table(&hint, "", INDEXED_TABLE(b->spec, backends), "there"));
}

/* The most keys that a kind of section has. */
#define SECTION_KEYS_MAX 128

static size_t
key_index(const struct draft_section *s, const struct key *key)
{
	size_t i = (size_t)(key - sections[s->kind].keys);

	ENSURE(i < SECTION_KEYS_MAX);
	return i;
}

/* Reads the section's keys with KEY_FIRST, wherever they stand, or all others,
 * and sets those that the section does not have. */
static void
read_keys(
    struct build *b, struct draft_section *s, void *object, unsigned first)
{
	bool has[SECTION_KEYS_MAX] = {false};
	const struct key *k;
	size_t errors_before;

	for (size_t i = 0; i < s->entries_n; i++) {
		k = s->entries[i].key;
		if (((k ? k->flags : 0) & KEY_FIRST) != first)
			continue;
		if (k)
			has[key_index(s, k)] = true;
		errors_before = b->errors->n;
		read_entry(b, s, &s->entries[i], b->spec);
		s->check_wrong |= b->errors->n != errors_before &&
		                  strncmp(s->entries[i].name, "check", 5) == 0;
	}
	for (k = NULL; (k = key_next(s->kind, k));) {
		if ((k->flags & KEY_FIRST) != first || has[key_index(s, k)])
			continue;
		if (k->flags & KEY_REQUIRED) {
			if (k->type != &type_backend ||
			    (!find_entry(s, "sni") && !find_entry(s, "route")))
				report_missing(b, s, k);
		} else if (!set_from_defaults(b, k, object) &&
		           !value_set_default(k, object, b->spec))
			ERROR_AT(s, b->errors, "out of memory");
	}
}

static unsigned
spec_threads(const struct pool_spec *pool)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pool->classes_n; i++)
		n += pool->classes[i].threads;
	return n;
}

bool
build_complete_pool(struct pool_spec *pool, struct err *err)
{
	if (pool->threads_auto) {
		pool->threads_auto =
		    threads_auto(pool->cpus_given ? &pool->cpus : NULL);
		/* Spare threads come with build_pools. */
		pool->classes[0] =
		    (struct pool_class){.threads = pool->threads_auto};
		pool->classes_n = 1;
	}
	if (pool->shards_auto)
		pool->shards = shards_auto(spec_threads(pool));
	/* A key with an error, which is reported already, has left its numbers
	 * 0. */
	return pool->shards_auto || pool->classes_n == 0 || pool->shards == 0 ||
	       shards_fit(pool->shards, spec_threads(pool),
	           pool->threads_max > 0, err);
}

static void
complete_pool(
    struct build *b, const struct draft_section *s, struct pool_spec *pool)
{
	const struct draft_entry *e = find_entry(s, "shards");
	struct err err;

	if (!build_complete_pool(pool, &err) && e)
		ENTRY_ERROR(e, b->errors, "shards: %s", err.text);
}

static void
read_section(struct build *b, struct draft_section *s)
{
	void *object = object_of(b->spec, s->kind, s->index);
	size_t errors_before = b->errors->n;

	read_keys(b, s, object, KEY_FIRST);
	read_keys(b, s, object, 0);
	if (s->kind == SECTION_POOL)
		complete_pool(b, s, object);
	s->has_errors = b->errors->n != errors_before;
}

/* Makes the pool that exists when the file names none. */
static bool
make_main_pool(struct build *b)
{
	struct draft_section s = {.kind = SECTION_POOL, .name = "main"};

	if (!make_object(b, &s))
		return false;
	read_section(b, &s);
	return true;
}

static bool
make_objects(struct build *b)
{
	struct draft *draft = b->draft;
	struct spec *spec = b->spec;
	size_t room = draft->sections_n + 1;

	spec->pools = calloc(room, sizeof(*spec->pools));
	spec->frontends = calloc(room, sizeof(*spec->frontends));
	spec->backends = calloc(room, sizeof(*spec->backends));
	spec->tls = calloc(room, sizeof(*spec->tls));
	spec->lists = calloc(room, sizeof(*spec->lists));
	if (!spec->pools || !spec->frontends || !spec->backends || !spec->tls ||
	    !spec->lists)
		return false;
	for (size_t i = 0; i < draft->sections_n; i++) {
		struct draft_section *s = &draft->sections[i];

		s->kind = classify(b, s);
		/* Names of sections with a wrong head can be referred to. */
		b->incomplete |= s->corrected;
		if (s->kind == SECTION_KINDS)
			continue;
		if (!make_object(b, s))
			return false;
		if (s->kind == SECTION_DEFAULTS && !s->corrected &&
		    !b->defaults)
			b->defaults = s;
	}
	return spec->pools_n > 0 || make_main_pool(b);
}

/* Reads [defaults] into objects that are thrown away, to report its errors. */
static bool
read_defaults(struct build *b, const struct draft_section *s)
{
	struct spec *scratch = calloc(1, sizeof(*scratch));
	bool ok =
	    scratch &&
	    (scratch->frontends = calloc(1, sizeof(*scratch->frontends))) &&
	    (scratch->backends = calloc(1, sizeof(*scratch->backends)));

	if (ok) {
		scratch->frontends_n = scratch->backends_n = 1;
		/* Keys refer to these by name. */
		scratch->tls = b->spec->tls;
		scratch->tls_n = b->spec->tls_n;
		scratch->lists = b->spec->lists;
		scratch->lists_n = b->spec->lists_n;
	}
	for (size_t i = 0; ok && i < s->entries_n; i++)
		read_entry(b, s, &s->entries[i], scratch);
	if (scratch) {
		scratch->tls = NULL;
		scratch->tls_n = 0;
		scratch->lists = NULL;
		scratch->lists_n = 0;
	}
	spec_free(scratch);
	return ok;
}

/* Sets the defaults of a section that no file has. */
static void
complete_section(struct build *b, enum section_kind kind)
{
	struct draft_section none = {.kind = kind, .head = NULL};

	for (size_t i = 0; i < b->draft->sections_n; i++)
		if (b->draft->sections[i].kind == kind)
			return;
	read_section(b, &none);
}

/* Returns the default of drain_timeout.  Container engines kill after 10 s from
 * SIGTERM; one is for ending the sessions that remain. */
static uint64_t
default_drain_ms(uint64_t shutdown_delay_ms)
{
	const uint64_t most_ms = 8000, least_ms = 1000;

	if (!container_is_around())
		return 30000;
	return shutdown_delay_ms < most_ms - least_ms
	           ? most_ms - shutdown_delay_ms
	           : least_ms;
}

/* Completes [global]: the default of node is the host's name, unless the key
 * would not allow that. */
static bool
complete_global(struct build *b)
{
	struct global_spec *g = &b->spec->global;
	char host[64 + 1] = "";

	complete_section(b, SECTION_GLOBAL);
	if (g->drain_timeout_ms == 0)
		g->drain_timeout_ms = default_drain_ms(g->shutdown_delay_ms);
	if (g->node)
		return true;
	if (gethostname(host, sizeof(host)) < 0 || host[sizeof(host) - 1] ||
	    !name_check(host, sizeof(host) - 1, NULL))
		strcpy(host, "localhost");
	g->node = strdup(host);
	return g->node != NULL;
}

static void
check_ttls(struct build *b)
{
	const struct resolver_spec *r = &b->spec->resolver;

	for (size_t i = 0; i < b->draft->sections_n; i++) {
		const struct draft_section *s = &b->draft->sections[i];

		if (s->kind == SECTION_RESOLVER && !s->has_errors &&
		    r->ttl_min_ms > r->ttl_max_ms)
			ERROR_AT(s, b->errors,
			    "[resolver]: ttl_min is more than ttl_max; lower "
			    "it, or raise ttl_max");
	}
}

static bool
read_sections(struct build *b)
{
	build_heads(b->spec, b->draft, b->errors);
	for (size_t i = 0; i < b->draft->sections_n; i++) {
		struct draft_section *s = &b->draft->sections[i];

		if (s->kind == SECTION_KINDS || s->corrected)
			continue;
		find_keys(b, s);
		if (s->kind != SECTION_DEFAULTS)
			read_section(b, s);
		else if (!read_defaults(b, s))
			return false;
	}
	for (size_t i = 0; i < b->spec->backends_n; i++)
		INDEX_POINTERS(&b->spec->backends[i], servers);
	complete_section(b, SECTION_RESOLVER);
	check_ttls(b);
	return complete_global(b);
}

struct spec *
build_spec(
    struct draft *draft, const struct spec *present, struct err_list *errors)
{
	struct build b = {.draft = draft, .errors = errors};
	const char *file = draft->files_n > 0 ? draft->files[0] : NULL;
	size_t errors_before = errors->n;

	b.spec = calloc(1, sizeof(*b.spec));
	if (!b.spec || !make_objects(&b) || !read_sections(&b))
		err_list_add(errors, file, 0, "out of memory");
	else if (!b.incomplete) {
		build_check(b.spec, draft, errors);
		build_track(b.spec, errors);
		build_lists(b.spec, errors);
		build_tls(b.spec, present, draft, errors);
		build_pools(b.spec);
	}
	if (errors->n != errors_before) {
		spec_free(b.spec);
		return NULL;
	}
	b.spec->files = draft->files;
	b.spec->files_n = draft->files_n;
	draft->files = NULL;
	draft->files_n = 0;
	return b.spec;
}
