/* SPDX-License-Identifier: MIT
 * The environment of commands and HTTP pages.  Control thread.
 */
#ifndef STATS_ENV_H
#define STATS_ENV_H

#include "live/control.h"
#include "proxy/instance.h"

struct audit;
struct expiring;
struct admin;
struct info_facts;

/* Functions of admin/admin.h, for folders that must not depend on it. */
struct admin_view {
	void (*facts)(const struct admin *admin, struct info_facts *ret_facts);
	void (*list_sockets)(const struct admin *admin, bool json, FILE *out);
};

/* The parts of the running lfproxy by their names, all borrowed: pools is NULL
 * before the start. */
struct command_env {
	struct instance *instance; /* loop, model, data plane; NULL in tests */
	struct pools *pools;
	struct listeners *listeners;
	struct orders *orders;
	struct server_names *names;
	struct server_followup *followup;
	struct sets *sets;
	struct lineage *lineage;
	const struct section_watch *tls_watch, *list_watch;
	const struct tls_status *tls_status;
	struct control *control; /* phases, reloads, edits of servers */
	struct audit *audit;
	struct admin *admin; /* NULL: no admin sockets */
	const struct admin_view *admin_view;
	struct expiring *expiring; /* NULL: no change expires */
};

/* Sets the parts of the control.  Called again after control_start, which makes
 * the pools. */
void command_env_set_parts(struct command_env *env, struct control *control);

#endif
