/* SPDX-License-Identifier: MIT
 * Lines of the access log from records of every kind, up to the longest.
 */
#include "proxy/accesslog_line.h"

#include <jansson.h>
#include <stdlib.h>

#include "unit.h"

/* A session that went well, at 2026-11-21 13:05:09.123 UTC. */
static struct line
make_line(void)
{
	struct line l = {
	    .session.client = {.family = AF_INET,
	        .port = 51144,
	        .ip = {192, 0, 2, 7}},
	    .session.accepted_wall_us = 1795266309123456u,
	    .session.connect_ms = 1,
	    .session.total_ms = 5012,
	    .session.bytes_in = 77,
	    .session.bytes_out = 1337,
	    .session.slot = 42,
	    .active = 12,
	    .frontend_active = 11,
	    .backend_active = 8,
	    .server_active = 4,
	    .event = LINE_END,
	    .session.reason = CLOSE_DONE,
	};

	line_add_text(&l, "web");
	line_add_text(&l, "app");
	line_add_text(&l, "app1");
	line_add_text(&l, "127.0.0.1:80");
	line_add_text(&l, "www.example.com");
	return l;
}

static const char *
rendered(log_render render, const struct line *l)
{
	static char out[LOG_LINE_MAX + 1];
	size_t len = render(l, out, LOG_LINE_MAX);

	out[len] = '\0';
	return out;
}

static void
tcplog_is_as_in_haproxys_manual(void **state)
{
	struct line l = make_line();

	(void)state;
	assert_string_equal(rendered(line_render_tcplog, &l),
	    "192.0.2.7:51144 [21/Nov/2026:13:05:09.123] web app/app1 "
	    "0/1/5012 1337 -- 12/11/8/4/0 0/0\n");
	l.session.redispatched = true;
	l.session.retries = 2;
	l.session.reason = CLOSE_SERVER_TIMEOUT;
	assert_string_equal(rendered(line_render_tcplog, &l),
	    "192.0.2.7:51144 [21/Nov/2026:13:05:09.123] web app/app1 "
	    "0/1/5012 1337 sD 12/11/8/4/+2 0/0\n");
	l.event = LINE_ONGOING;
	l.session.reason = CLOSE_DONE;
	assert_string_equal(rendered(line_render_tcplog, &l),
	    "192.0.2.7:51144 [21/Nov/2026:13:05:09.123] web app/app1 "
	    "0/1/+5012 +1337 -- 12/11/8/4/+2 0/0\n");
	/* Another second, and the first again. */
	l.session.accepted_wall_us += 1000000;
	assert_non_null(strstr(rendered(line_render_tcplog, &l), ":10.123]"));
	l.session.accepted_wall_us -= 1000000;
	assert_non_null(strstr(rendered(line_render_tcplog, &l), ":09.123]"));
}

static void
json_and_logfmt_have_the_same_fields(void **state)
{
	struct line l = make_line();

	(void)state;
	assert_string_equal(rendered(line_render_json, &l),
	    "{\"time\":\"2026-11-21T13:05:09.123Z\","
	    "\"id\":\"0660c902a1ed80-00002a\",\"event\":\"end\","
	    "\"client\":\"192.0.2.7\",\"client_port\":51144,"
	    "\"frontend\":\"web\",\"backend\":\"app\",\"server\":\"app1\","
	    "\"server_address\":\"127.0.0.1:80\",\"wait_ms\":0,"
	    "\"connect_ms\":1,\"total_ms\":5012,\"bytes_in\":77,"
	    "\"bytes_out\":1337,\"code\":\"--\","
	    "\"reason\":\"both sides have finished\",\"sessions\":12,"
	    "\"frontend_sessions\":11,\"backend_sessions\":8,"
	    "\"server_sessions\":4,\"queue_position\":0,\"retries\":0,"
	    "\"redispatched\":false,\"peer\":null,"
	    "\"sni\":\"www.example.com\"}\n");
	assert_string_equal(rendered(line_render_logfmt, &l),
	    "time=2026-11-21T13:05:09.123Z id=0660c902a1ed80-00002a event=end "
	    "client=192.0.2.7 client_port=51144 frontend=web backend=app "
	    "server=app1 server_address=127.0.0.1:80 wait_ms=0 connect_ms=1 "
	    "total_ms=5012 bytes_in=77 bytes_out=1337 code=-- "
	    "reason=\"both sides have finished\" sessions=12 "
	    "frontend_sessions=11 backend_sessions=8 server_sessions=4 "
	    "queue_position=0 retries=0 redispatched=false peer= "
	    "sni=www.example.com\n");
}

