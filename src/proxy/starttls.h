/* SPDX-License-Identifier: MIT
 * Requests for TLS that come before the TLS hello, see net/starttls.h.
 *
 *   client --SSLRequest--> lfproxy           in INSPECTING: read, not passed on
 *          <-----'S'------
 *          ----hello----->                   routed by it, or TLS ends here
 *                          --SSLRequest--> server    in CONNECTING: made here
 *                          <-----'S'------           read, not passed on
 *                          ----hello----->           the client's, or lfproxy's
 *
 * lfproxy sends the server a request when it makes TLS with the server itself
 * and the server has starttls, and when the server gets the TLS of a client
 * whose request was answered here.  The answer belongs to the attempt to
 * connect: anything but `S` leads to another server, because the client's hello
 * is still unread.
 *
 * A peer that has sent more than the request or the answer is refused: the
 * additional bytes came in the clear, and an attacker could have inserted them
 * (CVE-2021-23214, CVE-2021-23222).
 *
 * All functions run on the session's owner.
 */
#ifndef PROXY_STARTTLS_H
#define PROXY_STARTTLS_H

#include "proxy/session.h"

enum starttls_look {
	STARTTLS_WAIT,    /* the request is not complete, or did not begin */
	STARTTLS_PROCEED, /* TLS follows, or the client asks for nothing */
	STARTTLS_GONE,    /* the client has left */
	STARTTLS_REFUSED, /* the client has to be closed */
};

/* Reads the client's requests, and answers them.  A client that asks for no TLS
 * at a listen with TLS is told so and refused.  STARTTLS_WAIT: *ret_bytes is
 * the number of unread bytes to wait for.  The state is INSPECTING, and the
 * client is readable. */
enum starttls_look starttls_with_client(struct session *s, size_t *ret_bytes);

/* Returns whether s->server has to be asked for TLS. */
bool starttls_with_server_is_due(const struct session *s);

/* Returns whether the client's TLS would be inside TLS with s->server, which no
 * server understands. */
bool starttls_is_nested(const struct session *s);

/* Reads the server's answer.  Returns 1 for `S`, 0 when no answer has come yet,
 * -EPROTONOSUPPORT when the server offers no TLS, -EBADMSG when its answer is
 * wrong, or another -errno.  The state is CONNECTING, and the request was sent.
 */
int starttls_read_answer(struct session *s) MUST_CHECK;

#endif
