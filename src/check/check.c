/* SPDX-License-Identifier: MIT
 * See check.h.
 */
#include "check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/secrets.h"
#include "check/check_kind.h"

#define FIRST_SPREAD_MS 1000
/* After so much time for starts in one turn of the loop, what else is due there
 * comes first, and then the other starts. */
#define STARTS_NS (200 * NS_PER_US)

struct checker {
	struct ev_loop *loop;
	struct curl_loop *curl;
	uint64_t random;
	struct check_delays delays;
	unsigned turn;         /* ev_iteration of the last start */
	uint64_t turn_ends_ns; /* no more starts in it after that */
	struct check **checks;
	size_t n;
	size_t near;         /* where place_of begins */
	struct check **next; /* between prepare and commit; NULL: none */
	size_t next_n;
};

/* Marsaglia, "Xorshift RNGs", 2003: 0 <= r < 1. */
static double
next_random(struct checker *checker)
{
	uint64_t x = checker->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	checker->random = x;
	return (double)(x >> 11) / (double)(1ull << 53);
}

static uint64_t
interval_ms(const struct check *check)
{
	const struct server_state *state = check->server->state;
	const struct check_rules *spec = &check->server->check;

	if (check->ops == &check_agent_ops)
		return check->server->agent.interval_ms;
	if (state->streak > 0 && spec->fast_interval_ms > 0)
		return spec->fast_interval_ms;
	if (state->streak == 0 && !state->up && spec->down_interval_ms > 0)
		return spec->down_interval_ms;
	return spec->interval_ms;
}

static void
start_in(struct check *check, double seconds)
{
	check->due_ns = clock_now_ns() + (uint64_t)(seconds * 1e9);
	ev_now_update(check->loop);
	ev_timer_stop(check->loop, &check->timer);
	ev_timer_set(&check->timer, seconds, 0.);
	ev_timer_start(check->loop, &check->timer);
}

static void
wait_for_next(struct check *check)
{
	double jitter = check->server->check.jitter / 100.0;
	double factor = 1 - jitter + 2 * jitter * next_random(check->checker);
	double interval = (double)interval_ms(check) / 1e3 * factor;
	double past = (double)(clock_now_ns() - check->started_ns) / 1e9;

	start_in(check, interval > past ? interval - past : 0.);
}

static void
note_delay(const struct check *check)
{
	struct check_delays *delays = &check->checker->delays;
	uint64_t late_ns = check->started_ns > check->due_ns
	                       ? check->started_ns - check->due_ns
	                       : 0;

	delays->begun++;
	if (late_ns > delays->longest_ns)
		delays->longest_ns = late_ns;
}

/* Many that are due at once, after the loop was held up, are not to hold it up
 * again: a start is a connect, and for curl some 100 us, most of them later in
 * one call for all. */
static bool
has_time(struct checker *checker)
{
	unsigned turn = ev_iteration(checker->loop);
	uint64_t now_ns = clock_now_ns();

	if (turn != checker->turn) {
		checker->turn = turn;
		checker->turn_ends_ns = now_ns + STARTS_NS;
	}
	return now_ns < checker->turn_ends_ns;
}

/* In maintenance the agent is asked on: it may say that it is over. */
static bool
is_paused(const struct check *check)
{
	const struct server *s = check->server;

	if (check->ops == &check_agent_ops)
		return s->state->overrides.agent_paused ||
		       s->agent.addr.sa.sa_family == AF_UNSPEC;
	return s->state->overrides.check_paused ||
	       server_admin_of(s) == SERVER_MAINT;
}

static void
on_start(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct check *check = timer->data;

	(void)events;
	if (!has_time(check->checker)) {
		ev_timer_set(timer, 0., 0.);
		ev_timer_start(loop, timer);
		return;
	}
	check->started_ns = clock_now_ns();
	note_delay(check);
	if (is_paused(check))
		wait_for_next(check);
	else
		check->ops->start(check);
}

/* A server may repeat the password that it was sent. */
static void
copy_answer(char *out, size_t size, const char *text)
{
	char *masked;

	printable_copy(out, size, secrets_mask(text, &masked), '?');
	free(masked);
}

void
check_done(struct check *check, enum check_status status, unsigned code,
    const char *text)
{
	struct check_result result = {
	    .passed = check_status_passed(status),
	    .status = status,
	    .code = code,
	    .duration_ms = (clock_now_ns() - check->started_ns) / NS_PER_MS,
	};

	ENSURE(!check->run);
	copy_answer(result.text, sizeof(result.text), text);
	/* First the report: how soon the next one is depends on the state. */
	server_report_check(check->server, &result);
	model_update(check->server->backend->model);
	wait_for_next(check);
}

void
check_note_agent(
    struct check *check, enum check_status status, const char *text)
{
	struct check_result *last = &check->server->state->agent_last;

