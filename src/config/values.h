/* SPDX-License-Identifier: MIT
 * Types of values: how one is read from text into its place in the spec, and
 * how it is written back.
 *
 * Writing and reading again gives the same value, and the shortest text.
 */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/draft.h"
#include "config/keys.h"
#include "model/spec.h"

/* A value on its way into the spec. */
struct value {
	const struct key *key;
	const struct key *within; /* the key whose option this is, or NULL */
	const char *text;
	void *object; /* the struct that key->offset counts in */
	struct spec *spec;
	const struct draft_section *section; /* NULL: a default */
	const struct draft_entry *entry;     /* NULL: a default */
	struct err_list *errors;             /* NULL: they are known already */
};

/* What is to be printed. */
struct shown {
	const struct key *key;
	const void *object;
	const struct spec *spec;
};

#define VALUE_TEXT_SIZE 512

struct value_type {
	/* False after at least one error was added.  The object stays fit for
	 * spec_free() and for a second value in the same place. */
	bool (*parse)(const struct value *value);
	/* The i-th value, or false when there is none. */
	bool (*print)(
	    const struct shown *shown, size_t i, char out[VALUE_TEXT_SIZE]);
};

/* Plain values: values_plain.c. */
extern const struct value_type type_duration;    /* uint64_t, ms */
extern const struct value_type type_number;      /* unsigned */
extern const struct value_type type_mode;        /* uint32_t */
extern const struct value_type type_choice;      /* an enum */
extern const struct value_type type_choice_text; /* char *, of key->choices */
extern const struct value_type type_url_path;    /* char * */
extern const struct value_type type_http_host;   /* char * */
extern const struct value_type type_status;      /* two unsigned, min and max */

/* Values of pools: values_pool.c. */
extern const struct value_type type_threads;     /* struct pool_spec */
extern const struct value_type type_shards;      /* struct pool_spec */
extern const struct value_type type_cpus;        /* struct pool_spec */
extern const struct value_type type_association; /* struct frontend_spec */

/* Values that name something: values_names.c. */
extern const struct value_type type_user;    /* char * */
extern const struct value_type type_group;   /* char * */
extern const struct value_type type_node;    /* char * */
extern const struct value_type type_backend; /* size_t: index */
extern const struct value_type type_pool;    /* size_t: index */

/* Values with options: values_compound.c. */
extern const struct value_type type_admin;  /* struct global_spec */
extern const struct value_type type_listen; /* struct frontend_spec, appends */
extern const struct value_type type_server; /* struct backend_spec, appends */
extern const struct value_type type_check;  /* struct check_spec */

/* Runs the key's parser. */
bool value_parse(const struct value *value);

/* Reads the key's default text into the object; nothing without one.  False
 * when memory is short, without an error. */
bool value_set_default(const struct key *key, void *object, struct spec *spec);

/* Adds `KEY: sentence` at the value's place; always false. */
bool value_fail(const struct value *value, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Replaces the string in *slot by a copy of s. */
bool value_set_string(const struct value *value, char **slot, const char *s);

/* The text cut at blanks. */
struct words {
	char copy[DRAFT_VALUE_MAX + 1];
	char *word[DRAFT_VALUE_MAX / 2 + 1];
	size_t n;
};
void words_split(struct words *words, const char *text);

/* Reads words[from…] as `option=value` of value->key->options into object,
 * options that are missing by their defaults.  An option with a flag that is
 * not in `allowed` is refused, with `why` as the reason. */
bool options_read(const struct value *value, const struct words *words,
    size_t from, void *object, unsigned allowed, const char *why);

/* Appends ` option=value` for each option that has a value and whose flags
 * are allowed; only those that differ from their default unless `all`. */
void options_print(const struct key *options, const void *object,
    const struct spec *spec, unsigned allowed, bool all,
    char out[VALUE_TEXT_SIZE]);

/* Whether s may be the name of a section or server, of at most max letters. */
bool name_check(const char *s, size_t max, struct err *err);

#endif
