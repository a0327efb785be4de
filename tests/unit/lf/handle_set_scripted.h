/* SPDX-License-Identifier: MIT
 * The scripted handle set: a machine of wires and scripts in the place of the
 * kernel.
 *
 *   test --write--> wire --edge--> set --wait--> leader --turn--> read
 *   test --feed---> batch -------> set --wait--> leader
 *
 * A wire is what a socket is: bytes that were written and not read so far,
 * registered with one set at a time.  It is edge-triggered as epoll is: a write
 * puts it on its set's ready list, once, however often it is written to; adding
 * it to a set reports what is there; removing it takes it off the list.  So a
 * byte that stays unread for ever is a lost event.
 *
 * A batch is a list of events that a test makes up; one wait returns one batch
 * (or, when max is smaller, its first part), so a test says exactly what a
 * leader finds at once.
 *
 * A wait with nothing to return blocks until something comes or somebody wakes
 * it; a wake with nobody waiting is kept for the next wait, as an eventfd's is.
 * Every call is counted.  Nothing is allocated by a wait, an add, or a read.
 */
#ifndef UNIT_LF_HANDLE_SET_SCRIPTED_H
#define UNIT_LF_HANDLE_SET_SCRIPTED_H

#include <stdbool.h>

#include "lf/handle_set.h"

struct machine;
struct scripted;

/* What a test may ask: counts since the set was made. */
struct scripted_counts {
	unsigned adds, removes;
	unsigned waits, wakes;
	unsigned double_waits; /* of these waits, beside another one */
	uint64_t returned;     /* events, by all waits */
	unsigned queued;       /* events that the next waits will return */
	unsigned waiting;      /* threads that are blocked in wait */
	unsigned freed;
};

/* The test owns a machine, and a machine its sets: a set's free is only
 * counted, and must be the last thing that happens to it: a set that is used
 * later, or freed while a thread waits on it, ends the test.  Wires are
 * numbered from 0 and go by their number as descriptor. */
struct machine *machine_new(unsigned wires);
void machine_free(struct machine *machine);

/* As pool_options.new_set wants it; arg: the machine. */
int machine_new_set(void *machine, struct handle_set **ret_set);

/* The set that was made i-th. */
struct scripted *machine_set(struct machine *machine, unsigned i);
unsigned machine_sets(struct machine *machine);
/* Those of them that were not freed. */
unsigned machine_sets_open(struct machine *machine);
/* As machine_set, of a set that the machine has made. */
struct scripted *scripted_of(struct handle_set *set);
/* So many more sets are made, then each attempt returns -EMFILE. */
void machine_limit_sets(struct machine *machine, unsigned more);

/* Any thread. */
void machine_write(struct machine *machine, int fd, uint32_t bytes);
/* Takes up to max bytes; how many it were. */
uint32_t machine_read(struct machine *machine, int fd, uint32_t max);
uint64_t machine_unread(struct machine *machine); /* of all wires */

/* Any thread, handlers too: one batch, copied. */
void scripted_feed(
    struct scripted *scripted, const struct handle_event *events, unsigned n);

/* The next wait returns -error, before anything else. */
void scripted_fail_wait(struct scripted *scripted, int error);

struct scripted_counts scripted_counts(struct scripted *scripted);

#endif
