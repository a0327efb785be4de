/* SPDX-License-Identifier: MIT
 * See discovery_dns.h.
 *
 *   ask --> records --> (SRV) addresses of targets --> members --> on_members
 */
#include "resolve/discovery_dns.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define KEY_SIZE  (ADDR_HOST_SIZE + 8)
#define WHY_SIZE  (2 * ADDR_HOST_SIZE + 160)
#define TEXT_SIZE 32

struct dns_member {
	char key[KEY_SIZE];
	struct addr addr; /* with the port */
	unsigned weight;  /* 0: not given */
	bool backup;
	uint64_t failing_ms; /* unconfirmed since then; 0: confirmed */
};

struct member_list {
	struct dns_member *all;
	size_t n;
};

/* An SRV record whose target is looked up. */
struct dns_target {
	struct dns_source *source;
	struct dns_lookup *lookup; /* NULL: it is over */
	size_t srv;                /* index into srvs */
	enum dns_error error;
	struct addr addr; /* len 0: none, or not yet */
};

struct dns_source {
	struct discovery discovery;
	struct dns_follower follower;
	struct dns *dns;
	ev_timer timer;
	struct dns_lookup *lookup; /* of the name; NULL: none under way */
	bool srv;
	unsigned port;
	int family;
	struct member_list members;
	/* Used while targets are looked up. */
	struct dns_srv *srvs;
	size_t srvs_n;
	struct dns_target *targets; /* one for each record */
	size_t open;                /* targets without an answer */
	uint32_t ttl_s;
	struct addr *addrs; /* of the members, for reports */
	char name[];
};

static void source_ask(struct dns_source *s);

static struct dns_member *
find_member(const struct member_list *list, const char *key)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->all[i].key, key) == 0)
			return &list->all[i];
	return NULL;
}

/* -- reports -- */

static void
describe_options(const struct dns_member *m, char out[TEXT_SIZE])
{
	out[0] = '\0';
	if (m->weight > 0)
		snprintf(out, TEXT_SIZE, "weight=%u%s", m->weight,
		    m->backup ? " backup" : "");
}

/* Reports the members.  When memory is short, no report is made, and the owner
 * keeps its members. */
static void
report_members(struct dns_source *s)
{
	size_t n = s->members.n;
	struct discovered *found = calloc(n + 1, sizeof(*found));
	char(*addresses)[ADDR_TEXT_SIZE] = calloc(n + 1, ADDR_TEXT_SIZE);
	char(*options)[TEXT_SIZE] = calloc(n + 1, TEXT_SIZE);

	for (size_t i = 0; found && addresses && options && i < n; i++) {
		const struct dns_member *m = &s->members.all[i];

		describe_options(m, options[i]);
		found[i] = (struct discovered){.key = m->key,
		    .address = addr_text(&m->addr, addresses[i]),
		    .options = options[i],
		    .note = ""};
	}
	if (found && addresses && options)
		s->discovery.owner.on_members(s->discovery.owner.arg, found, n);
	free(found);
	free(addresses);
	free(options);
}

static void
report_failure(struct dns_source *s, const char *name, enum dns_error error)
{
	char why[WHY_SIZE];

	snprintf(why, sizeof(why), "'%s' is not resolved: %s", name,
	    dns_error_text(error));
	s->discovery.owner.on_error(s->discovery.owner.arg, why);
}

static void
note_addrs(struct dns_source *s)
{
	free(s->addrs);
	s->addrs = calloc(s->members.n + 1, sizeof(*s->addrs));
	s->follower.addrs = s->addrs;
	s->follower.addrs_n = 0;
	for (size_t i = 0; s->addrs && i < s->members.n; i++)
		s->addrs[s->follower.addrs_n++] = s->members.all[i].addr;
}

/* -- time -- */

/* Returns when the first member lapses that is not confirmed; 0: none does. */
static uint64_t
members_lapse_ms(const struct dns_source *s)
{
	uint64_t hold_ms = dns_renewal_settings(s->dns)->hold_ms;
	uint64_t first_ms = 0;

	for (size_t i = 0; i < s->members.n; i++) {
		uint64_t failing_ms = s->members.all[i].failing_ms;

		if (failing_ms == 0 || hold_ms == RENEWAL_FOREVER)
			continue;
		if (first_ms == 0 || failing_ms + hold_ms < first_ms)
			first_ms = failing_ms + hold_ms;
	}
	return first_ms;
}

