/* SPDX-License-Identifier: MIT
 * The settings of servers, frontends, pools and the process that commands
 * change, a row each.  From the rows come what `for DURATION` restores, the
 * drift, and what an upgrade and the state file take along (the headers
 * setting_access.h and running.h of commands).
 *
 * An operator's value holds until the file's value for the setting changes.
 * Control thread.
 */
#ifndef SETTINGS_SETTINGS_H
#define SETTINGS_SETTINGS_H

#include "orders/session_limits.h"
#include "settings/setting.h"

enum setting_id {
	SETTING_ADDR,
	SETTING_STATE,
	SETTING_WEIGHT,
	SETTING_SERVER_MAXCONN,
	SETTING_CHECKS,
	SETTING_AGENT,
	SETTING_CHECK_ADDR,
	SETTING_CHECK_PORT,
	SETTING_AGENT_ADDR,
	SETTING_AGENT_PORT,
	SETTING_AGENT_SEND,
	SETTING_FRONTEND,
	SETTING_FRONTEND_MAXCONN,
	SETTING_GLOBAL_MAXCONN,
	SETTING_CONNECTIONS,
	SETTING_SESSIONS,
	SETTING_THREADS,
	SETTING_SHARDS,
	SETTING_CPUS,
	SETTING_PROMOTION,
	SETTING_ORDER,
	SETTING_HANDSHAKE_THREADS,
	SETTING_HANDSHAKE_NICE,
	SETTINGS
};

enum setting_scope { OF_SERVER, OF_FRONTEND, OF_PROCESS, OF_POOL };

/* The object of a setting: of its scope. */
struct setting_object {
	const struct session_limits *limits; /* of the process */
	struct pools *pools;                 /* NULL: not started yet */
	struct server *server;
	struct frontend *frontend;
	const char *pool;
	const struct setting_row *row; /* setting_read sets this */
};

struct setting_row {
	enum setting_scope scope;
	const char *what;    /* behind the object in the audit; NULL: nothing */
	const char *key;     /* of the file; NULL: the file cannot say this */
	const char *command; /* with @ for the object and = for the value */
	/* Fills value, configured, base unless it is configured, is_changed,
	 * and what else differs from zero. */
	void (*read)(const struct setting_object *of, struct setting *ret);
	/* Returns a value of the command in the words of the key, which may be
	 * in out, or NULL if the key cannot say this.  NULL: as it is. */
	const char *(*in_file)(const char *value, char out[SETTING_VALUE_SIZE]);
	/* Returns why the file cannot get the value while another one is set
	 * for a time, or NULL if it can.  NULL: it always can. */
	const char *(*blocked)(const char *value, const char *for_a_time);
};

/* Stands for the address that the file gives: in check-addr and agent-addr that
 * of the server if it gives none, in addr the one that the name of the file is
 * resolved to. */
#define SETTING_FILE "file"
/* Begins bytes in hexadecimal, in agent-send. */
#define SETTING_HEX "hex"

extern const struct setting_row setting_rows[SETTINGS];

/* Reads a setting of the object. */
void setting_read(
    enum setting_id id, const struct setting_object *of, struct setting *ret);

/* Writes the command that sets the value. */
void setting_command(enum setting_id id, const struct setting *setting,
    const char *value, char *out, size_t size);

#endif
