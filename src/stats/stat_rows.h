/* SPDX-License-Identifier: MIT
 * `show stat`: a row for each frontend, server and backend that a filter
 * selects, as HAProxy's CSV, typed lines or JSON.  The columns are in
 * stat_columns.h.
 *
 * All functions run on the control thread.
 */
#ifndef STATS_STAT_ROWS_H
#define STATS_STAT_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/server_cursor.h"
#include "stats/answer.h"
#include "stats/field.h"

enum stat_type {
	STAT_FRONTENDS = 1,
	STAT_BACKENDS = 2,
	STAT_SERVERS = 4,
};

#define STAT_NAME_SIZE 64

/* Selects rows, and their form. */
struct stat_filter {
	char proxy[STAT_NAME_SIZE]; /* a name, empty: any */
	int iid;                    /* -1: any */
	int types;                  /* a sum of stat_type, -1: all */
	int sid;                    /* of a server, -1: any */
	bool no_maint;              /* omit servers in maintenance */
	bool up;                    /* omit servers that are down as well */
	bool addresses_hidden;      /* addresses and algorithms are empty */
	enum field_form form;
};

/* Values that are not in the model. */
struct stat_facts {
	uint64_t sessions_max;
	bool stopping;
};

/* Reads these values. */
struct stat_facts stat_facts_read(const struct command_env *env);

/* The position of the next row.  All zero is the first row. */
struct stat_cursor {
	size_t frontend, backend; /* indices */
	struct server_cursor server;
	bool begun, any;
};

struct stat_row;

/* Reads the next row, in the order of `show stat`, and advances the cursor. The
 * caller sets facts, servers_hidden and addresses_hidden.  Returns false behind
 * the last row. */
bool stat_rows_next(const struct model *model, struct stat_cursor *cursor,
    struct stat_row *ret_row) MUST_CHECK;

/* Writes rows from the cursor on, about size bytes, and advances the cursor.
 * Returns false once all rows are written.  The model may differ from that of
 * the previous call. */
bool stat_rows_render(FILE *out, size_t size, const struct model *model,
    const struct stat_filter *filter, const struct stat_facts *facts,
    struct stat_cursor *cursor);

/* Returns whether there is a frontend or backend of that name. */
bool stat_proxy_exists(const struct model *model, const char *name);

/* Parses the words of a command, `[PROXY TYPE SID] [FORM]...`, NULL-terminated.
 * Returns false with err set if the proxy does not exist. */
bool stat_filter_parse(const struct model *model, const char *const *args,
    struct stat_filter *ret_filter, struct err *err);

/* Returns the selected rows as an answer in parts, or NULL if memory is short.
 */
struct answer_rest *stat_rows_new(const struct stat_filter *filter);

/* Returns all rows in that form, as stat_rows_new does. */
struct answer_rest *stat_rows_all(enum field_form form);

#endif