	ENSURE(!check->run);
	*last = (struct check_result){
	    .passed = check_status_passed(status),
	    .status = status,
	    .duration_ms = (clock_now_ns() - check->started_ns) / NS_PER_MS,
	};
	copy_answer(last->text, sizeof(last->text), text);
	wait_for_next(check);
}

void
check_skip(struct check *check, int error)
{
	static struct log_limit limit;
	bool files = error == EMFILE || error == ENFILE;

	ENSURE(!check->run);
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "server %s/%s was not checked and keeps its state: %s%s",
	    check->server->backend->spec->name, check->server->spec->name,
	    strerror(error),
	    files ? "; raise the limit on open files (LimitNOFILE= in the "
	            "unit)"
	          : "; lfproxy needs more memory");
	wait_for_next(check);
}

void
check_connect_failed(struct check *check, int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		check_skip(check, error);
		return;
	case EACCES:
	case EADDRNOTAVAIL:
	case EAFNOSUPPORT:
	case ENETDOWN:
	case ENETUNREACH:
	case EPERM:
		check_done(check, CHECK_STATUS_SOCKERR, 0, strerror(error));
		return;
	default:
		check_done(check, CHECK_STATUS_L4CON, 0, strerror(error));
	}
}

/* A server has a check and an agent, or one of them, or none. */
enum role { ROLE_CHECK, ROLE_AGENT, ROLES };

static const struct check_ops *
ops_of(const struct server *server, enum role role)
{
	if (role == ROLE_AGENT)
		return server->agent.on ? &check_agent_ops : NULL;
	if (!server->check.on)
		return NULL;
	switch (server->backend->spec->check.kind) {
	case CHECK_OFF:
		return NULL;
	case CHECK_HTTP:
	case CHECK_HTTPS:
		return &check_http_ops;
	case CHECK_SCRIPT:
		return &check_script_ops;
	case CHECK_CONNECT:
	case CHECK_TLS:
	case CHECK_SEND_EXPECT:
	case CHECK_REDIS:
	case CHECK_POSTGRESQL:
	case CHECK_MYSQL:
	case CHECK_SMTP:
		return &check_talk_ops;
	}
	return NULL;
}

static struct check *
check_new(struct checker *checker, struct server *server, enum role role)
{
	const struct check_spec *spec = &server->backend->spec->check;
	struct check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->checker = checker;
	check->loop = checker->loop;
	check->server = server;
	check->spec = spec;
	check->ops = ops_of(server, role);
	check->timer.data = check;
	ev_init(&check->timer, on_start);
	return check;
}

static void
check_free(struct check *check)
{
	if (!check)
		return;
	ev_timer_stop(check->loop, &check->timer);
	if (check->run)
		check->ops->cancel(check);
	free(check);
}

/* Check i of n starts i/n of the way through its spread. */
static void
start_first(struct check *check, size_t i, size_t n)
{
	uint64_t spread = interval_ms(check);
	double at;

	if (spread > FIRST_SPREAD_MS)
		spread = FIRST_SPREAD_MS;
	at = (double)spread / 1e3 * (double)i / (double)n;
	start_in(check, at);
}

static bool
is_of(const struct check *check, const struct server *server, enum role role)
{
	return check && check->server->state == server->state &&
	       check->ops == ops_of(server, role);
}

/* The place of the server's check among the present ones, or n.  A model after
 * another mostly has them in the same order: the search goes on behind the
 * one that was found last. */
static size_t
place_of(struct checker *checker, const struct server *server, enum role role)
{
	for (size_t k = 0; k < checker->n; k++) {
		size_t i = (checker->near + k) % checker->n;

		if (is_of(checker->checks[i], server, role)) {
			checker->near = i + 1;
			return i;
		}
	}
	return checker->n;
}

static bool
prepare_role(struct checker *checker, struct server *server, enum role role)
{
	struct check *check = NULL;

	if (!ops_of(server, role))
		return true;
	if (place_of(checker, server, role) == checker->n) {
		check = check_new(checker, server, role);
		if (!check)
			return false;
	}
	/* NULL stands for one that there is. */
	checker->next[checker->next_n++] = check;
	return true;
}

static bool
prepare_server(struct checker *checker, struct server *server)
{
	return prepare_role(checker, server, ROLE_CHECK) &&
	       prepare_role(checker, server, ROLE_AGENT);
}

static bool
prepare_all(struct checker *checker, const struct model *model)
{
	const struct spec *spec = model->spec;
	size_t servers = 0;
	bool http = false;

	for (size_t i = 0; i < spec->backends_n; i++) {
		servers += spec->backends[i].servers_n;
		http |= check_kind_is_http(spec->backends[i].check.kind);
	}
	checker->next_n = 0;
	checker->next = calloc(servers * ROLES + 1, sizeof(struct check *));
	if (!checker->next ||
	    (http && !checker->curl &&
	        curl_loop_new(checker->loop, &checker->curl) < 0))
		return false;
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].servers_n; j++)
			if (!prepare_server(
			        checker, model->backends[i]->servers[j]))
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
	for (size_t i = 0; i < checker->next_n; i++)
		check_free(checker->next[i]);
	free(checker->next);
	checker->next = NULL;
	checker->next_n = 0;
}

