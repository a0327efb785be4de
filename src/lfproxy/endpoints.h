/* SPDX-License-Identifier: MIT
 * The admin sockets and the HTTP port: opened at the start as the configuration
 * says, and changed by reloads.
 */
#ifndef LFPROXY_ENDPOINTS_H
#define LFPROXY_ENDPOINTS_H

#include "admin/admin.h"
#include "base/err.h"
#include "live/control.h"

struct endpoints;

/* Opens the endpoints in the model's spec, and follows reloads from then on.
 * Returns NULL with err set on failure.  Runs on the control thread, as all
 * functions below. */
struct endpoints *endpoints_open(
    struct control *control, struct err *err) MUST_CHECK;

/* Lets commands find what control_start has made. */
void endpoints_started(struct endpoints *endpoints);

/* Closes every connection.  Must precede control_free.  endpoints may be NULL.
 */
void endpoints_close(struct endpoints *endpoints);

/* Runs commands of a process that this one takes over from; see carry_over.h.
 */
void endpoints_carry_over(
    struct endpoints *endpoints, const char *commands, bool last);

/* Returns the commands of the state file (commands/state_file.h), for free(3),
 * or NULL if there are none.  Called at a start that takes over from no
 * process.  files: those of the configuration, with blanks between. */
char *endpoints_read_state(struct endpoints *endpoints, const char *files);

/* Keeps the state file up to date from now on. */
void endpoints_keep_state(struct endpoints *endpoints, const char *files);

#endif