static void
source_schedule(struct dns_source *s)
{
	struct ev_loop *loop = dns_loop(s->dns);
	const struct renewal *r = &s->follower.renewal;
	uint64_t next_ms = r->asked ? 0 : r->ask_at_ms;
	uint64_t lapse_ms = members_lapse_ms(s), now_ms = clock_now_ms();

	if (next_ms == 0 || (lapse_ms != 0 && lapse_ms < next_ms))
		next_ms = lapse_ms;
	ev_timer_stop(loop, &s->timer);
	if (next_ms == 0)
		return;
	ev_now_update(loop);
	ev_timer_set(&s->timer,
	    next_ms > now_ms ? (double)(next_ms - now_ms) / 1e3 : 0., 0.);
	ev_timer_start(loop, &s->timer);
}

/* Drops members that have been unconfirmed for too long.  Returns whether there
 * were any. */
static bool
drop_lapsed(struct dns_source *s, uint64_t now_ms)
{
	uint64_t hold_ms = dns_renewal_settings(s->dns)->hold_ms;
	size_t left = 0, n = s->members.n;

	for (size_t i = 0; i < n; i++) {
		const struct dns_member *m = &s->members.all[i];

		if (m->failing_ms == 0 || hold_ms == RENEWAL_FOREVER ||
		    now_ms < m->failing_ms + hold_ms)
			s->members.all[left++] = *m;
	}
	s->members.n = left;
	return left < n;
}

static void
on_source_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct dns_source *s = timer->data;
	uint64_t now_ms = clock_now_ms();
	bool fewer = drop_lapsed(s, now_ms);

	(void)loop;
	(void)events;
	if (renewal_is_due(&s->follower.renewal, now_ms))
		source_ask(s);
	else
		source_schedule(s);
	if (!fewer)
		return;
	s->follower.renewal.known = s->members.n > 0;
	note_addrs(s);
	report_members(s);
}

/* -- from answers to members -- */

/* Notes that the question has failed: no member is confirmed. */
static void
source_fail(struct dns_source *s, enum dns_error error)
{
	uint64_t now_ms = clock_now_ms();

	for (size_t i = 0; i < s->members.n; i++)
		if (s->members.all[i].failing_ms == 0)
			s->members.all[i].failing_ms = now_ms;
	renewal_fail(&s->follower.renewal, error, now_ms, dns_random(s->dns));
	source_schedule(s);
	report_failure(s, s->name, error);
}

/* Takes over the list.  error: DNS_OK, or the error of the question that
 * failed, which was for the name `failed`. */
static void
source_take(struct dns_source *s, struct member_list *next, uint32_t ttl_s,
    const char *failed, enum dns_error error)
{
	struct renewal *r = &s->follower.renewal;
	uint64_t now_ms = clock_now_ms();

	free(s->members.all);
	s->members = *next;
	renewal_answer(r, dns_renewal_settings(s->dns), ttl_s, true, now_ms,
	    dns_random(s->dns));
	if (error != DNS_OK) {
		r->error = error;
		r->failures++;
	}
	note_addrs(s);
	source_schedule(s);
	if (error != DNS_OK)
		report_failure(s, failed, error);
	report_members(s);
}

/* Adds a copy of a member that was not confirmed. */
static void
keep_member(struct member_list *next, const struct dns_member *m)
{
	struct dns_member *kept = &next->all[next->n++];

	*kept = *m;
	if (kept->failing_ms == 0)
		kept->failing_ms = clock_now_ms();
}

/* -- addresses of a name -- */

static void
take_hosts(struct dns_source *s, const struct dns_answer *answer)
{
	size_t room = answer->addrs_n + s->members.n + 1;
	struct member_list next = {
	    .all = calloc(room, sizeof(*next.all)), .n = 0};
	char text[ADDR_TEXT_SIZE];

	if (!next.all) {
		source_fail(s, DNS_NO_MEMORY);
		return;
	}
	for (size_t i = 0; i < answer->addrs_n; i++) {
		struct dns_member *m = &next.all[next.n++];

		m->addr = answer->addrs[i];
		addr_set_port(&m->addr, s->port);
		snprintf(
		    m->key, sizeof(m->key), "%s", addr_host(&m->addr, text));
	}
	for (size_t i = 0; answer->failed_family && i < s->members.n; i++)
		if (s->members.all[i].addr.sa.sa_family ==
		    answer->failed_family)
			keep_member(&next, &s->members.all[i]);
	source_take(s, &next, answer->ttl_s, s->name,
	    answer->failed_family ? answer->failed_error : DNS_OK);
}

