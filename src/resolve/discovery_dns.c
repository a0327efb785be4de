/* SPDX-License-Identifier: MIT
 * See discovery_dns.h.
 *
 *   name --> records --> (SRV) names of targets --> members --> on_members
 */
#include "resolve/discovery_dns.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define KEY_SIZE  (ADDR_HOST_SIZE + 8)
#define WHY_SIZE  (2 * ADDR_HOST_SIZE + 160)
#define TEXT_SIZE 32

struct dns_member {
	struct addr addr; /* with the port */
	char key[KEY_SIZE], address[ADDR_TEXT_SIZE], options[TEXT_SIZE];
};

struct member_list {
	struct dns_member *all;
	size_t n;
};

struct dns_source {
	struct discovery discovery;
	struct name *name;
	unsigned port;
	struct member_list members; /* as reported last */
	/* The name of each SRV record's target; NULL: an earlier record has the
	 * same target. */
	struct name **targets;
	size_t targets_n;
	bool target_changed;        /* since the last report */
	bool known;                 /* the name, at the last report */
	uint64_t answers, failures; /* of the name, at the last report */
};

static const struct dns_member *
find_member(const struct member_list *list, const char *key)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->all[i].key, key) == 0)
			return &list->all[i];
	return NULL;
}

/* -- targets of SRV records -- */

/* Returns the number of the first record with the target. */
static size_t
first_of_target(const struct dns_answer *answer, const char *target)
{
	size_t first = 0;

	while (strcmp(answer->srvs[first].target, target) != 0)
		first++;
	return first;
}

/* Gives the name of the target the addresses that came along, or begins to look
 * it up unless it is followed already.  Returns NULL when memory is short. */
static struct name *
follow_target(const struct name *service, size_t srv, uint64_t now_ms)
{
	const struct dns_answer *a = &service->answer;
	struct dns_answer along = {.ttl_s = a->ttl_s};
	const char *host = a->srvs[srv].target;
	struct name *target;

	for (size_t i = 0; i < a->extras_n; i++)
		if (a->extras[i].srv == srv)
			(void)dns_answer_add(&along, &a->extras[i].addr);
	if (along.addrs_n > 0) {
		target = names_give(service->names, host, &along, now_ms);
		dns_answer_fini(&along);
		return target;
	}
	target = names_want(
	    service->names, host, AF_UNSPEC, NAME_OF_TARGET, false, now_ms);
	return target && target->renewal.ask_at_ms == 0
	           ? names_want(service->names, host, AF_UNSPEC, NAME_OF_TARGET,
	                 true, now_ms)
	           : target;
}

static void
drop_targets(struct name **targets, size_t n, const struct dns_source *s)
{
	for (size_t i = 0; i < n; i++)
		name_drop_user(targets[i], s);
	free(targets);
}

/* Follows the targets of the records that the name has now, instead of the
 * former ones.  Returns false when memory is short. */
static bool
follow_targets(struct dns_source *s)
{
	const struct dns_answer *a = &s->name->answer;
	struct name **before = s->targets;
	size_t before_n = s->targets_n;
	bool ok;

	s->targets = calloc(a->srvs_n + 1, sizeof(struct name *));
	s->targets_n = s->targets ? a->srvs_n : 0;
	ok = s->targets != NULL;
	for (size_t i = 0; i < s->targets_n; i++) {
		struct name *target;

		if (first_of_target(a, a->srvs[i].target) < i)
			continue;
		target = follow_target(s->name, i, clock_now_ms());
		if (target && name_add_user(target, s))
			s->targets[i] = target;
		else
			ok = false;
	}
	drop_targets(before, before_n, s);
	return ok;
}

/* Returns whether a target is looked up for the first time: the list without it
 * would be wrong. */
static bool
is_incomplete(const struct dns_source *s)
{
	for (size_t i = 0; i < s->targets_n; i++) {
		const struct name *target = s->targets[i];

		if (target && !target->renewal.ever &&
		    target->renewal.failures == 0)
			return true;
	}
	return false;
}

/* -- members -- */

static void
add_member(struct member_list *list, const struct addr *addr, unsigned port)
{
	struct dns_member *m = &list->all[list->n++];

	m->addr = *addr;
	addr_set_port(&m->addr, port);
	addr_text(&m->addr, m->address);
}

static void
collect_hosts(const struct dns_source *s, struct member_list *to)
{
	const struct dns_answer *a = &s->name->answer;
	char text[ADDR_TEXT_SIZE];

	for (size_t i = 0; i < a->addrs_n; i++) {
		snprintf(to->all[i].key, KEY_SIZE, "%s",
		    addr_host(&a->addrs[i], text));
		add_member(to, &a->addrs[i], s->port);
	}
}

static unsigned
best_priority(const struct dns_answer *answer)
{
	unsigned best = UINT_MAX;

	for (size_t i = 0; i < answer->srvs_n; i++)
		if (answer->srvs[i].priority < best)
			best = answer->srvs[i].priority;
	return best;
}

static void
collect_services(const struct dns_source *s, struct member_list *to)
{
	const struct dns_answer *a = &s->name->answer;
	const struct addr none = {.len = 0};
	unsigned best = best_priority(a);

	for (size_t i = 0; i < s->targets_n; i++) {
		const struct dns_srv *srv = &a->srvs[i];
		const struct name *target =
		    s->targets[first_of_target(a, srv->target)];
		struct dns_member *m = &to->all[to->n];
		const struct dns_member *before;
		const struct addr *addr;

		snprintf(m->key, KEY_SIZE, "%s:%u", srv->target, srv->port);
		before = find_member(&s->members, m->key);
		addr = target ? name_choose(target, AF_INET,
		                    before ? &before->addr : &none)
		              : NULL;
		snprintf(m->options, TEXT_SIZE, "weight=%u%s",
		    srv->weight / 256u + 1,
		    srv->priority == best ? "" : " backup");
		if (addr)
			add_member(to, addr, srv->port);
	}
}

