/* SPDX-License-Identifier: MIT
 * The steps that all changes of a server share: marking the server's backend,
 * adding an event, and keeping the times up and down.
 *
 * A change takes effect for new sessions when the backend has a new lineup.
 * The changing function only marks the backend, so that servers need not know
 * lineups.  Its caller calls model_update (model.h) when the change is
 * complete.
 *
 * All functions run on the control thread.
 */
#ifndef MODEL_SERVER_CHANGE_H
#define MODEL_SERVER_CHANGE_H

#include "model/server.h"

/* Marks the backend: model_update makes its next lineup. */
void backend_mark_changed(struct backend *backend);

/* Marks the server and its backend: model_update then also makes the servers
 * that track this one follow. */
void server_mark_changed(struct server *server);

/* Adds an event and marks the server.  The event has `server app/a`, the text,
 * and how many servers of the backend are usable now.  Call it right after the
 * change, so that the event precedes those of the consequences. */
void server_report_change(struct server *server, enum event_kind kind,
    enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Drops the settings whose value in the file is another one than when they were
 * set.  The file's value holds from now on, even if the former one returns to
 * the file. */
void server_follow_file(struct server *server);

/* Does the same for the address alone. */
void server_follow_place(struct server *server);

/* Notes for the statistics that the server went up or down just now. */
void server_note_change(struct server *server, bool up);

/* Notes for the statistics that another administrative state (drain,
 * maintenance) begins just now.  was_up: whether the server was up until now.
 */
void server_note_time(struct server *server, bool was_up);

#endif
