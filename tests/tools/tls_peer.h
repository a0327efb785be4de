/* SPDX-License-Identifier: MIT
 * TLS for the test tools: what a client or a server of theirs wants, and why a
 * call has failed.
 */
#ifndef TOOLS_TLS_PEER_H
#define TOOLS_TLS_PEER_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "tool.h"

struct tls_wishes {
	const char *version; /* "1.2", "1.3"; NULL: either */
	const char *sni;     /* the name that is asked for */
	const char *ca;      /* PEM; the peer needs a certificate from it */
	const char *cert;    /* PEM: chain and key of our own */
	const char *ciphers; /* of TLS 1.2 */
	const char *ciphersuites; /* of TLS 1.3 */
	const char *groups; /* of the key exchange, the preferred one first */
	unsigned char alpn[256]; /* as on the wire */
	size_t alpn_n;
	bool no_tickets;
};

/* Takes one of the options below; false: the option is none of them. */
static inline bool tls_option(struct tls_wishes *w, int option, char *value);

#define TLS_OPTIONS                                                            \
	{"tls", required_argument, NULL, 0x100},                               \
	    {"sni", required_argument, NULL, 0x101},                           \
	    {"ca", required_argument, NULL, 0x102},                            \
	    {"cert", required_argument, NULL, 0x103},                          \
	    {"ciphers", required_argument, NULL, 0x104},                       \
	    {"ciphersuites", required_argument, NULL, 0x105},                  \
	    {"groups", required_argument, NULL, 0x106},                        \
	    {"alpn", required_argument, NULL, 0x107},                          \
	{                                                                      \
		"no-tickets", no_argument, NULL, 0x108                         \
	}
#define TLS_USAGE                                                              \
	"TLS:\n"                                                               \
	"  --tls 1.2|1.3      this version alone\n"                            \
	"  --sni NAME         ask for it; with --ca it has to be the "         \
	"certificate's\n"                                                      \
	"  --ca FILE          the peer needs a certificate from it\n"          \
	"  --cert FILE        our chain and key\n"                             \
	"  --alpn NAME[,...]  protocols\n"                                     \
	"  --ciphers WORDS    of TLS 1.2; --ciphersuites: of TLS 1.3\n"        \
	"  --groups NAME[:..] of the key exchange\n"                           \
	"  --no-tickets       neither ask for session tickets nor make any\n"

static inline void
tls_parse_alpn(struct tls_wishes *w, char *names)
{
	char *rest, *name = strtok_r(names, ",", &rest);

	for (; name; name = strtok_r(NULL, ",", &rest)) {
		size_t n = strlen(name);

		if (n > 255 || w->alpn_n + n + 1 > sizeof(w->alpn))
			tool_die(TOOL_USAGE, "too many protocols");
		w->alpn[w->alpn_n++] = (unsigned char)n;
		memcpy(w->alpn + w->alpn_n, name, n);
		w->alpn_n += n;
	}
}

static inline bool
tls_option(struct tls_wishes *w, int option, char *value)
{
	const char **to[] = {&w->version, &w->sni, &w->ca, &w->cert,
	    &w->ciphers, &w->ciphersuites, &w->groups};

	if (option >= 0x100 && option <= 0x106)
		*to[option - 0x100] = value;
	else if (option == 0x107)
		tls_parse_alpn(w, value);
	else if (option == 0x108)
		w->no_tickets = true;
	else
		return false;
	return true;
}

/* The reason for the last failure of a call to the library, or of the socket.
 */
static inline const char *
tls_reason(void)
{
	unsigned long code = ERR_peek_last_error();
	const char *text = code ? ERR_reason_error_string(code) : NULL;

	if (text)
		return text;
	return errno ? strerror(errno) : "the connection has ended";
}

static inline void
tls_set_versions(SSL_CTX *context, const struct tls_wishes *w)
{
	int version = 0;

	if (!w->version)
		return;
	if (strcmp(w->version, "1.2") == 0)
		version = TLS1_2_VERSION;
	else if (strcmp(w->version, "1.3") == 0)
		version = TLS1_3_VERSION;
	else
		tool_die(TOOL_USAGE, "--tls is 1.2 or 1.3, not %s", w->version);
	SSL_CTX_set_min_proto_version(context, version);
	SSL_CTX_set_max_proto_version(context, version);
}

/* A context for either end; it lives as long as the program. */
static inline SSL_CTX *
tls_make_context(const struct tls_wishes *w, bool server)
{
	SSL_CTX *context =
	    SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

	if (!context)
		tool_die(TOOL_SYSTEM, "no memory");
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
	                              SSL_MODE_RELEASE_BUFFERS |
	                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	tls_set_versions(context, w);
	if (w->no_tickets)
		SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
	if (w->ca)
		SSL_CTX_set_verify(context,
		    SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	if ((w->ca && SSL_CTX_load_verify_file(context, w->ca) != 1) ||
	    (w->cert &&
	        (SSL_CTX_use_certificate_chain_file(context, w->cert) != 1 ||
	            SSL_CTX_use_PrivateKey_file(
	                context, w->cert, SSL_FILETYPE_PEM) != 1)) ||
	    (w->ciphers && SSL_CTX_set_cipher_list(context, w->ciphers) != 1) ||
	    (w->ciphersuites &&
	        SSL_CTX_set_ciphersuites(context, w->ciphersuites) != 1) ||
	    (w->groups && SSL_CTX_set1_groups_list(context, w->groups) != 1) ||
	    (w->alpn_n > 0 && !server &&
	        SSL_CTX_set_alpn_protos(
	            context, w->alpn, (unsigned)w->alpn_n) != 0))
		tool_die(TOOL_USAGE, "TLS settings: %s", tls_reason());
	return context;
}

/* Makes one end of a connection; the handshake comes with the first call. */
static inline SSL *
tls_open(SSL_CTX *context, const struct tls_wishes *w, int fd, bool server)
{
	SSL *ssl = SSL_new(context);

	if (!ssl || SSL_set_fd(ssl, fd) != 1)
		tool_die(TOOL_SYSTEM, "no memory");
	if (server) {
		SSL_set_accept_state(ssl);
		return ssl;
	}
	SSL_set_connect_state(ssl);
	if (w->sni && SSL_set_tlsext_host_name(ssl, w->sni) != 1)
		tool_die(TOOL_USAGE, "no name: %s", w->sni);
	if (w->sni && w->ca && SSL_set1_host(ssl, w->sni) != 1)
		tool_die(TOOL_USAGE, "no name: %s", w->sni);
	return ssl;
}

/* Returns whether a call that returned rc is to be made again once the socket
 * is ready.  If not, it has failed, or the peer has ended its data. */
static inline bool
tls_waits(const SSL *ssl, int rc)
{
	int error = SSL_get_error(ssl, rc);

	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

#endif
