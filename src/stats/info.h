/* SPDX-License-Identifier: MIT
 * `show info`: the process, in HAProxy's keys and order, and behind them ours.
 */
#ifndef STATS_INFO_H
#define STATS_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "stats/answer.h"
#include "stats/field.h"
#include "stats/info_keys.h"
#include "net/splice.h"

/* What the model does not know. */
struct info_facts {
	const char *name;      /* of the product, as clients want it */
	unsigned threads;      /* of all pools */
	uint64_t waiting;      /* events fetched and not looked at so far */
	uint64_t descriptors;  /* the process may have */
	uint64_t sessions_max; /* as the system allows */
	uint64_t maxconn;      /* as the operator does */
	uint32_t connect_rate, session_rate; /* limits, 0: none */
	bool stopping;
	unsigned idle_percent; /* of its threads' time, in the last second */
	uint64_t bytes_rate;   /* in the last second */
	unsigned admin_sockets, admin_clients;
	struct splice_status pipes;
	struct exhaustion exhaustion;
	struct loop_status loop;
};

/* The facts of this moment. */
void info_gather(const struct command_env *env, struct info_facts *ret_facts);

/* A field for each key. */
struct info {
	struct field fields[INFO_KEYS];
};

const char *info_key_description(enum info_key key);

void info_read(const struct model *model, const struct info_facts *facts,
    struct info *ret_info);

/* One `Key: value` a line, or the same typed or as JSON; with floats rates and
 * times have their fractions.  Keys of things that
 * lfproxy does not have (TLS of its own, compression, peers) are 0, as they are
 * in an HAProxy that does not use them. */
void info_render(FILE *out, const struct model *model,
    const struct info_facts *facts, enum field_form form, bool floats);

/* Bytes that went through the process, both ways. */
uint64_t info_bytes(const struct model *model);

/* The version of the runtime API that is followed: tools look for 2.x and
 * decide what to ask.  Ours has a key of its own. */
#define API_VERSION "2.6.0-lfproxy"

#endif
