/* SPDX-License-Identifier: MIT
 * See store.h.
 */
#include "tls/store.h"

#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <pthread.h>

#include "base/atomics.h"
#include "base/ensure.h"

static int store_slot;

/* Called by OpenSSL when the SSL_CTX is freed. */
static void
release_with_ssl(void *ssl, void *store, CRYPTO_EX_DATA *data, int slot,
    long number, void *arg)
{
	struct tls_store *it = store;

	(void)ssl;
	(void)data;
	(void)slot;
	(void)number;
	(void)arg;
	if (!it)
		return;
	(void)atomic_load_acquire(&it->ended); /* [P31] */
	it->release(it);
}

static void
make_store_slot(void)
{
	store_slot =
	    SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, release_with_ssl);
	ENSURE(store_slot >= 0);
}

static int
get_store_slot(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_store_slot);
	return store_slot;
}

bool
tls_store_attach(SSL_CTX *ssl, struct tls_store *store)
{
	return SSL_CTX_set_ex_data(ssl, get_store_slot(), store) == 1;
}

struct tls_store *
tls_store_of(const SSL_CTX *ssl)
{
	return SSL_CTX_get_ex_data(ssl, get_store_slot());
}

struct tls_store *
tls_store_of_ssl(const SSL *ssl)
{
	return tls_store_of(SSL_get_SSL_CTX(ssl));
}

bool
tls_store_verifies(const struct tls_settings *settings, enum tls_role role)
{
	return role == TLS_CONNECTS ? settings->verify != TLS_VERIFY_NONE
	                            : settings->verify >= TLS_VERIFY_OPTIONAL;
}
