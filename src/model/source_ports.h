/* SPDX-License-Identifier: MIT
 * The source ports of connections to one server, if the configuration gives a
 * range of them.
 *
 * Each port is used by one connection at a time.  The port that was given back
 * longest ago is taken next, so that the server's end has forgotten the last
 * connection by then.  When all ports are taken, lfproxy knows it without
 * asking the kernel.  Any thread may call the functions on a table of ports,
 * which hold a lock for a short time.
 */
#ifndef MODEL_SOURCE_PORTS_H
#define MODEL_SOURCE_PORTS_H

#include <stdbool.h>
#include <stdint.h>

struct source_ports;

/* Makes the table of the ports from low to high; low <= high.  Returns NULL
 * when memory is short. */
struct source_ports *source_ports_new(uint16_t low, uint16_t high);
/* Frees the table.  NULL is allowed. */
void source_ports_free(struct source_ports *ports);

/* Returns the number of ports, and how many of them are taken. */
void source_ports_count(
    struct source_ports *ports, unsigned *ret_size, unsigned *ret_out);

/* Takes a port.  Returns 0 if all are taken. */
uint16_t source_ports_take(struct source_ports *ports);
/* Takes that port, for a connection that another process has made.  Returns
 * false if the port is outside the range, or taken. */
bool source_ports_take_this(struct source_ports *ports, uint16_t port);
/* Gives a port back: the connection is closed, or was not made. */
void source_ports_give(struct source_ports *ports, uint16_t port);

#endif
