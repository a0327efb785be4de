/* SPDX-License-Identifier: MIT
 * See server_names.h.
 */
#include "servers/server_names.h"

#include "base/clock.h"
#include "base/events.h"
#include "base/log.h"
#include "base/text.h"
#include "handover/takeover.h"
#include "proxy/instance.h"
#include "model/loops.h"
#include "model/model.h"
#include "model/server_change.h"
#include "resolve/discovery_dns.h"

/* A failing name server may affect many servers.  Log at most this many in a
 * second, and count the others. */
#define LOGGED_MAX 20
#define BURST_MS   1000

/* -- names of servers -- */

static enum name_mode
mode_of(const struct server_spec *s)
{
	static const enum name_mode modes[] = {
	    [RESOLVE_START] = NAME_ONCE,
	    [RESOLVE_RELOAD] = NAME_ON_RELOAD,
	    [RESOLVE_TTL] = NAME_FOLLOWED,
	};

	return modes[optional_or(s->resolve, RESOLVE_RELOAD)];
}

/* Returns the name of the server, or NULL if it is not given by name or its
 * name is not wanted yet. */
static struct name *
find_spec_name(const struct names *names, const struct backend_spec *b,
    const struct server_spec *s)
{
	return s->host ? names_find(names, s->host, server_spec_family(b, s),
	                     mode_of(s))
	               : NULL;
}

static struct name *
find_server_name(const struct names *names, const struct server *s)
{
	return find_spec_name(names, s->backend->spec, s->spec);
}

static const char *
unresolved_reason(const struct name *name)
{
	return name && name->renewal.error ? dns_error_text(name->renewal.error)
	                                   : "no answer so far";
}

static const struct addr *
choose_address(const struct name *name, const struct server_spec *s,
    const struct addr *present)
{
	return name_choose(name,
	    optional_or(s->resolve_prefer, RESOLVE_IPV4) == RESOLVE_IPV6
	        ? AF_INET6
	        : AF_INET,
	    present);
}

/* -- log lines -- */

/* Returns whether one more line may be logged.  Counts the line in either
 * case. */
static bool
burst_allows(struct names_burst *burst, uint64_t now_ms)
{
	if (burst->n == 0)
		burst->since_ms = now_ms;
	return burst->n++ < LOGGED_MAX;
}

/* Ends a burst whose second is over, and logs how many lines were left out.
 * Returns when the burst ends, or 0 if there is none. */
static uint64_t
burst_close(struct names_burst *burst, uint64_t now_ms, const char *what)
{
	if (burst->n == 0)
		return 0;
	if (now_ms < burst->since_ms + BURST_MS)
		return burst->since_ms + BURST_MS;
	if (burst->n > LOGGED_MAX)
		log_warning("the names of %u more servers are %s; see 'show "
		            "resolvers'",
		    burst->n - LOGGED_MAX, what);
	burst->n = 0;
	return 0;
}

static void
log_unresolved(const struct server *s, const struct name *n)
{
	const char *backend = s->backend->spec->name, *server = s->spec->name;
	char text[ADDR_TEXT_SIZE];

	if (s->state->lapsed)
		event_add(EVENT_SERVER_UNRESOLVED, LOG_LEVEL_WARNING, backend,
		    server,
		    "server %s/%s is in maintenance: its name '%s' has not "
		    "been resolved for the time of hold: %s; it is looked up "
		    "again until it is",
		    backend, server, s->spec->host, unresolved_reason(n));
	else if (server_is_unresolved(s))
		event_add(EVENT_SERVER_UNRESOLVED, LOG_LEVEL_WARNING, backend,
		    server,
		    "server %s/%s is in maintenance: its name '%s' is not "
		    "resolved: %s; it is looked up again until it is",
		    backend, server, s->spec->host, unresolved_reason(n));
	else
		event_add(EVENT_SERVER_UNRESOLVED, LOG_LEVEL_WARNING, backend,
		    server,
		    "server %s/%s stays at %s: its name '%s' cannot be "
		    "looked up now: %s",
		    backend, server, addr_text(server_addr(s), text),
		    s->spec->host, unresolved_reason(n));
}

