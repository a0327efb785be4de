/* SPDX-License-Identifier: MIT
 * How a check ended: its status, and the words for it.
 */
#ifndef MODEL_CHECK_RESULT_H
#define MODEL_CHECK_RESULT_H

#include <stdbool.h>
#include <stdint.h>

/* How the last check ended; the short names are HAProxy's. */
enum check_status {
	CHECK_STATUS_NONE,     /* not checked */
	CHECK_STATUS_INI,      /* no check has ended so far */
	CHECK_STATUS_SOCKERR,  /* no socket, no route */
	CHECK_STATUS_L4OK,     /* the connection was accepted */
	CHECK_STATUS_L4TOUT,   /* no answer to the connect in time */
	CHECK_STATUS_L4CON,    /* refused, reset, unreachable */
	CHECK_STATUS_L6OK,     /* TLS was agreed on */
	CHECK_STATUS_L6RSP,    /* TLS broke */
	CHECK_STATUS_L6TOUT,   /* TLS did not finish in time */
	CHECK_STATUS_L7OK,     /* the answer was the one asked for */
	CHECK_STATUS_L7TOUT,   /* connected, then no answer in time */
	CHECK_STATUS_L7RSP,    /* an answer that is not the protocol */
	CHECK_STATUS_L7STS,    /* an answer that says no */
	CHECK_STATUS_PROCERR,  /* the command failed, or could not be run */
	CHECK_STATUS_PROCTOUT, /* the command did not end in time */
	CHECK_STATUS_PROCOK,   /* the command ended with status 0 */
	CHECK_STATUS_HANA,     /* no check: sessions have failed too often */
	CHECK_STATUSES
};

/* Whether the status is that of a check that passed. */
bool check_status_passed(enum check_status status);

/* "L4OK" and so on, "" for NONE. */
const char *check_status_name(enum check_status status);

/* The same in HAProxy's words: "Layer4 check passed". */
const char *check_status_meaning(enum check_status status);

struct check_result {
	bool passed;
	enum check_status status;
	/* An HTTP or SMTP status, an error number of MySQL, an exit status; 0
	 * where there is none. */
	unsigned code;
	uint64_t duration_ms; /* of the check */
	char text[96];        /* a few words for people, may be empty */
};

/* Writes the result as HAProxy words it: `L7STS (Layer7 wrong status), code:
 * 503, info: "Service Unavailable", check duration: 2ms`.  Leaves out what
 * there is none of.  Returns out. */
#define CHECK_RESULT_TEXT_SIZE 224
const char *check_result_text(
    const struct check_result *result, char out[CHECK_RESULT_TEXT_SIZE]);

#endif
