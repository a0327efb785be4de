/* SPDX-License-Identifier: MIT
 * `explain`: what would happen to a client that connected now.
 */
#ifndef COMMANDS_EXPLAIN_H
#define COMMANDS_EXPLAIN_H

#include "commands/report.h"
#include "stats/env.h"
#include "orders/explain.h"

/* The answer about one frontend.  Borrows all members, for the head. */
struct explained {
	const char *source; /* the client, as the user has written it */
	const struct explained_client *client;
	/* The files of the certificates of which a client with TLS gets one, in
	 * words; NULL: no listen that it can connect to has TLS. */
	const char *certs;
	const struct explanation *e;
};

/* Begins a row of the report and writes what precedes the servers.  Called
 * before the model changes. */
void explained_put_head(struct report *report, const struct explained *x,
    const struct command_env *env);

/* Writes one server. */
void explained_put_server(
    struct report *report, const struct explanation *e, size_t server);

/* Writes what follows the last server and ends the row. */
void explained_put_tail(struct report *report, const struct explanation *e);

#endif
