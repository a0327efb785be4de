/* SPDX-License-Identifier: MIT
 * See diff.h.
 */
#include "config/diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/secrets.h"
#include "config/build.h"
#include "config/diff_list.h"
#include "config/keys.h"
#include "config/values.h"

/* Two objects of one kind, and how they are called in a sentence. */
struct pair {
	const char *label;
	const struct spec *old_spec, *new_spec;
	const void *old;
	void *new;
	bool files; /* as in config_diff_files */
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

bool
config_diff_keeps(const struct key *key)
{
	return key->type == &type_sock_switch || key->type == &type_switch ||
	       key->type == &type_choice || key->type == &type_user ||
	       key->type == &type_group || key->type == &type_root;
}

/* Copies the value of a key that takes a restart, which has no options. */
static bool
diff_keep(const struct key *key, const void *old, void *new)
{
	const void *from = (const char *)old + key->offset;
	void *to = (char *)new + key->offset;
	char *const *string = from;
	char *copy = NULL;

	ENSURE(config_diff_keeps(key));
	if (key->type == &type_sock_switch || key->type == &type_choice) {
		/* Every enum of the keys has this size. */
		memcpy(to, from, sizeof(enum sock_switch));
		return true;
	}
	if (key->type == &type_switch) {
		memcpy(to, from, sizeof(bool));
		return true;
	}
	if (*string && !(copy = strdup(*string)))
		return false;
	free(*(char **)to);
	*(char **)to = copy;
	return true;
}

/* Prints a value without the comment behind it, as in `auto ; here 2`. */
static bool
print_without_note(const struct shown *shown, char out[VALUE_TEXT_SIZE])
{
	bool there = value_print(shown, out);
	char *note = there ? strstr(out, " ; ") : NULL;

	if (note)
		*note = '\0';
	return there;
}

/* Returns whether the values are the same without a look at their texts. */
static bool
is_same(const struct pair *pair, const struct key *key)
{
	const void *old = (const char *)pair->old + key->offset;
	const void *new = (const char *)pair->new + key->offset;
	const char *const *was = old, *const *is = new;

	if (key->type->print == value_print_string)
		return *was == *is || (*was && *is && strcmp(*was, *is) == 0);
	return key->type->plain > 0 && memcmp(old, new, key->type->plain) == 0;
}

/* Finds the index of the first value that differs.  Returns false if none
 * does. */
static bool
find_difference(const struct pair *pair, const struct key *key, size_t *ret_at)
{
	struct shown was = {
	    .key = key, .object = pair->old, .spec = pair->old_spec};
	struct shown is = {
	    .key = key, .object = pair->new, .spec = pair->new_spec};
	char old[VALUE_TEXT_SIZE], new[VALUE_TEXT_SIZE];

	for (;; was.nth++, is.nth++) {
		bool there = print_without_note(&was, old);

		if (print_without_note(&is, new) != there ||
		    (there && strcmp(old, new) != 0)) {
			*ret_at = was.nth;
			return true;
		}
		if (!there)
			return false;
	}
}

/* Returns whether the value may hold a password, wherever that was written. */
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

/* Returns whether the value's change takes a restart. */
static bool
takes_restart(const struct pair *pair, const struct key *key)
{
	unsigned old, new;

	if (!key->loosens)
		return key->restart;
	memcpy(&old, (const char *)pair->old + key->offset, sizeof(old));
	memcpy(&new, (const char *)pair->new + key->offset, sizeof(new));
	return key->loosens(old, new);
}

/* Adds the change of a key, if there is one.  Shows no passwords: whoever may
 * read the log or the events can read the changes. */
static bool
diff_key(const struct pair *pair, const struct key *key)
{
	char old[SHOWN_SIZE], new[SHOWN_SIZE];
	size_t at;

	if (is_same(pair, key) || !find_difference(pair, key, &at))
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
	if (!takes_restart(pair, key)) {
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

	/* With thousands of listens, nearly all differ in the port. */
	return addr_port(&a->addr) == addr_port(&b->addr) &&
	       a->both_families == b->both_families &&
	       addr_equal(&a->addr, &b->addr);
}

static bool
same_admin(const void *one, const void *other)
{
	const struct admin_spec *a = one, *b = other;

	return addr_equal(&a->addr, &b->addr);
}

/* Returns whether a command has set the server's new address. */
static bool
is_there(const struct changes *changes, const struct server_spec *old,
    const struct server_spec *new)
{
	uint64_t place = server_spec_place(new, NULL);

	for (size_t i = 0; i < changes->moved_n; i++) {
		const struct moved_server *m = &changes->moved[i];

		for (size_t j = 0; m->spec == old && j < m->n; j++)
			if (m->places[j] == place)
				return true;
	}
	return false;
}

static void
diff_address(const struct pair *pair)
{
	const struct server_spec *old = pair->old, *new = pair->new;
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];

	if (old->port_offset == new->port_offset &&
	    addr_equal(&old->addr, &new->addr))
		return;
	if (old->port_offset == new->port_offset) {
		addr_text(&old->addr, from);
		addr_text(&new->addr, to);
	} else {
		snprintf(from, sizeof(from), "%s", old->address);
		snprintf(to, sizeof(to), "%s", new->address);
	}
	changes_add(pair->changes, false, "%s: %s -> %s, %s", pair->label, from,
	    to,
	    is_there(pair->changes, old, new) ? "which a command has set before"
	                                      : "another server");
}

/* Returns whether two servers have no difference, as most have.  The index of a
 * [tls] section says nothing if there are others. */
static bool
same_server(const struct pair *pair)
{
	const struct server_spec *old = pair->old;

	return (!old->tls.is_set || old->tls.value == TLS_OFF) &&
	       server_spec_equal(old, pair->new);
}

static void
diff_set_max(const struct pair *pair)
{
	const struct set_spec *old = pair->old, *new = pair->new;

	if (old->max != new->max)
		changes_add(pair->changes, false,
		    "%s: at most %u -> %u servers", pair->label, old->max,
		    new->max);
}

#define LIST(owner, member)                                                    \
	.all = offsetof(struct owner, member),                                 \
	.n = offsetof(struct owner, member##_n),                               \
	.size = sizeof(*((struct owner *)NULL)->member)

#define INDEXED_LIST(owner, member)                                            \
	{                                                                      \
		LIST(owner, member),                                           \
		    .index = offsetof(struct owner, member##_index)            \
	}

static const struct list_kind pool_list = INDEXED_LIST(spec, pools);
static const struct list_kind tls_list = INDEXED_LIST(spec, tls);
static const struct list_kind address_list = INDEXED_LIST(spec, lists);
static const struct list_kind frontend_list = INDEXED_LIST(spec, frontends);
static const struct list_kind backend_list = INDEXED_LIST(spec, backends);
/* Members of sets are left out: they come and go at run time. */
static const struct list_kind server_list = {
    .all = offsetof(struct backend_spec, servers),
    .n = offsetof(struct backend_spec, singles_n),
    .size = sizeof(struct server_spec *),
    .pointers = true,
    .index = offsetof(struct backend_spec, servers_index),
    .diff = diff_address};
static const struct list_kind set_list = {
    LIST(backend_spec, sets), .diff = diff_set_max};
static const struct list_kind listen_list = {LIST(frontend_spec, listens),
    .name = offsetof(struct listen_spec, text), .same = same_listen,
    .listens = true};
static const struct list_kind admin_list = {
    .all = offsetof(struct global_spec, admin.all),
    .n = offsetof(struct global_spec, admin.n),
    .size = sizeof(struct admin_spec),
    .name = offsetof(struct admin_spec, text),
    .same = same_admin};

static bool diff_keys(const struct pair *pair, const struct key *keys);

/* Returns the i-th of a frontend's listens. */
static const struct listen_spec *
listen_of_frontend(const void *frontend, size_t i)
{
	return list_at(&listen_list, frontend, i);
}

/* Returns how many elements from the i-th on, which has no counterpart, have
 * none either and share its sentence: the ports of a range. */
static size_t
count_missing(const struct list_kind *kind, const struct side *of, size_t i,
    struct side *in)
{
	size_t n = 1;

	while (kind->listens && i + n < list_n(kind, of->owner) &&
	       listen_of_frontend(of->owner, i + n)->in_range &&
	       !list_counterpart(kind, of, i + n, in))
		n++;
	return n;
}

/* Adds a change: n elements from the i-th on are new, or removed. */
static void
add_missing(const struct pair *pair, const char *prefix,
    const struct list_kind *kind, const void *of, size_t i, size_t n)
{
	const char *what = of == pair->new ? "new" : "removed";
	const char *name = list_name(kind, list_at(kind, of, i));
	const struct listen_spec *l;
	char last[8] = "";

	if (!kind->listens || (!listen_of_frontend(of, i)->range &&
	                          !listen_of_frontend(of, i)->in_range)) {
		changes_add(
		    pair->changes, false, "%s%s is %s", prefix, name, what);
		return;
	}
	l = listen_of_frontend(of, i);
	if (n > 1)
		snprintf(last, sizeof(last), "-%u",
		    addr_port(&l[n - 1].addr) & UINT16_MAX);
	changes_add(pair->changes, false, "%s%.*s:%u%s is %s", prefix,
	    (int)(strrchr(name, ':') - name), name, addr_port(&l->addr), last,
	    what);
}

/* Returns whether the differences were told for the ports before these: both
 * are further ports of a range, whose options are those of the first port. */
static bool
is_said_before(const struct list_kind *kind, const void *old, const void *new)
{
	return kind->listens && ((const struct listen_spec *)old)->in_range &&
	       ((const struct listen_spec *)new)->in_range;
}

static bool
diff_element(const struct pair *pair, const char *prefix,
    const struct key *keys, const struct list_kind *kind)
{
	char label[VALUE_TEXT_SIZE];
	struct pair inner = *pair;
	struct changes said;
	bool ok;

	if (kind == &server_list && same_server(pair))
		return true;
	inner.label = label;
	snprintf(
	    label, sizeof(label), "%s%s", prefix, list_name(kind, inner.new));
	if (kind->diff)
		kind->diff(&inner);
	if (!is_said_before(kind, inner.old, inner.new))
		return diff_keys(&inner, keys);
	changes_init(&said);
	inner.changes = &said;
	ok = diff_keys(&inner, keys);
	changes_fini(&said);
	return ok;
}

/* Returns whether the element is a server that a command has added, which the
 * file that was loaded did not have. */
static bool
is_added(
    const struct pair *pair, const struct list_kind *kind, const void *element)
{
	return pair->files && kind == &server_list &&
	       ((const struct server_spec *)element)->added;
}

/* Fills in side->deleted: the servers of the file that commands have deleted.
 * Returns false when memory is short. */
static bool
list_deleted(
    const struct pair *pair, const struct list_kind *kind, struct side *side)
{
	const struct backend_spec *b = side->owner;
	bool ok = true;

	if (!pair->files || kind != &server_list)
		return true;
	for (size_t i = 0; ok && i < b->deleted_n; i++)
		ok = text_table_add(&side->deleted, b->deleted[i], b);
	return ok;
}

static bool
diff_sides(const struct pair *pair, const char *prefix, const struct key *keys,
    const struct list_kind *kind, struct side *old, struct side *new)
{
	const void *there;
	const char *name;
	size_t n;

	if (!list_deleted(pair, kind, old))
		return false;
	for (size_t i = 0; i < list_n(kind, old->owner); i += n) {
		struct pair inner = *pair;

		n = 1;
		inner.old = list_at(kind, old->owner, i);
		if (is_added(pair, kind, inner.old))
			continue;
		inner.new = list_counterpart(kind, old, i, new);
		if (!inner.new) {
			n = count_missing(kind, old, i, new);
			add_missing(pair, prefix, kind, old->owner, i, n);
		} else if (!diff_element(&inner, prefix, keys, kind)) {
			return false;
		}
	}
	for (size_t i = 0; i < list_n(kind, new->owner); i += n) {
		n = 1;
		there = list_counterpart(kind, new, i, old);
		name = list_name(kind, list_at(kind, new->owner, i));
		if ((there && !is_added(pair, kind, there)) ||
		    text_table_find(&old->deleted, name))
			continue;
		n = count_missing(kind, new, i, old);
		add_missing(pair, prefix, kind, new->owner, i, n);
	}
	return true;
}

/* Compares the elements of the lists that the pair's objects have.  prefix:
 * what comes before the name of each, in a sentence.  keys: those of one of
 * them. */
static bool
diff_list(const struct pair *pair, const char *prefix, const struct key *keys,
    const struct list_kind *kind)
{
	struct side old = {.owner = pair->old}, new = {.owner = pair->new};
	bool ok = diff_sides(pair, prefix, keys, kind, &old, &new);

	text_table_clear(&old.listens);
	text_table_clear(&old.deleted);
	text_table_clear(&new.listens);
	return ok;
}

/* Returns the list that the values of a repeatable key with options make, or
 * NULL. */
static const struct list_kind *
list_of_key(const struct key *key)
{
	return key->type == &type_server    ? &server_list
	       : key->type == &type_servers ? &set_list
	       : key->type == &type_listen  ? &listen_list
	       : key->type == &type_admin   ? &admin_list
	                                    : NULL;
}

static bool
diff_values(const struct pair *pair, const struct key *key,
    const struct list_kind *kind)
{
	char prefix[VALUE_TEXT_SIZE];

	snprintf(prefix, sizeof(prefix),
	    kind == &server_list || kind == &set_list ? "%s: %s " : "%s: %s: ",
	    pair->label, key->name);
	return diff_list(pair, prefix, key->options, kind);
}

static bool
diff_keys(const struct pair *pair, const struct key *keys)
{
	bool ok = true;

	for (const struct key *k = keys; ok && k && k->name; k++) {
		const struct list_kind *kind = list_of_key(k);

		if (kind)
			ok = diff_values(pair, k, kind);
		else if (k->type == &type_route_rule &&
		         build_rules_are_names(pair->old) &&
		         build_rules_are_names(pair->new))
			ok = build_diff_sni(pair->old_spec, pair->old,
			    pair->new_spec, pair->new, pair->label,
			    pair->changes);
		else
			ok = diff_key(pair, k);
	}
	return ok;
}

static bool
diff_specs(const struct spec *old, struct spec *new, const struct key *of_pools,
    struct changes *changes)
{
	struct pair all = {.old_spec = old,
	    .new_spec = new,
	    .old = old,
	    .new = new,
	    .files = of_pools,
	    .changes = changes};
	struct pair global = all, resolver = all;

	global.label = "global";
	global.old = &old->global;
	global.new = &new->global;
	resolver.label = "resolver";
	resolver.old = &old->resolver;
	resolver.new = &new->resolver;
	return diff_keys(&global, sections[SECTION_GLOBAL].keys) &&
	       diff_keys(&resolver, sections[SECTION_RESOLVER].keys) &&
	       diff_list(&all, "pool ", of_pools, &pool_list) &&
	       diff_list(&all, "tls ", sections[SECTION_TLS].keys, &tls_list) &&
	       diff_list(
	           &all, "list ", sections[SECTION_LIST].keys, &address_list) &&
	       diff_list(&all, "frontend ", sections[SECTION_FRONTEND].keys,
	           &frontend_list) &&
	       diff_list(&all, "backend ", sections[SECTION_BACKEND].keys,
	           &backend_list);
}

bool
config_diff(const struct spec *old, struct spec *new, struct changes *changes)
{
	return diff_specs(old, new, NULL, changes);
}

bool
config_diff_files(
    const struct spec *old, struct spec *new, struct changes *changes)
{
	return diff_specs(old, new, sections[SECTION_POOL].keys, changes);
}
