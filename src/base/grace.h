/* SPDX-License-Identifier: MIT
 * Grace periods: freeing what other threads may still be reading.
 *
 * A data thread reads published pointers only between grace_enter and
 * grace_leave.  The control thread replaces the pointer, then hands the old
 * object to grace_retire; it is freed once every thread that was inside at
 * that time has left.  Epoch-based reclamation (Fraser, "Practical
 * lock-freedom", 2004, section 5.2.3) with one writer.
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

/* Returns NULL when memory is short. */
struct grace *grace_new(void);

/* Frees everything retired; no reader may be registered any more. */
void grace_free(struct grace *grace);

/* Any thread; takes a lock. */
void grace_register(struct grace *grace, struct grace_reader *reader);
/* Any thread, outside of a section; takes a lock. */
void grace_unregister(struct grace *grace, struct grace_reader *reader);

/* Data threads.  Not nested.  What is loaded with acquire order inside stays
 * valid until grace_leave. */
void grace_enter(struct grace *grace, struct grace_reader *reader);
/* Data threads. Ends the section that grace_enter began. */
void grace_leave(struct grace_reader *reader);

/* Control thread: free_it(object) is called by this or a later grace_retire or
 * grace_poll, never while a reader could hold the object.  Does not block; when
 * memory for the note is short it waits for the readers instead (their turns
 * are bounded). */
void grace_retire(
    struct grace *grace, void (*free_it)(void *object), void *object);
/* Control thread: frees the retired objects that no reader can hold any more.
 * Never blocks on readers. */
void grace_poll(struct grace *grace);

/* Control thread: the same without an object.  A stamp is this moment;
 * grace_passed says whether every reader that was inside then has left. */
uint64_t grace_stamp(struct grace *grace);
/* Control thread: whether every reader that was inside at the stamp has left.
 */
bool grace_passed(struct grace *grace, uint64_t stamp);

#endif
