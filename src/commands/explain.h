/* SPDX-License-Identifier: MIT
 * `explain`: what would become of a client that connected now.
 */
#ifndef COMMANDS_EXPLAIN_H
#define COMMANDS_EXPLAIN_H

#include "model/explain.h"
#include "proxy/acceptor.h"

/* The part of the answer about a frontend.  Owns all members.  All of this
 * header is for the files of this command alone. */
struct explained {
	char *frontend;
	enum frontend_admin admin;
	bool draining; /* lfproxy stops and accepts no clients */
	enum accept_block accept_block;
	struct explanation *e;
};

/* Returns why new clients are not accepted at present, NULL if they are. */
const char *explained_accept_block(const struct explained *explained);

/* Returns what becomes of a client that gets no server, or about which too
 * little is known; "" if it gets a server. */
const char *explained_otherwise(const struct explained *explained);

/* Writes what precedes the servers. */
void explain_text_head(FILE *out, const struct explained *explained);

/* Writes one server. */
void explain_text_server(
    FILE *out, const struct explained *explained, size_t server);

/* Writes what follows the last server. */
void explain_text_tail(FILE *out, const struct explained *explained);

/* Writes the beginning of an array's element.  Returns false when memory is
 * short. */
bool explain_json_head(
    FILE *out, const struct explained *explained, const char *source);

/* Writes one server.  Returns false when memory is short. */
bool explain_json_server(
    FILE *out, const struct explained *explained, size_t server);

/* Writes the end of the element. */
void explain_json_tail(FILE *out);

#endif
