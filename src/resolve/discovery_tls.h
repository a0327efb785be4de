/* SPDX-License-Identifier: MIT
 * TLS with the endpoints of a source, by the same code as for sessions: OpenSSL
 * verifies the certificate for the name or address of the endpoint.
 */
#ifndef RESOLVE_DISCOVERY_TLS_H
#define RESOLVE_DISCOVERY_TLS_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/err.h"
#include "resolve/discovery_settings.h"
#include "resolve/discovery_target.h"

struct tls_context;

/* Reads the files of the settings.  Returns a context, or NULL with err set.
 * Blocks for the files. */
struct tls_context *discovery_tls_load(
    const struct discovery_settings *settings, struct err *err) MUST_CHECK;

/* Reads files again that have changed, or all of them if *context is NULL.
 * Returns false with err set when they cannot be read; then *context stays as
 * it is.  Blocks for the files. */
bool discovery_tls_refresh(struct tls_context **context,
    const struct discovery_settings *settings, struct err *err) MUST_CHECK;

/* Gives curl's SSL_CTX the settings of the context and the endpoint's name.
 * For CURLOPT_SSL_CTX_FUNCTION. */
CURLcode discovery_tls_apply(const struct tls_context *context, void *ssl_ctx,
    const struct discovery_endpoint *endpoint, struct err *err);

#endif
