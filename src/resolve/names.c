/* SPDX-License-Identifier: MIT
 * See names.h.
 */
#include "resolve/names.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"

struct names {
	struct dns *dns;
	void (*wake)(void *arg);
	void *arg;
	struct renewal_settings settings;
	struct list all;
	void *tree; /* tsearch(3) of all */
	struct list changed;
	size_t n;
	uint64_t failures;
	uint64_t random;
};

const struct name_mode_texts name_modes[NAME_MODES] = {
#define X(id, kind, resolve) [id] = {kind, resolve},
    NAME_MODES_TABLE(X)
#undef X
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

/* -- the table -- */

struct names *
names_new(struct dns *dns, void (*wake)(void *arg), void *arg)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	/* The address seeds the random pauses, so that processes differ. */
	*names = (struct names){.dns = dns,
	    .wake = wake,
	    .arg = arg,
	    .settings = {.ttl_max_ms = UINT64_MAX, .hold_ms = RENEWAL_FOREVER},
	    .random = (uintptr_t)names};
	list_init(&names->all);
	list_init(&names->changed);
	return names;
}

static void
name_remove(struct name *n)
{
	dns_cancel(n->lookup);
	(void)tdelete(n, &n->names->tree, name_compare);
	n->names->n--;
	list_remove(&n->node);
	list_remove(&n->changed);
	dns_answer_fini(&n->answer);
	free(n->users);
	free(n);
}

void
names_free(struct names *names)
{
	if (!names)
		return;
	list_for_each_safe (node, &names->all)
		name_remove(container_of(node, struct name, node));
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
	n->names = names;
	n->host = strcpy((char *)(n + 1), host);
	n->family = family;
	n->mode = mode;
	list_init(&n->changed);
	if (!tsearch(n, &names->tree, name_compare)) {
		free(n);
		return NULL;
	}
	list_append(&names->all, &n->node);
	names->n++;
	return n;
}

void
names_sweep(struct names *names)
{
	list_for_each_safe (node, &names->all) {
		struct name *n = container_of(node, struct name, node);

		if (n->users_n == 0)
			name_remove(n);
	}
}

struct name *
names_next(const struct names *names, const struct name *name)
{
	struct list *next = name ? name->node.next : names->all.next;

	return next == &names->all ? NULL
	                           : container_of(next, struct name, node);
}

size_t
names_count(const struct names *names)
{
	return names->n;
}

uint64_t
names_failures(const struct names *names)
{
	return names->failures;
}

/* -- questions -- */

void
name_has_changed(struct name *name)
{
	if (list_empty(&name->changed))
		list_append(&name->names->changed, &name->changed);
	name->names->wake(name->names->arg);
}

static void
name_has_failed(struct name *n, enum dns_error error, uint64_t now_ms)
{
	if (n->renewal.error != error || !name_mode_is_servers(n->mode))
		name_has_changed(n);
	renewal_fail(&n->renewal, error, now_ms, &n->names->random);
	n->names->failures++;
	n->names->wake(n->names->arg);
}

static void
on_name_answer(void *arg, struct dns_answer *answer)
{
	names_answer(arg, answer, clock_now_ms());
}

static void
name_ask(struct name *n, uint64_t now_ms)
{
	renewal_begin(&n->renewal);
	n->lookup = dns_look_up(n->names->dns, n->host,
	    n->mode == NAME_OF_SERVICE ? DNS_SERVICE : n->family,
	    on_name_answer, n);
	if (!n->lookup)
		name_has_failed(n, DNS_NO_MEMORY, now_ms);
}

struct name *
names_want(struct names *names, const char *host, int family,
    enum name_mode mode, bool afresh, uint64_t now_ms)
{
	struct name *n = names_find(names, host, family, mode);
	bool new = !n;

	if (new)
		n = names_add(names, host, family, mode);
	if (!n || n->renewal.asked || !(new || afresh))
		return n;
	n->renewal.pause_ms = 0;
	name_ask(n, now_ms);
	return n;
}

struct name *
names_give(struct names *names, const char *host, struct dns_answer *answer,
    uint64_t now_ms)
{
	struct name *n = names_find(names, host, AF_UNSPEC, NAME_OF_TARGET);

	if (!n)
		n = names_add(names, host, AF_UNSPEC, NAME_OF_TARGET);
	if (!n)
		return NULL;
	dns_cancel(n->lookup);
	names_answer(n, answer, now_ms);
	n->renewal.ask_at_ms = 0;
	return n;
}

/* -- answers -- */

/* Adds the former addresses of the family whose question has failed to the
 * answer.  Returns false when memory is short. */
static bool
keep_family(struct name *n, struct dns_answer *answer, uint64_t now_ms)
{
	size_t answered = answer->addrs_n;

	if (n->stale_family != answer->failed_family)
		n->stale_ms = 0;
	n->stale_family = answer->failed_family;
	for (size_t i = 0; n->stale_family && i < n->answer.addrs_n; i++)
		if (n->answer.addrs[i].sa.sa_family == n->stale_family &&
		    !dns_answer_add(answer, &n->answer.addrs[i]))
			return false;
	if (answer->addrs_n == answered)
		n->stale_ms = 0;
	else if (n->stale_ms == 0)
		n->stale_ms = now_ms > 0 ? now_ms : 1;
	return true;
}

