/* SPDX-License-Identifier: MIT
 * Converts configurations of HAProxy and of nginx's stream module into
 * lfproxy.ini.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sysexits.h>

/* The result of a conversion; the exit status of `lfproxyctl import`. */
enum import_result {
	IMPORT_SAME = EX_OK,     /* clients and servers notice nothing */
	IMPORT_DIFFERS = 1,      /* some of them may notice some lines */
	IMPORT_FAILED = 2,       /* cannot be read or converted: nothing is
	                            written but a message */
	IMPORT_USAGE = EX_USAGE, /* the words are wrong */
};

enum import_kind {
	IMPORT_HAPROXY,
	IMPORT_NGINX,
};

/* A configuration that was read. */
struct import_source {
	const char *file; /* for messages, and relative to it */
	const char *text;
	size_t n;
	bool may_read; /* whether files that the text names are read, too */
	bool serves;   /* for the packaged service: its user and folders */
};

/* Writes the converted text to out, and to errors either the sum of its ledger
 * or what prevents it, with FILE:LINE.  Blocks while it reads files. */
enum import_result import_convert(enum import_kind kind,
    const struct import_source *source, FILE *out, FILE *errors);

/* Runs the command `import [--serve-check] haproxy|nginx FILE`.  argv has the
 * words behind `import`; FILE may be `-` for standard input. */
enum import_result import_command(
    int argc, const char *const *argv, FILE *out, FILE *errors);

#endif
