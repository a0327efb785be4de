/* SPDX-License-Identifier: MIT
 * What a configuration says ends up in the spec, with defaults around it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "balance/balance.h"
#include "config/config.h"
#include "config/cpus.h"
#include "config/support.h"

static void
smallest_file_gets_every_default(void **state)
{
	struct spec *s = load(FRONTEND BACKEND);
	const struct frontend_spec *f = &s->frontends[0];
	const struct backend_spec *b = &s->backends[0];
	char host[65] = "";

	(void)state;
	assert_int_equal(s->global.admin.n, 0);
	assert_int_equal(s->global.log.n, 1);
	assert_int_equal(s->global.log.logs[0].kind, LOG_SINK_STDERR);
	assert_null(s->global.user);
	assert_null(s->global.group);
	gethostname(host, sizeof(host) - 1);
	assert_string_equal(s->global.node, host);
	assert_int_equal(s->global.shutdown_delay_ms, 0);
	assert_int_equal(s->global.drain_timeout_ms, 30000);
	assert_int_equal(s->global.drain_idle_timeout_ms, 2000);

	assert_int_equal(s->pools_n, 1);
	assert_string_equal(s->pools[0].name, "main");
	assert_true(s->pools[0].threads_auto);
	assert_int_equal(s->pools[0].classes[0].threads, cpus_usable(""));
	assert_int_equal(s->pools[0].classes_n, 1);
	assert_int_equal(s->pools[0].threads_max, 0);
	assert_true(s->pools[0].shards_auto);
	assert_int_equal(s->pools[0].shards, (cpus_usable("") + 1) / 2);
	assert_int_equal(s->pools[0].promotion, POLICY_ADAPTIVE);
	assert_int_equal(s->pools[0].order, ORDER_LIFO);
	assert_false(s->pools[0].cpus_given);

	assert_int_equal(s->frontends_n, 1);
	assert_string_equal(f->name, "f");
	assert_int_equal(f->pool, 0);
	assert_int_equal(f->routes[0].backend, 0);
	assert_int_equal(f->timeout_client_ms, 300000);
	assert_int_equal(f->timeout_client_fin_ms, 30000);

	assert_int_equal(s->backends_n, 1);
	assert_string_equal(b->name, "b");
	assert_ptr_equal(b->balance, &balance_roundrobin);
	assert_int_equal(b->retries, 3);
	assert_int_equal(b->timeout_connect_ms, 5000);
	assert_int_equal(b->timeout_server_ms, 300000);
	assert_int_equal(b->timeout_server_fin_ms, 300000);
	assert_int_equal(b->servers[0]->weight, WEIGHT_DEFAULT);
	assert_int_equal(b->check.kind, CHECK_CONNECT);
	assert_int_equal(b->check.interval_ms, 2000);
	assert_int_equal(b->check.timeout_ms, 2000);
	assert_int_equal(b->check.fall, 3);
	assert_int_equal(b->check.rise, 2);
	assert_null(b->check.path);
	spec_free(s);
}

static void
places_name_file_and_line(void **state)
{
	struct spec *s = load("\n[pool p]\n" FRONTEND "\n" BACKEND);

	(void)state;
	assert_int_equal(s->files_n, 1);
	assert_ptr_equal(s->pools[0].place.file, s->files[0]);
	assert_int_equal(s->pools[0].place.line, 2);
	assert_ptr_equal(s->frontends[0].place.file, s->files[0]);
	assert_int_equal(s->frontends[0].place.line, 3);
	assert_ptr_equal(s->frontends[0].listens[0].place.file, s->files[0]);
	assert_int_equal(s->frontends[0].listens[0].place.line, 4);
	assert_int_equal(s->backends[0].place.line, 7);
	assert_ptr_equal(s->backends[0].servers[0]->place.file, s->files[0]);
	assert_int_equal(s->backends[0].servers[0]->place.line, 8);
	spec_free(s);
}

static void
global_keys_are_taken(void **state)
{
	struct spec *s =
	    load("[global]\nadmin = /run/a.sock mode=600\n"
	         "log = off\nuser = root\ngroup = root\n"
	         "node = lb-1.example\ndrain_timeout = 2m\n"
	         "shutdown_delay = 5s\ndrain_idle_timeout = 10ms\n" FRONTEND
	             BACKEND);

	(void)state;
	assert_string_equal(s->global.admin.all[0].text, "/run/a.sock");
	assert_int_equal(s->global.admin.all[0].mode, 0600);
	assert_int_equal(s->global.log.n, 1);
	assert_int_equal(s->global.log.logs[0].kind, LOG_SINK_OFF);
	assert_string_equal(s->global.user, "root");
	assert_string_equal(s->global.group, "root");
	assert_string_equal(s->global.node, "lb-1.example");
	assert_int_equal(s->global.drain_timeout_ms, 120000);
	assert_int_equal(s->global.shutdown_delay_ms, 5000);
	assert_int_equal(s->global.drain_idle_timeout_ms, 10);
	spec_free(s);
	s = load("[global]\nadmin = /run/a.sock\n" FRONTEND BACKEND);
	assert_int_equal(s->global.admin.all[0].mode, 0660);
	spec_free(s);
}

static void
pools_are_taken_and_the_first_is_the_default(void **state)
{
	struct spec *s = load(
	    "[frontend g]\nlisten = :81\nbackend = b\n"
	    "pool = slow\n" FRONTEND BACKEND "[pool fast]\nthreads = 1024\n"
	    "promotion = always\n[pool slow]\nthreads=1\n");

	(void)state;
	assert_int_equal(s->pools_n, 2);
	assert_string_equal(s->pools[0].name, "fast");
	assert_int_equal(s->pools[0].classes[0].threads, 1024);
	assert_false(s->pools[0].threads_auto);
	assert_int_equal(s->pools[0].promotion, POLICY_ALWAYS);
	assert_int_equal(s->pools[1].classes[0].threads, 1);
	assert_int_equal(s->pools[1].promotion, POLICY_ADAPTIVE);
	assert_int_equal(s->frontends[0].pool, 1);
	assert_int_equal(s->frontends[1].pool, 0);
	spec_free(s);
}

static void
pools_take_classes_ranges_shards_and_orders(void **state)
{
	struct spec *s = load("[pool a]\nthreads = 4 nice=-5,2\tnice=19 , 1\n"
	                      "shards = 7\norder = priority\n"
	                      "promotion = kernel\n"
	                      "[pool b]\nshards = 2\nthreads = 2..8\n"
	                      "order = fifo\n"
	                      "[pool c]\nthreads = 9..9\n" FRONTEND BACKEND);
	const struct pool_spec *p = s->pools;

	(void)state;
	assert_int_equal(p[0].classes_n, 3);
	assert_int_equal(p[0].classes[0].threads, 4);
	assert_int_equal(p[0].classes[0].nice, -5);
	assert_int_equal(p[0].classes[1].threads, 2);
	assert_int_equal(p[0].classes[1].nice, 19);
	assert_int_equal(p[0].classes[2].threads, 1);
	assert_int_equal(p[0].classes[2].nice, 0);
	assert_int_equal(p[0].shards, 7);
	assert_false(p[0].shards_auto);
	assert_int_equal(p[0].order, ORDER_PRIORITY);
	assert_int_equal(p[0].promotion, POLICY_KERNEL);

	assert_int_equal(p[1].threads_min, 2);
	assert_int_equal(p[1].threads_max, 8);
	assert_int_equal(p[1].classes_n, 1);
	assert_int_equal(p[1].classes[0].threads, 2);
	assert_int_equal(p[1].shards, 2);
	assert_int_equal(p[1].order, ORDER_FIFO);

	assert_int_equal(p[2].threads_max, 0);
	assert_int_equal(p[2].classes[0].threads, 9);
	assert_int_equal(p[2].shards, 5);
	spec_free(s);
}

static void
pool_on_given_cpus_has_that_many_threads(void **state)
{
	char text[300];
	cpu_set_t usable;
	struct spec *s;
	int cpu = 0;

	(void)state;
	cpus_allowed(&usable);
	while (!CPU_ISSET(cpu, &usable))
		cpu++;
	snprintf(text, sizeof(text),
	    "[pool p]\nthreads = auto\ncpus = %d\n" FRONTEND BACKEND, cpu);
	s = load(text);
	assert_true(s->pools[0].cpus_given);
	assert_int_equal(CPU_COUNT(&s->pools[0].cpus), 1);
	assert_true(CPU_ISSET(cpu, &s->pools[0].cpus));
	assert_int_equal(s->pools[0].classes[0].threads, 1);
	assert_int_equal(s->pools[0].shards, 1);
	spec_free(s);
}

static void
listen_addresses_are_taken(void **state)
{
	struct spec *s = load("[frontend f]\nbackend = b\nlisten = :80\n"
	                      "listen = *:81\nlisten = [::]:82\n"
	                      "listen = 10.0.0.1:83\nlisten = unix:/run/f\n"
	                      "listen = unix:/run/g mode=0600\n" BACKEND);
	const struct listen_spec *l = s->frontends[0].listens;
	static const bool both[] = {true, true, false, false, false, false};
	static const char *const texts[] = {":80", "*:81", "[::]:82",
	    "10.0.0.1:83", "unix:/run/f", "unix:/run/g"};

	(void)state;
	assert_int_equal(s->frontends[0].listens_n, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_string_equal(l[i].text, texts[i]);
		assert_int_equal(l[i].both_families, both[i]);
	}
	assert_int_equal(l[3].addr.in.sin_family, AF_INET);
	assert_string_equal(l[4].addr.un.sun_path, "/run/f");
	assert_int_equal(l[4].mode, 0666);
	assert_int_equal(l[5].mode, 0600);
	spec_free(s);
}

static void
servers_are_taken_in_order(void **state)
{
	struct spec *s = load(FRONTEND "[backend b]\n"
	                               "server = a 10.0.0.1:80 weight=0\n"
	                               "server = b\t[::1]:81\tweight=256\n"
	                               "server = c unix:/run/a=b\n");
	struct server_spec *const *v = s->backends[0].servers;
	char out[ADDR_TEXT_SIZE];

	(void)state;
	assert_int_equal(s->backends[0].servers_n, 3);
	assert_string_equal(v[0]->name, "a");
	assert_string_equal(v[0]->address, "10.0.0.1:80");
	assert_int_equal(v[0]->weight, 0);
	assert_string_equal(addr_text(&v[1]->addr, out), "[::1]:81");
	assert_int_equal(v[1]->weight, 256);
	assert_string_equal(v[2]->address, "unix:/run/a=b");
	spec_free(s);
}

static void
frontends_refer_to_backends_below_them(void **state)
{
	struct spec *s =
	    load("[frontend f]\nlisten = :80\nbackend = d\n" BACKEND
	         "[backend c]\nserver = s 10.0.0.1:80\n"
	         "[backend d]\nserver = s 10.0.0.1:80\n");

	(void)state;
	assert_int_equal(s->frontends[0].routes[0].backend, 2);
	/* One that nobody refers to is not an error. */
	assert_int_equal(s->backends_n, 3);
	spec_free(s);
}

