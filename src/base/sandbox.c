/* SPDX-License-Identifier: MIT
 * See sandbox.h.
 */
#include "base/sandbox.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether a sandbox causes such errors: ProtectSystem= makes a
 * directory read-only, ProtectHome= and the unit's user make it inaccessible,
 * and PrivateTmp= hides its files. */
static bool
is_of_sandbox(int error)
{
	return error == EROFS || error == EACCES || error == ENOENT;
}

const char *
sandbox_hint(int error, const char *path, const char *setting,
    char out[SANDBOX_HINT_SIZE])
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) : 0;

	out[0] = '\0';
	if (getenv("INVOCATION_ID") && is_of_sandbox(error) && len > 0)
		snprintf(out, SANDBOX_HINT_SIZE,
		    "; the systemd unit decides what can be written: choose a "
		    "path below its %s=, or add ReadWritePaths=%.*s with "
		    "systemctl edit, and restart",
		    setting, len, path);
	return out;
}
