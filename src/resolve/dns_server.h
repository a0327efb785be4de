/* SPDX-License-Identifier: MIT
 * A name server: a channel of c-ares, driven by the control loop.
 *
 * c-ares makes questions with random ids from random ports, drops answers that
 * do not fit (another id, name, type or sender), and repeats a question over
 * TCP whose answer was truncated.  Each channel has one server and asks it
 * once, so that dns.c decides which server to ask next and knows which one has
 * failed.
 *
 * At most DNS_SERVER_READS messages are read from a socket in a turn of the
 * loop, and each may be taken from another question.
 */
#ifndef RESOLVE_DNS_SERVER_H
#define RESOLVE_DNS_SERVER_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "net/addr.h"
#include "resolve/dns_answer.h"

#define DNS_SERVER_READS 32

/* X(member, name as in HAProxy's `show resolvers`, help) */
#define DNS_COUNTS_TABLE(X)                                                    \
	X(sent, "sent", "questions sent to the name server")                   \
	X(snd_error, "snd_error", "questions that could not be sent")          \
	X(valid, "valid", "answers with records")                              \
	X(any_err, "any_err", "answers without a record of the kind wanted")   \
	X(nx, "nx", "answers that there is no such name")                      \
	X(timeout, "timeout", "questions without an answer in time")           \
	X(refused, "refused", "answers that the question is refused")          \
	X(other, "other", "answers with another error, as SERVFAIL")           \
	X(invalid, "invalid", "answers that could not be read")                \
	X(truncated, "truncated",                                              \
	    "answers that were too long for UDP: the question was repeated "   \
	    "over TCP")

struct dns_counts {
#define X(member, name, help) uint64_t member;
	DNS_COUNTS_TABLE(X)
#undef X
};

/* A question, embedded in the asker's struct. */
struct dns_question {
	/* Ends the question.  message is the answer with DNS_OK, borrowed.
	 * DNS_NO_MEMORY: out of memory, or the server is being freed.  May be
	 * called from within dns_server_ask. */
	void (*done)(struct dns_question *question, enum dns_error error,
	    const uint8_t *message, size_t len);
	struct dns_server *server;
};

/* Others than dns_server.c and dns_channel.c only read it. */
struct dns_server {
	char text[ADDR_TEXT_SIZE]; /* `10.0.0.2:53` */
	struct dns_counts counts;
	struct addr addr;
	unsigned asked;    /* questions under way */
	uint64_t heard_ms; /* when a message came last, be it too late; 0:
	                    * never */
	uint64_t timeout_ms;
	struct ev_loop *loop; /* NULL: none at present */
	struct list sockets;
	struct ares_channeldata *ares; /* NULL: closed */
	unsigned reads_left;           /* in this turn */
	unsigned answers;              /* on this channel */
};

/* Makes a name server.  loop may be NULL.  Returns NULL when memory is short or
 * c-ares refuses. */
struct dns_server *dns_server_new(
    struct ev_loop *loop, const struct addr *addr, uint64_t timeout_ms);

/* Frees the server.  Questions under way end with DNS_NO_MEMORY.  Accepts NULL.
 */
void dns_server_free(struct dns_server *server);

/* Moves the watchers of the sockets to another loop; NULL: stops them. */
void dns_server_move(struct dns_server *server, struct ev_loop *loop);

/* Asks for records of the type (1: A, 28: AAAA, 33: SRV) of the whole name.
 * done is called exactly once. */
void dns_server_ask(struct dns_server *server, struct dns_question *question,
    const char *name, int type);

/* Counts the result of reading the message of an answer: DNS_OK, DNS_EMPTY or
 * DNS_MALFORMED. */
void dns_server_note(struct dns_server *server, enum dns_error found);

/* Ends questions whose time is over. */
void dns_server_tick(struct dns_server *server);

/* Returns the count of that name's row in DNS_COUNTS_TABLE. */
uint64_t dns_counts_at(const struct dns_counts *counts, size_t row);
extern const struct dns_counts_row {
	const char *name, *help;
} dns_counts_rows[];
#define DNS_COUNTS (sizeof(struct dns_counts) / sizeof(uint64_t))

#endif
