/* SPDX-License-Identifier: MIT
 * A frontend's allow and deny rules, which decide which clients are admitted.
 *
 * The rules are tried in the order of the file, across both keys, and the first
 * one that matches decides; a client that no rule matches is admitted.  This is
 * the order of nginx's allow and deny.
 */
#ifndef MODEL_ACCESS_H
#define MODEL_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/addr.h"
#include "net/cidr.h"

struct frontend_spec;
struct model;
struct spec_place;

/* The action for a client.  RESET to TARPIT turn it away, see proxy/gate.h.
 */
enum gate_action {
	GATE_ADMIT,
	GATE_RESET,  /* the connection is reset */
	GATE_CLOSE,  /* it is closed in order, with a FIN */
	GATE_DROP,   /* it is forgotten; the client is not told */
	GATE_TARPIT, /* it is held for a time, unread, and then reset */
	GATE_DELAY,  /* it is held for a time, unread, and then served */
	GATE_ACTIONS /* how many */
};

/* The actions as the configuration has them. */
extern const char *const gate_action_names[GATE_ACTIONS];

/* An action and its time, as configured. */
struct gate_reply {
	enum gate_action action;
	uint32_t hold_ms; /* the time of GATE_TARPIT, the most of GATE_DELAY */
};

/* The times that a tarpit may take. */
#define GATE_HOLD_MIN_MS 100u
#define GATE_HOLD_MAX_MS (10u * 60 * 1000)

#define GATE_REPLY_SIZE 40

/* Writes the action as the configuration has it.  The separator, a blank or
 * `=`, stands before the time of a tarpit or of a delay.  Returns out. */
const char *gate_reply_text(
    const struct gate_reply *reply, char separator, char out[GATE_REPLY_SIZE]);

enum access_kind {
	ACCESS_ALL,   /* all clients, those of unix sockets as well */
	ACCESS_RANGE, /* the clients in the range */
	ACCESS_LIST,  /* the clients in the [list NAME] */
};

/* The rules of a frontend, ready to be tried. */
struct access;

/* Makes the rules of a frontend.  model: for its lists.  Borrows the spec.
 * Returns NULL when memory is short.  Runs on the control thread.  Freed by
 * free(3). */
struct access *access_new(
    const struct frontend_spec *spec, const struct model *model);

#define ACCESS_NO_RULE SIZE_MAX

/* Returns the index, in the spec's access, of the rule that decides about the
 * client, or ACCESS_NO_RULE if none does.  Any thread, in a grace section. */
size_t access_find(const struct access *access, const struct endpoint *client);

/* Counts, in the rule's list if it has one, a client that the rule has decided
 * about.  Any thread, in a grace section. */
void access_count(const struct access *access, size_t rule);

/* Returns whether that rule, or its absence, admits the client. */
bool access_admits(const struct frontend_spec *spec, size_t rule);

#endif
