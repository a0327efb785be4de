/* SPDX-License-Identifier: MIT
 * Kinds of checks, as `check = NAME` names them: a row each in preset.c.
 *
 * Most kinds are presets of the send-expect check: steps written like
 * check_step, and perhaps a function that finds the server's own verdict in its
 * answer.  To add a preset, add its enum check_kind (model/spec_check.h) and
 * its row.
 */
#ifndef CHECK_PRESET_H
#define CHECK_PRESET_H

#include <stdbool.h>
#include <stddef.h>

#include "check/check.h"
#include "model/spec.h"

/* The options that a kind takes, beyond those of all kinds. */
enum check_trait {
	CHECK_CONNECTS = 1 << 0, /* send_proxy */
	CHECK_ASKS_HTTP = 1 << 1,
	CHECK_TAKES_TLS = 1 << 2,  /* how certificates are verified */
	CHECK_LOGS_IN = 1 << 3,    /* user */
	CHECK_SAYS_HELLO = 1 << 4, /* hello */
};

/* The outcome that the server itself reports, in its protocol. */
struct check_verdict {
	unsigned code; /* 0: none */
	bool refused;
	char text[96]; /* the refusal, on one line */
};

/* The longest step of a preset, with a user of 64 characters, or with a name of
 * CHECK_NAME_MAX. */
#define CHECK_STEP_SIZE 600

struct check_preset {
	const char *name;
	const struct check_ops *ops; /* NULL: nothing is checked */
	unsigned traits;             /* enum check_trait */
	const char *const *steps;    /* as in check_step; NULL at the end */
	/* Writes the step that is "" among the steps, because it depends on
	 * the options.  NULL: there is no such step. */
	void (*write_step)(
	    const struct check_spec *check, char out[CHECK_STEP_SIZE]);
	/* Reads the verdict from the n bytes that the server sent last.
	 * verdict is initialized to none.  NULL: the answer has no verdict. */
	void (*read_verdict)(
	    const char *data, size_t n, struct check_verdict *verdict);
};

extern const struct check_preset check_presets[CHECK_KINDS];

#endif