static void
on_hosts(void *arg, const struct dns_answer *answer)
{
	struct dns_source *s = arg;

	s->lookup = NULL;
	if (answer->error != DNS_OK)
		source_fail(s, answer->error);
	else
		take_hosts(s, answer);
}

/* -- SRV records -- */

static void
srv_key(const struct dns_srv *srv, char out[KEY_SIZE])
{
	snprintf(out, KEY_SIZE, "%s:%u", srv->target, srv->port);
}

static void
drop_targets(struct dns_source *s)
{
	for (size_t i = 0; s->targets && i < s->srvs_n; i++)
		dns_cancel(s->targets[i].lookup);
	free(s->targets);
	free(s->srvs);
	s->targets = NULL;
	s->srvs = NULL;
	s->srvs_n = s->open = 0;
}

static unsigned
best_priority(const struct dns_source *s)
{
	unsigned best = UINT_MAX;

	for (size_t i = 0; i < s->srvs_n; i++)
		if (s->srvs[i].priority < best)
			best = s->srvs[i].priority;
	return best;
}

static void
add_srv_member(struct dns_source *s, struct member_list *next,
    const struct dns_target *t, unsigned best)
{
	const struct dns_srv *srv = &s->srvs[t->srv];
	struct dns_member *m = &next->all[next->n];
	const struct dns_member *before;

	srv_key(srv, m->key);
	before = find_member(&s->members, m->key);
	if (t->addr.len == 0) {
		if (!before)
			return;
		keep_member(next, before);
	} else {
		m->addr = t->addr;
		addr_set_port(&m->addr, srv->port);
		next->n++;
	}
	m->weight = srv->weight / 256u + 1;
	m->backup = srv->priority != best;
}

static void
take_srvs(struct dns_source *s)
{
	struct member_list next = {
	    .all = calloc(s->srvs_n + 1, sizeof(*next.all)), .n = 0};
	unsigned best = best_priority(s);
	char failed[ADDR_HOST_SIZE] = "";
	enum dns_error error = DNS_OK;
	uint32_t ttl_s = s->ttl_s;

	for (size_t i = 0; next.all && i < s->srvs_n; i++) {
		const struct dns_target *t = &s->targets[i];

		add_srv_member(s, &next, t, best);
		if (t->error == DNS_OK)
			continue;
		error = t->error;
		memcpy(failed, s->srvs[t->srv].target, sizeof(failed));
	}
	drop_targets(s);
	if (!next.all)
		source_fail(s, DNS_NO_MEMORY);
	else if (next.n == 0 && error != DNS_OK) {
		free(next.all);
		source_fail(s, error);
	} else
		source_take(s, &next, ttl_s, failed, error);
}

/* Chooses among the target's addresses: the present one, else the first of
 * IPv4, else the first. */
static void
choose_addr(struct dns_target *t, const struct addr *addrs, size_t n)
{
	const struct dns_member *before;
	char key[KEY_SIZE];
	size_t i = 0;

	srv_key(&t->source->srvs[t->srv], key);
	before = find_member(&t->source->members, key);
	if (n == 0)
		return;
	if (before && dns_addrs_have(addrs, n, &before->addr)) {
		t->addr = before->addr;
		return;
	}
	while (i < n && addrs[i].sa.sa_family != AF_INET)
		i++;
	t->addr = addrs[i < n ? i : 0];
}

static void
on_target(void *arg, const struct dns_answer *answer)
{
	struct dns_target *t = arg;
	struct dns_source *s = t->source;

	t->lookup = NULL;
	t->error = answer->error;
	if (answer->error == DNS_OK) {
		choose_addr(t, answer->addrs, answer->addrs_n);
		if (answer->ttl_s < s->ttl_s)
			s->ttl_s = answer->ttl_s;
	}
	if (--s->open == 0)
		take_srvs(s);
}

static size_t
take_extras(const struct dns_answer *answer, size_t srv, struct addr *to)
{
	const char *target = answer->srvs[srv].target;
	size_t n = 0, first = 0;

	/* Extra addresses belong to the first record with their target. */
	while (strcmp(answer->srvs[first].target, target) != 0)
		first++;
	for (size_t i = 0; i < answer->extras_n; i++)
		if (answer->extras[i].srv == first)
			to[n++] = answer->extras[i].addr;
	return n;
}

