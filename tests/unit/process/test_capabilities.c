/* SPDX-License-Identifier: MIT
 * The capabilities that a configuration needs.
 */
#include "process/capabilities.h"

#include <linux/capability.h>
#include <string.h>

#include "net/sock_options.h"
#include "unit.h"

#define BIT(capability) (UINT64_C(1) << (capability))

/* A frontend with one address, and a backend with one server. */
struct fixture {
	struct spec spec;
	struct frontend_spec frontend;
	struct listen_spec listen;
	struct backend_spec backend;
	struct server_spec server, *servers[1];
};

static void
begin(struct fixture *f)
{
	struct err err;

	memset(f, 0, sizeof(*f));
	f->spec.frontends = &f->frontend;
	f->spec.backends = &f->backend;
	f->spec.frontends_n = f->spec.backends_n = 1;
	f->frontend.listens = &f->listen;
	f->servers[0] = &f->server;
	f->backend.servers = f->servers;
	f->frontend.listens_n = f->backend.servers_n = 1;
	assert_true(
	    addr_parse("127.0.0.1:0", ADDR_LISTEN, &f->listen.addr, &err));
}

static uint64_t
needed(const struct fixture *f)
{
	return capabilities_needed(&f->spec, HOLDER_LEAVES_ROOT);
}

static void
most_options_need_none(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.listen.sock.keepalive.on = SWITCH_ON;
	f.listen.sock.dscp = 46;
	f.server.sock.rcvbuf = 1 << 20;
	assert_int_equal(needed(&f), 0);
}

static void
options_of_servers_need_net_raw(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.server.sock.mark = 1;
	assert_int_equal(needed(&f), BIT(CAP_NET_RAW));
	begin(&f);
	f.server.source.kind = SOURCE_CLIENT;
	assert_int_equal(needed(&f), BIT(CAP_NET_RAW));
	begin(&f);
	f.backend.servers_n = 0;
	f.backend.source.kind = SOURCE_CLIENT;
	assert_int_equal(needed(&f), BIT(CAP_NET_RAW));
}

static void
options_of_a_bound_address_are_kept_for_reloads_of_a_service(void **state)
{
	const uint64_t service = BIT(CAP_NET_RAW) | BIT(CAP_NET_BIND_SERVICE);
	struct fixture f;

	(void)state;
	begin(&f);
	f.listen.sock.transparent = SWITCH_ON;
	assert_int_equal(needed(&f), 0);
	assert_int_equal(capabilities_needed(&f.spec, HOLDER_OTHER), service);
	begin(&f);
	strcpy(f.listen.sock.interface, "lo");
	assert_int_equal(needed(&f), 0);
	assert_int_equal(capabilities_needed(&f.spec, HOLDER_OTHER), service);
}

static void
net_admin_is_for_congestion_and_without_a_user_for_drop(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	strcpy(f.server.sock.congestion, "notallowed");
	assert_int_equal(needed(&f), BIT(CAP_NET_ADMIN));
	begin(&f);
	f.frontend.on_deny.action = GATE_DROP;
	assert_int_equal(needed(&f), 0);
	assert_true(
	    capabilities_needed(&f.spec, HOLDER_ROOT) & BIT(CAP_NET_ADMIN));
}

static void
low_ports_are_for_those_that_have_one_and_for_services(void **state)
{
	struct fixture f;
	struct err err;

	(void)state;
	begin(&f);
	assert_int_equal(capabilities_needed(&f.spec, HOLDER_OTHER),
	    BIT(CAP_NET_BIND_SERVICE));
	assert_false(
	    capabilities_needed(&f.spec, HOLDER_ROOT) & BIT(CAP_SYS_ADMIN));
	/* Where each user may bind each port, none is low. */
	assert_true(
	    addr_parse("127.0.0.1:65535", ADDR_LISTEN, &f.listen.addr, &err));
	assert_int_equal(needed(&f), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(most_options_need_none),
	    cmocka_unit_test(options_of_servers_need_net_raw),
	    cmocka_unit_test(
	        options_of_a_bound_address_are_kept_for_reloads_of_a_service),
	    cmocka_unit_test(
	        net_admin_is_for_congestion_and_without_a_user_for_drop),
	    cmocka_unit_test(
	        low_ports_are_for_those_that_have_one_and_for_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
