/* SPDX-License-Identifier: MIT
 * See explain.h: the arguments, the frontends that they are about, and the
 * answer in parts.
 */
#include "commands/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "commands/commands.h"
#include "commands/listing.h"
#include "listeners/listener.h"
#include "listeners/listeners.h"
#include "model/rules.h"
#include "net/tls_hello.h"
#include "tls/context.h"
#include "tls/facts.h"

struct explain_request {
	char source[ADDR_TEXT_SIZE];
	struct explained_client client;
	char sni[TLS_NAME_MAX + 1];
	uint8_t alpn[TLS_ALPN_MAX];
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char frontend[CALL_NAME_SIZE]; /* "": each that can be reached */
};

struct explaining {
	struct listing listing;
	struct explain_request request;
	size_t next;            /* index of the next frontend */
	struct explanation now; /* frontend NULL: none is under way */
	size_t server;          /* index of the next one of now */
};

/* -- where the client comes in -- */

static bool
takes_family(const struct listen_spec *listen, const struct explain_request *r)
{
	uint16_t family = r->client.client.family;
	uint16_t own = listen->addr.sa.sa_family;

	/* The proxy in front may have named any client. */
	if (listen->accept_proxy && family != AF_UNIX)
		return true;
	/* The bound address is found later, by find_local. */
	if (addr_is_descriptor(&listen->addr))
		return true;
	if (family == AF_UNIX)
		return own == AF_UNIX &&
		       (!r->path[0] ||
		           strcmp(r->path, listen->addr.un.sun_path) == 0);
	return own == family ||
	       (own == AF_INET6 && family == AF_INET && listen->both_families);
}

/* Returns how many of the frontend's addresses the client may have connected
 * to, and the first of them unless ret_first is NULL. */
static size_t
count_ways(const struct frontend *f, const struct explain_request *r,
    size_t *ret_first)
{
	size_t n = 0;

	for (size_t i = f->spec->listens_n; i-- > 0;)
		if (takes_family(&f->spec->listens[i], r)) {
			if (ret_first)
				*ret_first = i;
			n++;
		}
	return n;
}

/* Finds the address of the listen, with the port that the kernel has chosen for
 * it, if it has.  Returns false if the listen is for any address. */
static bool
find_local(const struct command_env *env, const struct frontend *f,
    const struct listen_spec *listen, struct endpoint *ret_local)
{
	static const uint8_t any[16];
	const struct listeners *all = env->listeners;
	struct addr addr = listen->addr;
	const struct listener *l;

	for (size_t i = 0; (l = listeners_at(all, i)); i++)
		if (strcmp(l->frontend, f->spec->name) == 0 &&
		    addr_equal(&l->addr, &listen->addr))
			addr = listener_bound_addr(l);
	endpoint_set(ret_local, &addr.sa, addr.len);
	return ret_local->family == AF_UNIX ||
	       memcmp(ret_local->ip, any, sizeof(any)) != 0;
}

/* Returns what is known of the client when it connects to the frontend. */
static struct explained_client
client_at(const struct command_env *env, const struct frontend *f,
    const struct explain_request *r)
{
	struct explained_client c = r->client;
	size_t first = 0, ways = count_ways(f, r, &first);

	/* The port alone tells clients of unix sockets apart, see
	 * accept_one. */
	if (c.client.family == AF_UNIX)
		c.client.port = (uint16_t)(first + 1);
	if (ways == 1 && f->listens[first].tls)
		c.tls = true;
	if (!c.has_local && ways == 1 && !f->spec->listens[first].accept_proxy)
		c.has_local =
		    find_local(env, f, &f->spec->listens[first], &c.local);
	return c;
}

/* -- one frontend -- */

/* Makes a list of certificates, as in `a.pem (RSA), b.pem (EC)`. */
static void
append_cert(void *arg, const struct tls_cert_facts *facts)
{
	char **certs = arg, *longer;
	bool first = !*certs;

	if (asprintf(&longer, "%s%s%s (%s)", first ? "" : *certs,
	        first ? "" : ", ", facts->file, facts->key_type) < 0)
		return;
	free(*certs);
	*certs = longer;
}

/* Returns the certificates for the client at the first listen with TLS that it
 * can connect to. */
static char *
find_certs(const struct frontend *f, const struct explain_request *r)
{
	char *certs = NULL;

	for (size_t i = 0; i < f->spec->listens_n && !certs; i++)
		if (f->listens[i].tls && takes_family(&f->spec->listens[i], r))
			tls_context_find_certs(f->listens[i].tls, r->client.sni,
			    append_cert, &certs);
	return certs;
}

/* Explains the frontend and writes the head.  Returns false when memory is
 * short. */
static bool
explain_frontend(struct explaining *x, const struct command_env *env,
    const struct frontend *f)
{
	struct explained_client client = client_at(env, f, &x->request);
	char *certs;

	if (fault_fails(FAULT_ANSWER) || !explanation_make(f, &client, &x->now))
		return false;
	certs = find_certs(f, &x->request);
	explained_put_head(&x->listing.report,
	    &(struct explained){x->request.source, &client, certs, &x->now},
	    env);
	free(certs);
	x->server = 0;
	return true;
}

