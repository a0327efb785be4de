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

#include <stdbool.h>
#include <stdint.h>

struct source_ports;

/* low <= high.  Returns NULL when memory is short. */
struct source_ports *source_ports_new(uint16_t low, uint16_t high);
/* NULL is allowed. */
void source_ports_free(struct source_ports *ports);

/* Returns the number of ports, and how many of them are taken. */
void source_ports_count(
    struct source_ports *ports, unsigned *ret_size, unsigned *ret_out);

/* Takes a port.  Returns 0 if all are taken. */
uint16_t source_ports_take(struct source_ports *ports);
/* Takes that port, of a connection that another process has made.  Returns
 * false if it is not among these, or taken. */
bool source_ports_take_this(struct source_ports *ports, uint16_t port);
/* Gives a port back: the connection is closed, or was not made. */
void source_ports_give(struct source_ports *ports, uint16_t port);

#endif