static void
http_check_has_its_options(void **state)
{
	struct spec *s = load(FRONTEND BACKEND
	    "check = http path=/healthz host=app.example:8080 method=HEAD "
	    "status=204 interval=10ms timeout=1d fall=1 rise=1000\n");
	const struct check_spec *c = &s->backends[0].check;

	(void)state;
	assert_int_equal(c->kind, CHECK_HTTP);
	assert_string_equal(c->path, "/healthz");
	assert_string_equal(c->host, "app.example:8080");
	assert_string_equal(c->method, "HEAD");
	assert_false(status_set_has(&c->status, 203));
	assert_true(status_set_has(&c->status, 204));
	assert_false(status_set_has(&c->status, 205));
	assert_int_equal(c->interval_ms, 10);
	assert_int_equal(c->timeout_ms, 86400000);
	assert_int_equal(c->fall, 1);
	assert_int_equal(c->rise, 1000);
	spec_free(s);

	s = load(FRONTEND BACKEND "check = http\n");
	c = &s->backends[0].check;
	assert_string_equal(c->path, "/");
	assert_null(c->host);
	assert_string_equal(c->method, "GET");
	assert_false(status_set_has(&c->status, 199));
	assert_true(status_set_has(&c->status, 200));
	assert_true(status_set_has(&c->status, 399));
	assert_false(status_set_has(&c->status, 400));
	spec_free(s);
}

