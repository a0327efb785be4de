/* SPDX-License-Identifier: MIT
 * See server_tls.h.
 */
#include "proxy/server_tls.h"

#include <openssl/ssl.h>

#include "base/atomics.h"
#include "model/server.h"
#include "proxy/session.h"
#include "tls/alpn.h"
#include "tls/conn.h"
#include "tls/context.h"
#include "tls/facts.h"

/* The word server_tls of a session, 0 without TLS: the cipher's number in the
 * low 16 bits, the number of the protocol (tls_alpn_number) in the next 8, that
 * of the group (tls_group) in the high 32, and these bits. */
#define FACT_KNOWN    (1u << 24)
#define FACT_TLS13    (1u << 25)
#define FACT_RESUMED  (1u << 26)
#define FACT_VERIFIED (1u << 27)

void
server_tls_publish(struct session *s)
{
	SSL *ssl = tls_conn_ssl(s->side[HANDLE_SERVER].tls);
	uint64_t facts = FACT_KNOWN | tls_alpn_number(ssl) << 16 |
	                 (uint64_t)tls_group(ssl) << 32;

	facts |= SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl));
	if (SSL_version(ssl) == TLS1_3_VERSION)
		facts |= FACT_TLS13;
	if (SSL_session_reused(ssl) == 1)
		facts |= FACT_RESUMED;
	if (tls_context_ca(s->server->tls))
		facts |= FACT_VERIFIED;
	atomic_store_relaxed(&s->server_tls, facts);
}

void
server_tls_clear(struct session *s)
{
	atomic_store_relaxed(&s->server_tls, 0ull);
}

void
server_tls_read(const struct session *s, const struct server *server,
    struct server_tls *ret_tls)
{
	uint64_t facts = atomic_load_acquire(&s->server_tls);

	*ret_tls = (struct server_tls){.version = NULL};
	if (facts == 0 || !server || !server->tls)
		return;
	ret_tls->version = facts & FACT_TLS13 ? "TLSv1.3" : "TLSv1.2";
	ret_tls->cipher = tls_cipher_name((uint16_t)facts);
	ret_tls->group = tls_group_name((int)(facts >> 32));
	ret_tls->verify = facts & FACT_VERIFIED ? "ok" : NULL;
	ret_tls->resumed = facts & FACT_RESUMED;
	tls_context_alpn(server->tls, facts >> 16 & 0xff, ret_tls->alpn,
	    sizeof(ret_tls->alpn));
}
