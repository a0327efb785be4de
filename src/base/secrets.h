/* SPDX-License-Identifier: MIT
 * Texts that must not be shown, and what is shown instead.
 *
 * The configuration adds what it has read from `${file:/path}`, and variables
 * in values that hold passwords.  Code that prints a value of the
 * configuration, or what a server has answered, masks these texts first: the
 * name of the source takes their place, as in `AUTH ${PW}`.  A secret that is
 * no longer in the configuration stays masked: servers may still repeat it.
 *
 * Control thread, or before threads are started.
 */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Shorter texts are not masked: they would be found everywhere. */
#define SECRET_MIN_LEN 4

/* Before a configuration is read: secrets_each_flawed reports later ones. */
void secrets_begin(void);

/* Copies both; source is what is shown, as in `${PW}`.  open_path: the file
 * that the text is from, if every user of this host can read it, else NULL.
 * Returns false when memory is short. */
bool secrets_add(
    const char *text, const char *source, const char *open_path) MUST_CHECK;

/* The text with every secret masked, also one that the end of the text cuts
 * off after SECRET_MIN_LEN characters or more: a copy in *ret_copy for the
 * caller to free, or the text itself when there is nothing to mask, with
 * *ret_copy NULL.
 * Never shows a secret, also when memory is short. */
const char *secrets_mask(const char *text, char **ret_copy);

/* The length of the longest secret that the text begins with, and what is shown
 * instead; 0: none. */
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

/* Forgets all; before the process ends. */
void secrets_forget(void);

#endif