static const struct frontend *
next_frontend(struct explaining *x, const struct model *m)
{
	while (x->next < m->spec->frontends_n) {
		const struct frontend *f = m->frontends[x->next++];
		const char *wanted = x->request.frontend;

		if (*wanted ? strcmp(f->spec->name, wanted) == 0
		            : count_ways(f, &x->request, NULL) > 0)
			return f;
	}
	return NULL;
}

static bool
explain_step(void *listing, const struct command_env *env)
{
	struct explaining *x = listing;
	struct report *r = &x->listing.report;
	const struct frontend *f;

	if (x->now.frontend && x->server < x->now.servers_n) {
		explained_put_server(r, &x->now, x->server++);
		return true;
	}
	if (x->now.frontend) {
		explained_put_tail(r, &x->now);
		explanation_fini(&x->now);
		x->now = (struct explanation){.frontend = NULL};
		return true;
	}
	f = next_frontend(x, env->instance->model);
	if (!f)
		return false;
	if (explain_frontend(x, env, f))
		return true;
	report_row(r);
	report_put(r, "error", "%s",
	    "Out of memory: the answer ends here, before its end.");
	report_row_end(r);
	x->listing.rest.failed = true;
	return false;
}

static void
explaining_fini(void *listing)
{
	explanation_fini(&((struct explaining *)listing)->now);
}

/* -- arguments -- */

/* Reads `10.0.0.1`, `10.0.0.1:80`, `::1`, `[::1]` or `[::1]:80`, but no names,
 * since resolving them takes time. */
static bool
read_ip(const char *text, struct endpoint *ret_endpoint, bool *ret_has_port)
{
	size_t len = strlen(text), brackets = 0;
	char host[INET6_ADDRSTRLEN + 2];
	struct addr addr;
	struct err ignored;

	if (len > 1 && text[0] == '[' && text[len - 1] == ']')
		brackets = 1;
	snprintf(host, sizeof(host), "%.*s", (int)(len - 2 * brackets),
	    text + brackets);
	*ret_has_port = len >= sizeof(host) || !addr_parse_ip(host, &addr);
	if (*ret_has_port &&
	    (!addr_parse(text, ADDR_CONNECT, &addr, &ignored) ||
	        addr.sa.sa_family == AF_UNIX))
		return false;
	endpoint_set(ret_endpoint, &addr.sa, addr.len);
	return true;
}

static bool
take_explained_source(
    struct call *call, const char *text, struct explain_request *r)
{
	struct explained_client *c = &r->client;

	if (!*text)
		return err_set(call->err,
		    "The client's address is expected: 10.0.0.1, "
		    "10.0.0.1:4711, ::1, [::1]:4711, unix or unix:/path of a "
		    "listening socket.");
	snprintf(r->source, sizeof(r->source), "%s", text);
	if (strncmp(text, "unix", 4) == 0 && (!text[4] || text[4] == ':')) {
		c->client.family = AF_UNIX;
		c->has_port = true;
		if (text[4] &&
		    (!text[5] || strlen(text + 5) >= sizeof(r->path)))
			return err_set(call->err,
			    "'%.40s' is not the path of a unix socket.", text);
		snprintf(
		    r->path, sizeof(r->path), "%s", text[4] ? text + 5 : "");
		return true;
	}
	if (read_ip(text, &c->client, &c->has_port))
		return true;
	return err_set(call->err,
	    "'%.60s' is not a client's address; allowed are 10.0.0.1, "
	    "10.0.0.1:4711, ::1, [::1]:4711, unix, unix:/path.",
	    text);
}

static bool
take_local(struct call *call, const char *text, struct explain_request *r)
{
	bool has_port;

	if (!read_ip(text, &r->client.local, &has_port) || !has_port)
		return err_set(call->err,
		    "to: '%.60s' is not where a client connects to; an "
		    "address with its port is expected, as in 10.0.0.1:80.",
		    text);
	r->client.has_local = true;
	return true;
}

static bool
take_frontend(struct call *call, const char *name, struct explain_request *r)
{
	const struct frontend *f;

	if (*r->frontend)
		return err_set(call->err,
		    "Unexpected argument '%.60s'; after the source and a "
		    "frontend there may be to <address>, sni <name>, alpn "
		    "<names>, version <tls>, tls, json.",
		    name);
	f = call_frontend(call, name);
	if (!f)
		return false;
	if (count_ways(f, r, NULL) == 0)
		return err_set(call->err,
		    "Frontend %.60s listens on no address that the client "
		    "'%.60s' could have connected to.",
		    name, r->source);
	snprintf(r->frontend, sizeof(r->frontend), "%s", name);
	return true;
}

