/* SPDX-License-Identifier: MIT
 * A channel of c-ares with one name server, whose sockets count.
 *
 * Only dns_channel.c knows what differs between c-ares 1.18 (Debian 12) and
 * 1.34 (Debian 13), which replaces the calls for questions and sockets, keeps
 * answers, and chooses time-outs by itself.
 */
#ifndef RESOLVE_DNS_CHANNEL_H
#define RESOLVE_DNS_CHANNEL_H

#include <ares.h>
#include <stdbool.h>
#include <stdint.h>

#include "resolve/dns_server.h"

struct dns_channel {
	ares_channel ares;       /* NULL: closed */
	const struct addr *addr; /* of the name server */
	uint64_t timeout_ms;
	/* Called with arg when c-ares begins or ends to wait for a socket. */
	ares_sock_state_cb on_state;
	void *arg;
	struct dns_counts *counts; /* sent, snd_error and truncated grow */
	unsigned reads_left;       /* in this turn */
	uint64_t heard_ms;         /* when a message came last; 0: never */
};

/* Opens the channel, or closes it and opens it again; the caller has set its
 * members behind the first.  The channel must stay in place.  Returns false
 * when memory is short or c-ares refuses; then nothing has changed. */
bool dns_channel_open(struct dns_channel *channel) MUST_CHECK;

/* Ends the questions with ARES_EDESTRUCTION, if the channel is open. */
void dns_channel_close(struct dns_channel *channel);

/* Asks for records of the type.  Calls done once, maybe from within this call.
 */
void dns_channel_ask(struct dns_channel *channel, const char *name, int type,
    ares_callback done, void *arg);

#endif
