/* SPDX-License-Identifier: MIT
 * The authorities that peers' certificates are verified with, and their CRLs.
 *
 * All files are read at once: no file is opened during a handshake.  Every
 * certificate of ca is trusted, an intermediate one too.  With a CRL, there has
 * to be one of every authority in a peer's chain, up to the last one of ca.
 *
 * Authorities are counted, and never changed once loaded.  They have two parts,
 * the certificates and the CRLs; either can be replaced in memory.
 */
#ifndef TLS_AUTHORITIES_H
#define TLS_AUTHORITIES_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tls/settings.h"

#define TLS_AUTHORITIES_DIGEST_SIZE 32

struct tls_authorities;

/* Reads what the settings need in this role; *ret_authorities is NULL if peers
 * are not verified.  Shares with present (NULL: none) the parts whose files
 * have not changed, also if they were replaced in memory.  Returns false with
 * err set, which names the file.  Any thread; blocks. */
bool tls_authorities_load(const struct tls_settings *settings,
    enum tls_role role, const struct tls_authorities *present,
    struct tls_authorities **ret_authorities, struct err *err) MUST_CHECK;

/* Parses new content of the part, in PEM form.  Returns authorities that have
 * only that part, for tls_authorities_replace, or NULL with err set, which
 * names the file. */
struct tls_authorities *tls_authorities_parse(enum tls_trust part,
    const char *file, const char *pem, struct err *err) MUST_CHECK;

/* Returns a copy that has the part from another, or NULL when memory is
 * short. */
struct tls_authorities *tls_authorities_replace(
    const struct tls_authorities *authorities, enum tls_trust part,
    const struct tls_authorities *from) MUST_CHECK;

/* Returns how many certificates or CRLs the part has. */
unsigned tls_authorities_count(
    const struct tls_authorities *authorities, enum tls_trust part);
/* Returns the certificate of that number, from 0; borrowed. */
const X509 *tls_authorities_cert(
    const struct tls_authorities *authorities, unsigned number);
/* Returns the CRL of that number, from 0; borrowed. */
X509_CRL *tls_authorities_crl(
    const struct tls_authorities *authorities, unsigned number);

/* Returns whether the part is from one file, and so can be replaced: it is from
 * neither a directory nor the system. */
bool tls_authorities_are_of_file(
    const struct tls_authorities *authorities, enum tls_trust part);
/* Returns whether the part was replaced since its file was read. */
bool tls_authorities_are_in_memory(
    const struct tls_authorities *authorities, enum tls_trust part);

/* Adds a reference.  Returns authorities.  Any thread. */
struct tls_authorities *tls_authorities_ref(
    struct tls_authorities *authorities);
/* Drops a reference, the last one frees it.  Accepts NULL.  Any thread. */
void tls_authorities_unref(struct tls_authorities *authorities);

/* Makes ssl verify its peers.  Does nothing if the store has no authorities.
 * Returns false when memory is short. */
bool tls_authorities_attach(
    SSL_CTX *ssl, const struct tls_settings *settings) MUST_CHECK;

/* Writes a digest of all that decides whether a peer is accepted.  Nodes with
 * the same settings and contents have the same digest.  authorities may be
 * NULL. */
void tls_authorities_digest(const struct tls_authorities *authorities,
    const struct tls_settings *settings,
    uint8_t ret_digest[TLS_AUTHORITIES_DIGEST_SIZE]);

/* Returns a digest of the part alone. */
uint64_t tls_authorities_print(
    const struct tls_authorities *authorities, enum tls_trust part);

/* Returns whether both have the same certificates.  Either may be NULL. */
bool tls_authorities_equal(
    const struct tls_authorities *a, const struct tls_authorities *b);
/* Returns whether both have the same CRLs.  Either may be NULL. */
bool tls_authorities_crls_equal(
    const struct tls_authorities *a, const struct tls_authorities *b);

/* Appends a sentence for every CRL, and every authority besides the system's,
 * that is not valid now. */
void tls_authorities_warnings(const struct tls_authorities *authorities,
    const struct tls_settings *settings, struct err_list *warnings);

#endif
