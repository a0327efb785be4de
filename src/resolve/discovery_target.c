/* SPDX-License-Identifier: MIT
 * See discovery_target.h.
 */
#include "resolve/discovery_target.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "net/addr.h"

void
discovery_target_fini(struct discovery_target *target)
{
	for (size_t i = 0; i < target->endpoints_n; i++) {
		free(target->endpoints[i].url);
		free(target->endpoints[i].host);
	}
	for (size_t i = 0; i < target->parameters_n; i++) {
		free(target->parameters[i].name);
		free(target->parameters[i].value);
	}
	free(target->endpoints);
	free(target->parameters);
	free(target->path);
	*target = (struct discovery_target){.tls = false};
}

char *
discovery_escape(const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	char *escaped = malloc(3 * strlen(text) + 1), *at = escaped;

	for (; escaped && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || strchr("-._~", c)) {
			*at++ = (char)c;
			continue;
		}
		*at++ = '%';
		*at++ = digits[c >> 4];
		*at++ = digits[c & 15];
	}
	if (escaped)
		*at = '\0';
	return escaped;
}

/* Copies a part of curl's URL, so that free(3) frees it.  *ret_part is NULL
 * when the URL has no such part. */
static bool
part_get(CURLU *url, CURLUPart part, unsigned flags, char **ret_part,
    struct err *err)
{
	CURLUcode rc;
	char *text = NULL;

	rc = curl_url_get(url, part, &text, flags);
	if (rc == CURLUE_NO_USER || rc == CURLUE_NO_PASSWORD ||
	    rc == CURLUE_NO_QUERY || rc == CURLUE_NO_FRAGMENT ||
	    rc == CURLUE_NO_PORT) {
		*ret_part = NULL;
		return true;
	}
	if (rc != CURLUE_OK)
		return err_set(err, "%s", curl_url_strerror(rc));
	*ret_part = strdup(text);
	curl_free(text);
	return *ret_part || err_oom(err);
}

static bool
part_is_missing(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool missing = curl_url_get(url, part, &text, 0) != CURLUE_OK;

	curl_free(text);
	return missing;
}

static bool
endpoint_check(CURLU *url, const char *text, struct err *err)
{
	if (!part_is_missing(url, CURLUPART_USER) ||
	    !part_is_missing(url, CURLUPART_PASSWORD))
		return err_set(err, "the URL has a user or a password; use "
		                    "token=${file:/PATH}");
	if (part_is_missing(url, CURLUPART_PORT))
		return err_set(err, "'%s' has no port; write HOST:PORT", text);
	return true;
}

static bool
endpoint_fill(struct discovery_endpoint *endpoint, CURLU *url, struct err *err)
{
	struct addr addr;
	size_t len;

	if (!part_get(url, CURLUPART_URL, 0, &endpoint->url, err) ||
	    !part_get(url, CURLUPART_HOST, 0, &endpoint->host, err))
		return false;
	len = strlen(endpoint->url);
	if (len > 0 && endpoint->url[len - 1] == '/')
		endpoint->url[len - 1] = '\0';
	len = strlen(endpoint->host);
	if (endpoint->host[0] == '[' && len > 2) {
		memmove(endpoint->host, endpoint->host + 1, len - 2);
		endpoint->host[len - 2] = '\0';
	}
	endpoint->is_ip = addr_parse_ip(endpoint->host, &addr);
	return true;
}

static bool
target_add_endpoint(struct discovery_target *target, const char *scheme,
    const char *host, size_t len, struct err *err)
{
	struct discovery_endpoint *endpoint =
	    &target->endpoints[target->endpoints_n];
	CURLU *url = curl_url();
	char *text = NULL;
	CURLUcode rc;
	bool ok = false;

	if (!url || asprintf(&text, "%s://%.*s/", scheme, (int)len, host) < 0) {
		curl_url_cleanup(url);
		return err_oom(err);
	}
	target->endpoints_n++;
	rc = curl_url_set(url, CURLUPART_URL, text, 0);
	/* Remove the slash, which the operator has not written. */
	text[strlen(text) - 1] = '\0';
	if (len == 0 || rc != CURLUE_OK)
		err_set(err, "'%s' is not SCHEME://HOST:PORT: %s", text,
		    len == 0 ? "no host" : curl_url_strerror(rc));
	else
		ok = endpoint_check(url, text, err) &&
		     endpoint_fill(endpoint, url, err);
	free(text);
	curl_url_cleanup(url);
	return ok;
}

