/* SPDX-License-Identifier: MIT
 * The files of a directory, by name.
 */
#ifndef TLS_DIRECTORY_H
#define TLS_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct tls_directory {
	char **paths; /* in the order of their names, byte by byte */
	size_t n;
};

/* Lists the files whose names `want` accepts; hidden files are left out.  what
 * names the directory's purpose in errors.  Returns false with err set.
 * Blocks. */
bool tls_directory_read(const char *what, const char *dir,
    bool (*want)(const char *name), struct tls_directory *ret_directory,
    struct err *err) MUST_CHECK;

/* Frees the paths. */
void tls_directory_fini(struct tls_directory *directory);

#endif
