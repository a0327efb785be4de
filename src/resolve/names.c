/* SPDX-License-Identifier: MIT
 * See names.h.
 */
#include "resolve/names.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct names {
	names_look_up *look_up;
	void *resolver;
	struct renewal_settings settings;
	struct name *first; /* of all */
	void *tree;         /* tsearch(3) of all */
	struct list changed;
	size_t n;
	uint64_t random;
};

static int
name_compare(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->family != y->family)
		return x->family - y->family;
	if (x->mode != y->mode)
		return (int)x->mode - (int)y->mode;
	return strcmp(x->host, y->host);
}

struct names *
names_new(names_look_up *look_up, void *resolver)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	/* The address seeds the random pauses, so that processes differ. */
	*names = (struct names){.look_up = look_up,
	    .resolver = resolver,
	    .settings = {.ttl_max_ms = UINT64_MAX, .hold_ms = RENEWAL_FOREVER},
	    .random = (uintptr_t)names};
	list_init(&names->changed);
	return names;
}

static void
name_free(void *name)
{
	struct name *n = name;

	list_remove(&n->changed);
	free(n->addrs);
	free(n->users);
	free(n);
}

void
names_free(struct names *names)
{
	if (!names)
		return;
	tdestroy(names->tree, name_free);
	free(names);
}

void
names_set(struct names *names, const struct renewal_settings *settings)
{
	names->settings = *settings;
}

struct name *
names_find(const struct names *names, const char *host, int family,
    enum name_mode mode)
{
	const struct name key = {.host = host, .family = family, .mode = mode};
	struct name *const *found = tfind(&key, &names->tree, name_compare);

	return found ? *found : NULL;
}

static struct name *
names_add(
    struct names *names, const char *host, int family, enum name_mode mode)
{
	struct name *n = calloc(1, sizeof(*n) + strlen(host) + 1);

	if (!n)
		return NULL;
	n->host = strcpy((char *)(n + 1), host);
	n->family = family;
	n->mode = mode;
	list_init(&n->changed);
	if (!tsearch(n, &names->tree, name_compare)) {
		free(n);
		return NULL;
	}
	n->next = names->first;
	names->first = n;
	names->n++;
	return n;
}

static void
name_has_changed(struct names *names, struct name *name)
{
	if (list_empty(&name->changed))
		list_append(&names->changed, &name->changed);
}

static void
name_has_failed(struct names *names, struct name *name, enum dns_error error,
    uint64_t now_ms)
{
	if (name->renewal.error != error)
		name_has_changed(names, name);
	renewal_fail(&name->renewal, error, now_ms, &names->random);
	if (name->dropped)
		name->renewal.ask_at_ms = 0;
}

static void
names_ask(struct names *names, struct name *name, uint64_t now_ms)
{
	renewal_begin(&name->renewal);
	if (!names->look_up(names->resolver, name->host, name->family, name))
		name_has_failed(names, name, DNS_NO_MEMORY, now_ms);
}

struct name *
names_want(struct names *names, const char *host, int family,
    enum name_mode mode, bool afresh, uint64_t now_ms)
{
	struct name *n = names_find(names, host, family, mode);
	bool new = !n;

	if (new)
		n = names_add(names, host, family, mode);
	if (n)
		n->dropped = false;
	if (!n || n->renewal.asked || !(new || afresh))
		return n;
	n->renewal.pause_ms = 0;
	names_ask(names, n, now_ms);
	return n;
}

/* Returns whether all addresses of a are in b, in any order. */
static bool
addrs_within(const struct addr *a, size_t a_n, const struct addr *b, size_t b_n)
{
	for (size_t i = 0; i < a_n; i++)
		if (!dns_addrs_have(b, b_n, &a[i]))
			return false;
	return true;
}

/* Takes the answer's addresses, and keeps those of a family whose question
 * failed.  Returns false when memory is short. */
static bool
name_take_addrs(
    struct names *names, struct name *name, const struct dns_answer *answer)
{
	size_t n = answer->addrs_n;
	struct addr *addrs = calloc(n + name->addrs_n + 1, sizeof(*addrs));

