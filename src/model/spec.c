/* SPDX-License-Identifier: MIT
 * See spec.h.
 */
#include "model/spec.h"

#include <stdlib.h>
#include <string.h>

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
check_kind_has_steps(enum check_kind kind)
{
	return kind >= CHECK_SEND_EXPECT;
}

bool
check_is_tls(const struct check_spec *check)
{
	return check->kind == CHECK_HTTPS || check->kind == CHECK_TLS ||
	       check->tls == CHECK_TLS_ON;
}

const struct check_step *
check_steps(const struct backend_spec *backend, size_t *ret_n)
{
	const struct check_steps *steps =
	    backend->check.kind == CHECK_SEND_EXPECT ? &backend->check_steps
	                                             : &backend->check.recipe;

	*ret_n = steps->n;
	return steps->steps;
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

bool
server_spec_same_place(const struct server_spec *a, const struct server_spec *b)
{
	if (a->host && b->host)
		return a->port == b->port && strcmp(a->host, b->host) == 0;
	return !a->host && !b->host && addr_equal(&a->addr, &b->addr);
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

void
check_steps_clear(struct check_steps *steps)
{
	for (size_t i = 0; i < steps->n; i++)
		pattern_fini(&steps->steps[i].pattern);
	free(steps->steps);
	*steps = (struct check_steps){.n = 0};
}

void
check_spec_fini(struct check_spec *check)
{
	free(check->path);
	free(check->host);
	free(check->method);
	free(check->ca);
	free(check->sni);
	trust_free(check->trust);
	free(check->user);
	check_steps_clear(&check->recipe);
}

/* NULL equals NULL. */
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
	       same_headers(a, b) && same_bodies(a, b) && x->tls == y->tls &&
	       same_text(a->check_command, b->check_command) &&
	       same_steps(a, b);
}

void
server_spec_clear(struct server_spec *server)
{
	free(server->name);
	free(server->address);
	free(server->host);
	free(server->track);
	pattern_fini(&server->agent.send);
}

static void
free_backend(struct backend_spec *b)
{
	for (size_t i = 0; i < b->servers_n; i++)
		server_spec_clear(&b->servers[i]);
	free(b->servers);
	for (size_t i = 0; i < b->deleted_n; i++)
		free(b->deleted[i]);
	free(b->deleted);
	check_spec_fini(&b->check);
	for (size_t i = 0; i < b->check_headers_n; i++)
		free(b->check_headers[i]);
	free(b->check_headers);
	for (size_t i = 0; i < b->check_bodies_n; i++)
		pattern_fini(&b->check_bodies[i]);
	free(b->check_bodies);
	check_steps_clear(&b->check_steps);
	pattern_fini(&b->agent.send);
	free(b->check_command);
	free(b->server_defaults);
	free(b->name);
}

void
log_list_clear(struct log_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->logs[i].where);
		free(list->logs[i].host);
		free(list->logs[i].tag);
	}
	free(list->logs);
	*list = (struct log_list){.n = 0};
}

void
listen_spec_clear(struct listen_spec *listen)
{
	free(listen->text);
	free(listen->user);
	free(listen->group);
}

static void
free_frontend(struct frontend_spec *f)
{
	for (size_t i = 0; i < f->listens_n; i++)
		listen_spec_clear(&f->listens[i]);
	free(f->listens);
	free(f->proxy_from);
	free(f->routes);
	for (size_t i = 0; i < f->sni_n; i++)
		free(f->sni[i].names);
	free(f->sni);
	log_list_clear(&f->log);
	free(f->name);
}

static void
free_admin(struct admin_spec *admin)
{
	free(admin->text);
	free(admin->user);
	free(admin->group);
	free(admin->operators);
	free(admin->admins);
}

void
admin_list_clear(struct admin_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free_admin(&list->all[i]);
	free(list->all);
	*list = (struct admin_list){NULL, 0};
}

static bool
copy_string(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

static bool
copy_admin(const struct admin_spec *from, struct admin_spec *to)
{
	bool ok;

	*to = *from;
	ok = copy_string(from->text, &to->text);
	ok &= copy_string(from->user, &to->user);
	ok &= copy_string(from->group, &to->group);
	ok &= copy_string(from->operators, &to->operators);
	ok &= copy_string(from->admins, &to->admins);
	return ok;
}

bool
admin_list_copy(const struct admin_list *list, struct admin_list *ret_copy)
{
	struct admin_list copy = {calloc(list->n + 1, sizeof(*copy.all)), 0};

	if (!copy.all)
		return false;
	while (copy.n < list->n) {
		bool ok = copy_admin(&list->all[copy.n], &copy.all[copy.n]);

		copy.n++;
		if (!ok) {
			admin_list_clear(&copy);
			return false;
		}
	}
	*ret_copy = copy;
	return true;
}

void
spec_free(struct spec *spec)
{
	if (!spec)
		return;
	for (size_t i = 0; i < spec->backends_n; i++)
		free_backend(&spec->backends[i]);
	for (size_t i = 0; i < spec->frontends_n; i++)
		free_frontend(&spec->frontends[i]);
	for (size_t i = 0; i < spec->pools_n; i++)
		free(spec->pools[i].name);
	for (size_t i = 0; i < spec->files_n; i++)
		free(spec->files[i]);
	free(spec->backends);
	free(spec->frontends);
	free(spec->pools);
	free(spec->files);
	log_list_clear(&spec->global.log);
	free(spec->global.http.text);
	free(spec->global.http_hosts);
	admin_list_clear(&spec->global.admin);
	free(spec->global.user);
	free(spec->global.group);
	free(spec->global.node);
	free(spec->global.info_name);
	free(spec);
}
