/* SPDX-License-Identifier: MIT
 * spec_copy: see spec.h.
 *
 * Each copy begins as the struct itself, then gets pointers of its own; all of
 * them, also when memory has run out on the way, so that what there is can be
 * freed.  Plain values need no line here.
 */
#include <stdlib.h>
#include <string.h>

#include "model/spec.h"

struct copying {
	const struct spec *from;
	struct spec *to;
	bool ok;
};

static char *
copy_text(struct copying *c, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	c->ok &= copy || !text;
	return copy;
}

/* An array of *n, of which the copy then has as many: none without memory. */
static void *
copy_array(struct copying *c, const void *array, size_t *n, size_t size)
{
	void *copy = calloc(*n + 1, size);

	if (!copy) {
		c->ok = false;
		*n = 0;
	} else if (*n > 0) {
		memcpy(copy, array, *n * size);
	}
	return copy;
}

static char **
copy_texts(struct copying *c, char *const *texts, size_t *n)
{
	char **copy = copy_array(c, texts, n, sizeof(*copy));

	for (size_t i = 0; i < *n; i++)
		copy[i] = copy_text(c, texts[i]);
	return copy;
}

/* Files are the first to be copied. */
static void
move_place(const struct copying *c, struct spec_place *place)
{
	const char *file = place->file;

	place->file = NULL;
	for (size_t i = 0; i < c->to->files_n; i++)
		if (file == c->from->files[i])
			place->file = c->to->files[i];
}

static void
copy_pattern(struct copying *c, struct pattern *pattern)
{
	struct pattern from = *pattern;

	c->ok &= pattern_copy(&from, pattern);
}

static void
copy_logs(struct copying *c, struct log_list *list)
{
	list->logs = copy_array(c, list->logs, &list->n, sizeof(*list->logs));
	for (size_t i = 0; i < list->n; i++) {
		struct log_spec *log = &list->logs[i];

		move_place(c, &log->place);
		log->where = copy_text(c, log->where);
		log->host = copy_text(c, log->host);
		log->tag = copy_text(c, log->tag);
	}
}

static void
copy_listen(struct copying *c, struct listen_spec *listen)
{
	move_place(c, &listen->place);
	listen->text = copy_text(c, listen->text);
	listen->user = copy_text(c, listen->user);
	listen->group = copy_text(c, listen->group);
}

static void
copy_global(struct copying *c, struct global_spec *global)
{
	struct admin_list admin = {NULL, 0};

	c->ok &= admin_list_copy(&global->admin, &admin);
	global->admin = admin;
	for (size_t i = 0; i < admin.n; i++)
		move_place(c, &admin.all[i].place);
	copy_listen(c, &global->http);
	global->http_hosts = copy_text(c, global->http_hosts);
	copy_logs(c, &global->log);
	global->user = copy_text(c, global->user);
	global->group = copy_text(c, global->group);
	global->node = copy_text(c, global->node);
	global->info_name = copy_text(c, global->info_name);
}

static void
copy_pool(struct copying *c, struct pool_spec *pool)
{
	move_place(c, &pool->place);
	pool->name = copy_text(c, pool->name);
}

static void
copy_frontend(struct copying *c, struct frontend_spec *f)
{
	move_place(c, &f->place);
	f->name = copy_text(c, f->name);
	f->listens =
	    copy_array(c, f->listens, &f->listens_n, sizeof(*f->listens));
	for (size_t i = 0; i < f->listens_n; i++)
		copy_listen(c, &f->listens[i]);
	f->proxy_from = copy_array(
	    c, f->proxy_from, &f->proxy_from_n, sizeof(*f->proxy_from));
	f->routes = copy_array(c, f->routes, &f->routes_n, sizeof(*f->routes));
	for (size_t i = 0; i < f->routes_n; i++)
		move_place(c, &f->routes[i].place);
	f->sni = copy_array(c, f->sni, &f->sni_n, sizeof(*f->sni));
	for (size_t i = 0; i < f->sni_n; i++) {
		move_place(c, &f->sni[i].place);
		f->sni[i].names = copy_text(c, f->sni[i].names);
	}
	copy_logs(c, &f->log);
}

static void
copy_steps(struct copying *c, struct check_steps *steps)
{
	steps->steps =
	    copy_array(c, steps->steps, &steps->n, sizeof(*steps->steps));
	for (size_t i = 0; i < steps->n; i++)
		copy_pattern(c, &steps->steps[i].pattern);
}

static void
copy_check(struct copying *c, struct check_spec *check)
{
	check->path = copy_text(c, check->path);
	check->host = copy_text(c, check->host);
	check->method = copy_text(c, check->method);
	check->ca = copy_text(c, check->ca);
	check->sni = copy_text(c, check->sni);
	check->trust = trust_ref(check->trust);
	check->user = copy_text(c, check->user);
	copy_steps(c, &check->recipe);
}

static void
copy_server(struct copying *c, struct server_spec *s)
{
	move_place(c, &s->place);
	s->name = copy_text(c, s->name);
	s->address = copy_text(c, s->address);
	s->host = copy_text(c, s->host);
	s->track = copy_text(c, s->track);
	copy_pattern(c, &s->agent.send);
}

static void
copy_backend(struct copying *c, struct backend_spec *b)
{
	move_place(c, &b->place);
	b->name = copy_text(c, b->name);
	copy_check(c, &b->check);
	b->check_headers = copy_texts(c, b->check_headers, &b->check_headers_n);
	b->check_bodies = copy_array(
	    c, b->check_bodies, &b->check_bodies_n, sizeof(*b->check_bodies));
	for (size_t i = 0; i < b->check_bodies_n; i++)
		copy_pattern(c, &b->check_bodies[i]);
	copy_steps(c, &b->check_steps);
	copy_pattern(c, &b->agent.send);
	b->check_command = copy_text(c, b->check_command);
	b->server_defaults = copy_text(c, b->server_defaults);
	b->servers =
	    copy_array(c, b->servers, &b->servers_n, sizeof(*b->servers));
	b->servers_room = b->servers_n;
	for (size_t i = 0; i < b->servers_n; i++)
		copy_server(c, &b->servers[i]);
	b->deleted = copy_texts(c, b->deleted, &b->deleted_n);
}

struct spec *
spec_copy(const struct spec *spec)
{
	struct spec *to = malloc(sizeof(*to));
	struct copying c = {.from = spec, .to = to, .ok = true};

	if (!to)
		return NULL;
	*to = *spec;
	to->files = copy_texts(&c, spec->files, &to->files_n);
	copy_global(&c, &to->global);
	to->pools = copy_array(&c, to->pools, &to->pools_n, sizeof(*to->pools));
	for (size_t i = 0; i < to->pools_n; i++)
		copy_pool(&c, &to->pools[i]);
	to->frontends = copy_array(
	    &c, to->frontends, &to->frontends_n, sizeof(*to->frontends));
	for (size_t i = 0; i < to->frontends_n; i++)
		copy_frontend(&c, &to->frontends[i]);
	to->backends = copy_array(
	    &c, to->backends, &to->backends_n, sizeof(*to->backends));
	for (size_t i = 0; i < to->backends_n; i++)
		copy_backend(&c, &to->backends[i]);
	if (c.ok)
		return to;
	spec_free(to);
	return NULL;
}
