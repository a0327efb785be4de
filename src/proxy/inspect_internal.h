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

/* As recv from the client; repeated after EINTR. */
ssize_t inspect_receive(
    const struct session *s, uint8_t *data, size_t size, int flags);

/* How many unread bytes make an event; on a unix socket each write does.  It is
 * not asked for twice: where the socket's buffer has no room for so many the
 * kernel wakes us without any more. */
void inspect_wait_for(struct session *s, size_t bytes);

/* Any byte makes an event again. */
void inspect_wait_for_any(struct session *s);

/* Writes the name in whole words, which is how they are read; it is not there
 * for others before name_len is. */
void inspect_put_name(struct inspection *p, const char *name, size_t len);

/* The step INSPECT_PROXY, which is over with LOOK_DONE: takes the header. */
enum look inspect_look_at_proxy(struct session *s, struct pool_thread *self);

/* Counts a session whose header was not to be had: ENDED, GONE, LATE, WRONG;
 * why it ends. */
enum close_reason inspect_refuse_proxy(
    struct session *s, enum look found, struct pool_thread *self);

#endif
