/* SPDX-License-Identifier: MIT
 * See diff.h.
 */
#include "config/diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/secrets.h"
#include "config/build_sni.h"
#include "config/keys.h"
#include "config/values.h"

/* Two objects of one kind, and how they are called in a sentence. */
struct pair {
	const char *label;
	const struct spec *old_spec, *new_spec;
	const void *old;
	void *new;
	struct changes *changes;
};

/* Writes all values of a key from index `from` on, separated by commas. Returns
 * false when they do not fit; the last ones are missing then. */
#define SHOWN_SIZE 2048

static bool
show(const struct key *key, const void *object, const struct spec *spec,
    size_t from, char out[SHOWN_SIZE])
{
	struct shown s = {
	    .key = key, .object = object, .spec = spec, .nth = from};
	char text[VALUE_TEXT_SIZE], *masked;
	size_t len = from > 0 ? strlen(strcpy(out, "...")) : 0;

	for (; value_print(&s, text); s.nth++) {
		if (len < SHOWN_SIZE)
			len += (size_t)snprintf(out + len, SHOWN_SIZE - len,
			    "%s%s", s.nth > 0 ? ", " : "",
			    secrets_mask(text, &masked));
		else
			masked = NULL;
		free(masked);
	}
	if (len == 0)
		snprintf(out, SHOWN_SIZE, "(%s)",
		    key->default_note ? key->default_note : "none");
	return len < SHOWN_SIZE;
}

/* Types whose whole value is stored at the key's offset.  Only keys of these
 * types may take a restart. */
static const struct {
	const struct value_type *type;
	size_t size; /* 0: a string */
} plain_types[] = {
    {&type_auto_number, sizeof(unsigned)},
    {&type_switch, sizeof(enum sock_switch)},
    {&type_user, 0},
    {&type_group, 0},
};

#define PLAIN_TYPES (sizeof(plain_types) / sizeof(plain_types[0]))

bool
config_diff_keeps(const struct key *key, size_t *ret_size)
{
	for (size_t i = 0; i < PLAIN_TYPES; i++) {
		if (plain_types[i].type != key->type)
			continue;
		*ret_size = plain_types[i].size;
		return true;
	}
	return false;
}

static bool
keep_value(const struct key *key, const void *old, void *new)
{
	const char *from = (const char *)old + key->offset;
	char *to = (char *)new + key->offset;
	char *const *string = (const void *)from;
	char *copy = NULL;
	size_t size;

	ENSURE(config_diff_keeps(key, &size));
	if (size > 0) {
		memcpy(to, from, size);
		return true;
	}
	if (*string && !(copy = strdup(*string)))
		return false;
	free(*(char **)(void *)to);
	*(char **)(void *)to = copy;
	return true;
}

/* The value and its options. */
static bool
keep(const struct key *key, const void *old, void *new)
{
	if (!keep_value(key, old, new))
		return false;
	for (const struct key *o = key->options; o && o->name; o++)
		if (!keep_value(o, old, new))
			return false;
	return true;
}

/* The number of the first value that is not the same; false: all are. */
static bool
find_difference(const struct pair *pair, const struct key *key, size_t *ret_at)
{
	struct shown was = {
	    .key = key, .object = pair->old, .spec = pair->old_spec};
	struct shown is = {
	    .key = key, .object = pair->new, .spec = pair->new_spec};
	char old[VALUE_TEXT_SIZE], new[VALUE_TEXT_SIZE];

	for (;; was.nth++, is.nth++) {
		bool there = value_print(&was, old);

		if (value_print(&is, new) != there ||
		    (there && strcmp(old, new) != 0)) {
			*ret_at = was.nth;
			return true;
		}
		if (!there)
			return false;
	}
}

/* Whether the value may hold a password, wherever that was written. */
static bool
holds_password(const struct key *key, const void *object)
{
	const char *at = (const char *)object + key->offset;
	char *const *text = (const void *)at;

	if (key->type == &type_agent)
		return ((const struct agent_spec *)(const void *)at)->send.n >
		       0;
	if (key->type == &type_server_defaults)
		return *text && strstr(*text, "agent_send=");
	return key->type->traits & VALUE_SECRET;
}

