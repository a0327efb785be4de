/* SPDX-License-Identifier: MIT
 * The command line of lfproxy.
 */
#ifndef LFPROXY_OPTIONS_H
#define LFPROXY_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <sysexits.h>

#include "base/err.h"
#include "config/config.h"

enum options_action {
	OPTIONS_RUN,
	OPTIONS_TEST,          /* -t */
	OPTIONS_PRINT,         /* -T */
	OPTIONS_RELOAD,        /* --reload */
	OPTIONS_VERSION,       /* -V */
	OPTIONS_HELP,          /* -h */
	OPTIONS_LIST_KEYS,     /* --list-keys, for the check of man pages */
	OPTIONS_LIST_COMMANDS, /* --list-commands, likewise */
	OPTIONS_LIST_RECORDS,  /* --list-records, likewise */
};

/* RUN, TEST and PRINT take their configuration either from the files or from
 * the short form. */
struct options {
	enum options_action action;
	pid_t pid;                        /* of --reload */
	const char *take_over;            /* -x; NULL: nothing */
	const char **files;               /* -c; the array is owned */
	size_t files_n;                   /* 0: short_form is used */
	struct config_options short_form; /* its arrays are owned */
};

/* Exit statuses of lfproxy, those of sysexits(3): systemd gives small numbers
 * another meaning. */
enum options_exit {
	EXIT_STATUS_OK = EX_OK,
	EXIT_STATUS_CONFIG = EX_CONFIG, /* the configuration has errors */
	EXIT_STATUS_USAGE = EX_USAGE,   /* options_parse() failed */
	EXIT_STATUS_SYSTEM = EX_OSERR,  /* could not bind, no memory, ... */
};

/* Parses the command line.  The result points into argv; free it with
 * options_fini().  Returns false with err set after a usage error.  -h and -V
 * override all other options, whether these fit together or not. */
bool options_parse(int argc, char **argv, struct options *ret_options,
    struct err *err) MUST_CHECK;

/* Frees what the options own. */
void options_fini(struct options *options);

/* Prints the text of -h. */
void options_help(FILE *out);

/* Loads the configuration from the files or from the short form.  The caller
 * frees *ret_spec.  Returns false with all errors added to errors. */
bool options_load(const struct options *options, struct spec **ret_spec,
    struct err_list *errors) MUST_CHECK;

#endif