	if (!addrs)
		return false;
	if (n > 0)
		memcpy(addrs, answer->addrs, n * sizeof(*addrs));
	for (size_t i = 0; i < name->addrs_n; i++)
		if (answer->failed_family &&
		    name->addrs[i].sa.sa_family == answer->failed_family)
			addrs[n++] = name->addrs[i];
	if (n != name->addrs_n ||
	    !addrs_within(addrs, n, name->addrs, name->addrs_n))
		name_has_changed(names, name);
	free(name->addrs);
	name->addrs = addrs;
	name->addrs_n = n;
	return true;
}

void
names_answer(struct names *names, struct name *name,
    const struct dns_answer *answer, uint64_t now_ms)
{
	struct renewal *r = &name->renewal;

	if (answer->error != DNS_OK) {
		name_has_failed(names, name, answer->error, now_ms);
		return;
	}
	if (!name_take_addrs(names, name, answer)) {
		name_has_failed(names, name, DNS_NO_MEMORY, now_ms);
		return;
	}
	if (r->error != DNS_OK || !r->known)
		name_has_changed(names, name);
	renewal_answer(r, &names->settings, answer->ttl_s,
	    name->mode == NAME_FOLLOWED && !name->dropped, now_ms,
	    &names->random);
	name->logged = DNS_OK;
}

/* Returns the settings for the name.  Only followed names are asked for often
 * enough for their answers to lapse. */
static const struct renewal_settings *
name_settings_of(const struct names *names, const struct name *name)
{
	static const struct renewal_settings kept = {
	    .hold_ms = RENEWAL_FOREVER};

	return name->mode == NAME_FOLLOWED ? &names->settings : &kept;
}

static uint64_t
name_tick(struct names *names, struct name *name, uint64_t now_ms)
{
	const struct renewal_settings *settings = name_settings_of(names, name);

	if (name->dropped)
		return 0;
	if (renewal_lapsed(&name->renewal, settings, now_ms)) {
		free(name->addrs);
		name->addrs = NULL;
		name->addrs_n = 0;
		name_has_changed(names, name);
	}
	if (renewal_is_due(&name->renewal, now_ms))
		names_ask(names, name, now_ms);
	return renewal_next_ms(&name->renewal, settings);
}

uint64_t
names_tick(struct names *names, uint64_t now_ms)
{
	uint64_t first_ms = 0;

	for (struct name *n = names->first; n; n = n->next) {
		uint64_t next_ms = name_tick(names, n, now_ms);

		if (next_ms != 0 && (first_ms == 0 || next_ms < first_ms))
			first_ms = next_ms;
	}
	return first_ms;
}

struct name *
names_take_changed(struct names *names)
{
	struct list *node = names->changed.next;

	if (list_empty(&names->changed))
		return NULL;
	list_remove(node);
	return container_of(node, struct name, changed);
}

const struct addr *
name_choose(const struct name *name, int preferred, const struct addr *present)
{
	if (!name->renewal.known || name->addrs_n == 0)
		return NULL;
	for (size_t i = 0; i < name->addrs_n; i++)
		if (dns_addrs_have(&name->addrs[i], 1, present))
			return &name->addrs[i];
	for (size_t i = 0; i < name->addrs_n; i++)
		if (name->addrs[i].sa.sa_family == preferred)
			return &name->addrs[i];
	return &name->addrs[0];
}

bool
name_add_user(struct name *name, void *user)
{
	void *room =
	    grow(name->users, name->users_n, &name->users_room, sizeof(void *));

	if (!room)
		return false;
	name->users = room;
	name->users[name->users_n++] = user;
	return true;
}

void
name_drop_user(struct name *name, const void *user)
{
	for (size_t i = 0; i < name->users_n; i++)
		if (name->users[i] == user) {
			name->users[i] = name->users[--name->users_n];
			return;
		}
}

void
names_clear_users(struct names *names)
{
	for (struct name *n = names->first; n; n = n->next)
		n->users_n = 0;
}

void
names_keep(struct name *name)
{
	name->kept = true;
}

void
names_sweep(struct names *names)
{
	struct name **link = &names->first, *n;

	while ((n = *link)) {
		if (!n->kept && !n->renewal.asked) {
			*link = n->next;
			(void)tdelete(n, &names->tree, name_compare);
			names->n--;
			name_free(n);
			continue;
		}
		n->dropped = !n->kept;
		n->kept = false;
		link = &n->next;
	}
}

struct name *
names_first(const struct names *names)
{
	return names->first;
}

size_t
names_count(const struct names *names)
{
	return names->n;
}
