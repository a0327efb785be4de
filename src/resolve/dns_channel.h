/* SPDX-License-Identifier: MIT
 * The channel of c-ares that a name server has, and its sockets, which count.
 *
 * Only dns_channel.c knows what differs between c-ares 1.18 (Debian 12) and
 * 1.34 (Debian 13), which replaces the calls for questions and sockets, keeps
 * answers, and chooses time-outs by itself.
 */
#ifndef RESOLVE_DNS_CHANNEL_H
#define RESOLVE_DNS_CHANNEL_H

#include <ares.h>
#include <stdbool.h>

#include "resolve/dns_server.h"

/* Opens the server's channel, or closes it and opens it again; the server has
 * its address and timeout_ms.  Returns false when memory is short or c-ares
 * refuses; then nothing has changed. */
bool dns_channel_open(struct dns_server *server) MUST_CHECK;

/* Ends the questions with ARES_EDESTRUCTION, if the channel is open. */
void dns_channel_close(struct dns_server *server);

/* Asks for records of the type.  Calls done once, maybe from within this call.
 */
void dns_channel_ask(struct dns_server *server, const char *name, int type,
    ares_callback done, void *arg);

/* Called by the channel when c-ares begins or ends to wait for a socket: an
 * ares_sock_state_cb. */
void dns_server_watch(
    void *server, ares_socket_t fd, int readable, int writable);

#endif
