/* SPDX-License-Identifier: MIT
 * The columns of `show stat`: one table, a line each.
 */
#ifndef ADMIN_STAT_COLUMNS_H
#define ADMIN_STAT_COLUMNS_H

#include <stdio.h>

#include "admin/show_stat.h"
#include "model/model.h"

/* Which rows have a value in a column: ROW_CHECKED are the servers that are
 * checked, ROW_SERVER all servers. */
#define ROW_FRONTEND 1u
#define ROW_BACKEND  2u
#define ROW_SERVER   4u
#define ROW_CHECKED  8u
#define ROW_ALL      (ROW_FRONTEND | ROW_BACKEND | ROW_SERVER)

/* One of frontend, backend and server is set, and the rest NULL. */
struct stat_row {
	const struct frontend *frontend;
	const struct backend *backend;
	const struct server *server;
	const struct stat_facts *facts;
	unsigned kind; /* the ROW_ bits that are true of it */
	unsigned iid;
	const char *proxy;
	const struct counters *counters;
	const struct gauge *sessions;
	const struct rate *rate;
};

/* `# pxname,svname,...` */
void stat_columns_put_header(FILE *out);

/* A value for each column the row has one in, a comma after each column. */
void stat_columns_put_row(FILE *out, const struct stat_row *row);

#endif
