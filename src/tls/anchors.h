/* SPDX-License-Identifier: MIT
 * The authorities of a file that end a chain, and those that lead to another
 * one of the file.
 *
 * Certificates of a peer's chain can be checked for revocation only with their
 * issuer at hand, so with CRLs a chain has to go on to the last authority that
 * is known.  OpenSSL's X509_V_FLAG_PARTIAL_CHAIN ends a chain at the first
 * trusted certificate.  With CRLs only the anchors are trusted, therefore, and
 * the links are helpers, like the certificates that a peer sends.
 */
#ifndef TLS_ANCHORS_H
#define TLS_ANCHORS_H

#include <openssl/x509.h>
#include <stdbool.h>

/* Returns the links among certs, borrowed from it: the certificates whose
 * issuers, which are in certs as well, lead to an anchor.  An anchor is
 * self-signed or has no issuer in certs.  The caller frees the stack.  Returns
 * NULL when memory is short.  Any thread. */
STACK_OF(X509) * tls_anchors_links(const STACK_OF(X509) * certs);

/* Returns whether an error of revocation (X509_STORE_CTX_get_error) at the
 * present depth of a chain says nothing about the peer: the certificate is an
 * anchor whose issuer is not known, so no CRL can be verified for it.  An
 * anchor that a CRL names as revoked is refused all the same. */
bool tls_anchors_excuse(X509_STORE_CTX *chain);

#endif
