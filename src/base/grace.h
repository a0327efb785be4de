/* SPDX-License-Identifier: MIT
 * Grace periods: freeing what other threads may still be reading.
 *
 * A data thread reads published pointers only between grace_enter and
 * grace_leave.  The control thread replaces the pointer, then hands the old
 * object to grace_retire.  The object is freed once every thread that was
 * inside at that time has left.  This is epoch-based reclamation (Fraser,
 * "Practical lock-freedom", 2004, section 5.2.3) with one writer.
 */
#ifndef BASE_GRACE_H
#define BASE_GRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

struct grace;

/* A reader's announcement: 0 outside, else the epoch it entered in. */
struct grace_reader {
	uint64_t epoch;
	struct grace_reader *next; /* of the domain's list, under its lock */
} CACHE_LINE_ALIGNED;

/* Makes a domain without readers.  Returns NULL when memory is short. */
struct grace *grace_new(void);

/* Frees the domain and all retired objects; no reader may be registered any
 * more.  NULL is allowed. */
void grace_free(struct grace *grace);

/* Registers a reader.  Any thread; takes a lock. */
void grace_register(struct grace *grace, struct grace_reader *reader);
/* Ends the registration of a reader.  Any thread, outside of a section; takes a
 * lock. */
void grace_unregister(struct grace *grace, struct grace_reader *reader);

/* Begins a section; sections do not nest.  Objects whose pointers are loaded
 * with acquire order inside stay valid until grace_leave.  Runs on the reader's
 * thread.  Never blocks. */
void grace_enter(struct grace *grace, struct grace_reader *reader);
/* Ends the section that grace_enter began.  Runs on the reader's thread. */
void grace_leave(struct grace_reader *reader);

/* Has free_it(object) called once no reader can hold the object: by this call,
 * or by a later grace_retire or grace_poll.  Runs on the control thread.  Does
 * not block, unless memory is short: then it waits for the readers, whose turns
 * are bounded.  NULL is allowed as object. */
void grace_retire(
    struct grace *grace, void (*free_it)(void *object), void *object);
/* Frees the retired objects that no reader can hold any more.  Runs on the
 * control thread.  Never waits for readers. */
void grace_poll(struct grace *grace);

/* Returns a stamp of this moment, for grace_passed: a grace period without an
 * object.  Runs on the control thread. */
uint64_t grace_stamp(struct grace *grace);
/* Returns whether every reader that was inside at the time of the stamp has
 * left.  Runs on the control thread. */
bool grace_passed(struct grace *grace, uint64_t stamp);

#endif
