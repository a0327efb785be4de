/* SPDX-License-Identifier: MIT
 * Tries changes of a configuration: whether its files would still be valid.
 * Control thread only.
 */
#ifndef CONFIG_FIT_H
#define CONFIG_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/spec.h"

/* A key of a section, or an option of a server, with another value.  The key
 * `address` is the address of the server, and `server` its whole line. */
struct config_change {
	const char *key, *text;
	bool tried;
};

/* Returns whether the section, as in `backend app`, would be valid with the
 * changes that are tried; server: whose line has them, or NULL.  Otherwise err
 * has the first error.  The spec stays as it is, except that a [tls] section
 * may get a context (config/edit.h). */
bool config_fits(struct spec *spec, const char *section, const char *server,
    const struct config_change *changes, size_t n, struct err *err) MUST_CHECK;

#endif
