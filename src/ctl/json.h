/* SPDX-License-Identifier: MIT
 * `lfproxyctl --json COMMAND`: the JSON form of a command.
 *
 * A command has a JSON form if its usage in the server's `help` has the word
 * json.  So there is no table to go stale, and older and newer versions of
 * lfproxy work.
 */
#ifndef CTL_JSON_H
#define CTL_JSON_H

#include <stdbool.h>

#include "base/err.h"
#include "ctl/client.h"

/* Makes the command in the line its JSON form.  A command that the server does
 * not know stays as it is.  Returns CTL_OK, or another code with err set if the
 * command has no JSON form or the server could not be asked. */
enum ctl_exit ctl_json_command(
    const char *where, struct ctl_text *line, struct err *err);

#endif
