/* SPDX-License-Identifier: MIT
 * The ports that connections to one server may come from, when the operator
 * gives a range of them.
 *
 * Each is out for one connection at a time, and the one that has been back for
 * longest goes out next, so that the server's end has forgotten the last
 * connection by then.  When all are out, that is known without asking the
 * kernel.  Any thread; a short lock.
 */
#ifndef MODEL_SOURCE_PORTS_H
#define MODEL_SOURCE_PORTS_H

#include <stdint.h>

struct source_ports;

/* low <= high; NULL when memory is short. */
struct source_ports *source_ports_new(uint16_t low, uint16_t high);
/* NULL is fine. */
void source_ports_free(struct source_ports *ports);

/* How many there are, and of these how many are out. */
void source_ports_count(
    struct source_ports *ports, unsigned *ret_size, unsigned *ret_out);

/* 0: all are out. */
uint16_t source_ports_take(struct source_ports *ports);
/* The connection is closed, or was not made. */
void source_ports_give(struct source_ports *ports, uint16_t port);

#endif
