/* SPDX-License-Identifier: MIT
 * See spec.h.
 */
#include "model/spec.h"

#include <stdio.h>
#include <string.h>

#include "model/override.h"
#include "tls/context.h"

void
status_set_add(struct status_set *set, unsigned from, unsigned to)
{
	for (unsigned i = from - STATUS_MIN; i <= to - STATUS_MIN; i++)
		set->bits[i / 64] |= UINT64_C(1) << (i % 64);
}

bool
status_set_has(const struct status_set *set, long status)
{
	size_t i = (size_t)status - STATUS_MIN;

	return status >= (long)STATUS_MIN && status <= (long)STATUS_MAX &&
	       (set->bits[i / 64] >> (i % 64) & 1) != 0;
}

bool
check_kind_is_http(enum check_kind kind)
{
	return kind == CHECK_HTTP || kind == CHECK_HTTPS;
}

bool
check_is_tls(const struct check_spec *check)
{
	return check->kind == CHECK_HTTPS || check->kind == CHECK_TLS ||
	       check->tls == SWITCH_ON;
}

bool
check_has_tls_options(const struct check_spec *check)
{
	return check->ca || check->sni || check->common_name || !check->verify;
}

const struct check_step *
check_steps(const struct backend_spec *backend, size_t *ret_n)
{
	const struct check_steps *steps =
	    backend->check.kind == CHECK_SEND_EXPECT
	        ? &backend->check_steps
	        : &backend->check.preset_steps;

	*ret_n = steps->n;
	return steps->steps;
}

bool
rule_spec_has_names_alone(const struct rule_spec *rule)
{
	return rule->names && !rule->alpn && rule->tls == SWITCH_DEFAULT &&
	       rule->versions == 0 && !rule_ranges_any(&rule->src) &&
	       !rule_ranges_any(&rule->dst) && rule->ports.n == 0;
}

const char *
listen_text(
    const struct addr *addr, bool both_families, char out[LISTEN_TEXT_SIZE])
{
	char text[ADDR_TEXT_SIZE];

	sprintf(out, "%s%s", addr_text(addr, text), both_families ? " *" : "");
	return out;
}

size_t
frontend_spec_backend(const struct frontend_spec *frontend, size_t i)
{
	const struct frontend_spec *f = frontend;

	if (i < f->routes_n)
		return f->routes[i].backend;
	i -= f->routes_n;
	if (i < f->rules_n)
		return f->rules[i].backend;
	i -= f->rules_n;
	for (size_t j = 0; j < f->routes_n; j++)
		if (f->routes[j].fallback.is_set && i-- == 0)
			return f->routes[j].fallback.value;
	return SIZE_MAX;
}

bool
frontend_spec_expects_proxy(
    const struct frontend_spec *frontend, const struct endpoint *peer)
{
	for (size_t i = 0; i < frontend->proxy_from_n; i++)
		if (cidr_has(&frontend->proxy_from[i], peer))
			return true;
	return frontend->proxy_from_n == 0;
}

enum proxy_version
server_spec_send_proxy(
    const struct backend_spec *backend, const struct server_spec *server)
{
	return (enum proxy_version)optional_or(
	    server->send_proxy, backend->send_proxy);
}

enum starttls
server_spec_starttls(
    const struct backend_spec *backend, const struct server_spec *server)
{
	return (enum starttls)optional_or(server->starttls, backend->starttls);
}

bool
server_spec_maps_port(const struct server_spec *server)
{
	if (server->host)
		return server->port == 0;
	return (server->addr.sa.sa_family == AF_INET ||
	           server->addr.sa.sa_family == AF_INET6) &&
	       addr_port(&server->addr) == 0;
}

bool
server_spec_same_place(const struct server_spec *a, const struct server_spec *b)
{
	if (a->port_offset != b->port_offset)
		return false;
	if (a->host && b->host)
		return a->port == b->port && strcmp(a->host, b->host) == 0;
	return !a->host && !b->host && addr_equal(&a->addr, &b->addr);
}