static void
check_can_be_off(void **state)
{
	struct spec *s = load(FRONTEND BACKEND "check = off\n");

	(void)state;
	assert_int_equal(s->backends[0].check.kind, CHECK_OFF);
	spec_free(s);
}

#define DEFAULTS                                                               \
	"[defaults]\ntimeout_connect = 1s\ntimeout_client = 2s\n"              \
	"timeout_server = 3s\ntimeout_client_fin = 4s\n"                       \
	"timeout_server_fin = 5s\nretries = 6\ncheck = http path=/d\n"

static void
assert_defaults_hold(const char *text)
{
	struct spec *s = load(text);
	const struct backend_spec *b = s->backends;

	assert_int_equal(s->frontends[0].timeout_client_ms, 2000);
	assert_int_equal(s->frontends[0].timeout_client_fin_ms, 4000);
	assert_int_equal(b[0].timeout_connect_ms, 1000);
	assert_int_equal(b[0].timeout_server_ms, 3000);
	assert_int_equal(b[0].timeout_server_fin_ms, 5000);
	assert_int_equal(b[0].retries, 6);
	assert_string_equal(b[0].check.path, "/d");
	/* The second backend has its own. */
	assert_int_equal(b[1].timeout_connect_ms, 9000);
	assert_int_equal(b[1].retries, 0);
	assert_int_equal(b[1].check.kind, CHECK_CONNECT);
	assert_int_equal(b[1].timeout_server_ms, 3000);
	spec_free(s);
}

