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

static const char blanks[] = " \t";

bool
tls_alpn_parse(
    const char *words, uint8_t **ret_alpn, size_t *ret_n, struct err *err)
{
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

unsigned
tls_alpn_number(const SSL *ssl)
{
	const struct tls_store *store = tls_store_of_ssl(ssl);
	const uint8_t *chosen, *at = store->alpn, *end = at + store->alpn_n;
	unsigned n, number = 1;

	SSL_get0_alpn_selected(ssl, &chosen, &n);
	for (; n > 0 && at < end && number <= UINT8_MAX; number++) {
		if (at[0] == n && memcmp(at + 1, chosen, n) == 0)
			return number;
		at += 1 + at[0];
	}
	return 0;
}

void
tls_alpn_name(const char *words, unsigned number, char *out, size_t size)
{
	const char *at = words ? words : "";
	size_t len = 0;

	for (; number > 0; number--) {
		at += len;
		at += strspn(at, blanks);
		len = strcspn(at, blanks);
	}
	if (len >= size)
		len = size - 1;
	for (size_t i = 0; i < len; i++)
		out[i] = at[i] > ' ' && at[i] < 0x7f ? at[i] : '?';
	out[len] = '\0';
}