static void
log_resolved(const struct server *s, bool unresolved)
{
	const struct backend_spec *b = s->backend->spec;
	char text[ADDR_TEXT_SIZE];

	event_add(EVENT_SERVER_RESOLVED, LOG_LEVEL_INFO, b->name, s->spec->name,
	    "server %s/%s is at %s%s: its name '%s' is resolved; %u of %zu "
	    "servers are usable",
	    b->name, s->spec->name, addr_text(server_addr(s), text),
	    unresolved ? "" : " from now on", s->spec->host,
	    backend_usable_n(s->backend), b->servers_n);
}

/* Returns whether to log the name's error for the server: a new error, unless
 * the operator has set the server's address. */
static bool
is_new_error(const struct server *s, const struct name *n)
{
	return n->renewal.error != DNS_OK && n->renewal.error != n->logged &&
	       !s->state->overrides.addr.is_set;
}

/* -- from names to servers -- */

static void
apply_to_server(struct server_names *sn, struct server *s, const struct name *n,
    uint64_t now_ms)
{
	const struct addr *addr =
	    choose_address(n, s->spec, server_resolved(s));
	bool unresolved = server_is_unresolved(s);
	bool lapsed = n->renewal.ever && !n->renewal.known && server_lapse(s);

	if (addr && server_resolve(s, addr)) {
		server_mark_changed(s);
		if (burst_allows(&sn->resolved, now_ms))
			log_resolved(s, unresolved);
		return;
	}
	if (lapsed)
		server_mark_changed(s);
	if ((lapsed || is_new_error(s, n)) && burst_allows(&sn->errors, now_ms))
		log_unresolved(s, n);
}

static void
apply_name(struct server_names *sn, struct name *n, uint64_t now_ms)
{
	for (size_t i = 0; i < n->users_n; i++)
		apply_to_server(sn, n->users[i], n, now_ms);
	n->logged = n->renewal.error;
}

static void
apply_changes(struct server_names *sn, uint64_t now_ms)
{
	struct name *n;

	while ((n = names_take_changed(sn->names)))
		if (name_mode_is_servers(n->mode))
			apply_name(sn, n, now_ms);
		else
			discovery_dns_report(n);
	model_update(sn->instance->model);
}

/* -- on the control loop -- */

static uint64_t
earlier(uint64_t a_ms, uint64_t b_ms)
{
	return a_ms == 0 || (b_ms != 0 && b_ms < a_ms) ? b_ms : a_ms;
}

static void
on_names_work(struct timed_task *task, uint64_t now_ms)
{
	struct server_names *sn = container_of(task, struct server_names, work);
	uint64_t next_ms = names_tick(sn->names, now_ms);

	apply_changes(sn, now_ms);
	next_ms =
	    earlier(next_ms, burst_close(&sn->errors, now_ms, "not resolved"));
	next_ms =
	    earlier(next_ms, burst_close(&sn->resolved, now_ms, "resolved"));
	if (next_ms != 0)
		timed_task_schedule(&sn->work, next_ms);
}

/* Answers that come within a hundredth of a second are applied together. */
static void
wake_names(void *arg)
{
	struct server_names *sn = arg;

	if (sn->instance)
		timed_task_schedule(&sn->work, clock_now_ms());
}

static bool
make_names(struct server_names *sn, struct ev_loop *loop)
{
	sn->dns = dns_new(loop);
	sn->names = sn->dns ? names_new(sn->dns, wake_names, sn) : NULL;
	return sn->names != NULL;
}

static void
free_names(struct server_names *sn)
{
	names_free(sn->names);
	dns_free(sn->dns);
	*sn = (struct server_names){.names = NULL};
}

bool
server_names_init(struct server_names *sn, struct instance *instance)
{
	sn->instance = instance;
	timed_task_init(&sn->work, &instance->timer, on_names_work);
	return make_names(sn, instance->loop);
}

void
server_names_fini(struct server_names *sn)
{
	free_names(sn);
}

static bool
follow_resolver(struct server_names *sn, const struct spec *spec)
{
	const struct resolver_spec *r = &spec->resolver;
	const struct dns_settings settings = {.servers = r->nameservers,
	    .servers_n = r->nameservers_n,
	    .timeout_ms = r->timeout_ms,
	    .retries = r->retries};
	const struct renewal_settings renewal = {.ttl_min_ms = r->ttl_min_ms,
	    .ttl_max_ms = r->ttl_max_ms,
	    .hold_ms = r->hold_ms};

	names_set(sn->names, &renewal);
	return dns_configure(sn->dns, &settings);
}

/* -- questions -- */

