/* SPDX-License-Identifier: MIT
 * Ejection: takes a server out of the lineup because sessions failed there.
 *
 *   IN -- eject_after failures in a row --> EJECTED
 *   EJECTED -- its time, or `rise` checks that pass --> IN
 *
 * The n-th ejection lasts eject_time * 2^(n-1), at most eject_time_max.  Each
 * eject_time that the server spends in the lineup lowers n by one.  At most
 * eject_max_percent of a backend's servers are ejected at a time.  One server
 * may always be ejected, but never the last usable one.  When the last usable
 * server is lost for another reason, all ejected servers return.
 *
 * All functions run on the control thread.  Those that change which servers are
 * ejected mark the server (server_change.h), unless they say otherwise.
 */
#ifndef MODEL_EJECTION_H
#define MODEL_EJECTION_H

#include <stdbool.h>
#include <stdint.h>

struct backend;
struct passive;
struct server;

/* Returns why no further server of the backend may be ejected, as the end of a
 * sentence, or NULL if one may be. */
const char *ejection_refusal(const struct backend *b);

/* Ejects the server.  in_row and last, the failures in a row and the last of
 * them, go into the event. */
void server_eject(
    struct server *server, uint32_t in_row, const char *last, uint64_t now_ms);

/* Goes on with what a former process has noted about ejections of the server
 * (passive.h; its times are of this process's clock): an ejection ends when it
 * was to end.  The present configuration bounds how long that may be. */
void ejection_restore(struct server *server, const struct passive *former);

/* Ends the ejections whose time has passed.  Returns the clock_now_ms at which
 * the next one ends, or UINT64_MAX if no server is ejected. */
uint64_t backend_readmit(struct backend *backend, uint64_t now_ms);

/* Counts a check of the server that has passed, and readmits an ejected server
 * after `rise` of them.  began_ms: when the check began (clock_now_ms); a check
 * that began before the ejection does not count. */
void ejection_check_passed(struct server *server, uint64_t began_ms);

/* Ends an ejection that the server's configuration no longer provides for.
 * Does not mark the server: a lineup is about to be made. */
void ejection_settle(struct server *server);

/* Readmits all ejected servers if no server is usable.  Called right before the
 * backend's lineup is made, so it does not mark them. */
void ejection_relent(struct backend *backend);

/* Adds the events for the servers that ejection_relent has readmitted. */
void ejection_report_relented(const struct backend *backend);

/* Ends the ejection of a server that counts as healthy now, by an operator or
 * because its address has changed.  Its next ejection counts as the first.
 * Returns true if the server was ejected; the caller then calls
 * ejection_report_end. */
bool ejection_forget(struct server *server);

/* Adds the event that the server's ejection has ended, and marks the server. */
void ejection_report_end(struct server *server, const char *why);

#endif
