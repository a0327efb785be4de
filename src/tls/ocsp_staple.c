/* SPDX-License-Identifier: MIT
 * See ocsp_staple.h.
 */
#include "tls/ocsp_staple.h"

#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <time.h>

#include "tls/cert.h"

/* Staples the response when the client asks for one.  OpenSSL has chosen the
 * certificate, and frees the copy. */
static int
staple_response(SSL *ssl, void *arg)
{
	const struct tls_cert *cert = tls_cert_of(SSL_get_certificate(ssl));
	unsigned char *copy;

	(void)arg;
	if (!cert || tls_ocsp_state(&cert->ocsp, time(NULL)) != TLS_OCSP_SENT)
		return SSL_TLSEXT_ERR_NOACK;
	copy = OPENSSL_memdup(cert->ocsp.der, cert->ocsp.n);
	if (!copy)
		return SSL_TLSEXT_ERR_NOACK;
	SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)cert->ocsp.n);
	return SSL_TLSEXT_ERR_OK;
}

void
tls_ocsp_attach(SSL_CTX *ssl)
{
	SSL_CTX_set_tlsext_status_cb(ssl, staple_response);
}
