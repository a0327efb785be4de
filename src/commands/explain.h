/* SPDX-License-Identifier: MIT
 * `explain`: what would happen to a client that connected now.
 */
#ifndef COMMANDS_EXPLAIN_H
#define COMMANDS_EXPLAIN_H

#include "commands/report.h"
#include "model/explain.h"
#include "proxy/accept_limits.h"

/* The part of the answer about a frontend.  Owns all members.  Only the files
 * of this command use this header. */
struct explained {
	char *frontend;
	enum frontend_admin admin;
	bool draining; /* lfproxy stops and accepts no clients */
	enum accept_block accept_block;
	/* The files of the certificates of which a client with TLS gets one, in
	 * words; NULL: no listen that it can connect to has TLS. */
	char *certs;
	/* The rule that matches, as the file would have it; NULL: none does. */
	char *rule;
	struct explanation *e;
};

/* Begins a row of the report and writes what precedes the servers. */
void explained_put_head(
    struct report *report, const struct explained *x, const char *source);

/* Writes one server. */
void explained_put_server(
    struct report *report, const struct explained *x, size_t server);

/* Writes what follows the last server and ends the row. */
void explained_put_tail(struct report *report, const struct explained *x);

#endif
