/* SPDX-License-Identifier: MIT
 * Tells whether files have changed since they were read.
 *
 * Any thread.
 */
#ifndef TLS_STAMP_H
#define TLS_STAMP_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* Identifies a file as it was when it was read. */
struct tls_stamp {
	bool exists;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed; /* status change: a new mode counts too */
};

/* Returns the stamp of an existing file. */
struct tls_stamp tls_stamp_of(const struct stat *stat);

/* Returns whether the file is certainly as it was when it was read at that
 * time, in seconds since 1970; INT64_MAX: only the stamps are compared.
 * Blocks. */
bool tls_stamp_is_current(
    const char *file, const struct tls_stamp *was, time_t read_at);

#endif
