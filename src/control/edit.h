/* SPDX-License-Identifier: MIT
 * Servers that come and go while lfproxy runs, without the file.
 *
 *   a copy of the spec, edited --> model, checks --> publish --> the old one
 *
 * The way of a reload (reload.h), but for what an operator may have changed by
 * hand since: sockets, pools and their settings are left alone.  A reload then
 * goes by the file again, and says what that does to these servers.
 */
#ifndef CONTROL_EDIT_H
#define CONTROL_EDIT_H

#include <stdbool.h>

#include "base/err.h"
#include "control/control.h"

/* Adds a server in maintenance, with its check and its agent paused.  value is
 * what would stand in the file behind `server =`; a name in its address is
 * looked up, and not waited for.  Returns NULL with errors: then nothing was
 * changed.  Runs on the control thread, as all of these. */
struct server *control_add_server(struct control *control,
    const struct backend *backend, const char *value, struct err_list *errors);

/* Whether a server can be deleted, and why not. */
enum server_removable {
	SERVER_REMOVABLE,
	SERVER_OF_SET,    /* its source would bring it back */
	SERVER_TRACKED,   /* others go by its health */
	SERVER_IN_USE,    /* it is not in maintenance */
	SERVER_CONNECTED, /* it has sessions */
};
/* Returns whether the server can be deleted, or the first reason why not. */
enum server_removable control_server_removable(const struct server *server);

/* Deletes a server that is SERVER_REMOVABLE.  The caller must not use the
 * pointer afterwards.  A session that is just connecting to the server
 * continues, as on a server that a reload has removed.  Returns false with
 * errors: then nothing was changed. */
bool control_del_server(struct control *control, struct server *server,
    struct err_list *errors) MUST_CHECK;

#endif
