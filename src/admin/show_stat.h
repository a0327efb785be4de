/* SPDX-License-Identifier: MIT
 * `show stat`: HAProxy 2.6's CSV, a row per frontend, server and backend.
 *
 * The columns are HAProxy's, in its order, up to the `-` behind which the
 * statistics of its protocol modules would follow.  A column stays empty where
 * HAProxy leaves it empty for a TCP proxy, and where lfproxy has no such thing
 * (compression, cookies, agents, caches).
 */
#ifndef ADMIN_SHOW_STAT_H
#define ADMIN_SHOW_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "control/control.h"

enum stat_type {
	STAT_FRONTENDS = 1,
	STAT_BACKENDS = 2,
	STAT_SERVERS = 4,
};

/* What to show. */
struct stat_filter {
	const char *proxy; /* a name, NULL: any */
	int iid;           /* -1: any */
	int types;         /* a sum of stat_type, -1: all */
	int sid;           /* of a server, -1: any */
};

/* What the model does not know. */
struct stat_facts {
	uint64_t sessions_max;
	bool stopping;
};

void show_stat_render(FILE *out, const struct model *model,
    const struct stat_filter *filter, const struct stat_facts *facts);

/* From a command's words, NULL-terminated: none, or proxy, type and sid.  proxy
 * is borrowed from args.  False with err set when they make no sense. */
bool stat_filter_parse(const struct model *model, const char *const *args,
    struct stat_filter *ret_filter, struct err *err);

/* args: the command's words, NULL-terminated.  False with err set when they
 * make no sense. */
bool show_stat(struct control *control, const char *const *args, FILE *out,
    struct err *err);

#endif
