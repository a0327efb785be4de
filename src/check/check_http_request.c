/* SPDX-License-Identifier: MIT
 * See check_http_run.h: the request, in libcurl's options.
 */
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "check/check_http_run.h"

/* The longest name that the configuration can have. */
#define NAME_SIZE 200

/* Sets an option.  A failure would change what is asked, or of whom, so it is
 * kept in run->failed. */
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

/* Copies the name that TLS is about: sni, or host without a port.  Returns
 * false if there is none. */
static bool
tls_name(const struct check_spec *spec, char name[NAME_SIZE])
{
	const char *host = spec->sni ? spec->sni : spec->host;
	size_t len = host ? strcspn(host, ":") : 0;

	if (len == 0 || host[0] == '[' || len >= NAME_SIZE)
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return true;
}

/* Sets the destination in curl's form, with the name that TLS is about, which
 * curl takes from the URL.  The path of the URL is not used: the request target
 * is set apart, so that curl does not normalize what the operator wrote. */
static void
set_destination(struct http_run *run)
{
	const struct addr addr = run->check->server->check.addr;
	char name[NAME_SIZE], address[ADDR_TEXT_SIZE];
	char to[ADDR_TEXT_SIZE + sizeof("::")];
	char url[NAME_SIZE + sizeof("https:///")];
	bool local = addr.sa.sa_family == AF_UNIX;
	bool named = run->tls && tls_name(run->check->spec, name);

	addr_text(&addr, address);
	snprintf(url, sizeof(url), "%s://%s/", run->tls ? "https" : "http",
	    named   ? name
	    : local ? "localhost"
	            : address);
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

/* Replaces the authorities that curl would read from files each time. */
static CURLcode
on_tls_context(CURL *easy, void *context, void *arg)
{
	struct http_run *run = arg;

	(void)easy;
	SSL_CTX_set1_cert_store(context, run->check->spec->trust);
	return CURLE_OK;
}

static void
set_tls(struct http_run *run)
{
	bool verify = run->check->spec->trust != NULL;

	SET(CURLOPT_CAINFO, NULL);
	SET(CURLOPT_CAPATH, NULL);
	SET(CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
	SET(CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
	if (verify) {
		SET(CURLOPT_SSL_CTX_DATA, run);
		SET(CURLOPT_SSL_CTX_FUNCTION, on_tls_context);
	}
}

static long
version_of(const struct check_spec *spec)
{
	if (spec->version == HTTP_VERSION_1_1)
		return CURL_HTTP_VERSION_1_1;
	return check_is_tls(spec) ? CURL_HTTP_VERSION_2TLS
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
	/* The name that the file has is the one that the server knows. */
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
	long timeout_ms = (long)run->check->server->check.timeout_ms;

	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TIMEOUT_MS, timeout_ms);
	SET(CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
	SET(CURLOPT_FRESH_CONNECT, 1L);
	SET(CURLOPT_FORBID_REUSE, 1L);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP09_ALLOWED, 0L);
	SET(CURLOPT_ERRORBUFFER, run->error);
	SET(CURLOPT_PROTOCOLS_STR, run->tls ? "https" : "http");
	SET(CURLOPT_NOPROXY, "*");
}

bool
http_run_ask(struct http_run *run)
{
	const struct check_spec *spec = run->check->spec;

	set_manners(run);
	set_headers(run);
	set_destination(run);
	if (run->tls)
		set_tls(run);
	set_method(run);
	/* If curl is built without HTTP/2, the version of the answer will be
	 * wrong. */
	(void)curl_easy_setopt(
	    run->transfer.easy, CURLOPT_HTTP_VERSION, version_of(spec));
	SET(CURLOPT_REQUEST_TARGET, spec->path);
	SET(CURLOPT_USERAGENT, "lfproxy/" LFPROXY_VERSION);
	return !run->failed;
}
