/* SPDX-License-Identifier: MIT
 * Messages between a process and the one that takes over from it (upgrade.h,
 * takeover.h), over a SOCK_SEQPACKET socket.  Each begins with the version of
 * the format; a process that does not know the other's says so and gives up.
 */
#ifndef CONTROL_HANDOVER_H
#define CONTROL_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "net/addr.h"

#define HANDOVER_VERSION 1
/* The variable of the environment with the number of the socket. */
#define HANDOVER_ENV "LFPROXY_TAKEOVER"

enum handover_kind {
	HANDOVER_SOCKETS,  /* addresses, with a listening socket for each */
	HANDOVER_COMMANDS, /* a text: commands, a line each */
	HANDOVER_COMMIT,   /* no more of them; the receiver may begin */
	HANDOVER_READY,    /* it serves them */
	HANDOVER_FAILED,   /* a text: why it does not */
	HANDOVER_LEFT,     /* the sender serves them no longer */
	HANDOVER_KINDS
};

/* The most sockets of one message; the kernel allows 253. */
#define HANDOVER_SOCKETS_MAX 200
#define HANDOVER_TEXT_MAX    4096

/* A message, whose descriptors are the receiver's. */
struct handover {
	enum handover_kind kind;
	uint32_t version;
	size_t n; /* of the sockets */
	struct addr asked[HANDOVER_SOCKETS_MAX];
	int fds[HANDOVER_SOCKETS_MAX];
	char text[HANDOVER_TEXT_MAX]; /* "": none */
};

/* Sends the message, without blocking if the socket does not block.  Returns 0
 * or -errno. */
int handover_send(int channel, const struct handover *message);

/* Receives a message.  Returns 1; 0 at the end of the other process; or -errno,
 * -EAGAIN if there is none, -EBADMSG if it is not one, or of another version,
 * which ret_message then has.  Its descriptors are closed then. */
int handover_receive(int channel, struct handover *ret_message) MUST_CHECK;

#endif
