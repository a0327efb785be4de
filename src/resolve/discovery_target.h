/* SPDX-License-Identifier: MIT
 * The URL of a source that is read by HTTP:
 *
 *   http://10.0.0.5:2379,10.0.0.6:2379/services/app/?prefix=x&stale
 *   ------ --------------------------- ------------- --------------
 *   scheme endpoints                   path          parameters
 *
 * The scheme is http or https.  Endpoints are hosts with their ports; any of
 * them has the answer, so when one fails the next one is asked.
 */
#ifndef RESOLVE_DISCOVERY_TARGET_H
#define RESOLVE_DISCOVERY_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* More endpoints are refused. */
#define DISCOVERY_ENDPOINTS_MAX 16

struct discovery_endpoint {
	char *url;  /* `https://[::1]:2379`, without a path */
	char *host; /* a name, or an IP address without brackets */
	bool is_ip;
};

struct discovery_parameter {
	char *name, *value; /* without escapes; value NULL: `stale` alone */
};

struct discovery_target {
	bool tls;
	struct discovery_endpoint *endpoints; /* one or more */
	size_t endpoints_n;
	char *path; /* with its slash, without escapes */
	struct discovery_parameter *parameters;
	size_t parameters_n;
};

/* Parses the URL.  Returns false with err set, and nothing to free.  Needs no
 * other part of libcurl than its URL functions; never blocks. */
bool discovery_target_parse(const char *url,
    struct discovery_target *ret_target, struct err *err) MUST_CHECK;

/* Frees the members, not the struct. */
void discovery_target_fini(struct discovery_target *target);

/* Returns the text with all bytes escaped that have a meaning in a URL, for the
 * caller to free(3); NULL when memory is short. */
char *discovery_escape(const char *text);

#endif
