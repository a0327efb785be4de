/* SPDX-License-Identifier: MIT
 * Certificates made on the spot, and handshakes through memory.
 *
 * Everything asserts; nothing returns an error.  Main thread, unless a comment
 * says otherwise.
 */
#ifndef UNIT_TLS_FIXTURE_H
#define UNIT_TLS_FIXTURE_H

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "unit.h"

#include "tls/context.h"
#include "tls/peer.h"

/* -- Files: one directory for each test -- */

/* For cmocka: make the directory, and remove it with what is in it. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
#define FIXTURE_TEST(f)                                                        \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

/* Returns the path of a file in the directory; valid until the teardown. */
char *fixture_path(const char *name);
/* Writes a file with mode 0600 and returns its path. */
char *fixture_write(const char *name, const void *data, size_t n);
char *fixture_write_text(const char *name, const char *text);
/* Reads a file as text; the caller's. */
char *fixture_read(const char *path);

/* -- Certificates -- */

struct made {
	X509 *x509;
	EVP_PKEY *key;
};

struct made_how {
	const char *cn;
	const char *sans; /* as in `DNS:a.test,IP:10.0.0.1`; NULL: none */
	const char *key;  /* "RSA", "RSA1024", "EC", "ED25519"; NULL: EC */
	bool own_key;     /* not one shared with others of the kind */
	const struct made *issuer; /* NULL: itself */
	bool is_ca;
	long from_s, to_s; /* from now; 0, 0: since an hour, for a day */
	const char *md;    /* "SHA1"; NULL: what suits */
};

/* Makes a certificate; freed at the teardown. */
const struct made *made_new(const struct made_how *how);

/* Returns PEM texts; the caller's. */
char *made_cert_pem(const struct made *made);
char *made_key_pem(const struct made *made);

/* Writes the certificate, the chain (NULL: none) and the key to a file, and
 * returns its path. */
char *made_write(
    const struct made *made, const struct made *chain, const char *name);
/* Writes the certificate alone, and the key alone. */
char *made_write_cert(const struct made *made, const char *name);
char *made_write_key(const struct made *made, const char *name);

/* Writes a CRL of the issuer, valid for to_s seconds, that revokes a
 * certificate (NULL: none). */
char *made_write_crl(const struct made *issuer, const struct made *revoked,
    long to_s, const char *name);

/* -- Contexts -- */

struct tls_settings settings_accepts(struct tls_pair *pairs, size_t n);
struct tls_settings settings_connects(char *ca);
struct tls_context *context_made(
    const struct tls_settings *settings, enum tls_role role);
/* The context is refused with a sentence that has the words in it. */
void assert_context_refused(
    const struct tls_settings *settings, enum tls_role role, const char *words);

/* -- Handshakes -- */

struct pair {
	SSL *client, *server;
};

/* Takes an SSL object of the context's present SSL_CTX.  Any thread. */
SSL *ssl_made(struct tls_context *context, enum tls_role role);
/* A client that is not ours, which verifies nothing; sni may be NULL. */
SSL_CTX *plain_client_ctx(void);
SSL *plain_client(SSL_CTX *ctx, const char *sni);

/* Connects both ends, which are the pair's then.  Any thread. */
struct pair pair_made(SSL *client, SSL *server);
/* Runs the handshake to its end; returns whether both ends are done.  Any
 * thread. */
bool pair_shake(struct pair *pair);
/* The same, and then a byte each way, so that tickets are read. */
bool pair_shake_and_talk(struct pair *pair);
/* Any thread. */
void pair_free(struct pair *pair);

/* Subject's common name of the certificate that the server has sent. */
const char *pair_server_cn(const struct pair *pair);

#endif
