/* SPDX-License-Identifier: MIT
 * See diff.h.
 */
#include "config/diff.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/secrets.h"
#include "config/build.h"
#include "config/keys.h"
#include "config/values.h"

void
changes_init(struct changes *changes)
{
	*changes = (struct changes){.n = 0};
}

void
changes_fini(struct changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		free(changes->all[i].text);
	free(changes->all);
	changes_init(changes);
}

void
changes_add(struct changes *changes, bool restart, const char *fmt, ...)
{
	struct change *grown =
	    reallocarray(changes->all, changes->n + 1, sizeof(*grown));
	char *text;
	va_list ap;

	if (!grown)
		return;
	changes->all = grown;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		grown[changes->n++] =
		    (struct change){.text = text, .restart = restart};
}

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
    {&type_sock_switch, sizeof(enum sock_switch)},
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
diff_keep_value(const struct key *key, const void *old, void *new)
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
diff_keep(const struct key *key, const void *old, void *new)
{
	if (!diff_keep_value(key, old, new))
		return false;
	for (const struct key *o = key->options; o && o->name; o++)
		if (!diff_keep_value(o, old, new))
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
	return diff_keep(key, pair->old, pair->new);
}

static bool
same_listen(const void *one, const void *other)
{
	const struct listen_spec *a = one, *b = other;

	return a->both_families == b->both_families &&
	       addr_equal(&a->addr, &b->addr);
}

static bool
same_admin(const void *one, const void *other)
{
	const struct admin_spec *a = one, *b = other;

	return addr_equal(&a->addr, &b->addr);
}

static void
diff_address(const struct pair *pair)
{
	const struct server_spec *old = pair->old, *new = pair->new;
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];

	if (!addr_equal(&old->addr, &new->addr))
		changes_add(pair->changes, false,
		    "%s: %s -> %s, another server", pair->label,
		    addr_text(&old->addr, from), addr_text(&new->addr, to));
}

/* Structs that come in lists: how one is recognized in the other configuration,
 * and what sentences call it. */
struct list_kind {
	size_t size;
	size_t name; /* offset of its name, as in `char *` */
	/* NULL: both have the same name, which no other one has. */
	bool (*same)(const void *one, const void *other);
	void (*diff)(const struct pair *pair); /* beyond its keys; or NULL */
};

static const struct list_kind pool_kind = {.size = sizeof(struct pool_spec)};
static const struct list_kind frontend_kind = {
    .size = sizeof(struct frontend_spec)};
static const struct list_kind backend_kind = {
    .size = sizeof(struct backend_spec)};
static const struct list_kind server_kind = {
    .size = sizeof(struct server_spec), .diff = diff_address};
static const struct list_kind listen_kind = {sizeof(struct listen_spec),
    offsetof(struct listen_spec, text), same_listen, NULL};
static const struct list_kind admin_kind = {sizeof(struct admin_spec),
    offsetof(struct admin_spec, text), same_admin, NULL};

struct value_list {
	const struct list_kind *kind;
	const void *all;
	size_t n;
};

static void *
list_at(const struct value_list *list, size_t i)
{
	return (void *)((uintptr_t)list->all + i * list->kind->size);
}

static const char *
list_name(const struct value_list *list, const void *one)
{
	return *(
	    char *const *)(const void *)((const char *)one + list->kind->name);
}

static bool
list_same(const struct value_list *list, const void *one, const void *other)
{
	return list->kind->same
	           ? list->kind->same(one, other)
	           : strcmp(list_name(list, one), list_name(list, other)) == 0;
}

/* Returns the element of `in` that is the same as the i-th of `of`; where
 * several are, the one that has as many of them before it.  NULL: there is
 * none. */
static void *
counterpart(const struct value_list *of, size_t i, const struct value_list *in)
{
	const void *one = list_at(of, i);
	size_t nth = 0;

	for (size_t j = 0; of->kind->same && j < i; j++)
		nth += list_same(of, list_at(of, j), one);
	for (size_t j = 0; j < in->n; j++)
		if (list_same(in, list_at(in, j), one) && nth-- == 0)
			return list_at(in, j);
	return NULL;
}

