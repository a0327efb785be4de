/* SPDX-License-Identifier: MIT
 * Makes a spec of files, or of the command line, and prints it as text.
 *
 * Control thread only: reading blocks on the disk.  Names of servers are not
 * looked up here.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "model/spec.h"

/* Reads n files, in their order, with what they include; a folder stands for
 * its *.ini (config/include.h).  present: the spec that this one is to replace,
 * whose certificates are shared where their files have not changed; or NULL.
 * Returns true with a spec, which the caller frees with spec_free(), or false
 * after every error of the files was added to errors. */
bool config_load_all(const char *const *paths, size_t n,
    const struct spec *present, struct spec **ret_spec,
    struct err_list *errors) MUST_CHECK;

/* Reads the files of the spec's lists, and makes the contents.  Returns false
 * after every error of the files was added to errors. */
bool config_read_lists(struct spec *spec, struct err_list *errors) MUST_CHECK;

/* The form without a file: one frontend, one backend and one pool, all with the
 * name `main`.  The texts are those of the options; NULL: not given. */
struct config_options {
	const char **listens; /* -l */
	size_t listens_n;
	const char **servers; /* -s [NAME=]ADDR; unnamed: s1, s2, ... */
	size_t servers_n;
	const char *balance; /* -b */
	const char *check;   /* -k KIND, http[s]:/path or script:/program */
	const char *threads; /* -n */
	const char *admin;   /* -a */
};

/* Does what config_load_all does, but takes the texts as they are: the shell
 * has expanded their variables.  The place of an error is the option instead of
 * the file: `-s 10.0.0.256:80: '10.0.0.256' is not an IPv4 ...`. */
bool config_from_options(const struct config_options *options,
    struct spec **ret_spec, struct err_list *errors) MUST_CHECK;

/* Writes the effective configuration, each key with its value, as a file that
 * config_load_all reads into an equal spec in any environment. */
void config_print(const struct spec *spec, FILE *out);

/* Writes section n of those that config_print writes, from 0, with a text
 * before it.  Returns false, with nothing written, behind the last one. */
bool config_print_section(
    const struct spec *spec, size_t n, const char *before, FILE *out);

/* Adds a sentence that begins with `warning: `, with its place, for each
 * setting that is valid but risky or useless. */
void config_warnings(const struct spec *spec, struct err_list *warnings);

#endif
