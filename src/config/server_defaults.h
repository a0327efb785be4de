/* SPDX-License-Identifier: MIT
 * `server_defaults`: what the options of a server are when its line does not
 * have them.
 */
#ifndef CONFIG_SERVER_DEFAULTS_H
#define CONFIG_SERVER_DEFAULTS_H

#include <stdbool.h>

#include "config/values.h"

/* Sets every option of the server to that of the backend's server_defaults, or
 * to its own default.  value: of the key server, its object the backend.
 * Leaves out options with a flag that is not in `allowed`.  Returns false when
 * memory is short. */
bool server_defaults_apply(const struct value *value,
    struct server_spec *server, unsigned allowed) MUST_CHECK;

#endif
