/* SPDX-License-Identifier: MIT
 * `lfproxyctl --json COMMAND`: the command's JSON form.
 *
 * Which commands have one, and how it is asked for, the server's `help` says:
 * a command takes the word json if its usage has it.  So there is no table to
 * go stale, and an older or newer lfproxy is asked for what it has.
 */
#ifndef CTL_JSON_H
#define CTL_JSON_H

#include <stdbool.h>

#include "base/err.h"
#include "ctl/client.h"

/* Adds to the line the command of these words (NULL at the end) in its JSON
 * form; one that the server does not know stays as it is, for the server to
 * refuse.  CTL_FINE; or err says that the command has no such form, and which
 * have; or why the server could not be asked. */
enum ctl_exit ctl_json_command(const char *where, const char *const *words,
    struct ctl_text *line, struct err *err);

#endif
