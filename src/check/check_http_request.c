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

static CURLcode
set_method(CURL *easy, const char *method)
{
	if (strcmp(method, "HEAD") == 0)
		return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	if (strcmp(method, "GET") == 0)
		return curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

/* The name that TLS is about, if there is one: sni, or host without a port. */
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

/* The server's address under another name: curl takes the name for TLS from
 * the URL. */
static CURLcode
set_named(struct http_run *run, const char *name, const char *address)
{
	CURL *easy = run->transfer.easy;
	char text[NAME_SIZE + ADDR_TEXT_SIZE];

	snprintf(text, sizeof(text), "::%s", address);
	run->connect_to = curl_slist_append(NULL, text);
	if (!run->connect_to)
		return CURLE_OUT_OF_MEMORY;
	snprintf(text, sizeof(text), "https://%s/", name);
	curl_easy_setopt(easy, CURLOPT_CONNECT_TO, run->connect_to);
	return curl_easy_setopt(easy, CURLOPT_URL, text);
}

/* Sets the destination in curl's form.  The path of the URL is not used: the
 * request target is set apart, so that curl does not normalize what the
 * operator wrote. */
static CURLcode
set_destination(struct http_run *run, const struct addr *addr)
{
	const char *scheme = run->tls ? "https" : "http";
	CURL *easy = run->transfer.easy;
	char url[NAME_SIZE + sizeof("https:///")];
	char text[ADDR_TEXT_SIZE], name[NAME_SIZE];
	bool named = run->tls && tls_name(run->check->spec, name);

	if (addr->sa.sa_family == AF_UNIX) {
		snprintf(url, sizeof(url), "%s://%s/", scheme,
		    named ? name : "localhost");
		curl_easy_setopt(easy, CURLOPT_URL, url);
		return curl_easy_setopt(
		    easy, CURLOPT_UNIX_SOCKET_PATH, addr->un.sun_path);
	}
	if (addr->sa.sa_family == AF_INET6 && addr->in6.sin6_scope_id)
		curl_easy_setopt(
		    easy, CURLOPT_ADDRESS_SCOPE, (long)addr->in6.sin6_scope_id);
	addr_text(addr, text);
	if (named)
		return set_named(run, name, text);
	snprintf(url, sizeof(url), "%s://%s/", scheme, text);
	return curl_easy_setopt(easy, CURLOPT_URL, url);
}

/* Instead of the authorities that curl would read from files each time. */
static CURLcode
on_tls_context(CURL *easy, void *context, void *arg)
{
	struct http_run *run = arg;

	(void)easy;
	SSL_CTX_set1_cert_store(context, run->check->spec->trust);
	return CURLE_OK;
}

static bool
set_tls(struct http_run *run)
{
	CURL *easy = run->transfer.easy;
	bool verify = run->check->spec->trust != NULL;

	if (!run->tls)
		return true;
	return curl_easy_setopt(easy, CURLOPT_CAINFO, NULL) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER,
	           verify ? 1L : 0L) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST,
	           verify ? 2L : 0L) == CURLE_OK &&
	       (!verify || (curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, run) ==
	                           CURLE_OK &&
	                       curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION,
	                           on_tls_context) == CURLE_OK));
}

static long
version_of(const struct check_spec *spec)
{
	if (spec->version == HTTP_VERSION_1_1)
		return CURL_HTTP_VERSION_1_1;
	return check_is_tls(spec) ? CURL_HTTP_VERSION_2TLS
	                          : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

static bool
add_line(struct curl_slist **headers, const char *line)
{
	struct curl_slist *more = curl_slist_append(*headers, line);

	if (more)
		*headers = more;
	return more != NULL;
}

static bool
add_header(struct curl_slist **headers, const char *name, const char *value)
{
	char *line;
	bool ok;

	if (asprintf(&line, "%s: %s", name, value) < 0)
		return false;
	ok = add_line(headers, line);
	free(line);
	return ok;
}

static bool
set_headers(struct http_run *run)
{
	const struct server *server = run->check->server;
	const struct backend_spec *spec = server->backend->spec;
	const char *host = spec->check.host;
	char text[ADDR_TEXT_SIZE];

	if (!host && server_addr(server)->sa.sa_family == AF_UNIX)
		host = "localhost";
	/* The name that the file has is the one that the server knows. */
	if (!host && server_addr(server) == &server->spec->addr)
		host = server->spec->address;
	if (!host)
		host = server_address(server, text);
	for (size_t i = 0; i < spec->check_headers_n; i++)
		if (!add_line(&run->headers, spec->check_headers[i]))
			return false;
	return add_header(&run->headers, "Host", host) &&
	       add_header(&run->headers, "Connection", "close") &&
	       curl_easy_setopt(run->transfer.easy, CURLOPT_HTTPHEADER,
	           run->headers) == CURLE_OK;
}

static void
set_manners(struct http_run *run)
{
	CURL *easy = run->transfer.easy;
	long timeout_ms = (long)run->check->server->check.timeout_ms;

	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(
	    easy, CURLOPT_HTTP_VERSION, version_of(run->check->spec));
	curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, run->error);
}

/* The options whose failure would change what is asked, or of whom. */
bool
http_run_ask(struct http_run *run)
{
	const struct server *server = run->check->server;
	const struct check_spec *spec = run->check->spec;
	const struct addr addr = server->check.addr;
	CURL *easy = run->transfer.easy;

	set_manners(run);
	return set_headers(run) && set_destination(run, &addr) == CURLE_OK &&
	       set_tls(run) && set_method(easy, spec->method) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, spec->path) ==
	           CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR,
	           run->tls ? "https" : "http") == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_USERAGENT,
	           "lfproxy/" LFPROXY_VERSION) == CURLE_OK;
}