static bool
asks_same(const struct server *a, const struct server *b, enum role role)
{
	if (role == ROLE_AGENT)
		return agent_rules_ask_same(&a->agent, &b->agent);
	return check_rules_ask_same(&a->check, &b->check) &&
	       check_asks_same(a->backend->spec, b->backend->spec);
}

/* One that goes on: what it asks, and how often, is that of the new model from
 * the next time on. */
static struct check *
take_over(struct checker *checker, struct server *server, enum role role)
{
	size_t i = place_of(checker, server, role);
	struct check *check = checker->checks[i];
	uint64_t before_ms = interval_ms(check);
	bool same = asks_same(check->server, server, role);

	checker->checks[i] = NULL;
	/* Half a check of each would be a check of neither. */
	if (check->run && !same)
		check->ops->cancel(check);
	check->server = server;
	check->spec = &server->backend->spec->check;
	if (check->run && check->ops->moved)
		check->ops->moved(check);
	if (!check->run && (!same || interval_ms(check) != before_ms))
		start_first(check, i, checker->n);
	return check;
}

static void
commit_role(
    struct checker *checker, struct server *server, enum role role, size_t *at)
{
	size_t i = *at;

	if (!ops_of(server, role))
		return;
	if (!checker->next[i]) {
		checker->next[i] = take_over(checker, server, role);
	} else {
		checker->next[i]->curl = checker->curl;
		start_first(checker->next[i], i, checker->next_n);
	}
	++*at;
}

static void
commit_server(struct checker *checker, struct server *server, size_t *at)
{
	commit_role(checker, server, ROLE_CHECK, at);
	commit_role(checker, server, ROLE_AGENT, at);
}

void
checker_commit(struct checker *checker, const struct model *model)
{
	size_t at = 0;

	for (size_t i = 0; i < model->spec->backends_n; i++)
		for (size_t j = 0; j < model->spec->backends[i].servers_n; j++)
			commit_server(
			    checker, model->backends[i]->servers[j], &at);
	for (size_t i = 0; i < checker->n; i++)
		check_free(checker->checks[i]);
	free(checker->checks);
	checker->checks = checker->next;
	checker->n = checker->next_n;
	checker->next = NULL;
	checker->next_n = 0;
}

void
checker_hurry(struct checker *checker, const struct server *server)
{
	size_t i = place_of(checker, server, ROLE_CHECK);
	struct check *check = i < checker->n ? checker->checks[i] : NULL;
	double at, past;

	if (!check || check->run)
		return;
	at = check->server->check.fast_interval_ms > 0
	         ? (double)check->server->check.fast_interval_ms / 1e3
	         : 1.;
	past = (double)(clock_now_ns() - check->started_ns) / 1e9;
	at = at > past ? at - past : 0.;
	ev_now_update(checker->loop);
	if (ev_timer_remaining(checker->loop, &check->timer) <= at)
		return;
	ev_timer_stop(checker->loop, &check->timer);
	ev_timer_set(&check->timer, at, 0.);
	ev_timer_start(checker->loop, &check->timer);
}

int
checker_new(
    struct ev_loop *loop, struct model *model, struct checker **ret_checker)
{
	struct checker *checker = calloc(1, sizeof(*checker));

	if (!checker)
		return -ENOMEM;
	checker->loop = loop;
	checker->random = clock_now_ns() | 1;
	if (!checker_prepare(checker, model)) {
		checker_free(checker);
		return -ENOMEM;
	}
	checker_commit(checker, model);
	*ret_checker = checker;
	return 0;
}

struct check_delays
checker_delays(const struct checker *checker)
{
	return checker->delays;
}

void
checker_clear_delays(struct checker *checker)
{
	checker->delays = (struct check_delays){.begun = 0};
}

struct memory_use
checker_memory(const struct checker *checker)
{
	struct memory_use use = {.count = checker->n};

	memory_add_block(&use, checker);
	memory_add_block(&use, checker->checks);
	for (size_t i = 0; i < checker->n; i++) {
		memory_add_block(&use, checker->checks[i]);
		memory_add_block(&use, checker->checks[i]->run);
	}
	return use;
}

void
checker_free(struct checker *checker)
{
	if (!checker)
		return;
	for (size_t i = 0; i < checker->n; i++)
		check_free(checker->checks[i]);
	free(checker->checks);
	curl_loop_free(checker->curl);
	free(checker);
}
