/* SPDX-License-Identifier: MIT
 * A source of members that is a file (file_members.h).
 *
 *   inotify --> settle --> read by the worker --> report
 *
 * If the file is missing or has a wrong line, the source reports an error and
 * no list.  A file whose last line has no line end, or that is empty, may be
 * half-written: it is reported once it has not changed for
 * DISCOVERY_FILE_WHOLE_MS.
 */
#ifndef RESOLVE_DISCOVERY_FILE_H
#define RESOLVE_DISCOVERY_FILE_H

#include <ev.h>

#include "resolve/discovery.h"

#define DISCOVERY_FILE_SETTLE_MS     100
#define DISCOVERY_FILE_SETTLE_MAX_MS 2000
#define DISCOVERY_FILE_WHOLE_MS      2000
/* The time after which a file that could not be read is read again. */
#define DISCOVERY_FILE_RETRY_MS 60000

/* Returns whether the path may be that of a file, or false with err set.  See
 * discovery_kind_facts. */
bool discovery_file_check(const char *path, struct err *err);

/* Begins to follow the file, and reads it soon.  Copies owner and path. Without
 * inotify, which is logged, only discovery_refresh reads the file.  Returns
 * NULL with err set when memory is short. */
struct discovery *discovery_file_new(struct ev_loop *loop, const char *path,
    const struct discovery_owner *owner, struct err *err);

#endif
