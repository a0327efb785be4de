/* SPDX-License-Identifier: MIT
 * A setting that a command can change, and its values.  Control thread.
 */
#ifndef SETTINGS_SETTING_H
#define SETTINGS_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "pools/pools.h"

#define SETTING_VALUE_SIZE POOLS_SETTING_SIZE
#define SETTING_NAME_SIZE  80

struct server;

struct setting {
	/* The audit's name for it: `server app/a weight`. */
	char subject[2 * SETTING_NAME_SIZE + 48];
	/* The operator's value, where an agent's may be in force; else "". */
	char ordered[16];
	bool is_secret;  /* show no value (setting_shown) */
	bool is_changed; /* the operator's value is not the file's */
	/* The command may succeed without changing the value. */
	bool may_refuse;
	/* Why no file is to have the value; NULL: it may. */
	const char *unsaved;
	/* The names in events; "" for none. */
	char proxy[SETTING_NAME_SIZE], part[SETTING_NAME_SIZE];
	/* The server whose drain the change overrules, else NULL, and what the
	 * change sets, "state" or "weight". */
	struct server *server;
	const char *of_server;
	/* The present value, as the restoring function takes it. */
	char value[SETTING_VALUE_SIZE];
	/* The value that the file's stands for, as the restoring function takes
	 * it; "" where there is none. */
	char configured[SETTING_VALUE_SIZE];
	/* The value in the file, which does not depend on the process.  Another
	 * one ends what an operator has set (setting_is_replaced). */
	char base[SETTING_VALUE_SIZE];
};

/* Returns whether the file has another value than base, that of the time when
 * the setting was set: then the file's value holds. */
bool setting_is_replaced(const struct setting *now, const char *base);

/* Returns the value that the operator, or the file, has set: not an agent's. */
const char *setting_own(const struct setting *setting);

/* Returns a value of the setting as users may see it. */
const char *setting_shown(const struct setting *setting, const char *value);

/* Prints into a field of struct setting, cut to fit. */
void setting_print(char *field, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define SETTING_PRINT(field, ...)                                              \
	setting_print((field), sizeof(field), __VA_ARGS__)

#endif
