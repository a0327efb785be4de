/* SPDX-License-Identifier: MIT
 * What the access log and `show closed` both say about a session.
 */
#ifndef PROXY_SESSION_RECORD_H
#define PROXY_SESSION_RECORD_H

#include "proxy/session.h"

/* Milliseconds in the queue, to connect, and in all; -1: not reached. */
struct session_times {
	int64_t wait_ms, connect_ms, total_ms;
};
void session_times(const struct session *session,
    const struct pool_thread *self, struct session_times *ret_times);

#endif