/* Returns whether both have the same addresses, in any order. */
static bool
same_addrs(const struct dns_answer *a, const struct dns_answer *b)
{
	if (a->addrs_n != b->addrs_n)
		return false;
	for (size_t i = 0; i < a->addrs_n; i++)
		if (!dns_addrs_have(b->addrs, b->addrs_n, &a->addrs[i]))
			return false;
	return true;
}

void
names_answer(struct name *name, struct dns_answer *answer, uint64_t now_ms)
{
	bool servers = name_mode_is_servers(name->mode);
	struct renewal *r = &name->renewal;

	name->lookup = NULL;
	if (answer->error == DNS_OK && !keep_family(name, answer, now_ms))
		answer->error = DNS_NO_MEMORY;
	if (answer->error != DNS_OK) {
		name_has_failed(name, answer->error, now_ms);
		return;
	}
	if ((!servers && name->mode != NAME_OF_TARGET) || r->error != DNS_OK ||
	    !r->known || !same_addrs(answer, &name->answer))
		name_has_changed(name);
	dns_answer_fini(&name->answer);
	name->answer = *answer;
	*answer = (struct dns_answer){.error = DNS_OK};
	renewal_answer(r, &name->names->settings, name->answer.ttl_s,
	    name->mode >= NAME_FOLLOWED, now_ms, &name->names->random);
	if (name->mode == NAME_OF_MEMBERS && name->answer.failed_family) {
		r->error = name->answer.failed_error;
		r->failures++;
	}
	name->logged = DNS_OK;
	name->names->wake(name->names->arg);
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
	const struct dns_answer *a = &name->answer;

	if (!name->renewal.known || a->addrs_n == 0)
		return NULL;
	for (size_t i = 0; i < a->addrs_n; i++)
		if (dns_addrs_have(&a->addrs[i], 1, present))
			return &a->addrs[i];
	for (size_t i = 0; i < a->addrs_n; i++)
		if (a->addrs[i].sa.sa_family == preferred)
			return &a->addrs[i];
	return &a->addrs[0];
}

/* -- time -- */

static uint64_t
earlier(uint64_t a_ms, uint64_t b_ms)
{
	return a_ms == 0 || (b_ms != 0 && b_ms < a_ms) ? b_ms : a_ms;
}

/* Drops the addresses of a family whose question has failed for the time of
 * hold.  Returns when they lapse; 0: there are none. */
static uint64_t
stale_tick(
    struct name *n, const struct renewal_settings *settings, uint64_t now_ms)
{
	struct dns_answer *a = &n->answer;
	size_t left = 0;

	if (n->stale_ms == 0 || settings->hold_ms == RENEWAL_FOREVER)
		return 0;
	if (now_ms < n->stale_ms + settings->hold_ms)
		return n->stale_ms + settings->hold_ms;
	for (size_t i = 0; i < a->addrs_n; i++)
		if (a->addrs[i].sa.sa_family != n->stale_family)
			a->addrs[left++] = a->addrs[i];
	a->addrs_n = left;
	n->stale_ms = 0;
	name_has_changed(n);
	return 0;
}

static uint64_t
name_tick(struct name *n, uint64_t now_ms)
{
	/* Answers lapse for followed names alone: other names are not asked for
	 * often enough. */
	static const struct renewal_settings kept = {
	    .hold_ms = RENEWAL_FOREVER};
	const struct renewal_settings *settings =
	    n->mode >= NAME_FOLLOWED ? &n->names->settings : &kept;
	uint64_t stale_ms = stale_tick(n, settings, now_ms);

	if (renewal_lapsed(&n->renewal, settings, now_ms)) {
		dns_answer_fini(&n->answer);
		n->stale_ms = stale_ms = 0;
		name_has_changed(n);
	}
	if (renewal_is_due(&n->renewal, now_ms))
		name_ask(n, now_ms);
	return earlier(stale_ms, renewal_next_ms(&n->renewal, settings));
}

uint64_t
names_tick(struct names *names, uint64_t now_ms)
{
	uint64_t first_ms = 0;

	names_for_each (n, names)
		first_ms = earlier(first_ms, name_tick(n, now_ms));
	return first_ms;
}

/* -- users -- */

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
	if (!name)
		return;
	for (size_t i = 0; i < name->users_n; i++)
		if (name->users[i] == user) {
			name->users[i] = name->users[--name->users_n];
			break;
		}
	if (name->users_n == 0)
		name_remove(name);
}

void
names_clear_servers(struct names *names)
{
	names_for_each (n, names)
		if (name_mode_is_servers(n->mode))
			n->users_n = 0;
}
