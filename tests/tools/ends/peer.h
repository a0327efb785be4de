/* SPDX-License-Identifier: MIT
 * A peer of lfproxy: one end of the session that a cell plays, with or without
 * TLS.
 *
 * All functions run in a process that plays a cell (cell_begin).  Those that
 * wait end it as wrong when its time is over, as does a check that fails: `who`
 * names the peer in what they say.
 */
#ifndef TOOLS_ENDS_PEER_H
#define TOOLS_ENDS_PEER_H

#include <openssl/ssl.h>

#include "tools/tool.h"

/* One end of the session. */
struct peer {
	int fd;
	SSL *ssl;                /* NULL: without TLS */
	size_t again;            /* a write has to be repeated with this size */
	uint64_t seed;           /* of the bytes it sends */
	uint64_t sent, received; /* bytes */
	uint64_t sent_ms;        /* when it last sent one */
	bool eof;
	bool cut;  /* TLS: a FIN that was not announced */
	int error; /* that a recv or a poll has shown */
};

/* Makes the TLS handshake over p->fd, with TLS 1.3 under the one policy and 1.2
 * under the other.  Waits for it. */
void peer_secure(struct peer *p, bool server);

/* Waits for poll(2) events, for up to 20 ms. */
void peer_wait(const struct peer *p, short events);

/* Sends what goes without waiting, until `total` bytes were sent in all, and
 * completes a write that OpenSSL wants repeated.  Returns whether any byte was
 * sent. */
bool peer_push(struct peer *p, uint64_t total);

/* Receives what is there, without waiting, and checks it.  Returns whether
 * there was any byte. */
bool peer_pull(struct peer *p, const struct peer *from);

/* Sends that many bytes more, and waits until they have gone. */
void peer_send(struct peer *p, uint64_t bytes);

/* Sends until nothing has gone for a while: every buffer is full. */
void peer_fill(struct peer *from);

/* Moves that many bytes from one to the other, which waits for them. */
void peer_transfer(struct peer *from, struct peer *to, uint64_t bytes);

/* Completes x's last record, while y reads. */
void peer_settle(struct peer *x, struct peer *y);

/* Sends x's FIN, behind close_notify with TLS, while y reads. */
void peer_send_fin(struct peer *x, struct peer *y);

/* Waits until the kernel of the other end has acknowledged all bytes. */
void peer_until_acknowledged(const struct peer *p);

/* Receives up to the end or an error.  what: what is waited for. */
void peer_read_to_end(
    struct peer *p, const struct peer *from, const char *what);

/* Waits for an error of the socket: as such a reset shows that follows a FIN.
 */
void peer_until_error(struct peer *p);

/* The checks.  A FIN of a side with TLS stands for close_notify and a FIN. */
void peer_expect_fin(const struct peer *p, const char *who);
void peer_expect_rst(const struct peer *p, const char *who);
void peer_expect_received(
    const struct peer *p, uint64_t bytes, const char *who);

/* Checks the end that a timer makes: the other side's data may be incomplete,
 * so TLS does not announce it. */
void peer_expect_timer_fin(const struct peer *p, const char *who);

#endif