/* Everyone who may read the log or the events reads the changes, too. */
static bool
diff_key(const struct pair *pair, const struct key *key)
{
	char old[SHOWN_SIZE], new[SHOWN_SIZE];
	size_t at;

	if (!find_difference(pair, key, &at))
		return true;
	if (holds_password(key, pair->old) || holds_password(key, pair->new)) {
		changes_add(pair->changes, false,
		    "%s: %s: changed (it may hold a password, so its values "
		    "are not shown)",
		    pair->label, key->name);
		return true;
	}
	if (!show(key, pair->old, pair->old_spec, 0, old) ||
	    !show(key, pair->new, pair->new_spec, 0, new)) {
		/* The values do not fit: show them from the first difference
		 * on. */
		(void)show(key, pair->old, pair->old_spec, at, old);
		(void)show(key, pair->new, pair->new_spec, at, new);
	}
	if (strcmp(old, new) == 0) {
		changes_add(pair->changes, false,
		    "%s: %s: changed (a secret in it is another)", pair->label,
		    key->name);
		return true;
	}
	if (!key->restart) {
		changes_add(pair->changes, false, "%s: %s: %s -> %s",
		    pair->label, key->name, old, new);
		return true;
	}
	changes_add(pair->changes, true,
	    "%s: %s: %s -> %s takes a restart; it stays %s", pair->label,
	    key->name, old, new, old);
	return keep(key, pair->old, pair->new);
}

static bool
diff_options(const struct pair *pair, const struct key *options)
{
	for (const struct key *o = options; o && o->name; o++)
		if (!diff_key(pair, o))
			return false;
	return true;
}

static const struct key *
find_key(enum section_kind kind, const char *name)
{
	enum section_kind home;

	return key_find(kind, name, &home);
}

static bool
same_listen(const void *one, const void *other)
{
	const struct listen_spec *a = one, *b = other;

	return a->both_families == b->both_families &&
	       addr_equal(&a->addr, &b->addr);
}

static const char *
listen_text(const void *listen)
{
	return ((const struct listen_spec *)listen)->text;
}

static bool
same_admin(const void *one, const void *other)
{
	const struct admin_spec *a = one, *b = other;

	return addr_equal(&a->addr, &b->addr);
}

static const char *
admin_text(const void *admin)
{
	return ((const struct admin_spec *)admin)->text;
}

/* Values of a repeatable key that are told apart by their address. */
struct place_kind {
	size_t size;
	bool (*same)(const void *one, const void *other);
	const char *(*text)(const void *one);
};

static const struct place_kind listen_kind = {
    sizeof(struct listen_spec), same_listen, listen_text};
static const struct place_kind admin_kind = {
    sizeof(struct admin_spec), same_admin, admin_text};

struct places {
	const struct place_kind *kind;
	void *all;
	size_t n;
};

static void *
place_at(const struct places *places, size_t i)
{
	return (char *)places->all + i * places->kind->size;
}

/* How many of the first n are the same. */
static size_t
count_places(const struct places *places, size_t n, const void *one)
{
	size_t same = 0;

	for (size_t i = 0; i < n; i++)
		same += places->kind->same(place_at(places, i), one);
	return same;
}

/* The one that is in the same place among its like; NULL: there is none. */
static void *
counterpart(const struct places *of, size_t i, const struct places *in)
{
	const void *one = place_at(of, i);
	size_t nth = count_places(of, i, one);

	for (size_t j = 0; j < in->n; j++)
		if (in->kind->same(place_at(in, j), one) && nth-- == 0)
			return place_at(in, j);
	return NULL;
}

static bool
diff_places(const struct pair *pair, const struct key *key,
    const struct places *old, const struct places *new)
{
	const struct place_kind *kind = old->kind;
	char label[VALUE_TEXT_SIZE];

	for (size_t i = 0; i < old->n; i++) {
		const void *was = place_at(old, i);
		void *is = counterpart(old, i, new);
		struct pair options = *pair;

		if (!is) {
			changes_add(pair->changes, false,
			    "%s: %s: %s is removed", pair->label, key->name,
			    kind->text(was));
			continue;
		}
		snprintf(label, sizeof(label), "%s: %s: %s", pair->label,
		    key->name, kind->text(is));
		options.label = label;
		options.old = was;
		options.new = is;
		if (!diff_options(&options, key->options))
			return false;
	}
	for (size_t i = 0; i < new->n; i++)
		if (!counterpart(new, i, old))
			changes_add(pair->changes, false, "%s: %s: %s is new",
			    pair->label, key->name,
			    kind->text(place_at(new, i)));
	return true;
}

static bool
diff_listens(const struct pair *pair, const struct key *key)
{
	const struct frontend_spec *old = pair->old, *new = pair->new;
	const struct places was = {&listen_kind, old->listens, old->listens_n};
	const struct places is = {&listen_kind, new->listens, new->listens_n};

	return diff_places(pair, key, &was, &is);
}

static bool
diff_admins(const struct pair *pair, const struct key *key)
{
	const struct global_spec *old = pair->old, *new = pair->new;
	const struct places was = {&admin_kind, old->admin.all, old->admin.n};
	const struct places is = {&admin_kind, new->admin.all, new->admin.n};

	return diff_places(pair, key, &was, &is);
}

