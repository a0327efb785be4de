/* SPDX-License-Identifier: MIT
 * `server_defaults`: the values of options that a server's line does not have.
 */
#ifndef CONFIG_SERVER_DEFAULTS_H
#define CONFIG_SERVER_DEFAULTS_H

#include <stdbool.h>

#include "config/values.h"

/* Sets every option of the server to the value in the backend's
 * server_defaults, or else to the option's own default.  value has the key
 * server, and the backend as its object.  Skips options with a flag that is not
 * in `allowed`.  Returns false when memory is short. */
bool server_defaults_apply(const struct value *value,
    struct server_spec *server, unsigned allowed) MUST_CHECK;

#endif
