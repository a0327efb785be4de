/* SPDX-License-Identifier: MIT
 * Checks a converted configuration as the packaged service will: with lfproxy
 * -t, as the service's user.
 */
#ifndef IMPORT_SERVE_CHECK_H
#define IMPORT_SERVE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The user of the packaged unit, and the folders that it can write to. */
#define SERVE_USER    "lfproxy"
#define SERVE_RUN_DIR "/run/lfproxy/"
#define SERVE_LOG_DIR "/var/log/lfproxy/"

/* Returns whether lfproxy accepts the text.  Its messages, or why it cannot be
 * asked, go to errors.  The lfproxy beside this program is run, or else that of
 * PATH; root runs it as SERVE_USER, if there is such a user.  Blocks. */
bool serve_check(const char *text, size_t n, FILE *errors);

#endif
