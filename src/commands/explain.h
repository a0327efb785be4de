/* SPDX-License-Identifier: MIT
 * `explain`: what would become of a client that connected now.
 */
#ifndef COMMANDS_EXPLAIN_H
#define COMMANDS_EXPLAIN_H

#include "model/explain.h"
#include "proxy/acceptor.h"

/* The rest is of the files of this command alone.  One frontend's part of the
 * answer; all is its own. */
struct explained {
	char *frontend;
	enum frontend_admin admin;
	bool draining; /* lfproxy stops: nobody is accepted any more */
	enum accept_block accept_block;
	struct explanation *e;
};

/* Why nobody is accepted at present; NULL: the client is. */
const char *explained_accept_block(const struct explained *explained);

/* What becomes of a client that gets no server, or of which too little is
 * known; "" when it gets one. */
const char *explained_otherwise(const struct explained *explained);

/* What there is to say in total, but for the servers; one of them; what follows
 * the last. */
void explain_text_head(FILE *out, const struct explained *explained);
void explain_text_server(
    FILE *out, const struct explained *explained, size_t server);
void explain_text_tail(FILE *out, const struct explained *explained);

/* Parts of an array's element; false when memory is short. */
bool explain_json_head(
    FILE *out, const struct explained *explained, const char *source);
bool explain_json_server(
    FILE *out, const struct explained *explained, size_t server);
void explain_json_tail(FILE *out);

#endif
