/* SPDX-License-Identifier: MIT
 * See check_http_run.h: the request, in libcurl's options.
 */
#include <limits.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "check/check_http_run.h"
#include "tls/context.h"
#include "tls/peer.h"
#include "tls/server_name.h"

/* The length of the longest name that the configuration can have. */
#define NAME_SIZE 256

/* Sets an option.  A failure is kept in run->failed, because it would change
 * the question, or the server that is asked. */
#define SET(option, value)                                                     \
	(run->failed |= curl_easy_setopt(run->transfer.easy, (option),         \
	                    (value)) != CURLE_OK)

static void
append_request_line(
    struct http_run *run, struct curl_slist **lines, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*lines, line);

	if (longer)
		*lines = longer;
	else
		run->failed = true;
}

static void
set_method(struct http_run *run)
{
	const char *method = run->check->spec->method;

	if (strcmp(method, "HEAD") == 0)
		SET(CURLOPT_NOBODY, 1L);
	else if (strcmp(method, "GET") == 0)
		SET(CURLOPT_HTTPGET, 1L);
	else
		SET(CURLOPT_CUSTOMREQUEST, method);
}

/* Returns the server as its certificate has to name it. */
static struct tls_peer
http_peer(const struct http_run *run, char text[ADDR_TEXT_SIZE])
{
	const struct server *server = run->check->server;
	const struct addr *addr = &server->check.addr;

	return (struct tls_peer){.host = server->spec->host,
	    .ip = addr->sa.sa_family == AF_UNIX ? NULL : addr_host(addr, text)};
}

/* Copies the name that sessions send to the server.  Returns false if there is
 * none. */
static bool
tls_name_of_sessions(const struct http_run *run, char name[NAME_SIZE])
{
	SSL_CTX *context = tls_context_take(run->check->server->tls);
	char text[ADDR_TEXT_SIZE];
	struct tls_peer peer = http_peer(run, text);
	const char *sni = tls_peer_sni(context, &peer);
	bool fits = sni && strlen(sni) < NAME_SIZE;

	if (fits)
		strcpy(name, sni);
	tls_context_give_back(context);
	return fits;
}

/* Copies the name for SNI and for the certificate: that of sessions, or sni, or
 * host without a port.  Returns false if there is none. */
static bool
tls_name(const struct http_run *run, char name[NAME_SIZE])
{
	const struct check_spec *spec = run->check->spec;
	const char *host = spec->sni ? spec->sni : spec->host;
	size_t len = host ? strcspn(host, ":") : 0;

	if (run->tls == CHECK_TLS_AS_SESSIONS)
		return tls_name_of_sessions(run, name);
	if (len == 0 || host[0] == '[' || len >= NAME_SIZE)
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return true;
}

static const char *
http_scheme(const struct http_run *run)
{
	return run->tls == CHECK_TLS_NONE ? "http" : "https";
}

/* Sets the destination in curl's form, with the name for TLS, which curl takes
 * from the URL.  The path of the URL is not used: the request target is a
 * separate option, so that curl does not normalize what the operator wrote. */
static void
set_destination(struct http_run *run)
{
	const struct addr addr = run->check->server->check.addr;
	char name[NAME_SIZE], address[ADDR_TEXT_SIZE];
	char to[ADDR_TEXT_SIZE + sizeof("::")];
	char url[NAME_SIZE + sizeof("https:///")];
	bool local = addr.sa.sa_family == AF_UNIX;
	bool named = run->tls != CHECK_TLS_NONE && tls_name(run, name);

	addr_text(&addr, address);
	/* curl sends a name as SNI, but never an address. */
	snprintf(url, sizeof(url), "%s://%s/", http_scheme(run),
	    named                               ? name
	    : !local                            ? address
	    : run->tls == CHECK_TLS_AS_SESSIONS ? "127.0.0.1"
	                                        : "localhost");
	SET(CURLOPT_URL, url);
	if (local) {
		SET(CURLOPT_UNIX_SOCKET_PATH, addr.un.sun_path);
	} else if (named) {
		snprintf(to, sizeof(to), "::%s", address);
		append_request_line(run, &run->connect_to, to);
		SET(CURLOPT_CONNECT_TO, run->connect_to);
	}
	if (addr.sa.sa_family == AF_INET6 && addr.in6.sin6_scope_id)
		SET(CURLOPT_ADDRESS_SCOPE, (long)addr.in6.sin6_scope_id);
}

/* Sets the trusted authorities, which curl would otherwise read from files each
 * time, and the name: curl, too, would take the CN of a certificate without
 * subjectAltName. */
