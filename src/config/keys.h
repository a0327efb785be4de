/* SPDX-License-Identifier: MIT
 * Every key of the configuration, once: where it may be, how its value is read
 * and printed, what is allowed, its default, and a line of help.
 *
 * The parser, `-T`, the error texts and `--list-keys` (which the man page is
 * checked against) use this table.  The options of a value, as in
 * `server = NAME ADDR weight=50`, are keys as well: keys of the struct that the
 * value makes.
 */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum section_kind {
	SECTION_GLOBAL,
	SECTION_POOL,
	SECTION_TLS,
	SECTION_LIST,
	SECTION_RESOLVER,
	SECTION_DEFAULTS,
	SECTION_FRONTEND,
	SECTION_BACKEND,
	SECTION_KINDS, /* how many; also: unknown */
};

enum key_flag {
	KEY_REPEATABLE = 1 << 0,
	KEY_REQUIRED = 1 << 1,
	KEY_IN_DEFAULTS = 1 << 2, /* may stand in [defaults] as well */
	KEY_HTTP_ONLY = 1 << 3,   /* an option of http and https checks only */
	KEY_UNIX_ONLY = 1 << 4,   /* an option of unix sockets only */
	KEY_FILE_ONLY = 1 << 5,   /* an option of `log = file=...` only */
	KEY_SYSLOG_ONLY = 1 << 6, /* an option of `log = syslog` only */
	KEY_TCP_ONLY = 1 << 7,    /* an option of TCP addresses only */
	KEY_TLS_ONLY = 1 << 8,    /* an option of checks over TLS only */
	KEY_BIND_ONLY = 1 << 9,  /* an option of addresses that lfproxy binds */
	KEY_USER_ONLY = 1 << 10, /* an option of checks that log in only */
	KEY_WIRE_ONLY = 1 << 11, /* an option of checks that connect only */
	KEY_FIRST = 1 << 12,     /* read before the section's other keys */
	KEY_HELLO_ONLY = 1 << 13, /* an option of smtp checks only */
};

struct value_type;

struct key {
	const char *name;
	const char *help;
	const struct value_type *type; /* config/values.h */
	size_t offset;                 /* in the spec struct of its section */
	unsigned flags;
	/* A reload cannot change the value: the old one stays in force until
	 * lfproxy is started again, and the reload says so. */
	bool restart;
	/* Returns whether a change takes a restart, for a choice that a reload
	 * can change in one direction only.  NULL: a reload can change it,
	 * unless restart is set. */
	bool (*loosens)(unsigned from, unsigned to);
	uint64_t min, max;          /* milliseconds, or a plain number */
	const char *const *choices; /* in the order of the enum; NULL at end */
	const char *allowed;      /* in words, NULL: of the type, or computed */
	const char *default_text; /* as it would be written, or NULL: */
	const char *default_note; /* what applies without the key */
	const struct key *options; /* of the value; name NULL at the end */
	/* The key whose options the value consists of, or has beside its own.
	 * That key lists them. */
	const struct key *borrowed_options;
	const char *only; /* an option with a flag: what it is for */
};

struct section {
	const char *name; /* `frontend` */
	const char *head; /* `[frontend NAME]` */
	bool named;
	const struct key *keys; /* name NULL at the end; defaults: NULL */
};

extern const struct section sections[SECTION_KINDS];

/* Names of sections and servers. */
#define NAME_ALLOWED "letters, digits and -_.:"
#define NAME_MAX_LEN 40

/* Returns the key after `previous` (NULL: the first one) among those that may
 * be in a section of that kind, or NULL at the end. */
const struct key *key_next(enum section_kind kind, const struct key *previous);

/* Returns the key of that name in a section of that kind, or NULL. */
const struct key *key_find(enum section_kind kind, const char *name);

/* Returns the kind of section whose struct has the key; never [defaults]. */
enum section_kind key_home(const struct key *key);

#define KEY_ALLOWED_SIZE 160

/* Describes the values that are allowed, as in `10ms to 30d`.  Returns out.  */
const char *key_allowed(const struct key *key, char out[KEY_ALLOWED_SIZE]);

/* Writes one line for each key and each option, in the order of the table:
 * SECTION, KEY, default, allowed values, help; separated by tabs.  An option is
 * written as KEY:OPTION.  Keys of [defaults] are repeated under that name. */
void keys_list(FILE *out);

#endif
