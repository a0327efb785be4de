/* SPDX-License-Identifier: MIT
 * See session_tls.h.
 */
#include "proxy/session_tls.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "proxy/inspection.h"
#include "tls/conn.h"
#include "tls/server_name.h"
#include "tls/x509_text.h"

/* Returns the TLS connection with the client; NULL when there is none, or when
 * the client has sent nothing. */
static SSL *
client_ssl(const struct session *s)
{
	const struct side *client = &s->side[HANDLE_CLIENT];

	return client->tls ? tls_conn_ssl(client->tls) : NULL;
}

static const char *
verify_text(const SSL *ssl)
{
	long result = SSL_get_verify_result(ssl);

	if (result != X509_V_OK)
		return X509_verify_cert_error_string(result);
	return SSL_get0_peer_certificate(ssl) ? "ok" : NULL;
}

const char *
session_tls_failure(const struct side *side)
{
	SSL *ssl = side->tls ? tls_conn_ssl(side->tls) : NULL;
	const struct tls_conn *conn = side->tls;
	const char *why = ssl ? tls_conn_failure(side->tls) : NULL;

	if (ssl && SSL_in_before(ssl))
		return "no name is known to check in the server's certificate; "
		       "set name in its [tls] section";
	/* With verify = request, verification does not fail a handshake. */
	if (ssl && tls_conn_failed_to_verify(conn))
		return tls_server_verify_text(SSL_get_verify_result(ssl));
	return why ? why : "the connection has ended";
}

void
session_tls_read(
    const struct session *s, bool has_failed, struct session_tls *ret_tls)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	SSL *ssl = client_ssl(s);

	*ret_tls = (struct session_tls){.listen = 0};
	if (!client->tls)
		return;
	ret_tls->listen = s->inspection ? s->inspection->listen : 0;
	if (!ssl)
		return;
	ret_tls->verify = verify_text(ssl);
	if (has_failed)
		ret_tls->failure = session_tls_failure(client);
	if (!SSL_is_init_finished(ssl))
		return;
	ret_tls->version = SSL_get_version(ssl);
	ret_tls->cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl));
	ret_tls->group = tls_group_name(tls_group(ssl));
	ret_tls->resumed = SSL_session_reused(ssl) == 1;
}

void
session_tls_read_texts(
    const struct session *s, struct session_tls_texts *ret_texts)
{
	SSL *ssl = client_ssl(s);
	struct tls_facts facts;

	*ret_texts = (struct session_tls_texts){.alpn = ""};
	if (!ssl)
		return;
	tls_facts_read(ssl, &facts);
	snprintf(ret_texts->alpn, sizeof(ret_texts->alpn), "%.*s",
	    SESSION_TLS_ALPN_SIZE - 1, facts.alpn);
	snprintf(ret_texts->serial, sizeof(ret_texts->serial), "%.*s",
	    SESSION_TLS_SERIAL_SIZE - 1, facts.serial);
	snprintf(ret_texts->subject, sizeof(ret_texts->subject), "%s",
	    facts.subject);
	snprintf(
	    ret_texts->issuer, sizeof(ret_texts->issuer), "%s", facts.issuer);
	snprintf(ret_texts->sans, sizeof(ret_texts->sans), "%s", facts.sans);
}

static void
read_own_cert(SSL *ssl, struct session_tls_header *room)
{
	X509 *own = SSL_get_certificate(ssl);

	room->sig_alg[0] = room->key_alg[0] = '\0';
	if (!own)
		return;
	tls_x509_sig_alg(own, room->sig_alg, sizeof(room->sig_alg));
	tls_x509_key_alg(own, room->key_alg, sizeof(room->key_alg));
}

void
session_tls_put_header(const struct session *s, struct session_tls_header *room,
    struct proxy_header *header)
{
	SSL *ssl = client_ssl(s);
	const struct tls_facts *facts = &room->facts;

