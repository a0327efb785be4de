/* SPDX-License-Identifier: MIT
 * The TLS handshakes of a session.
 *
 *   ACCEPTED, INSPECTING --> HANDSHAKE: with the client
 *                        --> the frontend's backend for the name it asked for
 *   CONNECTING: with the server, once it has accepted and has its PROXY header
 *
 * A step of a handshake computes for up to some milliseconds, so the session
 * declares its next turn long whenever it waits for one: the leader promotes
 * before it runs that turn, and the pool bounds how many run at once
 * (lf/admission.h).
 *
 * All functions run on the session's owner.
 */
#ifndef PROXY_HANDSHAKE_H
#define PROXY_HANDSHAKE_H

#include "proxy/session_step.h"

/* With the client, from ACCEPTED or INSPECTING on: goes on with the handshake,
 * acts on its deadline, and then finds the backend and returns STEP_CHOOSE. */
struct verdict handshake_step(struct session *s, struct pool_thread *self);

enum handshake {
	HANDSHAKE_DONE,
	HANDSHAKE_WAIT, /* for the peer */
	HANDSHAKE_MORE, /* in another turn, which is declared long */
	HANDSHAKE_FAILED,
};

/* With s->server, in CONNECTING.  When it has failed, *ret_error is why: EPROTO
 * if TLS itself failed, see session_tls_failure. */
enum handshake handshake_with_server(
    struct session *s, struct pool_thread *self, int *ret_error);

#endif
