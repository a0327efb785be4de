/* SPDX-License-Identifier: MIT
 * The handle set of the cost model: as handle_set_epoll.c is with epoll(7), in
 * virtual time.
 *
 * A wire is one end of a connection, registered with one set and known by its
 * number as descriptor.  It is edge-triggered.  Threads that wait on the same
 * set are woken one for each event, the last to wait first, as the kernel does.
 * One thread at a time takes events from a set.
 */
#ifndef SIM_COST_WIRES_H
#define SIM_COST_WIRES_H

#include <stdint.h>

#include "lf/handle_set.h"

/* Makes so many wires. */
void wires_open(unsigned n);

/* Makes a handle set, for pool_options.new_set. */
int wires_new_set(void *arg, struct handle_set **ret_set);

/* Something has come in at the wire's end: an event for who waits there.  The
 * calling thread, if any, pays for waking that one. */
void wires_raise(unsigned wire, uint32_t ready);

#endif
