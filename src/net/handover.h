/* SPDX-License-Identifier: MIT
 * Messages between a process and the one that takes over from it
 * (handover/upgrade.h, handover/takeover.h), over a SOCK_SEQPACKET socket.
 *
 *   SOCKETS..., COMMANDS..., COMMIT  ->
 *                                   <-  READY or FAILED
 *   LEFT                             ->
 *                                   <-  NAMES..., NAMES_END
 *   LATER..., COUNTERS..., COUNTS..., PASSED, SESSION..., PASSED ->
 *   SOURCES..., CLOSED..., FAILURES..., and COUNTERS... again and again ->
 *   REOPEN, at any time after NAMES_END    <->
 *
 * An older process that hands over no sessions closes the socket after LEFT; a
 * process that takes none sends READY without HANDOVER_TAKES_SESSIONS.  Each
 * message begins with the version of the format, which changes only if a
 * message changes that both processes know.  A new kind either follows a word
 * of READY or comes after NAMES_END, where a process skips kinds that it does
 * not know.
 */
#ifndef NET_HANDOVER_H
#define NET_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/err.h"
#include "net/addr.h"

#define HANDOVER_VERSION 1
/* The variable of the environment with the number of the socket. */
#define HANDOVER_ENV "LFPROXY_TAKEOVER"

enum handover_kind {
	HANDOVER_SOCKETS,  /* addresses, with a listening socket for each */
	HANDOVER_COMMANDS, /* a text: commands, a line each */
	/* No more of them follow; the receiver may begin.  A text: the first
	 * number for the receiver's own sessions (proxy/session_facts.h), and
	 * how many sessions the sender has now. */
	HANDOVER_COMMIT,
	HANDOVER_READY,  /* the receiver serves; a text: what else it takes */
	HANDOVER_FAILED, /* a text: why it does not serve */
	HANDOVER_LEFT,   /* the sender serves no longer */
	/* A text: the objects whose sessions the sender can take, a line each;
	 * the lines of all NAMES together are numbered from 1
	 * (handover/names_known.h). */
	HANDOVER_NAMES,
	HANDOVER_NAMES_END, /* no more NAMES follow */
	/* A text: `NUMBER SESSIONS` lines, by the numbers of servers and of
	 * frontends: the sender's sessions at each of them. */
	HANDOVER_COUNTS,
	HANDOVER_SESSION, /* data: proxy/session_image.h */
	/* A text: how many sessions the sender has.  The first PASSED comes
	 * before the sessions; a later one counts those that stay for now. */
	HANDOVER_PASSED,
	/* A text: `NUMBER COUNTER N` lines, by the numbers of frontends,
	 * backends and servers: how much the sender has counted there since the
	 * last such line. */
	HANDOVER_COUNTERS,
	/* A text: lines about ends of changes and drains that are still to
	 * come, which COMMANDS do not have (handover/later.h). */
	HANDOVER_LATER,
	HANDOVER_SOURCES, /* a text: handover/sources_sent.h */
	HANDOVER_CLOSED,  /* data: proxy/closed_image.h */
	/* In either direction: files of the access log have been renamed. */
	HANDOVER_REOPEN,
	HANDOVER_FAILURES, /* data: proxy/failures_image.h */
	HANDOVER_KINDS
};

/* The word of READY of a process that takes sessions. */
#define HANDOVER_TAKES_SESSIONS "sessions"

/* The most sockets of one message; the kernel allows 253. */
#define HANDOVER_SOCKETS_MAX 200
#define HANDOVER_TEXT_MAX    4096
/* The largest SESSION: two buffers of bytes that its sides have not taken, and
 * its fields.  It fits into the socket buffer that the kernel gives by default.
 */
#define HANDOVER_DATA_MAX (140u << 10)
/* The parts of a SESSION behind the head of the message. */
#define HANDOVER_PARTS_MAX 4

/* A message.  The caller that receives it owns its descriptors. */
struct handover {
	enum handover_kind kind;
	uint32_t version;
	size_t n;                                /* number of descriptors */
	struct addr asked[HANDOVER_SOCKETS_MAX]; /* SOCKETS only */
	int fds[HANDOVER_SOCKETS_MAX];
	size_t size; /* size of the text or the data */
	union {
		char text[HANDOVER_TEXT_MAX]; /* "": none */
		uint8_t data[HANDOVER_DATA_MAX];
	};
};

/* Puts as many whole lines into the message's text as fit, or the whole text if
 * all of it fits.  Returns the length of the text. */
size_t handover_put_lines(struct handover *message, const char *lines);

/* Sends a message that has a text.  Blocks only if the socket does.  Returns 0
 * or -errno: -EAGAIN if the receiver has to read first, or memory is short. */
int handover_send(int channel, const struct handover *message);

/* Sends a SESSION with these parts and descriptors; the caller keeps the
 * descriptors.  Several threads may send at once.  Never blocks.  Returns what
 * handover_send returns. */
int handover_send_session(int channel, const struct iovec *parts,
    size_t parts_n, const int *fds, size_t fds_n);

/* Sends a CLOSED or a FAILURES.  Never blocks.  Returns 0 or -errno. */
int handover_send_data(
    int channel, enum handover_kind kind, const void *data, size_t size);

/* Receives a message.  Returns 1; 0 if the peer has closed the
 * channel; -EAGAIN if no message is there; or another -errno.  -EBADMSG: the
 * message is of another version, of an unknown kind, or malformed, or there was
 * no room for its descriptors.  *ret_message then has its version and its kind
 * if they are known, otherwise 0 and HANDOVER_KINDS, and has no descriptor. */
int handover_receive(int channel, struct handover *ret_message) MUST_CHECK;

/* Closes the descriptors of a message that was received. */
void handover_drop(const struct handover *message);

#endif
