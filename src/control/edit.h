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

/* Control thread, as all of these.  value is what would stand in the file
 * behind `server =`; a name in its address is looked up, and not waited for.
 * The server is in
 * maintenance, its check and its agent are paused.  NULL with an error: nothing
 * was changed. */
struct server *control_add_server(struct control *control,
    const struct backend *backend, const char *value, struct err_list *errors);

/* Whether the server can be deleted. */
enum server_removable {
	SERVER_REMOVABLE,
	SERVER_TRACKED,   /* others go by its health */
	SERVER_IN_USE,    /* it is not in maintenance */
	SERVER_CONNECTED, /* it has sessions */
};
enum server_removable control_server_removable(const struct server *server);

/* One that is SERVER_REMOVABLE; it is gone then.  A session that was on its way
 * there at this very moment goes on, as those of a server that a reload has
 * removed.  False with an error: nothing was changed. */
bool control_del_server(
    struct control *control, struct server *server, struct err_list *errors);

#endif
