/* SPDX-License-Identifier: MIT
 * The host names that a certificate is for.
 */
#ifndef TLS_CERT_NAMES_H
#define TLS_CERT_NAMES_H

#include <openssl/types.h>
#include <stdbool.h>

/* Returns the DNS names among the alternative names or, if the certificate has
 * none of these, its common names (RFC 6125, section 6.4.4): in lower case,
 * without a dot at the end, sorted, each once.  Texts that cannot be host names
 * are left out.  Returns false when memory is short. */
bool tls_cert_names(const X509 *cert, char ***ret_names, unsigned *ret_names_n);

/* Frees the names and their array. */
void tls_cert_names_free(char **names, unsigned names_n);

#endif
