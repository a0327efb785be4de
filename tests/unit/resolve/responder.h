/* SPDX-License-Identifier: MIT
 * A name server within the test: a socket on the test's own loop, and messages
 * made by hand.
 */
#ifndef UNIT_RESOLVE_RESPONDER_H
#define UNIT_RESOLVE_RESPONDER_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

#define RCODE_SERVFAIL 2
#define RCODE_NXDOMAIN 3
#define RCODE_REFUSED  5

struct message {
	uint8_t bytes[65535];
	size_t len;
};

struct responder {
	struct ev_loop *loop;
	ev_io io;
	struct addr addr;
	/* Fills the answer to the question, whose header and question are in
	 * *to already.  Returns false: no answer. */
	bool (*answer)(
	    void *arg, const char *name, int type, struct message *to);
	void *arg;
	unsigned questions;
};

void responder_start(struct responder *responder, struct ev_loop *loop,
    bool (*answer)(void *arg, const char *name, int type, struct message *to),
    void *arg);
void responder_stop(struct responder *responder);

/* Begins a message: a response with the id and the question. */
void message_begin(struct message *m, unsigned id, const char *name, int type);
void message_rcode(struct message *m, unsigned rcode);

/* Appends a record to the answer section, or to the additional one. */
enum message_section { IN_ANSWER = 6, IN_ADDITIONAL = 10 };
void message_add(struct message *m, enum message_section section,
    const char *name, int type, uint32_t ttl_s, const void *data, size_t len);
void message_add_ip(struct message *m, enum message_section section,
    const char *name, uint32_t ttl_s, const char *ip);
void message_add_alias(
    struct message *m, const char *name, uint32_t ttl_s, const char *target);
void message_add_srv(struct message *m, const char *name, uint32_t ttl_s,
    unsigned priority, unsigned weight, unsigned port, const char *target);

#endif