static bool diff_keys(const struct pair *pair, const struct key *keys);

/* prefix: what comes before the name of each, in a sentence.  keys: those of
 * one of them. */
static bool
diff_list(const struct pair *pair, const char *prefix, const struct key *keys,
    const struct value_list *old, const struct value_list *new)
{
	char label[VALUE_TEXT_SIZE];

	for (size_t i = 0; i < old->n; i++) {
		struct pair inner = *pair;

		inner.label = label;
		inner.old = list_at(old, i);
		inner.new = counterpart(old, i, new);
		snprintf(label, sizeof(label), "%s%s", prefix,
		    list_name(old, inner.new ? inner.new : inner.old));
		if (!inner.new) {
			changes_add(
			    pair->changes, false, "%s is removed", label);
			continue;
		}
		if (old->kind->diff)
			old->kind->diff(&inner);
		if (!diff_keys(&inner, keys))
			return false;
	}
	for (size_t i = 0; i < new->n; i++)
		if (!counterpart(new, i, old))
			changes_add(pair->changes, false, "%s%s is new", prefix,
			    list_name(new, list_at(new, i)));
	return true;
}

/* The values of a key that is repeatable and has options. */
static bool
diff_values(const struct pair *pair, const struct key *key)
{
	const void *old = pair->old, *new = pair->new;
	char prefix[VALUE_TEXT_SIZE];
	struct value_list was, is;

	snprintf(prefix, sizeof(prefix),
	    key->type == &type_server ? "%s: %s " : "%s: %s: ", pair->label,
	    key->name);
	if (key->type == &type_server) {
		const struct backend_spec *a = old, *b = new;

		was =
		    (struct value_list){&server_kind, a->servers, a->servers_n};
		is =
		    (struct value_list){&server_kind, b->servers, b->servers_n};
	} else if (key->type == &type_listen) {
		const struct frontend_spec *a = old, *b = new;

		was =
		    (struct value_list){&listen_kind, a->listens, a->listens_n};
		is =
		    (struct value_list){&listen_kind, b->listens, b->listens_n};
	} else {
		const struct global_spec *a = old, *b = new;

		was =
		    (struct value_list){&admin_kind, a->admin.all, a->admin.n};
		is = (struct value_list){&admin_kind, b->admin.all, b->admin.n};
	}
	return diff_list(pair, prefix, key->options, &was, &is);
}

static bool
diff_keys(const struct pair *pair, const struct key *keys)
{
	bool ok = true;

	for (const struct key *k = keys; ok && k && k->name; k++) {
		if (k->type == &type_listen || k->type == &type_admin ||
		    k->type == &type_server)
			ok = diff_values(pair, k);
		else if (k->type == &type_sni_rule)
			ok = build_diff_sni(pair->old_spec, pair->old,
			    pair->new_spec, pair->new, pair->label,
			    pair->changes);
		else
			ok = diff_key(pair, k);
	}
	return ok;
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

	return diff_keys(&pair, sections[SECTION_GLOBAL].keys) &&
	       diff_list(&pair, "pool ", NULL,
	           &(struct value_list){&pool_kind, old->pools, old->pools_n},
	           &(struct value_list){
	               &pool_kind, new->pools, new->pools_n}) &&
	       diff_list(&pair, "frontend ", sections[SECTION_FRONTEND].keys,
	           &(struct value_list){
	               &frontend_kind, old->frontends, old->frontends_n},
	           &(struct value_list){
	               &frontend_kind, new->frontends, new->frontends_n}) &&
	       diff_list(&pair, "backend ", sections[SECTION_BACKEND].keys,
	           &(struct value_list){
	               &backend_kind, old->backends, old->backends_n},
	           &(struct value_list){
	               &backend_kind, new->backends, new->backends_n});
}
