/* SPDX-License-Identifier: MIT
 * The columns of `show stat`: name, type, description, the rows that have a
 * value, where the value comes from, and the metric made of it.  stat_table.h
 * lists them.
 */
#ifndef STATS_STAT_COLUMNS_H
#define STATS_STAT_COLUMNS_H

#include <stdio.h>

#include "stats/field.h"
#include "stats/stat_rows.h"
#include "model/model.h"

/* Kinds of rows.  Rows of servers have ROW_SERVER, and ROW_CHECKED if the
 * server is checked, ROW_AGENT if its agent is asked, ROW_TRACKING if the
 * server tracks another one. */
#define ROW_FRONTEND 1u
#define ROW_BACKEND  2u
#define ROW_SERVER   4u
#define ROW_CHECKED  8u
#define ROW_AGENT    16u
#define ROW_TRACKING 32u

/* Exactly one of frontend, backend and server is set; the others are NULL. */
struct stat_row {
	const struct frontend *frontend;
	const struct backend *backend;
	const struct server *server;
	const struct stat_facts *facts;
	unsigned kind;       /* ROW_ bits */
	bool servers_hidden; /* the filter hides some servers of the backend */
	bool addresses_hidden; /* the filter hides addresses and algorithms */
	unsigned iid;
	const char *proxy;
	const struct counters *counters;
	const struct gauge *sessions;
	const struct rate *rate;
};

/* Returns the row of a frontend.  The caller sets facts, servers_hidden and
 * addresses_hidden. */
struct stat_row stat_row_of_frontend(const struct frontend *frontend);

/* Returns the row of a backend.  The caller sets the same members. */
struct stat_row stat_row_of_backend(const struct backend *backend);

/* Returns the row of a server.  The caller sets the same members. */
struct stat_row stat_row_of_server(const struct server *server);

struct stat_column {
	const char *name;
	const char *tags; /* see field.h */
	const char *desc;
	unsigned rows; /* ROW_ bits: a row with one of them has a value */

	/* Reads the value of such a row.  Leaves the field absent if there is
	 * none. */
	void (*read)(const struct stat_row *row, struct field *out);

	bool address;             /* empty where row->addresses_hidden */
	const char *backend_tags; /* instead of tags in rows of backends */

	/* The metric is PREFIX_KIND_METRIC, for instance
	 * haproxy_server_weight; a column has a metric or a reason for none. */
	const char *metric;
	const char *server_metric; /* for servers instead */
	const char *no_metric;     /* the reason */
	bool own;       /* prefix lfproxy: HAProxy does not export it */
	unsigned parts; /* values per unit of the metric, 1000: ms; 0: 1 */
};

extern const struct stat_column stat_columns[];
extern const size_t stat_columns_n;

/* Returns whether rows of that kind, one of ROW_FRONTEND, ROW_BACKEND and
 * ROW_SERVER, may have a value. */
bool stat_column_applies(const struct stat_column *column, unsigned kind);

/* Returns the metric's name without prefix and kind, or NULL if rows of that
 * kind have no metric of the column. */
const char *stat_column_metric(const struct stat_column *column, unsigned kind);

/* Returns the value in that row; the field is absent if there is none. */
struct field stat_column_read(
    const struct stat_column *column, const struct stat_row *row);

/* Writes the status of the server as HAProxy words it.  `UP 2/3` means that two
 * more failed checks take it down, `DOWN 1/2` that one of the two passed checks
 * that it needs is there.  A server that tracks another one has that one's
 * status. */
void server_status_text(const struct server *server, char *out, size_t size);

/* Writes `# pxname,svname,...`. */
void stat_put_header(FILE *out);

/* Writes a row.  CSV: a comma after each column.  Typed: a line for each value.
 * JSON: an array of objects.  Flat: one object. */
void stat_put_row(FILE *out, const struct stat_row *row, enum field_form form);

#endif