/* Shows the addresses of the members as those of the service. */
static void
show_addrs(const struct dns_source *s)
{
	struct dns_answer *a = &s->name->answer;
	struct addr *addrs = calloc(s->members.n + 1, sizeof(*addrs));

	if (!addrs)
		return;
	for (size_t i = 0; i < s->members.n; i++)
		addrs[i] = s->members.all[i].addr;
	free(a->addrs);
	a->addrs = addrs;
	a->addrs_n = a->addrs_room = s->members.n;
}

/* -- reports -- */

static void
report_failure(const struct dns_source *s, const struct name *name)
{
	char why[WHY_SIZE];

	snprintf(why, sizeof(why), "'%s' is not resolved: %s", name->host,
	    dns_error_text(name->renewal.error));
	s->discovery.owner.on_error(s->discovery.owner.arg, why);
}

static void
report_members(const struct dns_source *s)
{
	const struct member_list *list = &s->members;
	struct discovered *found = calloc(list->n + 1, sizeof(*found));

	for (size_t i = 0; found && i < list->n; i++)
		found[i] = (struct discovered){.key = list->all[i].key,
		    .address = list->all[i].address,
		    .options = list->all[i].options,
		    .note = ""};
	if (found)
		s->discovery.owner.on_members(
		    s->discovery.owner.arg, found, list->n);
	free(found);
}

/* Makes the list anew and reports it, unless no target of the records has been
 * resolved.  When memory is short, no report is made, and the owner keeps its
 * members. */
static void
take_members(struct dns_source *s)
{
	bool srv = s->name->mode == NAME_OF_SERVICE;
	const struct dns_answer *a = &s->name->answer;
	struct member_list next = {
	    .all = calloc(a->srvs_n + a->addrs_n + 1, sizeof(*next.all)),
	    .n = 0};

	if (!next.all)
		return;
	if (srv)
		collect_services(s, &next);
	else
		collect_hosts(s, &next);
	if (next.n == 0 && s->members.n == 0 && a->srvs_n > 0) {
		free(next.all);
		return;
	}
	free(s->members.all);
	s->members = next;
	if (srv)
		show_addrs(s);
	report_members(s);
}

static void
source_report(struct dns_source *s)
{
	const struct renewal *r = &s->name->renewal;
	bool failed = r->failures != s->failures;
	bool answered = r->answers != s->answers;
	bool lapsed = s->known && !r->known;

	s->failures = r->failures;
	s->answers = r->answers;
	s->known = r->known;
	if (failed)
		report_failure(s, s->name);
	if (s->name->mode == NAME_OF_SERVICE && (answered || lapsed) &&
	    !follow_targets(s))
		return;
	if (!r->ever || is_incomplete(s) ||
	    (failed && !answered && !lapsed && !s->target_changed))
		return;
	s->target_changed = false;
	take_members(s);
}

void
discovery_dns_report(const struct name *name)
{
	for (size_t i = 0; i < name->users_n; i++) {
		struct dns_source *s = name->users[i];

		if (name->mode != NAME_OF_TARGET) {
			source_report(s);
			continue;
		}
		if (name->renewal.error != DNS_OK)
			report_failure(s, name);
		s->target_changed = true;
		/* Targets that change together make one report. */
		name_has_changed(s->name);
	}
}

/* -- the source -- */

static void
ask_now(const struct name *n)
{
	(void)names_want(
	    n->names, n->host, n->family, n->mode, true, clock_now_ms());
}

static void
source_refresh(struct discovery *discovery)
{
	struct dns_source *s =
	    container_of(discovery, struct dns_source, discovery);

	ask_now(s->name);
	/* Other targets have their addresses from the records. */
	for (size_t i = 0; i < s->targets_n; i++)
		if (s->targets[i] && s->targets[i]->renewal.ask_at_ms != 0)
			ask_now(s->targets[i]);
}

static void
dns_source_free(struct discovery *discovery)
{
	struct dns_source *s =
	    container_of(discovery, struct dns_source, discovery);

	name_drop_user(s->name, s);
	drop_targets(s->targets, s->targets_n, s);
	free(s->members.all);
	free(s);
}

static const struct discovery_ops dns_ops = {
    .kind = "dns", .refresh = source_refresh, .free = dns_source_free};
static const struct discovery_ops srv_ops = {
    .kind = "srv", .refresh = source_refresh, .free = dns_source_free};

static struct discovery *
source_new(struct names *names, const char *host, int family,
    enum name_mode mode, struct discovery discovery, unsigned port)
{
	struct dns_source *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->discovery = discovery;
	s->port = port;
	s->name = names_want(names, host, family, mode, false, clock_now_ms());
	if (!s->name || !name_add_user(s->name, s)) {
		free(s);
		return NULL;
	}
	/* Another source may have had its report already. */
	if (s->name->renewal.answers > 0 || s->name->renewal.failures > 0)
		name_has_changed(s->name);
	return &s->discovery;
}

struct discovery *
discovery_dns_new(struct names *names, const char *host, unsigned port,
    int family, struct discovery_owner owner)
{
	const struct discovery discovery = {&dns_ops, owner};

	return source_new(
	    names, host, family, NAME_OF_MEMBERS, discovery, port);
}

struct discovery *
discovery_srv_new(
    struct names *names, const char *name, struct discovery_owner owner)
{
	const struct discovery discovery = {&srv_ops, owner};

	return source_new(
	    names, name, AF_UNSPEC, NAME_OF_SERVICE, discovery, 0);
}
