/* SPDX-License-Identifier: MIT
 * OpenSSL's errors in words for the operator.
 */
#ifndef TLS_OPENSSL_ERR_H
#define TLS_OPENSSL_ERR_H

/* Returns why the last function of OpenSSL failed, as the end of a sentence
 * such as `certificate 'x.pem': ...`, and clears the thread's error queue.
 * Static memory. */
const char *tls_openssl_reason(void);

/* Returns whether the first error of the thread's queue has this reason of the
 * library, such as ERR_LIB_PEM and PEM_R_NO_START_LINE. */
int tls_openssl_failed_with(int library, int reason);

/* The error text for a key and a certificate that do not match. */
#define TLS_KEY_MISMATCH "the key does not belong to the certificate"

/* Adds the error of a client that asks for no name or an unknown one, while
 * strict_sni is set.  The error is the first of the handshake. */
void tls_openssl_raise_unknown_name(void);

#endif
