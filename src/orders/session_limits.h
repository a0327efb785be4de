/* SPDX-License-Identifier: MIT
 * The limits on sessions and rates in force: the operator's, or those of the
 * file.  An operator's limit stays in force until a reload finds that its value
 * in the file has changed.  Present sessions continue.
 *
 * All functions run on the control thread.
 */
#ifndef ORDERS_SESSION_LIMITS_H
#define ORDERS_SESSION_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "model/override.h"
#include "net/cidr.h"
#include "process/limits.h"

struct frontend;
struct instance;

struct session_limits {
	struct instance *instance; /* borrowed */
	struct budget budget;      /* how descriptors bound the sessions */
	/* The operator's; 0: no limit. */
	struct override maxconn, connections, sessions;
};

/* Applies the limits of the present model's spec to the process and to each
 * frontend before the start: nothing waits for the limits, and no bandwidth is
 * limited.  A limit that has not changed since the last call stays as the
 * operator has set it. */
void session_limits_apply(struct session_limits *limits);

/* Does the same after a reload, wakes acceptors, and follows the bandwidth. */
void session_limits_follow(struct session_limits *limits);

/* Limits the bandwidth of a client range, or ends its limits if both rates are
 * 0 (proxy/client_bands.h), for present sessions as well.  Returns 0, -ENOMEM
 * or -ENOSPC. */
int session_limits_set_client(struct session_limits *limits,
    const struct cidr *range, const uint64_t rate[2]) MUST_CHECK;

/* Applies the bandwidth limits of the present model.  If they have changed,
 * sessions that wait take a new portion, and sessions that had no limit check
 * whether they have one now. */
void session_limits_follow_bandwidth(struct session_limits *limits);

/* Limits the sessions.  With 0, or more than there are descriptors for, the
 * descriptors alone limit the sessions. */
void session_limits_set_maxconn(struct session_limits *limits, size_t maxconn);
/* Returns the limit on sessions in force: the one that was set, or what the
 * descriptors allow. */
size_t session_limits_maxconn(const struct session_limits *limits);
/* Limits the connections accepted per second.  0: no limit. */
void session_limits_set_rate(
    struct session_limits *limits, uint32_t connects_per_second);
/* Limits the sessions started per second.  0: no limit. */
void session_limits_set_session_rate(
    struct session_limits *limits, uint32_t sessions_per_second);
/* Limits the frontend's sessions.  0: the frontend accepts none.
 * FRONTEND_NO_LIMIT: no limit. */
void session_limits_set_frontend_maxconn(
    struct session_limits *limits, struct frontend *frontend, uint32_t maxconn);

#endif
