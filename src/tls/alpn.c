/* SPDX-License-Identifier: MIT
 * See alpn.h.
 */
#include "tls/alpn.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "tls/store.h"

/* Protocols in one list; two bytes hold its length. */
#define ALPN_LIST_MAX 65535

bool
tls_alpn_parse(
    const char *words, uint8_t **ret_alpn, size_t *ret_n, struct err *err)
{
	static const char blanks[] = " \t";
	const char *at = words ? words + strspn(words, blanks) : "";
	uint8_t *alpn;
	size_t n = 0;

	if (!*at) {
		*ret_alpn = NULL;
		*ret_n = 0;
		return true;
	}
	/* The blank between two words makes room for a length. */
	alpn = malloc(strlen(at) + 1);
	if (!alpn)
		return err_oom(err);
	while (*at) {
		size_t len = strcspn(at, blanks);

		if (len > 255 || n + len >= ALPN_LIST_MAX) {
			free(alpn);
			return err_set(err,
			    "alpn: '%.32s...' is too long; a protocol has up "
			    "to 255 characters",
			    at);
		}
		alpn[n++] = (uint8_t)len;
		memcpy(alpn + n, at, len);
		n += len;
		at += len;
		at += strspn(at, blanks);
	}
	*ret_alpn = alpn;
	*ret_n = n;
	return true;
}

static int
choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_n,
    const unsigned char *in, unsigned in_n, void *arg)
{
	const struct tls_store *store = tls_store_of_ssl(ssl);
	unsigned char *chosen = NULL;

	(void)arg;
	if (SSL_select_next_proto(&chosen, out_n, store->alpn,
	        (unsigned)store->alpn_n, in, in_n) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

bool
tls_alpn_attach(SSL_CTX *ssl)
{
	const struct tls_store *store = tls_store_of(ssl);

	if (!store->alpn)
		return true;
	if (store->parts.role == TLS_ACCEPTS) {
		SSL_CTX_set_alpn_select_cb(ssl, choose_protocol, NULL);
		return true;
	}
	/* Returns 0 for success. */
	return SSL_CTX_set_alpn_protos(
	           ssl, store->alpn, (unsigned)store->alpn_n) == 0;
}
