/* SPDX-License-Identifier: MIT
 * The table of records: all that an upgrade or the state file passes on to the
 * next process.  A list of things that neither passes on stands below it.
 *
 * An upgrade sends the parts of control.h as texts, and the last part as
 * messages of their own (handover/session_sender.h).  The state file
 * (state_file.h) has all texts.  Both have a line for each item; a reader skips
 * lines of later.h whose kind it does not know, so a new kind needs no new
 * version of either.
 *
 * All functions run on the control thread.
 */
#ifndef COMMANDS_RECORDS_H
#define COMMANDS_RECORDS_H

#include <stdbool.h>
#include <stdio.h>

#include "handover/upgrade.h"
#include "stats/answer.h"

/* X(identifier, part of an upgrade, whether the state file has it, beginning of
 * its lines, function that writes them, function that reads a line, text)
 *
 * Lines are read in the order in which they were written.  Lines without a
 * beginning are commands, which carry_over.h reads.  The texts are the lists of
 * lfproxyctl(8), below `upgrade`, and of lfproxy.ini(5), below `state_file`;
 * there a colon and details may follow. */
#define RECORDS_TABLE(X)                                                       \
	X(SETTINGS, HANDED_COMMANDS, true, NULL, carry_over_write, NULL,       \
	    "what operators have changed by commands")                         \
	X(HEALTH, HANDED_COMMANDS, true, NULL, NULL, NULL,                     \
	    "servers that are down or stopping")                               \
	X(CERTIFICATES, HANDED_COMMANDS, true, CERTIFICATES_LINE,              \
	    certificates_write, certificates_read,                             \
	    "certificates, authorities and CRLs that were set by commands")    \
	X(EXPIRES, HANDED_LATER, true, EXPIRING_LINE, write_expiring,          \
	    read_expiring, "the ends of changes for a time")                   \
	X(DRAINS, HANDED_LATER, true, DRAINS_LINE, write_drains, read_drain,   \
	    "drains")                                                          \
	X(EJECTED, HANDED_PAST, true, EJECTIONS_LINE, write_ejections,         \
	    read_ejection, "ejections of servers")                             \
	X(CHANGES, HANDED_PAST, true, AUDIT_LINE, write_audit, read_change,    \
	    "the list of changes by commands")                                 \
	X(EVENTS, HANDED_PAST, true, EVENTS_LINE, write_events, read_event,    \
	    "events")                                                          \
	X(COUNTERS, HANDED_MESSAGES, true, COUNTERS_LINE, write_counters,      \
	    read_counter, "counters of frontends, backends and servers")       \
	X(SESSIONS, HANDED_MESSAGES, false, NULL, NULL, NULL, "sessions")      \
	X(SOURCES, HANDED_MESSAGES, false, NULL, NULL, NULL,                   \
	    "the use of limits by source")                                     \
	X(CLOSED, HANDED_MESSAGES, false, NULL, NULL, NULL,                    \
	    "the records of ended sessions")                                   \
	X(FAILURES, HANDED_MESSAGES, false, NULL, NULL, NULL,                  \
	    "failures by cause and server")

/* X(text): what neither an upgrade nor the state file passes on. */
#define RECORDS_LEFT_OUT(X)                                                    \
	X("keys of TLS tickets that lfproxy has made itself")                  \
	X("transactions of certificates and versions of lists that are not "   \
	  "committed")                                                         \
	X("the bandwidth that sessions share")                                 \
	X("peaks, averages, rates and the numbers of failed checks")

/* Writes the lines of that part. */
void records_write(
    const struct command_env *env, enum handed_part part, FILE *out);

/* Writes all lines that the state file has. */
void records_write_file(const struct command_env *env, FILE *out);

/* Reads a line, which it may change, if a record's lines begin as it does.
 * Returns false for any other line. */
bool records_read(const struct command_env *env, char *line);

/* Writes the output of `lfproxy --list-records`: for each record its name,
 * `upgrade` or `upgrade state_file`, and its text, between tabs; `left_out`
 * with nothing and the text. */
void records_list(FILE *out);

#endif