static struct name *
want_name(struct names *names, const struct backend_spec *b,
    const struct server_spec *s, bool afresh)
{
	return names_want(names, s->host, server_spec_family(b, s), mode_of(s),
	    afresh, clock_now_ms());
}

/* Begins a look-up of each name that is new; with reload, of each name that a
 * reload looks up again. */
static void
want_names(struct names *names, const struct spec *spec, bool reload)
{
	spec_for_each_server (b, s, spec)
		if (s->host)
			(void)want_name(
			    names, b, s, reload && mode_of(s) != NAME_ONCE);
}

static bool
any_pending(const struct names *names, const struct spec *spec)
{
	spec_for_each_server (b, s, spec) {
		const struct name *n = find_spec_name(names, b, s);

		if (n && n->renewal.asked)
			return true;
	}
	return false;
}

void
server_names_ask(struct server_names *sn, const struct spec *spec)
{
	want_names(sn->names, spec, true);
}

bool
server_names_pending(const struct server_names *sn, const struct spec *spec)
{
	return any_pending(sn->names, spec);
}

size_t
server_names_refresh(struct server_names *sn, const struct backend *backend)
{
	size_t n = 0;

	model_for_each_server (s, sn->instance->model) {
		if (!s->spec->host || (backend && s->backend != backend))
			continue;
		(void)want_name(sn->names, s->backend->spec, s->spec, true);
		n++;
	}
	return n;
}

/* -- start and reload -- */

void
server_names_prepare_server(struct server_names *sn, struct server *server)
{
	struct server *s = server;
	const struct name *n = find_server_name(sn->names, s);
	const struct addr *addr =
	    n ? choose_address(n, s->spec, server_resolved(s)) : NULL;

	if (addr && server_is_unresolved(s) && s->state->refs == 1)
		(void)server_resolve_first(s, addr);
}

void
server_names_prepare(struct server_names *sn, struct model *model)
{
	model_for_each_server (s, model)
		server_names_prepare_server(sn, s);
}

static void
add_user(struct name *n, struct server *s)
{
	if (!name_add_user(n, s))
		log_error(
		    "out of memory: server %s/%s does not follow its name "
		    "until the next reload",
		    s->backend->spec->name, s->spec->name);
}

/* Makes each name refer to the servers of the present model that have it. */
static void
find_users(struct server_names *sn)
{
	struct names *names = sn->names;

	names_clear_servers(names);
	model_for_each_server (s, sn->instance->model) {
		struct name *n = find_server_name(names, s);

		if (n)
			add_user(n, s);
	}
	names_sweep(names);
}

/* Applies all names, also those that have not changed: their servers may be
 * new. */
static void
apply_all(struct server_names *sn)
{
	uint64_t now_ms = clock_now_ms();

	names_for_each (n, sn->names) {
		if (!name_mode_is_servers(n->mode))
			continue;
		/* Log no error here: the answer to the reload, or
		 * server_names_start, has it. */
		n->logged = n->renewal.error;
		apply_name(sn, n, now_ms);
	}
	model_update(sn->instance->model);
}

void
server_names_commit(struct server_names *sn)
{

	if (!follow_resolver(sn, sn->instance->model->spec))
		log_error("the name servers of [resolver] or of "
		          "/etc/resolv.conf could not be taken; the former "
		          "ones are asked");
	want_names(sn->names, sn->instance->model->spec, false);
	find_users(sn);
	if (names_count(sn->names) == 0)
		return;
	apply_all(sn);
	timed_task_schedule(&sn->work, clock_now_ms());
}

void
server_names_add(struct server_names *sn, struct server *server)
{
	struct name *n;

	if (!server->spec->host)
		return;
	n = want_name(sn->names, server->backend->spec, server->spec, false);
	if (!n)
		return;
	add_user(n, server);
	apply_to_server(sn, server, n, clock_now_ms());
	timed_task_schedule(&sn->work, clock_now_ms());
}

void
server_names_drop(struct server_names *sn, const struct server *server)
{
	name_drop_user(find_server_name(sn->names, server), server);
}

/* Logs the servers that wait for their first answer, even though no error has
 * occurred yet. */
static void
log_waiting(struct server_names *sn)
{
	uint64_t now_ms = clock_now_ms();

	model_for_each_server (s, sn->instance->model)
		if (server_is_unresolved(s) &&
		    burst_allows(&sn->errors, now_ms))
			log_unresolved(s, find_server_name(sn->names, s));
}

