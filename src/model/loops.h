/* SPDX-License-Identifier: MIT
 * Servers whose address is one of lfproxy's own: a session with such a server
 * comes in again, at a frontend.  That is a way to put frontends in a row.  If
 * the frontend leads back to the server's backend, each session begets the
 * next, until there are no descriptors left.
 *
 * Both the configuration's addresses and those of names are looked at, also
 * through several frontends in a row.  Not seen are inherited sockets
 * (fd:NAME), ports that the kernel chooses, and ways through other programs.
 *
 * All functions run on the control thread, or before it starts.
 */
#ifndef MODEL_LOOPS_H
#define MODEL_LOOPS_H

#include "model/spec.h"

/* The most sessions at a time with a server that leads back. */
#define LOOPS_SESSIONS_MAX 8

struct loops;

/* Returns the present address of a server; valid until the next call.  at: the
 * server's index in its backend. */
typedef const struct addr *loops_addr(
    void *arg, const struct backend_spec *backend, size_t at);

/* Makes what the look-ups need: the listening ports and the addresses of this
 * host, as they are now.  Borrows spec.  addr NULL: the addresses of the spec.
 * Returns NULL when memory is short. */
struct loops *loops_new(const struct spec *spec, loops_addr *addr, void *arg);
/* NULL is allowed. */
void loops_free(struct loops *loops);

/* Returns whether a frontend may listen at addr, the server's present address.
 */
bool loops_concern(const struct loops *loops, const struct server_spec *server,
    const struct addr *addr);

/* Returns the frontend that listens at addr, the server's present address, and
 * leads back to the backend, or NULL.  Takes a few comparisons unless the
 * address is one of this host's and its port one of lfproxy's. */
const struct frontend_spec *loops_find(struct loops *loops,
    const struct backend_spec *backend, const struct server_spec *server,
    const struct addr *addr);

/* The sentence about a server that leads back: a format for the names of its
 * backend, of the server and of the frontend, and for LOOPS_SESSIONS_MAX. */
#define LOOPS_WARNING                                                          \
	"server %s/%s is [frontend %s] itself, which leads back to the "       \
	"server: no more than %d sessions at a time go there; give the "       \
	"server another address"

#endif
