/* SPDX-License-Identifier: MIT
 * A server: one address that sessions can be sent to, and what is known of it.
 *
 * Created and freed on the control thread.  Data threads read the atomic
 * words and add to the counters; everything under "control thread only" is
 * plain.
 */
#ifndef MODEL_SERVER_H
#define MODEL_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counters.h"
#include "model/spec.h"

struct backend;

/* How the last check ended; the short names are HAProxy's. */
enum check_status {
	CHECK_STATUS_NONE,    /* not checked */
	CHECK_STATUS_INI,     /* no check has ended so far */
	CHECK_STATUS_SOCKERR, /* no socket, no route */
	CHECK_STATUS_L4OK,    /* the connection was accepted */
	CHECK_STATUS_L4TOUT,  /* no answer to the connect in time */
	CHECK_STATUS_L4CON,   /* refused, reset, unreachable */
	CHECK_STATUS_L6RSP,   /* TLS broke */
	CHECK_STATUS_L6TOUT,  /* TLS did not finish in time */
	CHECK_STATUS_L7OK,    /* the answer was the one asked for */
	CHECK_STATUS_L7TOUT,  /* connected, then no answer in time */
	CHECK_STATUS_L7RSP,   /* an answer that is not the protocol */
	CHECK_STATUS_L7STS,   /* an answer that says no */
};

/* "L4OK" and so on, "" for NONE. */
const char *check_status_name(enum check_status status);

struct check_result {
	bool passed;
	enum check_status status;
	unsigned code;        /* the HTTP status, 0 if there is none */
	uint64_t duration_ms; /* of the check */
	char text[96];        /* a few words for people, may be empty */
};

struct server {
	const struct server_spec *spec; /* borrowed from the model's spec */
	struct backend *backend;
	unsigned id; /* from 1 within the backend, as in HAProxy's sid */

	/* Shared.  up: written by the control thread, read by all, relaxed:
	 * the lineup, not this word, decides where sessions go. */
	bool up;
	struct counters *counters;
	struct gauge sessions CACHE_LINE_ALIGNED;

	/* Control thread only. */
	struct check_result last CACHE_LINE_ALIGNED; /* check */
	unsigned streak;        /* of checks against the present state */
	uint64_t checks_failed; /* while up */
	uint64_t times_down;
	uint64_t changed_ms; /* clock_now_ms of the last up or down */
	uint64_t down_ms;    /* total time down before changed_ms */
	struct rate rate;
};

/* NULL when memory is short.  A server starts up. */
struct server *server_new(
    const struct server_spec *spec, struct backend *backend, unsigned id);
void server_free(struct server *server);

/* Control thread: records a check's result and, once `fall` results in a row
 * speak against an up server or `rise` against a down one, changes its state,
 * logs why and makes the backend choose anew.  True when the state changed. */
bool server_report_check(
    struct server *server, const struct check_result *result);

/* Seconds in the present state, and in total down. */
uint64_t server_since_change_s(const struct server *server);
uint64_t server_downtime_s(const struct server *server);

#endif
