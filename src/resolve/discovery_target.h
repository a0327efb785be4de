/* SPDX-License-Identifier: MIT
 * The URL of a source that is read by HTTP:
 *
 *   http://10.0.0.5:2379,10.0.0.6:2379/services/app/?prefix=x&stale
 *   ------ --------------------------- ------------- --------------
 *   scheme endpoints                   path          parameters
 *
 * The scheme is http or https.  Endpoints are hosts with their ports.  All of
 * them have the same answer, so when one fails the next one is asked.
 */
#ifndef RESOLVE_DISCOVERY_TARGET_H
#define RESOLVE_DISCOVERY_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The most endpoints; more are an error. */
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

/* Parses the URL.  Returns false with err set when it is wrong or memory is
 * short; then there is nothing to free.  Uses only the URL functions of
 * libcurl.  Never blocks. */
bool discovery_target_parse(const char *url,
    struct discovery_target *ret_target, struct err *err) MUST_CHECK;

/* Frees the members, not the struct. */
void discovery_target_fini(struct discovery_target *target);

/* Returns the text with all bytes escaped that have a meaning in a URL, or NULL
 * when memory is short.  The caller frees it with free(3). */
char *discovery_escape(const char *text);

#endif
