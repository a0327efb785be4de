/* SPDX-License-Identifier: MIT
 * See checker.h.
 */
#include "check/checker.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "check/check.h"
#include "check/preset.h"

#define FIRST_SPREAD_MS 1000

/* A server has a check and an agent, or one of them, or none. */
enum role { ROLE_CHECK, ROLE_AGENT, ROLES };

/* A check of the present model, or of the one that is being prepared. */
struct entry {
	struct check *check; /* NULL until the commit: a present one goes on */
	struct server *server;
	enum role role;
	size_t present; /* the index of that one */
};

struct checker {
	struct check_schedule schedule;
	struct entry *entries;
	size_t n, room;
	struct entry *next; /* between prepare and commit */
	size_t next_n, next_room;
};

/* Returns NULL for an agent. */
static const struct check_preset *
preset_of(const struct server *server, enum role role)
{
	return role == ROLE_CHECK
	           ? &check_presets[server->backend->spec->check.kind]
	           : NULL;
}

/* Returns NULL when the server has no check or agent. */
static const struct check_ops *
ops_of(const struct server *server, enum role role)
{
	if (role == ROLE_AGENT)
		return server->agent.on ? &check_agent_ops : NULL;
	return server->check.on ? preset_of(server, role)->ops : NULL;
}

/* Schedules the first run: check i of n starts i/n of the way through its
 * spread. */
static void
start_first(struct check *check, size_t i, size_t n)
{
	uint64_t spread = check_interval_ms(check);

	if (spread > FIRST_SPREAD_MS)
		spread = FIRST_SPREAD_MS;
	check_start_in(check, (double)spread / 1e3 * (double)i / (double)n);
}

/* Returns the index of the server's check among the present ones, or n. */
static size_t
checker_find(
    const struct checker *checker, const struct server *server, enum role role)
{
	size_t i = server->state->check_at[role];
	const struct check *check =
	    i < checker->n ? checker->entries[i].check : NULL;

	return check && check->server->state == server->state &&
	               check->ops == ops_of(server, role)
	           ? i
	           : checker->n;
}

static bool
prepare_server(struct checker *checker, struct server *server, enum role role)
{
	struct entry *entry = &checker->next[checker->next_n];

	if (!ops_of(server, role))
		return true;
	entry->check = NULL;
	entry->server = server;
	entry->role = role;
	entry->present = checker_find(checker, server, role);
	if (entry->present == checker->n &&
	    !(entry->check = check_new(&checker->schedule, server,
	          preset_of(server, role), ops_of(server, role))))
		return false;
	checker->next_n++;
	return true;
}

static void
free_entries(struct entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_free(entries[i].check);
	free(entries);
}

static bool
prepare_all(struct checker *checker, const struct model *model)
{
	size_t servers = 0;
	bool http = false;

	model_for_each_backend (b, model) {
		servers += b->spec->servers_n;
		http |= check_kind_is_http(b->spec->check.kind);
	}
	checker->next_n = 0;
	checker->next_room = servers * ROLES + 1;
	checker->next = calloc(checker->next_room, sizeof(*checker->next));
	if (!checker->next || (http && !checker->schedule.curl &&
	                          curl_loop_new(checker->schedule.loop,
	                              &checker->schedule.curl) < 0))
		return false;
	model_for_each_server (s, model)
		if (!prepare_server(checker, s, ROLE_CHECK) ||
		    !prepare_server(checker, s, ROLE_AGENT))
			return false;
	return true;
}

bool
checker_prepare(struct checker *checker, const struct model *model)
{
	if (prepare_all(checker, model))
		return true;
	checker_cancel(checker);
	return false;
}

void
checker_cancel(struct checker *checker)
{
	free_entries(checker->next, checker->next_n);
	checker->next = NULL;
	checker->next_n = checker->next_room = 0;
}

static bool
asks_same(const struct server *a, const struct server *b, enum role role)
{
	if (role == ROLE_AGENT)
		return agent_rules_ask_same(&a->agent, &b->agent);
	return check_rules_ask_same(&a->check, &b->check) &&
	       check_asks_same(a->backend->spec, b->backend->spec);
}

/* Moves a present check to the new model.  The next run follows the new model,
 * at its interval; a run under way goes on if the new model asks the same. */
static struct check *
take_over(struct checker *checker, const struct entry *next)
{
	struct check *check = checker->entries[next->present].check;
	struct server *server = next->server;
	uint64_t before_ms = check_interval_ms(check);
	bool same = asks_same(check->server, server, next->role);

	checker->entries[next->present].check = NULL;
	if (check->running && !same)
		check_end_run(check);
	check->server = server;
	check->spec = &server->backend->spec->check;
	check->preset = preset_of(server, next->role);
	if (check->talk && next->role == ROLE_CHECK)
		check_talk_move(check);
	else if (check->talk)
		check_agent_move(check);
	if (!check->running && (!same || check_interval_ms(check) != before_ms))
		start_first(check, next->present, checker->n);
	return check;
}

