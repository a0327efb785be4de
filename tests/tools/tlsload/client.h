/* SPDX-License-Identifier: MIT
 * A TLS client: its connection, its requests, and the check of the answers.
 *
 * The load in tlsload.c opens clients, lets them ask, and advances them on
 * their events.  All functions run on the one thread of the process; none
 * blocks.  What cannot be part of any measurement, such as a wrong answer or no
 * memory, ends the program.
 */
#ifndef TOOLS_TLSLOAD_CLIENT_H
#define TOOLS_TLSLOAD_CLIENT_H

#include "tools/pace.h"
#include "tools/tls_peer.h"

#define HEAD_SIZE  4096
#define BLOCK_SIZE 65536

/* See tlsload.c. */
enum mode { HANDSHAKES, REQUESTS, STORM, IDLE, BULK, MODES };

/* CLOSED: nothing is there.  SHAKING: the handshake is under way.  SENDING: the
 * request is.  HEAD, BODY: the answer is awaited.  QUIET: nothing may come but
 * tickets.  ENDING: only the peer's end may come. */
enum phase { CLOSED, SHAKING, SENDING, HEAD, BODY, QUIET, ENDING };

struct client {
	int fd;
	SSL *ssl;
	SSL_SESSION *session; /* to resume */
	enum phase phase;
	uint64_t began_ns, due_ns;
	uint64_t requests_left;
	uint64_t to_send, sent; /* of the request and its body */
	uint64_t body_left;
	size_t in_len;
	char in[HEAD_SIZE];
};

/* The command line; tlsload.c writes it. */
extern struct tlsload_options {
	enum mode mode;
	uint64_t connections, storm, rate, ms, warm_ms, count, requests, bytes,
	    errors;
	bool closed, marks, resume, up;
	const char *path;
	struct tls_wishes tls;
} opt;

extern struct tool_addr server;
extern SSL_CTX *context;
extern int epoll_fd;
extern char request[1024]; /* up to its body */
extern size_t request_len;
extern char block[BLOCK_SIZE]; /* of a body, which repeats it */

/* Clients by when their next request is due, and the times that count. */
extern struct pace_queue due;
extern struct pace_times times;
/* The measured time; 0: requests are not measured (yet). */
extern uint64_t warm_until_ns, until_ns;
extern double mean_ns; /* between the requests of one client */

extern struct tlsload_sums {
	uint64_t handshakes; /* completed ones */
	uint64_t resumed;    /* of these: a session of a former connection */
	uint64_t unclean;    /* the peer did not announce its end after ours */
	uint64_t answers, failures, opened, finished;
	uint64_t bytes; /* of bulk */
} sum;

/* What the first handshake has led to. */
extern struct tlsload_facts {
	char version[16], cipher[64], group[32], alpn[64];
} facts;

/* Begins a connection.  c is closed; it keeps a session to resume. */
void client_open(struct client *c);

/* Closes the connection, without announcing its end. */
void client_close(struct client *c);

/* The callback of OpenSSL for a new session.  Takes over the reference, and
 * returns 1, if sessions are to be resumed. */
int client_on_session(SSL *ssl, SSL_SESSION *session);

/* Returns whether no more connections are to begin. */
bool clients_are_over(void);

/* Begins a request; client_advance sends it.  No answer is awaited. */
void client_ask(struct client *c);

/* Goes on until the connection has to wait, or another one has begun. */
void client_advance(struct client *c);

#endif
