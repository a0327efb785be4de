/* SPDX-License-Identifier: MIT
 * `show stat`: HAProxy 2.6's CSV, a row per frontend, server and backend, or
 * the same typed or as JSON.
 *
 * The columns are HAProxy's, in its order, up to the `-` behind which HAProxy
 * has those of its protocol modules and lfproxy its own.  A column stays empty
 * where HAProxy leaves it empty for a TCP proxy, and where lfproxy cannot tell.
 */
#ifndef STATS_STAT_ROWS_H
#define STATS_STAT_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "stats/answer.h"
#include "stats/field.h"

enum stat_type {
	STAT_FRONTENDS = 1,
	STAT_BACKENDS = 2,
	STAT_SERVERS = 4,
};

#define STAT_NAME_SIZE 64

/* What to show. */
struct stat_filter {
	char proxy[STAT_NAME_SIZE]; /* a name, empty: any */
	int iid;                    /* -1: any */
	int types;                  /* a sum of stat_type, -1: all */
	int sid;                    /* of a server, -1: any */
	bool no_maint;              /* not servers in maintenance */
	bool up;                    /* no servers that are down or in it */
	bool addresses_hidden;      /* of servers; algorithms as well */
	enum field_form form;
};

/* What the model does not know. */
struct stat_facts {
	uint64_t sessions_max;
	bool stopping;
};

/* The place of the next row; all zero: the first. */
struct stat_cursor {
	size_t frontend, backend, server; /* indices */
	bool begun, any;
};

/* Writes rows from the cursor on, until all are written (false) or some size
 * bytes are (true).  The model may be another one than the last time. */
bool stat_rows_render(FILE *out, size_t size, const struct model *model,
    const struct stat_filter *filter, const struct stat_facts *facts,
    struct stat_cursor *cursor);

/* From a command's words, NULL-terminated: `[PROXY TYPE SID] [FORM]...`.  False
 * with err set when there is no such proxy. */
bool stat_filter_parse(const struct model *model, const char *const *args,
    struct stat_filter *ret_filter, struct err *err);

/* The rows that the filter lets through, in parts; NULL when memory is short.
 */
struct answer_rest *stat_rows_new(const struct stat_filter *filter);

/* The same with every row. */
struct answer_rest *stat_rows_all(enum field_form form);

#endif
