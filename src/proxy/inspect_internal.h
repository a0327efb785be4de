/* SPDX-License-Identifier: MIT
 * Shared by the parts of the inspection: its steps in their order (inspect.c),
 * the PROXY header (inspect_header.c), the TLS hello (inspect_hello.c), and the
 * client's bytes (inspect_bytes.c).
 */
#ifndef PROXY_INSPECT_INTERNAL_H
#define PROXY_INSPECT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lf/pool.h"
#include "proxy/inspect.h"

/* The result of looking at the client's bytes. */
enum look {
	LOOK_MORE,  /* more bytes are needed */
	LOOK_DONE,  /* the part is complete */
	LOOK_ENDED, /* more bytes are needed, and the client has sent its FIN */
	LOOK_GONE,  /* the client has left without sending anything, or reset */
	LOOK_LATE,  /* timeout_hello has passed */
	LOOK_WRONG, /* the PROXY header is not valid */
	LOOK_UNASKED, /* the request for TLS, or what follows, is not valid */
	LOOK_DENIED,  /* the gate refuses the client that the header names */
	LOOK_HELD,    /* the gate holds it */
};

/* -- inspect_bytes.c -- */

/* Receives from the client as recv does, and repeats the call after EINTR. */
ssize_t inspect_receive(
    const struct session *s, uint8_t *data, size_t size, int flags);

/* Returns what a recv that has returned n has found: LOOK_MORE, LOOK_GONE, or
 * LOOK_DONE when there are bytes. */
enum look inspect_result(struct session *s, ssize_t n);

/* Waits for more bytes, because the part is incomplete.  bytes: the unread
 * bytes that the part needs at least.  Returns LOOK_MORE or LOOK_ENDED. */
enum look inspect_again(struct session *s, size_t bytes);

/* Lets a single unread byte wake the session again. */
void inspect_wait_for_any_byte(struct session *s);

/* -- inspect_header.c -- */

/* Looks at the PROXY header, and consumes it once it is complete. */
enum look inspect_header(struct session *s, struct pool_thread *self);

/* Counts a session without a valid PROXY header.  found: LOOK_ENDED, LOOK_GONE,
 * LOOK_LATE or LOOK_WRONG.  Returns the cause of its end. */
enum close_cause inspect_refuse_header(
    struct session *s, enum look found, struct pool_thread *self);

/* -- inspect_hello.c -- */

/* Looks at the TLS hello, which stays unread or becomes pending data, and notes
 * the name and the protocols that it has. */
enum look inspect_hello(struct session *s, struct pool_thread *self);

#endif
