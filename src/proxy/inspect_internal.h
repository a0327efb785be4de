/* SPDX-License-Identifier: MIT
 * Functions shared by the inspection (inspect.c) and its part for the PROXY
 * header (inspect_proxy.c).
 */
#ifndef PROXY_INSPECT_INTERNAL_H
#define PROXY_INSPECT_INTERNAL_H

#include <sys/types.h>

#include "proxy/inspect.h"

/* The result of looking at the client's bytes. */
enum look {
	LOOK_MORE,  /* more bytes are needed */
	LOOK_DONE,  /* the part is complete */
	LOOK_ENDED, /* more bytes are needed, and the client has sent its FIN */
	LOOK_GONE,  /* the client has left without sending anything, or reset */
	LOOK_LATE,  /* timeout_hello has passed */
	LOOK_WRONG, /* the bytes are not valid */
};

/* Receives from the client as recv does.  Repeats the call after EINTR. */
ssize_t inspect_receive(
    const struct session *s, uint8_t *data, size_t size, int flags);

/* Sets how many unread bytes wake the session (SO_RCVLOWAT).  Has no effect on
 * a unix socket, where each write is an event.  Sets a value only once: if the
 * socket's buffer is too small for that many bytes, the kernel wakes the
 * session earlier by itself. */
void inspect_wait_for(struct session *s, size_t bytes);

/* Lets a single unread byte wake the session again. */
void inspect_wait_for_any(struct session *s);

/* Writes the name word by word, as readers read it.  Readers see the name once
 * name_len is set. */
void inspect_put_name(struct inspection *p, const char *name, size_t len);

/* The step INSPECT_PROXY, which is over with LOOK_DONE: takes the header. */
enum look inspect_look_at_proxy(struct session *s, struct pool_thread *self);

/* Counts a session without a valid PROXY header.  found: ENDED, GONE, LATE or
 * WRONG.  Returns why it ends. */
enum close_reason inspect_refuse_proxy(
    struct session *s, enum look found, struct pool_thread *self);

#endif