static bool
take_sni(struct call *call, const char *text, struct explain_request *r)
{
	uint8_t len;

	if (!tls_name_normalize(text, strlen(text), r->sni, &len))
		return err_set(call->err,
		    "sni: '%.60s' is not a valid TLS name; a name as in "
		    "www.example.com is expected.",
		    text);
	r->client.sni = r->sni;
	return true;
}

static bool
take_version(struct call *call, const char *text, struct explain_request *r)
{
	static const char *const names[TLS_VERSION_MAX + 1] = {
	    "ssl3", "1.0", "1.1", "1.2", "1.3"};

	for (unsigned i = 0; i <= TLS_VERSION_MAX; i++)
		if (strcmp(names[i], text) == 0)
			r->client.versions = 1u << i;
	return r->client.versions > 0 ||
	       err_set(call->err,
	           "version: '%.60s' is unknown; there are 1.3, 1.2, 1.1, 1.0 "
	           "and ssl3.",
	           text);
}

/* Reads `h2,http/1.1` into the form that a hello has. */
static bool
take_alpn(struct call *call, const char *text, struct explain_request *r)
{
	struct explained_client *c = &r->client;

	c->alpn = r->alpn;
	c->alpn_size = 0;
	for (const char *name = text;; name++) {
		size_t len = strcspn(name, ",");

		if (len == 0 || len >= sizeof(r->alpn) - c->alpn_size)
			return err_set(call->err,
			    "alpn: '%.60s' is not a list of protocols; names "
			    "as in h2,http/1.1 are expected.",
			    text);
		r->alpn[c->alpn_size++] = (uint8_t)len;
		memcpy(r->alpn + c->alpn_size, name, len);
		c->alpn_size += len;
		name += len;
		if (!*name)
			return true;
	}
}

static bool
maps_ports(const struct backend_spec *b)
{
	for (size_t i = 0; i < b->servers_n; i++)
		if (server_spec_maps_port(b->servers[i]))
			return true;
	return false;
}

static bool
heeds_local(const struct frontend *f)
{
	if (f->rules && rules_facts(f->rules) & (FACT_DESTINATION | FACT_PORT))
		return true;
	for (size_t i = 0; i < f->backends_n; i++)
		if (backend_hashes(f->backends[i], HASH_KEY_DESTINATION) ||
		    maps_ports(f->backends[i]->spec))
			return true;
	return false;
}

/* Returns whether the address after `to` can make a difference.  Sets call->err
 * otherwise, so that the user does not rely on it. */
static bool
is_local_heeded(struct call *call, const struct explain_request *r)
{
	const struct model *m = call->env->instance->model;

	for (size_t i = 0; i < m->spec->frontends_n; i++)
		if ((!*r->frontend || strcmp(m->frontends[i]->spec->name,
		                          r->frontend) == 0) &&
		    heeds_local(m->frontends[i]))
			return true;
	return err_set(call->err,
	    "to: %s%.60s has a rule with dst or port, a backend with hash_key "
	    "= destination, or one with a server without a port, so the "
	    "address makes no difference; leave it out.",
	    *r->frontend ? "No part of frontend " : "No frontend", r->frontend);
}

typedef bool take_value(
    struct call *call, const char *text, struct explain_request *r);

static bool
take_explain_args(struct call *call, struct explaining *x)
{
	static const struct {
		const char *word;
		take_value *take;
	} words[] = {{"sni", take_sni}, {"alpn", take_alpn},
	    {"version", take_version}, {"to", take_local}};
	struct explain_request *r = &x->request;
	unsigned given = 0;

	if (!take_explained_source(call, call_arg(call, 0), r))
		return false;
	for (unsigned i = 1; *call_arg(call, i); i++) {
		const char *word = call_arg(call, i);
		take_value *take = NULL;
		size_t k = sizeof(words) / sizeof(words[0]);

		while (!take && k-- > 0)
			if (strcmp(word, words[k].word) == 0)
				take = words[k].take;
		if (take && !call_once(call, word, &given, 1u << k))
			return false;
		if (strcmp(word, "json") == 0)
			x->listing.report.json = true;
		else if (strcmp(word, "tls") == 0)
			r->client.tls = true;
		else if (take ? !take(call, call_arg(call, ++i), r)
		              : !take_frontend(call, word, r))
			return false;
	}
	return !r->client.has_local || is_local_heeded(call, r);
}

bool
run_explain(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct explaining),
	    .step = explain_step,
	    .fini = explaining_fini,
	};
	struct explaining *x = listing_new(call, &kind, false);
	bool ok;

	if (!x)
		return false;
	ok = take_explain_args(call, x);
	if (ok && !next_frontend(x, call->env->instance->model))
		ok = err_set(call->err,
		    "No frontend listens on an address that the client "
		    "'%.60s' could have connected to.",
		    x->request.source);
	x->next = 0;
	if (ok) {
		report_head(&x->listing.report, "");
		report_text(
		    &x->listing.report, "client %s\n", x->request.source);
	}
	return listing_answer(call, &x->listing, ok);
}
