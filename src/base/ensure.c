/* SPDX-License-Identifier: MIT
 * See ensure.h.
 */
#include "base/ensure.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

void
ensure_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr,
	    "%slfproxy: %s:%d: this must hold and does not: %s; "
	    "please report it with the log that led here\n",
	    log_severity(LOG_LEVEL_ERROR), file, line, condition);
	abort();
}
