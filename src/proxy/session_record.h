/* SPDX-License-Identifier: MIT
 * The facts about a session that the access log and `show closed` share.
 */
#ifndef PROXY_SESSION_RECORD_H
#define PROXY_SESSION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "net/addr.h"
#include "proxy/server_tls.h"
#include "proxy/session_tls.h"

struct pool_thread;
struct session;

struct session_record {
	struct endpoint client;
	struct endpoint peer; /* the proxy that named the client; family 0: none
	                       */
	uint64_t accepted_wall_us;
	int64_t wait_ms, connect_ms;  /* -1: not reached */
	int64_t total_ms;             /* since it was accepted */
	uint64_t bytes_in, bytes_out; /* from the client, to the client */
	uint32_t slot;                /* with accepted_wall_us it is unique */
	uint32_t queue_position;      /* from 1; 0: it was not queued */
	uint8_t reason; /* enum close_reason; CLOSE_DONE: goes on */
	uint8_t retries;
	bool redispatched;
	struct session_tls tls; /* with the client */
	struct server_tls server_tls;
};

/* Fills a record of the session as it is now.  Runs on the session's owner. */
void session_record(const struct session *s, uint8_t reason,
    const struct pool_thread *self, struct session_record *ret_record);

#endif