void
checker_commit(struct checker *checker)
{
	for (size_t i = 0; i < checker->next_n; i++) {
		struct entry *next = &checker->next[i];

		if (next->check)
			start_first(next->check, i, checker->next_n);
		else
			next->check = take_over(checker, next);
		next->server->state->check_at[next->role] = (uint32_t)i;
	}
	free_entries(checker->entries, checker->n);
	checker->entries = checker->next;
	checker->n = checker->next_n;
	checker->room = checker->next_room;
	checker->next = NULL;
	checker->next_n = checker->next_room = 0;
}

/* Makes room for more entries behind the first n.  Returns false when memory is
 * short. */
static bool
make_room(struct entry **entries, size_t n, size_t more, size_t *room)
{
	size_t wanted = n + more;
	struct entry *grown;

	if (wanted <= *room)
		return true;
	wanted += wanted / 2;
	grown = reallocarray(*entries, wanted, sizeof(*grown));
	if (!grown)
		return false;
	*entries = grown;
	*room = wanted;
	return true;
}

bool
checker_prepare_servers(
    struct checker *checker, struct server *const *servers, size_t n)
{
	struct checker *c = checker;
	size_t more = n * ROLES;
	bool ok;

	/* The present entries get room as well: the commit cannot fail. */
	ok = make_room(&c->next, c->next_n, more, &c->next_room) &&
	     make_room(&c->entries, c->n, c->next_n + more, &c->room);
	for (size_t i = 0; ok && i < n; i++)
		ok = prepare_server(c, servers[i], ROLE_CHECK) &&
		     prepare_server(c, servers[i], ROLE_AGENT);
	if (!ok)
		checker_cancel(c);
	return ok;
}

void
checker_commit_servers(struct checker *checker)
{
	struct checker *c = checker;

	for (size_t i = 0; i < c->next_n; i++) {
		struct entry *next = &c->next[i];
		size_t at = next->check ? c->n++ : next->present;

		if (next->check)
			start_first(next->check, i, c->next_n);
		else
			next->check = take_over(c, next);
		next->server->state->check_at[next->role] = (uint32_t)at;
		c->entries[at] = *next;
	}
	c->next_n = 0;
	checker_cancel(c);
}

static void
drop_entry(struct checker *c, const struct server *server, enum role role)
{
	size_t i = server->state->check_at[role];

	if (i >= c->n || c->entries[i].server != server ||
	    c->entries[i].role != role)
		return;
	check_free(c->entries[i].check);
	c->entries[i] = c->entries[--c->n];
	if (i < c->n)
		c->entries[i].server->state->check_at[c->entries[i].role] =
		    (uint32_t)i;
}

void
checker_drop_server(struct checker *checker, const struct server *server)
{
	drop_entry(checker, server, ROLE_CHECK);
	drop_entry(checker, server, ROLE_AGENT);
}

void
checker_hurry(struct checker *checker, const struct server *server)
{
	size_t i = checker_find(checker, server, ROLE_CHECK);
	struct check *check;
	uint64_t fast_ms;
	double at, past;

	if (i == checker->n || checker->entries[i].check->running)
		return;
	check = checker->entries[i].check;
	fast_ms = check->server->check.fast_interval_ms;
	past = (double)(clock_now_ns() - check->started_ns) / 1e9;
	at = (fast_ms > 0 ? (double)fast_ms / 1e3 : 1.) - past;
	at = at > 0 ? at : 0.;
	ev_now_update(check->loop);
	if (ev_timer_remaining(check->loop, &check->timer) > at)
		check_start_in(check, at);
}

int
checker_new(struct ev_loop *loop, const struct model *model,
    struct checker **ret_checker)
{
	struct checker *checker = calloc(1, sizeof(*checker));

	if (!checker)
		return -ENOMEM;
	check_schedule_init(&checker->schedule, loop);
	if (!checker_prepare(checker, model)) {
		checker_free(checker);
		return -ENOMEM;
	}
	checker_commit(checker);
	*ret_checker = checker;
	return 0;
}

struct check_delays
checker_delays(const struct checker *checker)
{
	return checker->schedule.delays;
}

void
checker_clear_delays(struct checker *checker)
{
	checker->schedule.delays = (struct check_delays){.started = 0};
}

void
checker_free(struct checker *checker)
{
	if (!checker)
		return;
	free_entries(checker->entries, checker->n);
	check_schedule_fini(&checker->schedule);
	free(checker);
}
