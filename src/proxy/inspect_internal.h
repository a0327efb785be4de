/* SPDX-License-Identifier: MIT
 * What the steps of a inspection share: the order of them (inspect.c), the
 * PROXY header (inspect_proxy.c).
 */
#ifndef PROXY_INSPECT_INTERNAL_H
#define PROXY_INSPECT_INTERNAL_H

#include <sys/types.h>

#include "proxy/inspect.h"

/* What a look at the client has shown. */
enum look {
	LOOK_MORE,  /* it has yet to send something */
	LOOK_DONE,  /* the step is complete */
	LOOK_ENDED, /* it will never be: no more bytes will come */
	LOOK_GONE,  /* and there is nobody who would want an answer */
	LOOK_LATE,  /* the time is over */
	LOOK_WRONG, /* what came cannot be */
};

/* recv from the client, which a signal does not end. */
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
