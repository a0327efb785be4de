/* SPDX-License-Identifier: MIT
 * Looks at the files of a configuration before they are read for good, for the
 * settings that decide where lfproxy reads them.
 */
#ifndef CONFIG_PEEK_H
#define CONFIG_PEEK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct peek {
	char *chroot; /* of [global]; NULL: not set */
	char **files; /* all of them, those that are included, too */
	size_t files_n;
};

/* Reads the files as config_load_all does, but leaves their errors for
 * config_load_all to report.  Returns false with err set when memory is short.
 * Blocks on the disk. */
bool config_peek(const char *const *paths, size_t n, struct peek *ret_peek,
    struct err *err) MUST_CHECK;

/* Frees the members. */
void config_peek_fini(struct peek *peek);

#endif