/* Finds the target's address in the answer, or begins to look it up. */
static void
find_srv_target(struct dns_source *s, struct dns_target *t,
    const struct dns_answer *answer, struct addr *extras)
{
	const char *name = s->srvs[t->srv].target;
	size_t n = take_extras(answer, t->srv, extras);

	choose_addr(t, extras, n);
	if (t->addr.len > 0)
		return;
	t->lookup = dns_look_up(s->dns, name, s->family, on_target, t);
	if (t->lookup)
		s->open++;
	else
		t->error = DNS_NO_MEMORY;
}

static void
on_srvs(void *arg, const struct dns_answer *answer)
{
	struct dns_source *s = arg;
	struct addr *extras = calloc(answer->extras_n + 1, sizeof(*extras));

	s->lookup = NULL;
	if (answer->error == DNS_OK) {
		s->srvs = calloc(answer->srvs_n, sizeof(*s->srvs));
		s->targets = calloc(answer->srvs_n, sizeof(*s->targets));
	}
	if (!s->srvs || !s->targets || !extras) {
		drop_targets(s);
		free(extras);
		source_fail(
		    s, answer->error == DNS_OK ? DNS_NO_MEMORY : answer->error);
		return;
	}
	memcpy(s->srvs, answer->srvs, answer->srvs_n * sizeof(*s->srvs));
	s->srvs_n = answer->srvs_n;
	s->ttl_s = answer->ttl_s;
	for (size_t i = 0; i < s->srvs_n; i++) {
		s->targets[i] = (struct dns_target){.source = s, .srv = i};
		find_srv_target(s, &s->targets[i], answer, extras);
	}
	free(extras);
	if (s->open == 0)
		take_srvs(s);
}

/* -- the source -- */

static void
source_ask(struct dns_source *s)
{
	struct renewal *r = &s->follower.renewal;

	renewal_begin(r);
	s->lookup = s->srv
	                ? dns_look_up_srv(s->dns, s->name, on_srvs, s)
	                : dns_look_up(s->dns, s->name, s->family, on_hosts, s);
	if (!s->lookup)
		renewal_fail(
		    r, DNS_NO_MEMORY, clock_now_ms(), dns_random(s->dns));
	source_schedule(s);
}

static void
source_refresh(struct discovery *discovery)
{
	struct dns_source *s =
	    container_of(discovery, struct dns_source, discovery);

	if (s->follower.renewal.asked)
		return;
	renewal_hurry(&s->follower.renewal, clock_now_ms());
	source_schedule(s);
}

static void
dns_source_free(struct discovery *discovery)
{
	struct dns_source *s =
	    container_of(discovery, struct dns_source, discovery);

	ev_timer_stop(dns_loop(s->dns), &s->timer);
	dns_cancel(s->lookup);
	drop_targets(s);
	list_remove(&s->follower.node);
	free(s->members.all);
	free(s->addrs);
	free(s);
}

static const struct discovery_ops dns_ops = {
    .kind = "dns", .refresh = source_refresh, .free = dns_source_free};
static const struct discovery_ops srv_ops = {
    .kind = "srv", .refresh = source_refresh, .free = dns_source_free};

static struct dns_source *
source_new(struct dns *dns, const char *name, const struct discovery_ops *ops,
    struct discovery_owner owner)
{
	size_t size = strlen(name) + 1;
	struct dns_source *s = calloc(1, sizeof(*s) + size);

	if (!s)
		return NULL;
	memcpy(s->name, name, size);
	s->discovery = (struct discovery){.ops = ops, .owner = owner};
	s->dns = dns;
	s->srv = ops == &srv_ops;
	s->family = AF_UNSPEC;
	s->follower = (struct dns_follower){.kind = ops->kind, .name = s->name};
	dns_follow(dns, &s->follower);
	ev_init(&s->timer, on_source_timer);
	s->timer.data = s;
	return s;
}

struct discovery *
discovery_dns_new(struct dns *dns, const char *host, unsigned port, int family,
    struct discovery_owner owner)
{
	struct dns_source *s = source_new(dns, host, &dns_ops, owner);

	if (!s)
		return NULL;
	s->port = port;
	s->family = family;
	source_ask(s);
	return &s->discovery;
}

struct discovery *
discovery_srv_new(
    struct dns *dns, const char *name, struct discovery_owner owner)
{
	struct dns_source *s = source_new(dns, name, &srv_ops, owner);

	if (!s)
		return NULL;
	source_ask(s);
	return &s->discovery;
}
