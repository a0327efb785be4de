/* SPDX-License-Identifier: MIT
 * The command line of lfproxy.
 */
#ifndef LFPROXY_OPTIONS_H
#define LFPROXY_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "config/config.h"

enum options_action {
	OPTIONS_RUN,
	OPTIONS_TEST,          /* -t */
	OPTIONS_PRINT,         /* -T */
	OPTIONS_RELOAD,        /* --reload */
	OPTIONS_VERSION,       /* -V */
	OPTIONS_HELP,          /* -h */
	OPTIONS_LIST_KEYS,     /* --list-keys, for the check of the man page */
	OPTIONS_LIST_COMMANDS, /* --list-commands, likewise */
};

/* For RUN, TEST and PRINT there are either files or the short form. */
struct options {
	enum options_action action;
	pid_t pid;                        /* of --reload */
	const char **files;               /* -c; the array is owned */
	size_t files_n;                   /* 0: */
	struct config_options short_form; /* its arrays are owned */
};

/* Exit statuses of lfproxy. */
enum options_exit {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_CONFIG = 1, /* the configuration has errors */
	EXIT_STATUS_USAGE = 2,  /* options_parse() failed */
	EXIT_STATUS_SYSTEM = 3, /* could not bind, no memory, ... */
};

/* Reads the command line; the result points into argv and is to be given to
 * options_fini().  False after a usage error; err then has a sentence that
 * ends in `try lfproxy -h`.  Asking for help or the version wins over all
 * other options, right or wrong in their combination. */
bool options_parse(
    int argc, char **argv, struct options *ret_options, struct err *err);
void options_fini(struct options *options);

/* What -h prints. */
void options_help(FILE *out);

/* The configuration that the options ask for, from the files or from the
 * options themselves: config_load_all() or config_from_options(). */
bool options_load(const struct options *options, struct spec **ret_spec,
    struct err_list *errors);

#endif
