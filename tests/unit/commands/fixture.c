/* SPDX-License-Identifier: MIT
 * See fixture.h.
 */
#include "balance/balance.h"
#include "commands/fixture.h"
#include "servers.h"

#include <stdlib.h>
#include <string.h>

static char *
copy(const char *s)
{
	char *c = strdup(s);

	assert_non_null(c);
	return c;
}

static void *
zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	assert_non_null(p);
	return p;
}

static void
set_server(struct server_spec *server, const char *name, const char *address)
{
	struct err err;

	server->name = copy(name);
	server->address = copy(address);
	server->weight = 100;
	assert_true(addr_parse(address, ADDR_CONNECT, &server->addr, &err));
}

static void
set_backends(struct spec *spec)
{
	struct backend_spec *app, *raw;

	spec->backends_n = 2;
	spec->backends = zeroed(2, sizeof(*spec->backends));
	app = &spec->backends[0];
	app->name = copy("app");
	app->balance = &balance_roundrobin;
	make_servers(app, 3);
	set_server(app->servers[0], "s1", "127.0.0.1:81");
	set_server(app->servers[1], "s2", "[::1]:82");
	set_server(app->servers[2], "u", "unix:/run/app.sock");
	app->servers[1]->weight = 50;
	app->check = (struct check_spec){
	    .kind = CHECK_HTTP,
	    .interval_ms = 2000,
	    .timeout_ms = 1000,
	    .fall = 3,
	    .rise = 2,
	};
	raw = &spec->backends[1];
	raw->name = copy("raw");
	raw->balance = &balance_roundrobin;
	make_servers(raw, 1);
	set_server(raw->servers[0], "r1", "127.0.0.1:91");
}

static struct spec *
make_spec(void)
{
	struct spec *spec = zeroed(1, sizeof(*spec));

	spec->global.node = copy("edge-1");
	spec->pools_n = 1;
	spec->pools = zeroed(1, sizeof(*spec->pools));
	spec->pools[0].name = copy("main");
	spec->frontends_n = 1;
	spec->frontends = zeroed(1, sizeof(*spec->frontends));
	spec->frontends[0].name = copy("web");
	set_backends(spec);
	return spec;
}

FILE *
output(struct fixture *f)
{
	free(f->text);
	f->text = NULL;
	f->out = open_memstream(&f->text, &f->text_n);
	assert_non_null(f->out);
	return f->out;
}

const char *
written(struct fixture *f)
{
	assert_int_equal(fclose(f->out), 0);
	return f->text;
}

int
fixture_setup(void **state)
{
	struct fixture *f = zeroed(1, sizeof(*f));

	f->grace = grace_new();
	f->model = model_new(make_spec(), f->grace, NULL);
	assert_non_null(f->model);
	f->web = f->model->frontends[0];
	f->app = f->model->backends[0];
	f->raw = f->model->backends[1];
	f->s1 = f->app->servers[0];
	f->s2 = f->app->servers[1];
	f->u = f->app->servers[2];
	f->r1 = f->raw->servers[0];
	*state = f;
	return 0;
}

int
fixture_teardown(void **state)
{
	struct fixture *f = *state;

	free(f->text);
	model_free(f->model);
	grace_free(f->grace);
	free(f);
	return 0;
}
