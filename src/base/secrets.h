/* SPDX-License-Identifier: MIT
 * Texts that must not be shown, and the texts that are shown instead.
 *
 * The configuration adds the texts that it has read from `${file:/path}`, and
 * variables in values that hold passwords.  Code that prints a value of the
 * configuration, or an answer of a server, masks these texts first: the name of
 * the source replaces them, as in `AUTH ${PW}`.  A secret that is no longer in
 * the configuration stays masked: servers may still repeat it.
 *
 * The names of such variables are kept as well: `show env` masks their values
 * however short these are.  A program that takes over in an upgrade inherits
 * the names with the environment.
 *
 * secrets_mask and secret_at run on any thread, also while secrets are added.
 * The other functions run on the control thread, or before threads are started.
 */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Shorter texts are not masked: they would be found everywhere. */
#define SECRET_MIN_LEN 4

/* Notes that another configuration is read from now on: secrets_each_flawed
 * reports only secrets that are added later. */
void secrets_begin(void);

/* Adds a secret.  source: the text to show instead, as in `${PW}`; of
 * `${PW:-TEXT}` only `${PW}` is shown.  open_path: the file that the text is
 * from, if every user of this host can read it, else NULL.  Copies all three.
 * Returns false when memory is short. */
bool secrets_add(
    const char *text, const char *source, const char *open_path) MUST_CHECK;

/* Adds the name of an environment variable whose value is a secret.  Returns
 * false when memory is short. */
bool secrets_add_variable(const char *name) MUST_CHECK;

/* Returns the text with every secret masked, also one that the end of the text
 * cuts off after SECRET_MIN_LEN characters or more.  The result is a copy, also
 * in *ret_copy, which the caller frees; or the text itself if there is nothing
 * to mask, with *ret_copy NULL.  When memory is short the result shows no
 * secret either. */
const char *secrets_mask(const char *text, char **ret_copy);

/* Returns the value of an environment variable as it may be shown: `${NAME}`
 * for a variable of secrets_add_variable and for a value that is a part of a
 * secret, SECRET_MIN_LEN characters or more; else the value with every secret
 * masked.  Results are those of secrets_mask. */
const char *secrets_mask_variable(
    const char *name, const char *value, char **ret_copy);

/* Adds the variables, with their values, whose names the former process has
 * left in the environment, and removes these names.  Called at the start,
 * before threads are started. */
void secrets_inherit(void);

/* Makes the environment variable that secrets_inherit reads, which the caller
 * frees.  Returns false when memory is short. */
bool secrets_variable(char **ret_variable) MUST_CHECK;

/* Returns the length of the longest secret that the text begins with, and sets
 * *ret_source to the source as the configuration has it, a text for a missing
 * variable included.  0: the text begins with no secret. */
size_t secret_at(const char *text, const char **ret_source);

/* Flaws of a secret of the present configuration, for warnings to the operator.
 */
struct secret_flaws {
	const char *source;    /* as in `${PW}` */
	const char *open_path; /* a file that every user can read, or NULL */
	bool too_short;        /* shorter than SECRET_MIN_LEN: never masked */
};

/* Calls report for each secret of the present configuration that has a flaw. */
void secrets_each_flawed(
    void (*report)(void *arg, const struct secret_flaws *flaws), void *arg);

/* Frees all secrets.  Called before the process ends, when no other thread runs
 * any more. */
void secrets_forget(void);

#endif
