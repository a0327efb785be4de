/* SPDX-License-Identifier: MIT
 * Warnings about starttls without effect, and about TLS inside TLS.
 */
#include "config/build.h"

/* Returns whether sessions of the frontend may be read for their hello, as
 * frontend->inspects says at run time. */
static bool
wants_hello(const struct spec *spec, const struct frontend_spec *f)
{
	if (f->on_no_hello == ON_NO_HELLO_CLOSE)
		return true;
	for (size_t i = 0; i < f->rules_n; i++)
		if (f->rules[i].names || f->rules[i].alpn ||
		    f->rules[i].versions || f->rules[i].tls != SWITCH_DEFAULT)
			return true;
	for (size_t i = 0; i < f->routes_n; i++)
		if (spec->backends[f->routes[i].backend].hash_key ==
		    HASH_KEY_SNI)
			return true;
	for (size_t i = 0; i < f->rules_n; i++)
		if (spec->backends[f->rules[i].backend].hash_key ==
		    HASH_KEY_SNI)
			return true;
	return false;
}

/* Warns of servers with TLS for clients with TLS: a client whose request was
 * answered here sends TLS, which no server expects inside lfproxy's. */
static void
warn_of_nested(const struct frontend_spec *f, const struct listen_spec *l,
    const struct backend_spec *b, struct err_list *warnings)
{
	for (size_t i = 0; i < b->servers_n; i++) {
		const struct server_spec *s = b->servers[i];

		if (!server_spec_has_tls(b, s))
			continue;
		ERROR_AT(s, warnings,
		    "warning: [backend %s]: server '%s' has TLS, and '%s' of "
		    "[frontend %s] passes the TLS of its clients on; write "
		    "tls=off for the server, or tls=NAME behind that listen",
		    b->name, s->name, l->text, f->name);
		return;
	}
}

static void
warn_of_passed_on(const struct spec *spec, const struct frontend_spec *f,
    const struct listen_spec *l, struct err_list *warnings)
{
	if (!wants_hello(spec, f)) {
		ERROR_AT(l, warnings,
		    "warning: [frontend %s]: listen: starttls has no effect: "
		    "no rule asks for a TLS hello, and TLS does not end here; "
		    "add route = sni=NAME backend=NAME, or tls=NAME",
		    f->name);
		return;
	}
	for (size_t i = 0; i < f->routes_n; i++)
		warn_of_nested(
		    f, l, &spec->backends[f->routes[i].backend], warnings);
	for (size_t i = 0; i < f->rules_n; i++)
		warn_of_nested(
		    f, l, &spec->backends[f->rules[i].backend], warnings);
}

void
build_starttls_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];
		const struct listen_spec *l = f->listens;

		for (; l < f->listens + f->listens_n; l++)
			if (l->starttls.value != STARTTLS_OFF &&
			    !l->tls.is_set && !l->in_range)
				warn_of_passed_on(spec, f, l, warnings);
	}
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->servers_n; j++) {
			const struct server_spec *s = b->servers[j];

			if (!s->starttls.is_set ||
			    s->starttls.value == STARTTLS_OFF ||
			    server_spec_has_tls(b, s))
				continue;
			ERROR_AT(s, warnings,
			    "warning: [backend %s]: server: starttls has no "
			    "effect: '%s' has no TLS; add tls=NAME",
			    b->name, s->name);
		}
	}
}
