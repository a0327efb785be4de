/* SPDX-License-Identifier: MIT
 * The name in a server's certificate, for everything that connects: sessions,
 * checks, agents, sources of servers.
 *
 * Names are those in subjectAltName.  The common name (CN) of the subject is
 * not used (RFC 9525, section 2), unless the caller asks for it; then OpenSSL
 * uses it for certificates without a host name in subjectAltName.
 */
#ifndef TLS_SERVER_NAME_H
#define TLS_SERVER_NAME_H

#include <openssl/types.h>
#include <stdbool.h>

#include "base/err.h"

/* Returns whether the name is an IP address, which a certificate has as an IP
 * SAN, and which is not sent as SNI. */
bool tls_is_address(const char *name);

/* Makes the verification fail unless the certificate is for the name, which may
 * end in a dot, or for the address.  common_name: whether the CN may have the
 * name.  Returns false when memory is short. */
bool tls_server_name_set(
    X509_VERIFY_PARAM *param, const char *name, bool common_name) MUST_CHECK;

/* A callback for SSL_set_verify: gives certificates an error of their own that
 * are refused because only their CN has the name.  Returns ok. */
int tls_server_name_verify(int ok, X509_STORE_CTX *chain);

/* Returns the text for that error, or NULL for other results of a verification.
 */
const char *tls_server_name_error(long result);

/* Returns the text for the result of a verification of a server's certificate.
 */
const char *tls_server_verify_text(long result);

#endif