void
server_names_start(struct server_names *sn)
{
	struct model *m = sn->instance->model;

	if (!follow_resolver(sn, m->spec))
		log_error("name servers could not be taken from [resolver] or "
		          "/etc/resolv.conf; names are not resolved");
	/* Set the end of the wait now: sets of servers are waited for until the
	 * same time. */
	if (takeover_under_way())
		(void)takeover_wait_by_ms();
	want_names(sn->names, m->spec, true);
	if (names_count(sn->names) == 0)
		return;
	dns_wait(sn->dns, takeover_under_way()
	                      ? takeover_wait_by_ms()
	                      : clock_now_ms() + SERVER_NAMES_START_MS);
	server_names_prepare(sn, m);
	model_for_each_backend (b, m)
		backend_mark_changed(b);
	model_update(m);
	log_waiting(sn);
	server_names_commit(sn);
}

void
server_names_warn(const struct server_names *sn, struct changes *changes)
{
	const struct names *names = sn->names;
	unsigned n = 0;

	model_for_each_server (s, sn->instance->model)
		if (server_is_unresolved(s) && n++ < LOGGED_MAX)
			changes_add(changes, true,
			    "server %s/%s is in maintenance: its name '%s' is "
			    "not resolved: %s",
			    s->backend->spec->name, s->spec->name,
			    s->spec->host,
			    unresolved_reason(find_server_name(names, s)));
	if (n > LOGGED_MAX)
		changes_add(changes, true,
		    "the names of %u more servers are not resolved; see 'show "
		    "resolvers'",
		    n - LOGGED_MAX);
}

/* -- lfproxy -t -- */

static void
write_place(FILE *out, const struct server_spec *s)
{
	fprintf(out, "%slfproxy: warning: ", log_severity(LOG_LEVEL_WARNING));
	if (s->place.file && s->place.line > 0)
		fprintf(out, "%s:%u: ", s->place.file, s->place.line);
}

static void
write_warning(FILE *out, const struct backend_spec *b,
    const struct server_spec *s, const struct name *n)
{
	write_place(out, s);
	fprintf(out,
	    "server %s/%s would be in maintenance: its name '%s' is not "
	    "resolved: %s\n",
	    b->name, s->name, s->host, unresolved_reason(n));
}

/* Returns the address that the name of the server has now, or the file's. */
static const struct addr *
checked_addr(void *arg, const struct backend_spec *b, size_t at)
{
	const struct server_spec *s = b->servers[at];
	const struct name *n = find_spec_name(arg, b, s);
	const struct addr *found = n ? choose_address(n, s, &s->addr) : NULL;
	static struct addr addr;

	if (!found)
		return &s->addr;
	addr = *found;
	addr_set_port(&addr, s->port);
	return &addr;
}

static void
warn_of_named_loop(struct loops *loops, const struct names *names,
    const struct backend_spec *b, size_t at, FILE *out)
{
	const struct server_spec *s = b->servers[at];
	const struct frontend_spec *f =
	    s->host ? loops_find(loops, b, s,
	                  checked_addr((void *)(uintptr_t)names, b, at))
	            : NULL;

	if (!f)
		return;
	write_place(out, s);
	fprintf(out, LOOPS_WARNING "\n", b->name, s->name, f->name,
	    LOOPS_SESSIONS_MAX);
}

/* Writes a warning for each server with a name that leads back to its own
 * backend. */
static void
warn_of_named_loops(
    const struct names *names, const struct spec *spec, FILE *out)
{
	struct loops *loops =
	    loops_new(spec, checked_addr, (void *)(uintptr_t)names);

	if (!loops)
		return;
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].servers_n; j++)
			warn_of_named_loop(
			    loops, names, &spec->backends[i], j, out);
	loops_free(loops);
}

void
server_names_check(const struct spec *spec, unsigned wait_ms, FILE *out)
{
	struct server_names sn = {.instance = NULL};

	if (make_names(&sn, NULL) && follow_resolver(&sn, spec)) {
		want_names(sn.names, spec, true);
		dns_wait(sn.dns, clock_now_ms() + wait_ms);
		spec_for_each_server (b, s, spec) {
			const struct name *n = find_spec_name(sn.names, b, s);

			if (s->host && !(n && n->renewal.known))
				write_warning(out, b, s, n);
		}
		warn_of_named_loops(sn.names, spec, out);
	}
	free_names(&sn);
}
