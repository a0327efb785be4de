/* SPDX-License-Identifier: MIT
 * Looks up names by DNS without blocking, except in dns_wait.
 *
 *   dns_look_up --> hosts file, search domains --> questions --> name servers
 *                                                                     |
 *      done <-- (control loop) <-- answers, or the next name server <-+
 *
 * A name is looked up in the hosts file, and then as resolv.conf(5) says: as it
 * is if it has ndots dots or more, else within the search domains first.  A and
 * AAAA records are asked for at the same time.  If a name server does not
 * answer, or answers with an error, the next one is asked; when none of them
 * has answered, all are asked again, up to `retries` times.  The name server
 * that answered last is asked first; with `rotate` in resolv.conf, and its name
 * servers, each question begins with the next one.
 *
 * Everything runs on the control thread.
 */
#ifndef RESOLVE_DNS_H
#define RESOLVE_DNS_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/optional.h"
#include "net/addr.h"
#include "resolve/dns_answer.h"
#include "resolve/dns_server.h"

/* The most questions under way.  Others wait, so that a slow name server does
 * not get so many questions that all of its answers come too late.  The number
 * begins with DNS_ASKED_FIRST, grows with quick answers, up to DNS_ASKED_MAX,
 * and is halved when answers fail to come.  While the name servers send nothing
 * at all it is DNS_ASKED_MAX, so that all names soon have their error. */
#define DNS_ASKED_MAX   1000
#define DNS_ASKED_FIRST 32

#define DNS_TIMEOUT_MS 2000
#define DNS_RETRIES    1

#define DNS_RESOLV_CONF "/etc/resolv.conf"
#define DNS_HOSTS_FILE  "/etc/hosts"

/* Settings of [resolver].  Texts and lists are copied. */
struct dns_settings {
	const struct addr *servers; /* with ports; servers_n 0: the system's */
	size_t servers_n;
	/* The time that a name server has for an answer.  0: as in
	 * resolv.conf, or DNS_TIMEOUT_MS. */
	uint64_t timeout_ms;
	/* Rounds of questions after the first.  Unset: those of resolv.conf, or
	 * DNS_RETRIES. */
	struct optional retries;
	const char *resolv_conf, *hosts_file; /* NULL: the system's */
};

struct dns;
struct dns_lookup;

/* Takes the answer of a look-up, which is borrowed for the time of the call;
 * done may take the lists in it.  The look-up is over. */
typedef void dns_done(void *arg, struct dns_answer *answer);

/* Makes a resolver without settings.  Borrows loop; NULL: it works only within
 * dns_wait.  Returns NULL when memory is short. */
struct dns *dns_new(struct ev_loop *loop);

/* Frees the resolver.  done of look-ups that are under way is not called.
 * Accepts NULL. */
void dns_free(struct dns *dns);

/* Applies the settings.  Look-ups under way go on with the new name servers.
 * Returns false when memory is short or resolv.conf cannot be read; then the
 * former name servers, if any, are asked. */
bool dns_configure(
    struct dns *dns, const struct dns_settings *settings) MUST_CHECK;

/* In the place of a family: SRV records. */
#define DNS_SERVICE (-1)

/* Looks up the addresses of a host.  family: AF_INET, AF_INET6, or AF_UNSPEC
 * for both.  DNS_SERVICE: looks up the SRV records of a name instead, neither
 * in the hosts file nor within search domains.  done is called once, from the
 * loop or dns_wait, never from within this call.  Returns NULL when memory is
 * short. */
struct dns_lookup *dns_look_up(
    struct dns *dns, const char *host, int family, dns_done *done, void *arg);

/* Cancels the look-up, which must not be over: done is not called.  Accepts
 * NULL. */
void dns_cancel(struct dns_lookup *lookup);

/* Works until no look-up is under way, or until that time of clock_now_ms.
 * Blocks, on a loop of its own.  Returns at once if that cannot be made. */
void dns_wait(struct dns *dns, uint64_t until_ms);

/* Returns the number of look-ups under way. */
size_t dns_pending(const struct dns *dns);

/* Returns the i-th name server, or NULL behind the last one. */
const struct dns_server *dns_server_at(const struct dns *dns, size_t i);

#endif
