/* SPDX-License-Identifier: MIT
 * How a check ended: its status, and the text for each status.
 */
#ifndef MODEL_CHECK_RESULT_H
#define MODEL_CHECK_RESULT_H

#include <stdbool.h>
#include <stdint.h>

/* X(name, meaning): how the last check ended, in HAProxy's words. */
#define CHECK_STATUS_TABLE(X)                                                  \
	X(NONE, "")                /* not checked */                           \
	X(INI, "Initializing")     /* no check has ended so far */             \
	X(SOCKERR, "Socket error") /* no socket, no route */                   \
	X(L4OK, "Layer4 check passed")                                         \
	X(L4TOUT, "Layer4 timeout")                                            \
	X(L4CON, "Layer4 connection problem") /* refused, unreachable ... */   \
	X(L6OK, "Layer6 check passed")        /* TLS was agreed on */          \
	X(L6RSP, "Layer6 invalid response")                                    \
	X(L6TOUT, "Layer6 timeout")                                            \
	X(L7OK, "Layer7 check passed")                                         \
	X(L7TOUT, "Layer7 timeout")                                            \
	X(L7RSP, "Layer7 invalid response") /* that is not the protocol */     \
	X(L7STS, "Layer7 wrong status")     /* an answer that says no */       \
	X(PROCERR, "External check error")  /* or it could not be run */       \
	X(PROCTOUT, "External check timeout")                                  \
	X(PROCOK, "External check passed")                                     \
	X(HANA, "Health analyze") /* sessions have failed too often */

enum check_status {
#define X(name, meaning) CHECK_STATUS_##name,
	CHECK_STATUS_TABLE(X)
#undef X
	    CHECK_STATUSES
};

/* Returns whether the status is that of a check that passed. */
bool check_status_passed(enum check_status status);

/* Returns "L4OK" and so on, "" for NONE. */
const char *check_status_name(enum check_status status);

/* Returns the meaning, "Layer4 check passed" and so on. */
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

#define CHECK_RESULT_TEXT_SIZE 224

/* Writes the result as HAProxy words it: `L7STS (Layer7 wrong status), code:
 * 503, info: "Service Unavailable", check duration: 2ms`.  Leaves out the parts
 * that the result does not have.  Returns out. */
const char *check_result_text(
    const struct check_result *result, char out[CHECK_RESULT_TEXT_SIZE]);

#endif
