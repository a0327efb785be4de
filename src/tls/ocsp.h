/* SPDX-License-Identifier: MIT
 * OCSP responses from files.
 */
#ifndef TLS_OCSP_H
#define TLS_OCSP_H

#include <openssl/types.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tls/facts.h"

/* A response; zeros: none. */
struct tls_ocsp {
	uint8_t *der; /* from malloc */
	size_t n;
	bool other;                       /* it is about other certificates */
	bool good;                        /* the certificate's status */
	int64_t this_update, next_update; /* seconds since 1970; 0: not given */
};

/* Parses the response, and looks for the certificate in it.  Copies der.  If
 * chain has the issuer, its hashes are compared, otherwise the serial number.
 * A response about other certificates is not an error: a certificate is often
 * renewed before its response.  Returns false with err set. */
bool tls_ocsp_parse(const char *file, const void *der, size_t n, X509 *cert,
    STACK_OF(X509) * chain, struct tls_ocsp *ret_ocsp,
    struct err *err) MUST_CHECK;

/* Copies the response with its bytes.  Returns false when memory is short. */
bool tls_ocsp_copy(const struct tls_ocsp *ocsp, struct tls_ocsp *ret_copy);
/* Frees the bytes, and sets the response to none. */
void tls_ocsp_fini(struct tls_ocsp *ocsp);

/* Returns whether the response is sent at this time, and if not, why. */
enum tls_ocsp_state tls_ocsp_state(const struct tls_ocsp *ocsp, int64_t now_s);

#endif