static void
defaults_hold_wherever_they_stand(void **state)
{
#define OWN                                                                    \
	"[backend c]\nserver = s 10.0.0.1:80\ntimeout_connect = 9s\n"          \
	"retries = 0\ncheck = connect\n"
	(void)state;
	assert_defaults_hold(DEFAULTS FRONTEND BACKEND OWN);
	assert_defaults_hold(FRONTEND BACKEND DEFAULTS OWN);
	assert_defaults_hold(FRONTEND BACKEND OWN DEFAULTS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(smallest_file_gets_every_default),
	    cmocka_unit_test(places_name_file_and_line),
	    cmocka_unit_test(global_keys_are_taken),
	    cmocka_unit_test(pools_are_taken_and_the_first_is_the_default),
	    cmocka_unit_test(pools_take_classes_ranges_shards_and_orders),
	    cmocka_unit_test(pool_on_given_cpus_has_that_many_threads),
	    cmocka_unit_test(listen_addresses_are_taken),
	    cmocka_unit_test(servers_are_taken_in_order),
	    cmocka_unit_test(frontends_refer_to_backends_below_them),
	    cmocka_unit_test(http_check_has_its_options),
	    cmocka_unit_test(check_can_be_off),
	    cmocka_unit_test(defaults_hold_wherever_they_stand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