static struct server_spec *
find_server(const struct backend_spec *backend, const char *name)
{
	for (size_t i = 0; i < backend->servers_n; i++)
		if (strcmp(backend->servers[i].name, name) == 0)
			return &backend->servers[i];
	return NULL;
}

static bool
diff_server(const struct pair *pair, const struct server_spec *old,
    struct server_spec *new)
{
	const struct key *key = find_key(SECTION_BACKEND, "server");
	struct pair options = *pair;
	char label[VALUE_TEXT_SIZE], from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];

	if (!addr_equal(&old->addr, &new->addr))
		changes_add(pair->changes, false,
		    "%s: server %s: %s -> %s, another server", pair->label,
		    new->name, addr_text(&old->addr, from),
		    addr_text(&new->addr, to));
	snprintf(label, sizeof(label), "%s: server %s", pair->label, new->name);
	options.label = label;
	options.old = old;
	options.new = new;
	return diff_options(&options, key->options);
}

static bool
diff_servers(const struct pair *pair)
{
	const struct backend_spec *old = pair->old, *new = pair->new;

	for (size_t i = 0; i < old->servers_n; i++) {
		const char *name = old->servers[i].name;
		struct server_spec *now = find_server(new, name);

		if (!now)
			changes_add(pair->changes, false,
			    "%s: server %s is removed", pair->label, name);
		else if (!diff_server(pair, &old->servers[i], now))
			return false;
	}
	for (size_t i = 0; i < new->servers_n; i++)
		if (!find_server(old, new->servers[i].name))
			changes_add(pair->changes, false,
			    "%s: server %s is new", pair->label,
			    new->servers[i].name);
	return true;
}

static bool
diff_keys(const struct pair *pair, enum section_kind kind)
{
	enum section_kind home;
	const struct key *k;
	size_t position = 0;
	bool ok = true;

	while (ok && (k = key_next(kind, &position, &home))) {
		if (k->type == &type_listen)
			ok = diff_listens(pair, k);
		else if (k->type == &type_admin)
			ok = diff_admins(pair, k);
		else if (k->type == &type_server)
			ok = diff_servers(pair);
		else if (k->type == &type_sni_rule)
			ok = build_diff_sni(pair->old_spec, pair->old,
			    pair->new_spec, pair->new, pair->label,
			    pair->changes);
		else
			ok = diff_key(pair, k);
	}
	return ok;
}

/* The sections of a kind, which all begin with their name. */
struct sections {
	enum section_kind kind;
	size_t size;
	const void *old;
	size_t old_n;
	void *new;
	size_t new_n;
};

static const char *
name_of(const void *object)
{
	return *(char *const *)object;
}

static void *
find_section(const void *all, size_t n, size_t size, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		const void *object = (const char *)all + i * size;

		if (strcmp(name_of(object), name) == 0)
			return (void *)(uintptr_t)object;
	}
	return NULL;
}

static bool
diff_sections(const struct sections *s, const struct pair *both, bool with_keys)
{
	const char *kind = sections[s->kind].name;
	char label[VALUE_TEXT_SIZE];

	for (size_t i = 0; i < s->old_n; i++) {
		struct pair pair = *both;

		pair.old = (const char *)s->old + i * s->size;
		pair.new =
		    find_section(s->new, s->new_n, s->size, name_of(pair.old));
		snprintf(
		    label, sizeof(label), "%s %s", kind, name_of(pair.old));
		pair.label = label;
		if (!pair.new)
			changes_add(
			    both->changes, false, "%s is removed", label);
		else if (with_keys && !diff_keys(&pair, s->kind))
			return false;
	}
	for (size_t i = 0; i < s->new_n; i++) {
		const char *name = name_of((char *)s->new + i * s->size);

		if (!find_section(s->old, s->old_n, s->size, name))
			changes_add(
			    both->changes, false, "%s %s is new", kind, name);
	}
	return true;
}

bool
config_diff(const struct spec *old, struct spec *new, struct changes *changes)
{
	struct pair pair = {.label = "global",
	    .old_spec = old,
	    .new_spec = new,
	    .old = &old->global,
	    .new = &new->global,
	    .changes = changes};
	struct sections pools = {SECTION_POOL, sizeof(*new->pools), old->pools,
	    old->pools_n, new->pools, new->pools_n};
	struct sections frontends = {SECTION_FRONTEND, sizeof(*new->frontends),
	    old->frontends, old->frontends_n, new->frontends, new->frontends_n};
	struct sections backends = {SECTION_BACKEND, sizeof(*new->backends),
	    old->backends, old->backends_n, new->backends, new->backends_n};

	return diff_keys(&pair, SECTION_GLOBAL) &&
	       diff_sections(&pools, &pair, false) &&
	       diff_sections(&frontends, &pair, true) &&
	       diff_sections(&backends, &pair, true);
}
