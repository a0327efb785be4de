/* SPDX-License-Identifier: MIT
 * Checks that need the whole configuration.
 */
#ifndef CONFIG_BUILD_CHECK_H
#define CONFIG_BUILD_CHECK_H

#include <stdbool.h>

#include "base/err.h"
#include "model/spec.h"

/* Adds an error for each address that two sockets want, for bound sessions in a
 * pool without leaders, and for a missing frontend or backend; the latter with
 * the file (NULL: the command line).
 * empty: there was not a single section. */
void build_check(const struct spec *spec, const char *file, bool empty,
    struct err_list *errors);

/* Likewise for one server and its backend: its check, its agent, its source,
 * and its on_up. */
void build_check_server(const struct backend_spec *backend,
    const struct server_spec *server, struct err_list *errors);

#endif
