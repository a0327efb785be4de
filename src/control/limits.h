/* SPDX-License-Identifier: MIT
 * What the system allows this process: descriptors, and its user.
 */
#ifndef CONTROL_LIMITS_H
#define CONTROL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec.h"

/* With fewer the process could not serve a single session. */
#define LIMITS_DESCRIPTORS_MIN 32
/* The client's and the server's. */
#define LIMITS_PER_SESSION 2

/* Where the descriptors go. */
struct budget {
	size_t descriptors; /* RLIMIT_NOFILE */
	size_t open;        /* at the start, before anything of the spec */
	size_t own;         /* open already, listeners, checks, handle sets */
	/* For admin clients, logs that are opened again, a reload, libraries:
	 * accepting stops before these are touched. */
	size_t reserve;
	uint32_t sessions; /* at a time */
	bool by_maxconn;   /* sessions is what maxconn said at the start */
};

/* What is open at this moment, one by one: takes as many microseconds. */
size_t limits_count_open(void);

/* Raises the soft limit of open descriptors to the hard one, and both if a
 * maxconn asks for more and the process may; then divides them.  Nothing of the
 * spec may be open yet.  False with err set when they are not enough. */
bool limits_budget(
    const struct spec *spec, struct budget *ret_budget, struct err *err);

/* Whether the same descriptors are enough for as many sessions with another
 * spec; maxconn apart, and what the process keeps for itself anyway.  If not:
 * for how many they are. */
bool limits_suffice(const struct budget *budget, const struct spec *spec,
    uint32_t *ret_sessions);

/* Pipes that sessions may be spliced through, with two descriptors each: out of
 * many sessions, else a quarter of the reserve. */
uint32_t limits_pipes(const struct spec *spec, struct budget *budget);

/* Becomes the user and group of the spec, for good; nothing if none is named.
 * Of root's capabilities only CAP_NET_RAW stays, also in the bounding set, and
 * only if connections to servers need it: to come from the client's address, or
 * to have a mark.  The groups are those of the user, or none but the group.
 * no_new_privs is set in any case.  Call before threads are started: they take
 * all of it over. */
bool limits_become_user(const struct spec *spec, struct err *err);

#endif
