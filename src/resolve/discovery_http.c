/* SPDX-License-Identifier: MIT
 * See discovery_http.h: what requests share, checked and copied.
 */
#include "resolve/discovery_http.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/printable.h"
#include "resolve/discovery_tls.h"
#include "tls/context.h"

/* Returns whether the token can be in a header line, which must not have
 * control characters; else false with err set. */
static bool
token_check(const char *token, struct err *err)
{
	for (const char *c = token; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(err,
			    "token: there is a control character (0x%02x); a "
			    "token is one line",
			    (unsigned char)*c);
	return !token || *token || err_set(err, "token: it is empty");
}

static bool
tls_options_check(const struct discovery_settings *s, bool tls, struct err *err)
{
	struct tls_context *context;
	const char *option = s->ca            ? "ca"
	                     : s->cert        ? "cert"
	                     : s->key         ? "key"
	                     : s->common_name ? "common_name"
	                                      : NULL;

	if (!tls)
		return !option ||
		       err_set(err, "%s is for https:// URLs only", option);
	if (s->key && !s->cert)
		return err_set(err, "key without cert: name the client "
		                    "certificate as well");
	context = discovery_tls_load(s, err);
	tls_context_unref(context);
	return context != NULL;
}

bool
discovery_http_check(const struct discovery_settings *settings, struct err *err)
{
	bool tls = strncmp(settings->url, "https:", strlen("https:")) == 0;

	return token_check(settings->token, err) &&
	       tls_options_check(settings, tls, err);
}

static bool
http_text_copy(const char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return *copy || !text;
}

static void
text_drop(const char *text)
{
	free((char *)(uintptr_t)text);
}

void
discovery_http_fini(struct discovery_http *http)
{
	discovery_target_fini(&http->target);
	text_drop(http->settings.url);
	if (http->settings.token)
		explicit_bzero((char *)(uintptr_t)http->settings.token,
		    strlen(http->settings.token));
	text_drop(http->settings.token);
	text_drop(http->settings.ca);
	text_drop(http->settings.cert);
	text_drop(http->settings.key);
	tls_context_unref(http->tls);
}

bool
discovery_http_init(struct discovery_http *http, struct curl_loop *curl,
    const struct discovery_settings *settings)
{
	struct discovery_settings *s = &http->settings;

	/* The address seeds the random pauses, so that processes differ. */
	*http =
	    (struct discovery_http){.curl = curl, .random = (uintptr_t)http};
	s->common_name = settings->common_name;
	s->timeout_ms =
	    settings->timeout_ms ? settings->timeout_ms : DISCOVERY_TIMEOUT_MS;
	if (http_text_copy(&s->url, settings->url) &&
	    http_text_copy(&s->token, settings->token) &&
	    http_text_copy(&s->ca, settings->ca) &&
	    http_text_copy(&s->cert, settings->cert) &&
	    http_text_copy(&s->key, settings->key) &&
	    discovery_target_parse(s->url, &http->target, NULL)) {
		/* A random one, so that not all lfproxies ask the first
		 * endpoint. */
		http->endpoint = (size_t)(mix64_share(&http->random) *
		                          (double)http->target.endpoints_n);
		return true;
	}
	discovery_http_fini(http);
	return false;
}

double
discovery_http_vary(struct discovery_http *http, double seconds)
{
	return seconds * (0.8 + 0.4 * mix64_share(&http->random));
}

double
discovery_http_failed(struct discovery_http *http)
{
	double pause = DISCOVERY_PAUSE_MIN_MS;
	size_t n = http->target.endpoints_n;

	http->failures++;
	http->endpoint = (http->endpoint + 1) % n;
	/* An endpoint that was not asked yet is asked without a long pause. */
	if (http->failures % n == 0) {
		for (size_t i = n;
		     i < http->failures && pause < DISCOVERY_PAUSE_MAX_MS;
		     i += n)
			pause *= 2;
		if (pause > DISCOVERY_PAUSE_MAX_MS)
			pause = DISCOVERY_PAUSE_MAX_MS;
	}
	return discovery_http_vary(http, pause / 1e3);
}

void
discovery_http_succeeded(struct discovery_http *http)
{
	http->failures = 0;
}
