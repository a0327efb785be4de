/* SPDX-License-Identifier: MIT
 * The way of one look-up: hosts file, whole names, queries, name servers.
 *
 *   begin --hosts file has it--------------------------------> end
 *     |                                                         ^
 *     v                                                         |
 *   next whole name --none left---------------------------------+
 *     |        ^                                                |
 *     v        +--- no such name, or no records, or SERVFAIL    |
 *   queries ---+--- records, or the name servers do not answer -+
 *
 * The search of c-ares (ares_getaddrinfo) would end with the first search
 * domain whose name servers fail, and does not tell which family has failed.
 */
#include "resolve/dns_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define TYPE_A    1
#define TYPE_AAAA 28
#define TYPE_SRV  33

/* Each look-up checks whether the file has changed, so this only limits how
 * often names are asked for. */
#define HOSTS_TTL_S 10

static void
lookup_ended(struct dns_lookup *l, enum dns_error error)
{
	l->answer.error = error;
	list_remove(&l->node);
	list_append(&l->dns->ended, &l->node);
	dns_wake(l->dns);
}

/* -- whole names -- */

static bool
has_dots(const char *name, unsigned n)
{
	for (; *name && n > 0; name++)
		n -= *name == '.';
	return n == 0;
}

/* Writes the whole name of that number.  Returns false behind the last. */
static bool
whole_name(struct dns_lookup *l, size_t number)
{
	const struct dns_system *system = &l->dns->system;
	size_t len = strlen(l->host), domains_n = system->domains_n;
	bool rooted = len > 0 && l->host[len - 1] == '.';
	bool first = has_dots(l->host, system->ndots);

	if (l->family == DNS_SERVICE || rooted)
		domains_n = 0;
	if (number > domains_n)
		return false;
	if (number == (first ? 0 : domains_n)) {
		snprintf(l->whole, sizeof(l->whole), "%s", l->host);
		return true;
	}
	snprintf(l->whole, sizeof(l->whole), "%s.%s", l->host,
	    system->domains[number - first]);
	return true;
}

static bool
is_too_long(const char *name)
{
	size_t len = strlen(name);

	return len - (len > 0 && name[len - 1] == '.') > ADDR_HOST_SIZE - 3;
}

/* -- the answers together -- */

/* Returns the error that counts more.  A failure of a name server counts more
 * than the answer that a name has no records: the name may have some. */
static enum dns_error
worse(enum dns_error a, enum dns_error b)
{
	static const int rank[DNS_ERRORS] = {[DNS_OK] = 0,
	    [DNS_BAD_NAME] = 1,
	    [DNS_NXDOMAIN] = 2,
	    [DNS_EMPTY] = 3,
	    [DNS_REFUSED] = 4,
	    [DNS_MALFORMED] = 5,
	    [DNS_SERVFAIL] = 6,
	    [DNS_UNREACHABLE] = 7,
	    [DNS_TIMEOUT] = 8,
	    [DNS_NO_MEMORY] = 9};

	return rank[a] > rank[b] ? a : b;
}

static void try_next_name(struct dns_lookup *l);

static void
answer_is_good(struct dns_lookup *l)
{
	for (unsigned i = 0; i < l->queries_n; i++) {
		const struct dns_query *q = &l->queries[i];

		if (q->error == DNS_OK || dns_error_is_final(q->error))
			continue;
		l->answer.failed_family =
		    q->type == TYPE_A ? AF_INET : AF_INET6;
		l->answer.failed_error = q->error;
	}
	lookup_ended(l, DNS_OK);
}

/* Ends the look-up, or goes on to the next whole name.  All queries of the
 * present one have ended. */
static void
name_ended(struct dns_lookup *l)
{
	enum dns_error error = DNS_OK;

	for (unsigned i = 0; i < l->queries_n; i++)
		error = worse(error, l->queries[i].error);
	if (l->answer.addrs_n > 0 || l->answer.srvs_n > 0) {
		answer_is_good(l);
		return;
	}
	l->worst = worse(l->worst, error);
	if (error == DNS_TIMEOUT || error == DNS_UNREACHABLE ||
	    error == DNS_NO_MEMORY)
		lookup_ended(l, error);
	else
		try_next_name(l);
}

/* -- queries -- */

static void
query_queue(struct dns_query *q)
{
	list_append(&q->lookup->dns->unasked, &q->node);
	dns_wake(q->lookup->dns);
}

static void
query_ended(struct dns_query *q, enum dns_error error)
{
	struct dns_lookup *l = q->lookup;

	q->error = error;
	if (--l->open > 0)
		return;
	if (l->cancelled)
		lookup_ended(l, DNS_OK);
	else
		name_ended(l);
}

static enum dns_error
read_dns_message(struct dns_query *q, const uint8_t *message, size_t len)
{
	struct dns_answer *answer = &q->lookup->answer;
	enum dns_error error;

	if (q->type == TYPE_SRV)
		error = dns_read_srvs(answer, message, len);
	else
		error = dns_read_addrs(answer, message, len,
		    q->type == TYPE_A ? AF_INET : AF_INET6);
	dns_server_note(q->question.server, error);
	return error;
}

/* Makes the next server the first one to ask, if it was this one, which has not
 * answered. */
