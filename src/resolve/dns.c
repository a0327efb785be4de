/* SPDX-License-Identifier: MIT
 * See dns.h.  The way of one look-up is in dns_lookup.c.
 */
#include "resolve/dns_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* How late a time-out may be noticed. */
#define TICK_MAX_S 0.05
#define TICK_MIN_S 0.005

/* How often resolv.conf is looked at, while names are looked up. */
#define SYSTEM_CHECK_MS 1000

/* -- name servers -- */

static void
free_servers(struct dns_server **servers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dns_server_free(servers[i]);
	free(servers);
}

static struct dns_server **
make_dns_servers(
    struct dns *dns, const struct addr *addrs, size_t n, uint64_t timeout_ms)
{
	struct dns_server **servers =
	    calloc(n + 1, sizeof(struct dns_server *));

	for (size_t i = 0; servers && i < n; i++) {
		servers[i] = dns_server_new(dns->loop, &addrs[i], timeout_ms);
		if (!servers[i]) {
			free_servers(servers, i);
			return NULL;
		}
	}
	return servers;
}

/* Replaces the name servers.  Questions to the former ones are asked again. */
static void
replace_servers(struct dns *dns, struct dns_server **servers, size_t n)
{
	struct dns_server **before = dns->servers;
	size_t before_n = dns->servers_n;

	dns->servers = servers;
	dns->servers_n = n;
	dns->first = 0;
	dns->replacing = true;
	free_servers(before, before_n);
	dns->replacing = false;
}

static bool
same_servers(const struct dns *dns, const struct addr *addrs, size_t n)
{
	if (n != dns->servers_n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!addr_equal(&dns->servers[i]->addr, &addrs[i]))
			return false;
	return true;
}

static uint64_t
timeout_in_force(uint64_t own_ms, const struct dns_system *system)
{
	if (own_ms > 0)
		return own_ms;
	return system->timeout_s > 0 ? system->timeout_s * UINT64_C(1000)
	                             : DNS_TIMEOUT_MS;
}

/* Takes the system's domains and, unless others are set, its name servers and
 * its options.  Returns false when memory is short or the file cannot be
 * read. */
static bool
follow_system(struct dns *dns)
{
	const struct addr *addrs = dns->own;
	struct dns_server **servers;
	size_t n = dns->own_n;
	struct dns_system system;
	uint64_t timeout_ms;

	if (!dns_system_read(&system, dns->resolv_conf))
		return false;
	timeout_ms = timeout_in_force(dns->own_timeout_ms, &system);
	if (n == 0) {
		addrs = system.servers;
		n = system.servers_n;
	}
	if (timeout_ms != dns->timeout_ms || !same_servers(dns, addrs, n)) {
		servers = make_dns_servers(dns, addrs, n, timeout_ms);
		if (!servers) {
			dns_system_fini(&system);
			return false;
		}
		dns->timeout_ms = timeout_ms;
		replace_servers(dns, servers, n);
	}
	dns->retries = optional_or(dns->own_retries,
	    system.attempts > 0 ? system.attempts - 1 : DNS_RETRIES);
	dns->rotate = system.rotate && dns->own_n == 0;
	dns_system_fini(&dns->system);
	dns->system = system;
	return true;
}

void
dns_follow_system(struct dns *dns)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms < dns->system_checked_ms + SYSTEM_CHECK_MS)
		return;
	dns->system_checked_ms = now_ms;
	if (dns_system_is_old(&dns->system, dns->resolv_conf))
		(void)follow_system(dns);
}

static void
dns_settings_drop(struct dns *dns)
{
	free(dns->own);
	free(dns->resolv_conf);
	hosts_file_free(dns->hosts);
}

bool
dns_configure(struct dns *dns, const struct dns_settings *settings)
{
	const struct dns_settings *s = settings;
	struct addr *own = calloc(s->servers_n + 1, sizeof(*own));
	char *resolv_conf =
	    strdup(s->resolv_conf ? s->resolv_conf : DNS_RESOLV_CONF);
	struct hosts_file *hosts =
	    hosts_file_new(s->hosts_file ? s->hosts_file : DNS_HOSTS_FILE);

	if (!own || !resolv_conf || !hosts) {
		free(own);
		free(resolv_conf);
		hosts_file_free(hosts);
		return false;
	}
	if (s->servers_n > 0)
		memcpy(own, s->servers, s->servers_n * sizeof(*own));
	dns_settings_drop(dns);
	dns->own = own;
	dns->own_n = s->servers_n;
	dns->own_timeout_ms = s->timeout_ms;
	dns->own_retries = s->retries;
	dns->resolv_conf = resolv_conf;
	dns->hosts = hosts;
	return follow_system(dns);
}

/* -- work -- */

static unsigned
count_asked(const struct dns *dns)
{
	unsigned n = 0;

	for (size_t i = 0; i < dns->servers_n; i++)
		n += dns->servers[i]->asked;
	return n;
}

static uint64_t
last_heard_ms(const struct dns *dns)
{
	uint64_t last_ms = 0;

	for (size_t i = 0; i < dns->servers_n; i++)
		if (dns->servers[i]->heard_ms > last_ms)
			last_ms = dns->servers[i]->heard_ms;
	return last_ms;
}

/* Halves the window, once for all questions that time out together.  A message
 * that came too late shows that the name servers have too much to do; without
 * any, they do nothing. */
