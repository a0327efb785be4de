/* SPDX-License-Identifier: MIT
 * A connection: the records that it sends, and the check of those that come.
 *
 * Each direction of a session is a sequence of records with a number and bytes
 * that follow from it; the last one says so, and the end of that half comes
 * behind it.  Bytes that are lost, doubled, changed or swapped, and a half that
 * ends early, are found at the first wrong record, by client and server alike.
 *
 *   client                           server
 *   record 0: the kind of session ->
 *                                <-  what the kind asks for
 *   record N, the last; FIN      ->
 *                                <-  the last; FIN
 *
 * What a session sends, and when, is its kind's (kinds.h).  All functions run
 * on the one thread of the program.  None blocks.
 */
#ifndef TOOLS_UPGRADELOAD_CONN_H
#define TOOLS_UPGRADELOAD_CONN_H

#include "tools/upgradeload/load.h"

#define RECORDS_OUT 16
#define BUFFER      16384

struct record {
	uint32_t id;
	uint8_t kind, last, up, spare;
	uint64_t number;
	uint64_t fill[6];
};

struct conn {
	int fd; /* -1: none */
	uint32_t id, interest;
	enum kind kind;
	bool connected, established;
	bool reading; /* may read all that comes */
	bool finish;  /* a last record follows those that are due */
	bool put_last, shut, got_last, got_end, in_queue;
	uint8_t halves; /* of its PROXY header, which the client has sent */
	size_t burst;   /* bytes to be read although it is not reading */
	uint64_t due;   /* records to be sent */
	uint64_t put_n; /* records that are sent, or in out */
	uint64_t got_n;
	uint64_t sent, received; /* bytes */
	uint64_t asked_ns;       /* of the record that waits for its answer */
	uint64_t timer;          /* the newest; older ones are void */
	size_t in_n, out_n, out_sent;
	struct conn *next; /* free ones */
	/* A listener accepts; NULL: a connection. */
	void (*accept)(struct conn *listener);
	struct record in;
	struct record out[RECORDS_OUT];
};

/* Returns a connection, which is counted as open, and takes ownership of fd.
 * fd: -1 for a session that is to be opened again. */
struct conn *conn_new(int fd);

/* Sets the options of a socket.  flood: segments as of a network and small
 * buffers, else a loop-back socket takes megabytes. */
void conn_set_options(int fd, bool flood);

/* Gives back a session that is to be opened again. */
void conn_free(struct conn *c);

/* Counts the failure, in one of sum's counts, tells it unless sessions may be
 * cut, and closes the connection.  With --cuts the client opens another one
 * later. */
void conn_fail(struct conn *c, uint64_t *count, const char *what);

/* Sends what is due, and closes the session if both halves have ended. */
void conn_advance(struct conn *c);

/* Receives and sends what the epoll events allow; may close the connection. */
void conn_on_events(struct conn *c, uint32_t events);

#endif
