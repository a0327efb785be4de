/* SPDX-License-Identifier: MIT
 * See stamp.h.
 */
#include "tls/stamp.h"

/* A file that was changed this shortly before it was read may change once more
 * without a later time: the kernel's time stamps are some milliseconds apart,
 * those of network file systems up to seconds. */
#define STAMP_UNSURE_S 2

struct tls_stamp
tls_stamp_of(const struct stat *stat)
{
	return (struct tls_stamp){.exists = true,
	    .device = stat->st_dev,
	    .inode = stat->st_ino,
	    .size = stat->st_size,
	    .changed = stat->st_ctim};
}

static bool
stamps_equal(const struct tls_stamp *a, const struct tls_stamp *b)
{
	if (!a->exists || !b->exists)
		return a->exists == b->exists;
	return a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

bool
tls_stamp_is_current(
    const char *file, const struct tls_stamp *was, time_t read_at)
{
	struct tls_stamp is = {.exists = false};
	struct stat st;

	if (stat(file, &st) == 0)
		is = tls_stamp_of(&st);
	return stamps_equal(&is, was) &&
	       (!is.exists || is.changed.tv_sec + STAMP_UNSURE_S <= read_at);
}