static void
lines_of_clients_with_tls_have_its_facts(void **state)
{
	struct line l = make_line();

	(void)state;
	l.session.tls = (struct session_tls){.version = "TLSv1.3",
	    .cipher = "TLS_AES_128_GCM_SHA256",
	    .group = "X25519MLKEM768",
	    .verify = "ok",
	    .listen = 2,
	    .resumed = true};
	line_add_text(&l, "h2");
	line_add_text(&l, "0aff");
	line_add_text(&l, "CN=\"a\",O=b c");
	line_add_text(&l, "CN=ca");
	line_add_text(&l, "DNS:a.example,IP:192.0.2.1");
	assert_non_null(strstr(rendered(line_render_json, &l),
	    "\"sni\":\"www.example.com\",\"tls_version\":\"TLSv1.3\","
	    "\"tls_cipher\":\"TLS_AES_128_GCM_SHA256\","
	    "\"tls_group\":\"X25519MLKEM768\",\"tls_resumed\":true,"
	    "\"tls_alpn\":\"h2\",\"tls_failure\":null,"
	    "\"client_verify\":\"ok\",\"client_serial\":\"0aff\","
	    "\"client_subject\":\"CN=\\\"a\\\",O=b c\","
	    "\"client_issuer\":\"CN=ca\","
	    "\"client_sans\":\"DNS:a.example,IP:192.0.2.1\"}\n"));
	assert_non_null(strstr(rendered(line_render_logfmt, &l),
	    " sni=www.example.com tls_version=TLSv1.3 "
	    "tls_cipher=TLS_AES_128_GCM_SHA256 tls_group=X25519MLKEM768 "
	    "tls_resumed=true tls_alpn=h2 "
	    "tls_failure= client_verify=ok client_serial=0aff "
	    "client_subject=\"CN=\\\"a\\\",O=b c\" client_issuer=\"CN=ca\" "
	    "client_sans=DNS:a.example,IP:192.0.2.1\n"));
	assert_string_equal(rendered(line_render_tcplog, &l),
	    "192.0.2.7:51144 [21/Nov/2026:13:05:09.123] web app/app1 "
	    "0/1/5012 1337 -- 12/11/8/4/0 0/0\n");
}

static void
lines_of_servers_with_tls_have_its_facts(void **state)
{
	struct line l = make_line();

	(void)state;
	l.session.server_tls = (struct server_tls){.version = "TLSv1.3",
	    .cipher = "TLS_AES_128_GCM_SHA256",
	    .group = "P-256",
	    .verify = "ok",
	    .alpn = "h2",
	    .resumed = true};
	assert_non_null(strstr(rendered(line_render_json, &l),
	    "\"sni\":\"www.example.com\",\"server_tls_version\":\"TLSv1.3\","
	    "\"server_tls_cipher\":\"TLS_AES_128_GCM_SHA256\","
	    "\"server_tls_group\":\"P-256\",\"server_tls_resumed\":true,"
	    "\"server_tls_alpn\":\"h2\","
	    "\"server_verify\":\"ok\"}\n"));
	l.session.server_tls.group = l.session.server_tls.verify = NULL;
	l.session.server_tls.alpn[0] = '\0';
	assert_non_null(strstr(rendered(line_render_logfmt, &l),
	    " sni=www.example.com server_tls_version=TLSv1.3 "
	    "server_tls_cipher=TLS_AES_128_GCM_SHA256 server_tls_group= "
	    "server_tls_resumed=true server_tls_alpn= server_verify=\n"));
}

/* HAProxy 2.8 and later, with the number of the listen for its name. */
static void
tcplog_says_of_a_failed_handshake_what_haproxy_says(void **state)
{
	struct line l = make_line();

	(void)state;
	l.session.tls.listen = 2;
	l.session.tls.failure = "unknown ca";
	l.session.reason = CLOSE_HANDSHAKE_FAILED;
	assert_string_equal(rendered(line_render_tcplog, &l),
	    "192.0.2.7:51144 [21/Nov/2026:13:05:09.123] web/2: "
	    "SSL handshake failure (unknown ca)\n");
	l.session.tls.failure = NULL;
	l.session.reason = CLOSE_HANDSHAKE_TIMEOUT;
	assert_string_equal(rendered(line_render_tcplog, &l),
	    "192.0.2.7:51144 [21/Nov/2026:13:05:09.123] web/2: "
	    "Timeout during SSL handshake\n");
	l.session.reason = CLOSE_CLIENT_GONE_HELLO;
	assert_string_equal(rendered(line_render_tcplog, &l),
	    "192.0.2.7:51144 [21/Nov/2026:13:05:09.123] web/2: "
	    "Connection closed during SSL handshake\n");
	l.session.tls.version = "TLSv1.3";
	l.session.reason = CLOSE_KILLED_QUEUED;
	assert_non_null(strstr(rendered(line_render_tcplog, &l), " KQ "));
}

static void
who_has_named_the_client_is_its_peer(void **state)
{
	struct line l = make_line();

	(void)state;
	l.session.peer = l.session.client;
	l.session.peer.port = 3;
	assert_non_null(
	    strstr(rendered(line_render_json, &l), "\"peer\":\"192.0.2.7:3\""));
	l.session.peer =
	    (struct endpoint){.family = AF_INET6, .port = 4, .ip = {[15] = 1}};
	assert_non_null(
	    strstr(rendered(line_render_logfmt, &l), " peer=[::1]:4 "));
	l.session.peer = (struct endpoint){.family = AF_UNIX, .port = 1};
	assert_non_null(
	    strstr(rendered(line_render_json, &l), "\"peer\":\"unix:1\""));
}

