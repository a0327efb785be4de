/* SPDX-License-Identifier: MIT
 * Servers that an operator adds and deletes while lfproxy runs, without the
 * file.
 *
 *   read, check --> new server --> change of its backend's list
 *
 * The model stays (model/backend_servers.h), and so do sockets, pools and their
 * settings.  The next reload goes by the file again, and reports what that does
 * to these servers.
 */
#ifndef LIVE_EDIT_H
#define LIVE_EDIT_H

#include <stdbool.h>

#include "base/err.h"
#include "live/control.h"

/* Adds a server in maintenance, with its check and its agent paused.  value is
 * the text that would follow `server =` in the file.  A name in its address is
 * looked up; the call does not wait for that.  Returns NULL with errors: then
 * nothing has changed.  Runs on the control thread, as all functions here. */
struct server *control_add_server(struct control *control,
    struct backend *backend, const char *value, struct err_list *errors);

/* Whether a server can be deleted, and why not. */
enum server_removable {
	SERVER_REMOVABLE,
	SERVER_OF_SET,    /* its source would bring it back */
	SERVER_TRACKED,   /* other servers use its health */
	SERVER_IN_USE,    /* it is not in maintenance */
	SERVER_CONNECTED, /* it has sessions */
};
/* Returns whether the server can be deleted, or the first reason why not. */
enum server_removable control_server_removable(const struct server *server);

/* Deletes a server that is SERVER_REMOVABLE.  The caller must not use the
 * pointer in a later iteration of the loop.  A session that is connecting to
 * the server continues, as on a server that a reload has removed.  Returns
 * false with errors: then nothing has changed. */
bool control_del_server(struct control *control, struct server *server,
    struct err_list *errors) MUST_CHECK;

#endif
