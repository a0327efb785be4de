/* SPDX-License-Identifier: MIT
 * See discovery_tls.h.
 */
#include "resolve/discovery_tls.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "tls/context.h"
#include "tls/peer.h"

/* Drops the const that the members of tls_settings lack: a context copies them
 * and changes none. */
static char *
unconst(const char *text)
{
	return (char *)(uintptr_t)text;
}

struct tls_context *
discovery_tls_load(const struct discovery_settings *settings, struct err *err)
{
	char system[] = "system";
	struct tls_pair pair = {
	    .cert = unconst(settings->cert), .key = unconst(settings->key)};
	const struct tls_settings tls = {
	    .pairs = settings->cert ? &pair : NULL,
	    .pairs_n = settings->cert ? 1 : 0,
	    .min_version = TLS1_2_VERSION,
	    .verify = TLS_VERIFY_REQUIRED,
	    .ca = settings->ca ? unconst(settings->ca) : system,
	    .common_name = settings->common_name,
	};

	return tls_context_new(&tls, TLS_CONNECTS, err);
}

bool
discovery_tls_refresh(struct tls_context **context,
    const struct discovery_settings *settings, struct err *err)
{
	if (*context)
		return tls_context_refresh(*context, err);
	*context = discovery_tls_load(settings, err);
	return *context != NULL;
}

CURLcode
discovery_tls_apply(const struct tls_context *context, void *ssl_ctx,
    const struct discovery_endpoint *endpoint, struct err *err)
{
	const struct tls_peer peer = {
	    .host = endpoint->is_ip ? NULL : endpoint->host,
	    .ip = endpoint->is_ip ? endpoint->host : NULL};

	return tls_context_apply(context, ssl_ctx, err) &&
	               tls_peer_expect(ssl_ctx, &peer, err)
	           ? CURLE_OK
	           : CURLE_SSL_CERTPROBLEM;
}