uint64_t
server_spec_place(const struct server_spec *server, const struct addr *addr)
{
	char place[288], text[ADDR_TEXT_SIZE];
	unsigned port = server->host ? server->port : 0;
	int len;

	addr = addr || server->host ? addr : &server->addr;
	if (addr)
		port = addr_port(addr);
	/* The offset matters only without a port. */
	len = snprintf(place, sizeof(place), "%s:%u%+d",
	    addr ? addr_text(addr, text) : server->host, port,
	    port > 0 ? 0 : server->port_offset);
	return override_digest(place, (size_t)len);
}

int
server_spec_family(
    const struct backend_spec *backend, const struct server_spec *server)
{
	const struct source_spec *source = server->source.kind != SOURCE_NONE
	                                       ? &server->source
	                                       : &backend->source;

	return source->kind == SOURCE_ADDRESS ? source->addr.sa.sa_family
	                                      : AF_UNSPEC;
}

/* Returns whether both texts are the same; NULL equals NULL. */
static bool
same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool
same_headers(const struct backend_spec *a, const struct backend_spec *b)
{
	if (a->check_headers_n != b->check_headers_n)
		return false;
	for (size_t i = 0; i < a->check_headers_n; i++)
		if (!same_text(a->check_headers[i], b->check_headers[i]))
			return false;
	return true;
}

static bool
same_bodies(const struct backend_spec *a, const struct backend_spec *b)
{
	if (a->check_bodies_n != b->check_bodies_n)
		return false;
	for (size_t i = 0; i < a->check_bodies_n; i++)
		if (!same_text(
		        a->check_bodies[i].text, b->check_bodies[i].text))
			return false;
	return true;
}

static bool
same_steps(const struct backend_spec *a, const struct backend_spec *b)
{
	size_t n, other_n;
	const struct check_step *x = check_steps(a, &n);
	const struct check_step *y = check_steps(b, &other_n);

	if (n != other_n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (x[i].kind != y[i].kind ||
		    !same_text(x[i].pattern.text, y[i].pattern.text))
			return false;
	return true;
}

bool
check_asks_same(const struct backend_spec *a, const struct backend_spec *b)
{
	const struct check_spec *x = &a->check, *y = &b->check;

	return x->kind == y->kind && same_text(x->path, y->path) &&
	       same_text(x->host, y->host) && same_text(x->method, y->method) &&
	       memcmp(&x->status, &y->status, sizeof(x->status)) == 0 &&
	       x->version == y->version && x->verify == y->verify &&
	       same_text(x->ca, y->ca) && same_text(x->sni, y->sni) &&
	       same_headers(a, b) && same_bodies(a, b) &&
	       same_text(a->check_command, b->check_command) &&
	       same_steps(a, b);
}

bool
server_spec_has_tls(
    const struct backend_spec *backend, const struct server_spec *server)
{
	const struct optional *tls =
	    server->tls.is_set ? &server->tls : &backend->tls;

	return tls->is_set && tls->value != TLS_OFF;
}

struct tls_context *
server_spec_tls(const struct spec *spec, const struct backend_spec *backend,
    const struct server_spec *server)
{
	const struct optional *tls =
	    server->tls.is_set ? &server->tls : &backend->tls;

	return tls->is_set && tls->value != TLS_OFF
	           ? spec->tls[tls->value].context[TLS_CONNECTS]
	           : NULL;
}

const struct tls_spec *
spec_tls_named(const struct spec *spec, const char *name)
{
	size_t i;

	return name_table_find(INDEXED_TABLE(spec, tls), name, &i)
	           ? &spec->tls[i]
	           : NULL;
}

void
spec_adopt_tls(struct spec *spec, const struct spec *old)
{
	for (size_t i = 0; i < spec->tls_n; i++) {
		struct tls_context *const *contexts = spec->tls[i].context;
		const struct tls_spec *from =
		    spec_tls_named(old, spec->tls[i].name);

		for (int role = 0; from && role < TLS_ROLES; role++)
			if (contexts[role] && from->context[role])
				tls_context_adopt(
				    contexts[role], from->context[role]);
	}
}
