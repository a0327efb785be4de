/* SPDX-License-Identifier: MIT
 * The TLS handshakes of a session.
 *
 *   ACCEPTED, INSPECTING --> HANDSHAKE: with the client
 *                        --> the frontend's backend for the name it asked for
 *   CONNECTING: with the server, once it has accepted and has its PROXY header
 *
 * A step of a handshake computes for up to some milliseconds, so the session
 * declares its next turn long whenever that turn may compute one: the leader
 * promotes a follower before it runs that turn, and the pool bounds how many
 * such turns run at once (lf/admission.h).
 *
 * All functions run on the session's owner.
 */
#ifndef PROXY_HANDSHAKE_H
#define PROXY_HANDSHAKE_H

#include "proxy/session_step.h"

/* Goes on with the handshake with the client, and acts on its deadline.  When
 * the handshake is done, finds the backend and returns STEP_CHOOSE.  The state
 * is ACCEPTED, INSPECTING, HELD or HANDSHAKE. */
struct verdict handshake_step(struct session *s, struct pool_thread *self);

enum handshake {
	HANDSHAKE_DONE,
	HANDSHAKE_WAIT, /* for the peer */
	HANDSHAKE_MORE, /* in another turn, which is declared long */
	HANDSHAKE_FAILED,
};

/* Goes on with the handshake with s->server, in CONNECTING.  HANDSHAKE_FAILED:
 * *ret_error is the reason, an errno; EPROTO if TLS itself failed, see
 * session_tls_failure. */
enum handshake handshake_with_server(
    struct session *s, struct pool_thread *self, int *ret_error);

#endif
