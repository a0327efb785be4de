/* SPDX-License-Identifier: MIT
 * The last ten minutes, for the curves of the status page: a sample every
 * HISTORY_STEP_S of the process, and of the sessions of its first frontends and
 * backends.  The memory is fixed.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_HISTORY_H
#define HTTP_HISTORY_H

#include <stdint.h>
#include <stdio.h>

#include "stats/answer.h"

#define HISTORY_STEP_S  5
#define HISTORY_SAMPLES 120
/* Frontends and backends, in the order of the file. */
#define HISTORY_PROXIES 64
#define HISTORY_NAME    64

enum history_kind {
	HISTORY_SESSIONS, /* at that time */
	HISTORY_RATE,     /* sessions per second */
	HISTORY_BYTES,    /* KiB per second, both ways */
	HISTORY_BUSY,     /* percent of the threads' time */
	HISTORY_KINDS
};

/* A series has a value for each sample, in one ring with the others. */
struct history {
	unsigned n, next; /* samples so far; where the next one goes */
	uint32_t process[HISTORY_KINDS][HISTORY_SAMPLES];
	struct history_proxy {
		char name[HISTORY_NAME]; /* `frontend web`; "": free */
		uint32_t sessions[HISTORY_SAMPLES];
	} proxies[HISTORY_PROXIES];
};

/* Adds a sample.  A proxy that no longer exists gives up its place. */
void history_sample(struct history *history, const struct command_env *env);

/* Writes the samples as a JSON object, the oldest first. */
void history_put(const struct history *history, FILE *out);

#endif