static void
narrow_window(struct dns *dns, uint64_t now_ms)
{
	unsigned asked = count_asked(dns) + 1;

	dns->silent = last_heard_ms(dns) + dns->timeout_ms < now_ms;
	if (dns->silent || now_ms < dns->narrowed_ms + dns->timeout_ms)
		return;
	dns->narrowed_ms = now_ms;
	if (asked < dns->window)
		dns->window = asked;
	if (dns->window > 1)
		dns->window /= 2;
}

void
dns_adapt(struct dns *dns, enum dns_error error, uint64_t sent_ms)
{
	uint64_t now_ms = clock_now_ms();

	if (error == DNS_TIMEOUT) {
		narrow_window(dns, now_ms);
		return;
	}
	if (error == DNS_UNREACHABLE || error == DNS_NO_MEMORY ||
	    error == DNS_BAD_NAME)
		return;
	dns->silent = false;
	/* The delay grows with the window: answers to the questions that are
	 * sent now come later than this one. */
	if (!list_empty(&dns->unasked) && dns->window < DNS_ASKED_MAX &&
	    now_ms - sent_ms <= dns->timeout_ms / 4)
		dns->window++;
}

/* Takes the first node off the list.  Returns it, or NULL. */
static struct list *
take_first(struct list *list)
{
	struct list *node = list->next;

	if (list_empty(list))
		return NULL;
	list_remove(node);
	return node;
}

static void
set_dns_timer(struct dns *dns, ev_timer *timer, double in_s)
{
	ev_now_update(dns->loop);
	ev_timer_set(timer, in_s, 0.);
	ev_timer_start(dns->loop, timer);
}

static double
tick_s(const struct dns *dns)
{
	double s = (double)dns->timeout_ms / 1e3 / 8;

	if (s < TICK_MIN_S)
		return TICK_MIN_S;
	return s > TICK_MAX_S ? TICK_MAX_S : s;
}

static void
on_dns_work(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct dns *dns = timer->data;
	struct list *node;

	(void)loop;
	(void)events;
	while ((node = take_first(&dns->ended)))
		dns_lookup_end(container_of(node, struct dns_lookup, node));
	while (count_asked(dns) < (dns->silent ? DNS_ASKED_MAX : dns->window) &&
	       (node = take_first(&dns->unasked)))
		dns_query_send(container_of(node, struct dns_query, node));
	if (count_asked(dns) > 0 && !ev_is_active(&dns->tick))
		set_dns_timer(dns, &dns->tick, tick_s(dns));
}

static void
on_dns_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct dns *dns = timer->data;

	(void)loop;
	(void)events;
	for (size_t i = 0; i < dns->servers_n; i++)
		dns_server_tick(dns->servers[i]);
	if (count_asked(dns) > 0)
		set_dns_timer(dns, &dns->tick, tick_s(dns));
}

void
dns_wake(struct dns *dns)
{
	if (dns->loop && !ev_is_active(&dns->work))
		set_dns_timer(dns, &dns->work, 0.);
}

/* -- waiting -- */

static void
move_to(struct dns *dns, struct ev_loop *loop)
{
	if (dns->loop) {
		ev_timer_stop(dns->loop, &dns->work);
		ev_timer_stop(dns->loop, &dns->tick);
	}
	dns->loop = loop;
	for (size_t i = 0; i < dns->servers_n; i++)
		dns_server_move(dns->servers[i], loop);
	if (loop && dns->pending > 0) {
		dns_wake(dns);
		set_dns_timer(dns, &dns->tick, tick_s(dns));
	}
}

static void
on_wait_end(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)timer;
	(void)events;
}

void
dns_wait(struct dns *dns, uint64_t until_ms)
{
	struct ev_loop *loop = dns->loop, *own = ev_loop_new(EVFLAG_AUTO);
	uint64_t now_ms = clock_now_ms();
	ev_timer end;

	if (!own)
		return;
	ev_timer_init(&end, on_wait_end,
	    until_ms > now_ms ? (double)(until_ms - now_ms) / 1e3 : 0., 0.);
	ev_timer_start(own, &end);
	move_to(dns, own);
	while (dns->pending > 0 && ev_is_active(&end))
		ev_run(own, EVRUN_ONCE);
	move_to(dns, loop);
	ev_timer_stop(own, &end);
	ev_loop_destroy(own);
}

/* -- life -- */

struct dns *
dns_new(struct ev_loop *loop)
{
	struct dns *dns = calloc(1, sizeof(*dns));

	if (!dns)
		return NULL;
	dns->loop = loop;
	dns->window = DNS_ASKED_FIRST;
	list_init(&dns->unasked);
	list_init(&dns->ended);
	list_init(&dns->asked);
	ev_init(&dns->work, on_dns_work);
	ev_init(&dns->tick, on_dns_tick);
	dns->work.data = dns->tick.data = dns;
	return dns;
}

void
dns_free(struct dns *dns)
{
	if (!dns)
		return;
	dns->replacing = true;
	free_servers(dns->servers, dns->servers_n);
	/* Stop the timers only now: ending the questions has set one. */
	if (dns->loop) {
		ev_timer_stop(dns->loop, &dns->work);
		ev_timer_stop(dns->loop, &dns->tick);
	}
	dns_lookups_drop(&dns->asked);
	dns_lookups_drop(&dns->ended);
	dns_system_fini(&dns->system);
	dns_settings_drop(dns);
	free(dns);
}

size_t
dns_pending(const struct dns *dns)
{
	return dns->pending;
}

const struct dns_server *
dns_server_at(const struct dns *dns, size_t i)
{
	return i < dns->servers_n ? dns->servers[i] : NULL;
}