static bool
target_add_endpoints(struct discovery_target *target, const char *hosts,
    size_t len, struct err *err)
{
	const char *scheme = target->tls ? "https" : "http";
	const char *end = hosts + len, *comma;

	target->endpoints =
	    calloc(DISCOVERY_ENDPOINTS_MAX, sizeof(*target->endpoints));
	if (!target->endpoints)
		return err_oom(err);
	do {
		comma = memchr(hosts, ',', (size_t)(end - hosts));
		if (target->endpoints_n == DISCOVERY_ENDPOINTS_MAX)
			return err_set(err, "the URL has more than %d hosts",
			    DISCOVERY_ENDPOINTS_MAX);
		if (!target_add_endpoint(target, scheme, hosts,
		        (size_t)((comma ? comma : end) - hosts), err))
			return false;
		hosts = comma ? comma + 1 : end;
	} while (comma);
	return true;
}

/* Returns a copy without escapes, or NULL with err set. */
static char *
parameter_unescape(const char *text, size_t len, struct err *err)
{
	int n;
	char *plain = curl_easy_unescape(NULL, text, (int)len, &n);
	char *copy = plain ? strdup(plain) : NULL;
	bool cut = copy && strlen(copy) != (size_t)n;

	curl_free(plain);
	if (!copy)
		err_oom(err);
	else if (cut)
		err_set(err, "'%.*s' has a NUL", (int)len, text);
	else
		return copy;
	free(copy);
	return NULL;
}

static bool
target_add_parameter(struct discovery_target *target, const char *text,
    size_t len, size_t *room, struct err *err)
{
	const char *equals = memchr(text, '=', len);
	size_t name_len = equals ? (size_t)(equals - text) : len;
	struct discovery_parameter *p = grow(target->parameters,
	    target->parameters_n, room, sizeof(*target->parameters));

	if (!p)
		return err_oom(err);
	target->parameters = p;
	p += target->parameters_n++;
	*p = (struct discovery_parameter){.value = NULL};
	p->name = parameter_unescape(text, name_len, err);
	if (equals)
		p->value =
		    parameter_unescape(equals + 1, len - name_len - 1, err);
	return p->name && (!equals || p->value);
}

static bool
target_add_parameters(
    struct discovery_target *target, const char *query, struct err *err)
{
	size_t room = 0;

	while (*query) {
		size_t len = strcspn(query, "&");

		if (len > 0 &&
		    !target_add_parameter(target, query, len, &room, err))
			return false;
		query += len + (query[len] == '&');
	}
	return true;
}

/* Takes the path and the parameters from rest, the part of the URL behind the
 * hosts. */
static bool
target_add_rest(
    struct discovery_target *target, const char *rest, struct err *err)
{
	CURLU *url = curl_url();
	char *text = NULL, *query = NULL;
	CURLUcode rc;
	bool ok = false;

	if (!url || asprintf(&text, "http://host:1%s", rest) < 0) {
		curl_url_cleanup(url);
		return err_oom(err);
	}
	rc = curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS);
	if (rc != CURLUE_OK)
		err_set(err, "'%s' is not /PATH?PARAMETERS: %s", rest,
		    curl_url_strerror(rc));
	else if (!part_is_missing(url, CURLUPART_FRAGMENT))
		err_set(err, "the URL has a fragment: write '#' as %%23");
	else
		ok = part_get(url, CURLUPART_PATH, CURLU_URLDECODE,
		         &target->path, err) &&
		     part_get(url, CURLUPART_QUERY, 0, &query, err) &&
		     (!query || target_add_parameters(target, query, err));
	free(query);
	free(text);
	curl_url_cleanup(url);
	return ok;
}

static bool
target_fill(struct discovery_target *target, const char *url, struct err *err)
{
	size_t len;

	target->tls = strncmp(url, "https://", 8) == 0;
	if (!target->tls && strncmp(url, "http://", 7) != 0)
		return err_set(err,
		    "'%s' is not a URL that begins with "
		    "http:// or https://",
		    url);
	url += target->tls ? 8 : 7;
	len = strcspn(url, "/?#");
	return target_add_endpoints(target, url, len, err) &&
	       target_add_rest(target, url + len, err);
}

bool
discovery_target_parse(
    const char *url, struct discovery_target *ret_target, struct err *err)
{
	struct discovery_target target = {.tls = false};

	if (!target_fill(&target, url, err)) {
		discovery_target_fini(&target);
		return false;
	}
	*ret_target = target;
	return true;
}