static void
pass_server_over(struct dns *dns, const struct dns_server *server)
{
	if (dns->servers[dns->first] == server)
		dns->first = (dns->first + 1) % dns->servers_n;
}

/* Counts a failed try.  Returns whether the question goes to another name
 * server, or to all of them again. */
static bool
is_tried_again(struct dns_query *q, enum dns_error error)
{
	size_t n = q->lookup->dns->servers_n;

	q->tries++;
	if (error == DNS_TIMEOUT || error == DNS_UNREACHABLE)
		pass_server_over(q->lookup->dns, q->question.server);
	else
		q->failures++;
	return q->failures < n &&
	       q->tries < n * (1 + (size_t)q->lookup->dns->retries);
}

static void
on_query_done(struct dns_question *question, enum dns_error error,
    const uint8_t *message, size_t len)
{
	struct dns_query *q =
	    container_of(question, struct dns_query, question);
	struct dns *dns = q->lookup->dns;

	q->under_way = false;
	if (!dns->replacing)
		dns_adapt(dns, error, q->sent_ms);
	/* There is room for another question. */
	if (!list_empty(&dns->unasked))
		dns_wake(dns);
	if (q->lookup->cancelled)
		query_ended(q, DNS_OK);
	else if (dns->replacing)
		query_queue(q);
	else if (error == DNS_OK &&
	         (error = read_dns_message(q, message, len)) != DNS_MALFORMED)
		query_ended(q, error);
	else if (dns_error_is_final(error) || error == DNS_BAD_NAME ||
	         error == DNS_NO_MEMORY || !is_tried_again(q, error))
		query_ended(q, error);
	else
		query_queue(q);
}

void
dns_query_send(struct dns_query *query)
{
	struct dns *dns = query->lookup->dns;
	size_t at;

	if (dns->servers_n == 0) {
		query_ended(query, DNS_UNREACHABLE);
		return;
	}
	if (query->tries == 0) {
		query->first = dns->first;
		if (dns->rotate)
			dns->first = (dns->first + 1) % dns->servers_n;
	}
	at = (query->first + query->tries) % dns->servers_n;
	query->under_way = true;
	query->sent_ms = clock_now_ms();
	query->question.done = on_query_done;
	dns_server_ask(dns->servers[at], &query->question, query->lookup->whole,
	    query->type);
}

static void
add_query(struct dns_lookup *l, int type)
{
	struct dns_query *q = &l->queries[l->queries_n++];

	*q = (struct dns_query){.lookup = l, .type = type};
	list_init(&q->node);
	l->open++;
	query_queue(q);
}

/* Asks for the next whole name.  No query of the look-up is under way. */
static void
try_next_name(struct dns_lookup *l)
{
	do {
		if (!whole_name(l, l->candidate++)) {
			lookup_ended(
			    l, l->worst == DNS_OK ? DNS_BAD_NAME : l->worst);
			return;
		}
	} while (is_too_long(l->whole));
	dns_answer_fini(&l->answer);
	l->answer.ttl_s = UINT32_MAX;
	l->queries_n = 0;
	if (l->family == DNS_SERVICE)
		add_query(l, TYPE_SRV);
	if (l->family == AF_INET || l->family == AF_UNSPEC)
		add_query(l, TYPE_A);
	if (l->family == AF_INET6 || l->family == AF_UNSPEC)
		add_query(l, TYPE_AAAA);
}

/* -- life -- */

static void
lookup_free(struct dns_lookup *l)
{
	list_remove(&l->node);
	for (unsigned i = 0; i < l->queries_n; i++)
		list_remove(&l->queries[i].node);
	dns_answer_fini(&l->answer);
	free(l);
}

void
dns_lookup_end(struct dns_lookup *lookup)
{
	if (!lookup->cancelled) {
		lookup->dns->pending--;
		lookup->done(lookup->arg, &lookup->answer);
	}
	lookup_free(lookup);
}

void
dns_lookups_drop(struct list *lookups)
{
	list_for_each_safe (node, lookups)
		lookup_free(container_of(node, struct dns_lookup, node));
}

struct dns_lookup *
dns_look_up(
    struct dns *dns, const char *host, int family, dns_done *done, void *arg)
{
	size_t size = strlen(host) + 1;
	struct dns_lookup *l = calloc(1, sizeof(*l) + size);

	if (!l)
		return NULL;
	l->dns = dns;
	l->family = family;
	l->done = done;
	l->arg = arg;
	memcpy(l->host, host, size);
	list_append(&dns->asked, &l->node);
	dns->pending++;
	dns_follow_system(dns);
	l->answer.ttl_s = HOSTS_TTL_S;
	if (family != DNS_SERVICE && dns->hosts &&
	    hosts_file_find(dns->hosts, host, family, &l->answer))
		lookup_ended(l, DNS_OK);
	else
		try_next_name(l);
	return l;
}

void
dns_cancel(struct dns_lookup *lookup)
{
	if (!lookup)
		return;
	lookup->dns->pending--;
	lookup->cancelled = true;
	for (unsigned i = 0; i < lookup->queries_n; i++) {
		struct dns_query *q = &lookup->queries[i];

		if (q->under_way || list_empty(&q->node))
			continue;
		list_remove(&q->node);
		lookup->open--;
	}
	/* Otherwise answers are still to come, and the last one frees the
	 * look-up. */
	if (lookup->open == 0)
		lookup_free(lookup);
}
