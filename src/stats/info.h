/* SPDX-License-Identifier: MIT
 * `show info`: state and counters of the process, in HAProxy's keys and order,
 * followed by lfproxy's own keys.
 *
 * All functions run on the control thread.
 */
#ifndef STATS_INFO_H
#define STATS_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "handover/session_receiver.h"
#include "net/splice.h"
#include "stats/answer.h"
#include "stats/field.h"
#include "stats/info_keys.h"

/* Values that are not in the model. */
struct info_facts {
	const char *name; /* of the product, as configured */
	unsigned threads; /* of all pools */
	uint64_t waiting; /* events, and long turns, that wait for a thread */
	uint64_t descriptors;                /* limit of the process */
	uint64_t sessions_max;               /* that the resources permit */
	uint64_t maxconn;                    /* limit in force */
	uint32_t connect_rate, session_rate; /* limits per second, 0: none */
	bool stopping;
	unsigned idle_percent; /* of the threads' time, in the last second */
	uint64_t bytes_rate;   /* in the last second */
	unsigned admin_sockets, admin_clients;
	struct splice_status pipes;
	const struct exhaustion *exhaustion; /* read in relaxed order */
	struct loop_status loop;
	const struct tls_status *tls;
	uint64_t failed_resolutions;
	struct receiver_status former;
};

/* Collects the facts at the time of the call. */
void info_gather(const struct command_env *env, struct info_facts *ret_facts);

/* Reads the values of all keys; no key stays absent.  floats: times have
 * fractions, as in `show info float`. */
void info_read(const struct model *model, const struct info_facts *facts,
    bool floats, struct field ret_fields[INFO_KEYS]);

/* Writes a line `Key: value` for each key, or typed lines, or JSON.  Keys of
 * features that lfproxy does not have (TLS, compression, peers) are 0, as in an
 * HAProxy that does not use them. */
void info_render(FILE *out, const struct model *model,
    const struct info_facts *facts, enum field_form form, bool floats);

/* Returns the bytes of all frontends in both directions. */
uint64_t info_bytes(const struct model *model);

/* The version of HAProxy's runtime API that lfproxy follows.  Tools expect 2.x
 * and derive from it which commands they may use; lfproxy's own version is in
 * the key `Lfproxy_version`. */
#define API_VERSION "2.6.0-lfproxy"

#endif