static CURLcode
on_tls_context(CURL *easy, void *context, void *arg)
{
	struct http_run *run = arg;
	const struct addr *addr = &run->check->server->check.addr;
	char host[NAME_SIZE], text[ADDR_TEXT_SIZE];
	const char *name = tls_name(run, host) ? host
	                   : addr->sa.sa_family == AF_UNIX
	                       ? "localhost"
	                       : addr_host(addr, text);

	(void)easy;
	SSL_CTX_set1_cert_store(context, run->check->spec->trust);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, tls_server_name_verify);
	return tls_server_name_set(SSL_CTX_get0_param(context), name,
	           run->check->spec->common_name)
	           ? CURLE_OK
	           : CURLE_OUT_OF_MEMORY;
}

/* Gives the connection the settings of sessions.  OpenSSL then verifies the
 * certificate and its name. */
static CURLcode
on_tls_context_as_sessions(CURL *easy, void *context, void *arg)
{
	struct http_run *run = arg;
	char text[ADDR_TEXT_SIZE];
	struct tls_peer peer = http_peer(run, text);

	(void)easy;
	return tls_context_apply(
	           run->check->server->tls, context, &run->refusal) &&
	               tls_peer_expect(context, &peer, &run->refusal)
	           ? CURLE_OK
	           : CURLE_SSL_CERTPROBLEM;
}

static void
set_tls_as_sessions(struct http_run *run)
{
	SET(CURLOPT_CAINFO, NULL);
	SET(CURLOPT_CAPATH, NULL);
	SET(CURLOPT_SSL_VERIFYPEER, 0L);
	SET(CURLOPT_SSL_VERIFYHOST, 0L);
	SET(CURLOPT_SSL_SESSIONID_CACHE, 0L);
	SET(CURLOPT_SSL_CTX_DATA, run);
	SET(CURLOPT_SSL_CTX_FUNCTION, on_tls_context_as_sessions);
}

static void
set_tls(struct http_run *run)
{
	bool verify = run->check->spec->trust != NULL;

	SET(CURLOPT_CAINFO, NULL);
	SET(CURLOPT_CAPATH, NULL);
	SET(CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
	/* curl finds no name in a CN beside addresses in subjectAltName, so the
	 * name is verified by OpenSSL alone, as for all other checks. */
	SET(CURLOPT_SSL_VERIFYHOST, 0L);
	if (verify) {
		SET(CURLOPT_SSL_CTX_DATA, run);
		SET(CURLOPT_SSL_CTX_FUNCTION, on_tls_context);
	}
}

static long
version_of(const struct http_run *run)
{
	if (run->check->spec->version == HTTP_VERSION_1_1)
		return CURL_HTTP_VERSION_1_1;
	return run->tls != CHECK_TLS_NONE ? CURL_HTTP_VERSION_2TLS
	                                  : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

static void
set_headers(struct http_run *run)
{
	const struct server *server = run->check->server;
	const struct backend_spec *spec = server->backend->spec;
	const char *host = spec->check.host;
	char text[ADDR_TEXT_SIZE], *line;

	if (!host && server_addr(server)->sa.sa_family == AF_UNIX)
		host = "localhost";
	/* A server knows itself by the name that the configuration has. */
	if (!host && server_addr(server) == &server->spec->addr)
		host = server->spec->address;
	if (!host)
		host = server_address(server, text);
	for (size_t i = 0; i < spec->check_headers_n; i++)
		append_request_line(run, &run->headers, spec->check_headers[i]);
	if (asprintf(&line, "Host: %s", host) < 0) {
		run->failed = true;
		return;
	}
	append_request_line(run, &run->headers, line);
	free(line);
	append_request_line(run, &run->headers, "Connection: close");
	SET(CURLOPT_HTTPHEADER, run->headers);
}

static void
set_manners(struct http_run *run)
{
	SET(CURLOPT_NOSIGNAL, 1L);
	/* The run has a timer of its own: curl, when called late, would end the
	 * transfer without looking at what has come.  curl has no value for
	 * never, and 0 means 300 s. */
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)INT_MAX);
	SET(CURLOPT_FRESH_CONNECT, 1L);
	SET(CURLOPT_FORBID_REUSE, 1L);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP09_ALLOWED, 0L);
	SET(CURLOPT_ERRORBUFFER, run->error);
	SET(CURLOPT_PROTOCOLS_STR, http_scheme(run));
	SET(CURLOPT_NOPROXY, "*");
}

bool
http_run_ask(struct http_run *run)
{
	const struct check_spec *spec = run->check->spec;

	set_manners(run);
	set_headers(run);
	set_destination(run);
	if (run->tls == CHECK_TLS_AS_SESSIONS)
		set_tls_as_sessions(run);
	else if (run->tls == CHECK_TLS_OWN)
		set_tls(run);
	set_method(run);
	/* Without HTTP/2 in curl the version of the answer is wrong, and the
	 * check tells so. */
	(void)curl_easy_setopt(
	    run->transfer.easy, CURLOPT_HTTP_VERSION, version_of(run));
	SET(CURLOPT_REQUEST_TARGET, spec->path);
	SET(CURLOPT_USERAGENT, "lfproxy/" LFPROXY_VERSION);
	return !run->failed;
}