	if (!ssl)
		return;
	tls_facts_read(ssl, &room->facts);
	header->alpn = facts->alpn;
	if (header->version != PROXY_V2_TLS)
		return;
	read_own_cert(ssl, room);
	room->tls = (struct proxy_tls){.client = PROXY_TLS_USED,
	    .verified = facts->has_cert && facts->verify_result == X509_V_OK,
	    .version = facts->version_name,
	    .cn = facts->cn,
	    .cipher = facts->cipher,
	    .sig_alg = room->sig_alg,
	    .key_alg = room->key_alg};
	if (facts->has_cert)
		room->tls.client |= PROXY_TLS_CERT_SESS;
	if (facts->has_cert && !facts->resumed)
		room->tls.client |= PROXY_TLS_CERT_CONN;
	header->tls = &room->tls;
}

void
session_tls_list_texts(const struct session_tls_texts *texts,
    const char *ret_all[SESSION_TLS_TEXTS])
{
	ret_all[SESSION_TLS_ALPN] = texts->alpn;
	ret_all[SESSION_TLS_SERIAL] = texts->serial;
	ret_all[SESSION_TLS_SUBJECT] = texts->subject;
	ret_all[SESSION_TLS_ISSUER] = texts->issuer;
	ret_all[SESSION_TLS_SANS] = texts->sans;
}

/* Stores the texts word by word, as readers read them. */
static void
publish_texts(uint64_t *words, const struct session_tls_texts *texts)
{
	union {
		char text[SESSION_TLS_SHOWN_SIZE];
		uint64_t words[SESSION_TLS_SHOWN_SIZE / 8];
	} copy = {.words = {0}};
	const char *all[SESSION_TLS_TEXTS];
	size_t at = 0;

	session_tls_list_texts(texts, all);
	for (size_t i = 0; i < SESSION_TLS_TEXTS; i++) {
		size_t nuls = SESSION_TLS_TEXTS - i;
		size_t len = strnlen(all[i], sizeof(copy.text) - at - nuls);

		memcpy(copy.text + at, all[i], len);
		at += len + 1;
	}
	for (size_t i = 0; i < SESSION_TLS_SHOWN_SIZE / 8; i++)
		atomic_store_relaxed(&words[i], copy.words[i]);
}

static void
read_shown_texts(const uint64_t *words, char text[SESSION_TLS_SHOWN_SIZE])
{
	uint64_t copy[SESSION_TLS_SHOWN_SIZE / 8];

	for (size_t i = 0; i < SESSION_TLS_SHOWN_SIZE / 8; i++)
		copy[i] = atomic_load_acquire(&words[i]);
	memcpy(text, copy, sizeof(copy));
}

const char *
session_tls_shown_text(
    const struct session_tls_shown *shown, enum session_tls_text which)
{
	const char *text = shown->texts, *end = text + sizeof(shown->texts);

	/* If the session ends during the read, the texts may have any bytes,
	 * without a NUL. */
	for (; which > 0 && text < end; which--)
		text += strnlen(text, (size_t)(end - text)) + 1;
	return text < end && *text && memchr(text, '\0', (size_t)(end - text))
	           ? text
	           : NULL;
}

void
session_tls_publish(const struct session *s)
{
	struct inspection *p = s->inspection;
	struct session_tls tls;
	struct session_tls_texts texts;

	session_tls_read(s, false, &tls);
	session_tls_read_texts(s, &texts);
	atomic_store_relaxed(&p->tls_version, tls.version);
	atomic_store_relaxed(&p->tls_group, tls.group);
	atomic_store_relaxed(&p->tls_verify, tls.verify);
	atomic_store_relaxed(&p->tls_resumed, tls.resumed);
	publish_texts(p->tls_texts, &texts);
	atomic_store_release(&p->tls_cipher, tls.cipher); /* [P21] */
}

void
session_tls_read_shown(
    const struct inspection *inspection, struct session_tls_shown *ret_shown)
{
	const struct inspection *p = inspection;
	struct session_tls *tls = &ret_shown->tls;

	*ret_shown = (struct session_tls_shown){.texts = ""};
	if (p)
		tls->cipher = atomic_load_acquire(&p->tls_cipher); /* [P21] */
	if (!tls->cipher)
		return;
	tls->version = atomic_load_acquire(&p->tls_version);
	tls->group = atomic_load_acquire(&p->tls_group);
	tls->verify = atomic_load_acquire(&p->tls_verify);
	tls->resumed = atomic_load_acquire(&p->tls_resumed);
	read_shown_texts(p->tls_texts, ret_shown->texts);
}
