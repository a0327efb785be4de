/* SPDX-License-Identifier: MIT
 * Requests for TLS that come before its hello, see net/starttls.h.
 *
 *   client --SSLRequest--> lfproxy           in INSPECTING: read, not passed on
 *          <-----'S'------
 *          ----hello----->                   routed by it, or TLS ends here
 *                          --SSLRequest--> server    in CONNECTING: made here
 *                          <-----'S'------           read, not passed on
 *                          ----hello----->           the client's, or lfproxy's
 *
 * The server is sent a request when lfproxy makes the TLS with it and its
 * starttls says so, and when it gets the TLS of a client that was answered
 * here.  Its answer belongs to the attempt to connect: anything but `S` leads
 * to another server, because the client's hello is still there.
 *
 * Both peers are refused if they have sent more than the request or the answer:
 * these bytes came in the clear, and could have been inserted by others
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

/* In INSPECTING, when the client is readable: reads its requests, and answers
 * them.  A client of a listen with TLS that asks for nothing is told so and
 * refused.  STARTTLS_WAIT: *ret_bytes is the number of unread bytes to wait
 * for. */
enum starttls_look starttls_with_client(struct session *s, size_t *ret_bytes);

/* Returns whether s->server has to be asked for TLS. */
bool starttls_with_server_is_due(const struct session *s);

/* Returns whether the client's TLS would be inside that with s->server, which
 * no server understands. */
bool starttls_is_nested(const struct session *s);

/* In CONNECTING, after the request was sent: reads the server's answer.
 * Returns 1 for `S`, 0 when none has come, -EPROTONOSUPPORT when the server
 * offers no TLS, -EBADMSG when its answer is wrong, or another -errno. */
int starttls_read_answer(struct session *s) MUST_CHECK;

#endif