/* Numbers as long as they get, names of 40, and an address of bytes of which
 * each is escaped. */
static void
the_longest_line_is_whole_in_every_format(void **state)
{
	struct line l;
	char name[41], address[181], sni[254], subject[256];
	const char *text;
	json_t *back;

	(void)state;
	memset(&l, 0xff, sizeof(l));
	l.session.tls = (struct session_tls){.version = "TLSv1.3",
	    .cipher = "ECDHE-ECDSA-CHACHA20-POLY1305",
	    .verify = "certificate is not yet valid or something longer",
	    .failure = "tlsv1 alert certificate unobtainable",
	    .listen = UINT16_MAX};
	l.session.server_tls = (struct server_tls){.version = "TLSv1.2",
	    .cipher = "ECDHE-ECDSA-CHACHA20-POLY1305",
	    .verify = "ok"};
	memset(l.session.server_tls.alpn, '"', SERVER_TLS_ALPN_SIZE - 1);
	memset(&l.session.client.ip, 0xff, sizeof(l.session.client.ip));
	l.session.client.family = l.session.peer.family = AF_INET6;
	l.session.wait_ms = l.session.connect_ms = l.session.total_ms =
	    INT64_MIN;
	l.session.bytes_in = l.session.bytes_out = INT64_MAX;
	l.texts_len = 0;
	l.event = LINE_END;
	l.session.redispatched = true;
	memset(name, 'n', 40);
	memset(address, 1, 180);
	memset(sni, 's', 253);
	name[40] = address[180] = sni[253] = '\0';
	for (int i = 0; i < 3; i++)
		line_add_text(&l, name);
	line_add_text(&l, address);
	line_add_text(&l, sni);
	memset(subject, '"', 255);
	subject[255] = '\0';
	line_add_text(&l, "h2");
	line_add_text(&l, "0123456789012345678901234567890123456789");
	line_add_text(&l, subject);
	line_add_text(&l, subject);
	line_add_text(&l, subject);
	for (int reason = 0; reason < CLOSE_REASONS; reason++) {
		l.session.reason = (uint8_t)reason;
		text = rendered(line_render_json, &l);
		back = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(back);
		assert_string_equal(address,
		    json_string_value(json_object_get(back, "server_address")));
		assert_string_equal(
		    sni, json_string_value(json_object_get(back, "sni")));
		assert_int_equal(
		    json_string_length(json_object_get(back, "client_subject")),
		    strlen(line_text(&l, LINE_SUBJECT)));
		json_decref(back);
		text = rendered(line_render_logfmt, &l);
		assert_non_null(strstr(text, "65535 sni=sss"));
		text = rendered(line_render_tcplog, &l);
		assert_non_null(strstr(text, " 0/4294967295\n"));
	}
}

static void
texts_that_are_too_long_are_cut_and_leave_room_for_the_rest(void **state)
{
	struct line l = {.event = LINE_END};
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 5; i++)
		line_add_text(&l, text);
	assert_true(l.texts_len <= LINE_TEXTS_SIZE);
	assert_int_equal(strlen(line_text(&l, LINE_SERVER)), 0);
	assert_int_equal(strlen(line_text(&l, LINE_ADDRESS)), 0);
	assert_int_equal(strlen(line_text(&l, LINE_SNI)), 0);
}

/* As HAProxy has it, where the frontend is the backend until another is. */
static void
a_session_without_a_backend_has_its_frontends_name_there(void **state)
{
	struct line l = {.event = LINE_END, .session.reason = CLOSE_DENIED};

	(void)state;
	line_add_text(&l, "web");
	for (int i = 0; i < 4; i++)
		line_add_text(&l, "");
	assert_non_null(strstr(
	    rendered(line_render_tcplog, &l), " web web/<NOSRV> 0/0/0 0 PR "));
	assert_non_null(strstr(rendered(line_render_json, &l),
	    "\"backend\":null,\"server\":null,"));
	assert_non_null(
	    strstr(rendered(line_render_json, &l), "\"sni\":null}"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tcplog_is_as_in_haproxys_manual),
	    cmocka_unit_test(lines_of_clients_with_tls_have_its_facts),
	    cmocka_unit_test(lines_of_servers_with_tls_have_its_facts),
	    cmocka_unit_test(
	        tcplog_says_of_a_failed_handshake_what_haproxy_says),
	    cmocka_unit_test(who_has_named_the_client_is_its_peer),
	    cmocka_unit_test(json_and_logfmt_have_the_same_fields),
	    cmocka_unit_test(the_longest_line_is_whole_in_every_format),
	    cmocka_unit_test(
	        texts_that_are_too_long_are_cut_and_leave_room_for_the_rest),
	    cmocka_unit_test(
	        a_session_without_a_backend_has_its_frontends_name_there),
	};

	unit_watchdog();
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
