/* SPDX-License-Identifier: MIT
 * Keys of session tickets (RFC 5077; RFC 8446, section 4.6.1).
 *
 * Our own keys rotate: the first handshake after half of the session timeout
 * makes a new one, and a key decrypts until the last ticket under it has
 * expired.  So a stolen key opens the tickets of at most one and a half session
 * timeouts.  A ticket under an older key is accepted, and renewed.
 *
 * Keys from a file are shared between nodes and stay until the file is read
 * again.
 *
 * Keys are counted; contexts and stores share them.  Any thread; a lock is held
 * for a moment.
 */
#ifndef TLS_TICKETS_H
#define TLS_TICKETS_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct tls_tickets;

/* Makes keys that rotate.  Returns NULL with err set. */
struct tls_tickets *tls_tickets_new(
    uint64_t timeout_s, struct err *err) MUST_CHECK;

/* Reads keys from a file.  It has either 48 or 80 bytes, which are one key, as
 * nginx's ssl_session_ticket_key; or lines of base64 with such a key each, as
 * HAProxy's tls-ticket-keys: the last but one encrypts (an only one too), all
 * decrypt, and keys are rotated by appending a line.  Returns NULL with err
 * set, which names the file.  Control thread; blocks. */
struct tls_tickets *tls_tickets_load(
    const char *file, struct err *err) MUST_CHECK;

/* Adds a reference.  Returns tickets.  Any thread. */
struct tls_tickets *tls_tickets_ref(struct tls_tickets *tickets);
/* Drops a reference, the last one frees it.  Accepts NULL. */
void tls_tickets_unref(struct tls_tickets *tickets);

/* Returns whether the keys are from a file, and not made by this process. */
bool tls_tickets_are_from_file(const struct tls_tickets *tickets);

/* Changes the session timeout, which determines the rotation. */
void tls_tickets_set_timeout(struct tls_tickets *tickets, uint64_t timeout_s);

/* Makes the next key if it is due, and wipes keys whose tickets have all
 * expired.  Handshakes do the same; a process without handshakes has to call
 * this.  Does nothing with keys from a file. */
void tls_tickets_rotate(struct tls_tickets *tickets);

/* A key, without its secret part. */
struct tls_ticket_key_facts {
	const char *name; /* its public name, in hexadecimal digits */
	bool from_file;
	bool encrypts;   /* new tickets are made with it */
	unsigned bits;   /* of the cipher */
	uint64_t age_ms; /* since it was made, or read */
};

/* Calls key for each key.  The key that encrypts comes first; our own older
 * keys follow by age, those of a file in its order. */
void tls_tickets_each_key(struct tls_tickets *tickets,
    void (*key)(void *arg, const struct tls_ticket_key_facts *facts),
    void *arg);

/* Returns whether both have the same keys: two references to the same object,
 * or files with the same content. */
bool tls_tickets_equal(
    const struct tls_tickets *a, const struct tls_tickets *b);

/* Makes ssl encrypt and decrypt tickets with the keys of its store. */
void tls_tickets_attach(SSL_CTX *ssl);

#endif
