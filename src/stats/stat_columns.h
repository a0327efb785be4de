/* SPDX-License-Identifier: MIT
 * The columns of `show stat`: one table, a line each.
 */
#ifndef STATS_STAT_COLUMNS_H
#define STATS_STAT_COLUMNS_H

#include <stdio.h>

#include "stats/field.h"
#include "stats/stat_rows.h"
#include "stats/stat_names.h"
#include "model/model.h"

/* Which rows have a value in a column: ROW_CHECKED are the servers that are
 * checked, ROW_AGENT those with an agent, ROW_TRACKING those that track another
 * one, ROW_SERVER all servers. */
#define ROW_FRONTEND 1u
#define ROW_BACKEND  2u
#define ROW_SERVER   4u
#define ROW_CHECKED  8u
#define ROW_AGENT    16u
#define ROW_TRACKING 32u
#define ROW_ALL      (ROW_FRONTEND | ROW_BACKEND | ROW_SERVER)

/* One of frontend, backend and server is set, and the rest NULL. */
struct stat_row {
	const struct frontend *frontend;
	const struct backend *backend;
	const struct server *server;
	const struct stat_facts *facts;
	unsigned kind;      /* the ROW_ bits that are true of it */
	bool some_left_out; /* servers of the backend are not shown */
	bool no_places;     /* as the filter has it */
	unsigned iid;
	const char *proxy;
	const struct counters *counters;
	const struct gauge *sessions;
	const struct rate *rate;
};

/* All but the facts. */
struct stat_row stat_row_of_frontend(const struct frontend *frontend);
struct stat_row stat_row_of_backend(const struct backend *backend);
struct stat_row stat_row_of_server(const struct server *server);

/* One value. */
struct field stat_columns_read(
    enum stat_name which, const struct stat_row *row);
/* The kinds of rows that may have one. */
unsigned stat_columns_kinds(enum stat_name which);
const char *stat_columns_description(enum stat_name which);

/* `# pxname,svname,...` */
void stat_columns_put_header(FILE *out);

/* CSV: a value for each column the row has one in, a comma after each column.
 * Typed: a line for each value.  JSON: an array of objects. */
void stat_columns_put_row(
    FILE *out, const struct stat_row *row, enum field_form form);

#endif
