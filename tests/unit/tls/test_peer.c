/* SPDX-License-Identifier: MIT
 * Sessions of servers that are resumed.
 */
#include "fixture.h"

#include "tls/facts.h"

static struct tls_context *server, *client;
static char *cert_file;

static int
setup(void **state)
{
	struct tls_pair pair;
	struct tls_settings settings;

	if (fixture_setup(state) != 0)
		return -1;
	cert_file = made_write(made_new(&(struct made_how){.cn = "a.test",
	                           .sans = "DNS:a.test,DNS:b.test"}),
	    NULL, "a.pem");
	pair = (struct tls_pair){.cert = cert_file};
	settings = settings_accepts(&pair, 1);
	server = context_made(&settings, TLS_ACCEPTS);
	settings = settings_connects(cert_file);
	client = context_made(&settings, TLS_CONNECTS);
	return 0;
}

static int
teardown(void **state)
{
	tls_context_unref(server);
	tls_context_unref(client);
	return fixture_teardown(state);
}

#define PEER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Connects; returns whether the session was resumed. */
static bool
connects(struct tls_resume *resume, const char *host, int version)
{
	struct tls_peer peer = {.host = host, .resume = resume};
	struct pair pair = pair_made(
	    ssl_made(client, TLS_CONNECTS), ssl_made(server, TLS_ACCEPTS));
	struct tls_facts facts;
	struct err err = {""};
	bool resumed;

	SSL_set_max_proto_version(pair.client, version);
	if (!tls_peer_prepare(pair.client, &peer, &err))
		fail_msg("%s", err.text);
	assert_true(pair_shake_and_talk(&pair));
	resumed = SSL_session_reused(pair.client);
	tls_facts_read(pair.client, &facts);
	assert_int_equal(facts.resumed, resumed);
	assert_string_equal(facts.sni, host);
	assert_string_equal(facts.cn, "a.test");
	assert_null(facts.verify_error);
	/* Both ends break off: that spoils no session. */
	pair_free(&pair);
	return resumed;
}

static void
the_newest_session_is_resumed(void **state)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct tls_resume *resume = tls_resume_new();

		assert_false(connects(resume, "a.test", v));
		for (int i = 0; i < 5; i++)
			assert_true(connects(resume, "a.test", v));
		tls_resume_unref(resume);
	}
}

static void
nothing_is_resumed_without_a_place_for_it(void **state)
{
	assert_false(connects(NULL, "a.test", TLS1_3_VERSION));
	assert_false(connects(NULL, "a.test", TLS1_3_VERSION));
}

static void
another_server_or_name_begins_a_session(void **state)
{
	struct tls_resume *one = tls_resume_new(), *two = tls_resume_new();

	assert_false(connects(one, "a.test", TLS1_3_VERSION));
	assert_false(connects(two, "a.test", TLS1_3_VERSION));
	assert_false(connects(one, "b.test", TLS1_3_VERSION));
	assert_false(connects(one, "a.test", TLS1_3_VERSION));
	assert_true(connects(one, "a.test", TLS1_3_VERSION));
	tls_resume_unref(one);
	tls_resume_unref(two);
}

/* Without verification, so that the handshake succeeds nevertheless. */
static void
an_expired_certificate_is_not_resumed(void **state)
{
	const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
	const int64_t end = time(NULL) + 2;
	struct tls_pair file = {
	    .cert = made_write(
	        made_new(&(struct made_how){.cn = "a.test", .to_s = 2}), NULL,
	        "short.pem")};
	struct tls_settings settings = settings_accepts(&file, 1);
	struct tls_resume *resume = tls_resume_new();
	struct tls_peer peer = {.host = "a.test", .resume = resume};
	struct err err;

	tls_context_unref(server);
	server = context_made(&settings, TLS_ACCEPTS);
	settings = settings_connects(cert_file);
	settings.verify = TLS_VERIFY_NONE;
	tls_context_unref(client);
	client = context_made(&settings, TLS_CONNECTS);
	for (int i = 0; i < 2; i++) {
		struct pair pair = pair_made(ssl_made(client, TLS_CONNECTS),
		    ssl_made(server, TLS_ACCEPTS));

		while (i == 1 && time(NULL) <= end)
			nanosleep(&pause, NULL);
		assert_true(tls_peer_prepare(pair.client, &peer, &err));
		assert_true(pair_shake_and_talk(&pair));
		assert_false(SSL_session_reused(pair.client));
		pair_free(&pair);
	}
	tls_resume_unref(resume);
}

static void
a_dropped_session_is_not_resumed(void **state)
{
	struct tls_resume *resume = tls_resume_new();

	assert_false(connects(resume, "a.test", TLS1_3_VERSION));
	tls_resume_drop(resume);
	assert_false(connects(resume, "a.test", TLS1_3_VERSION));
	tls_resume_unref(resume);
	tls_resume_drop(NULL);
}

/* The authorities may have changed: the server is verified again. */
static void
a_refresh_of_the_same_files_keeps_the_sessions(void **state)
{
	struct tls_resume *resume = tls_resume_new();
	struct err err;

	assert_false(connects(resume, "a.test", TLS1_3_VERSION));
	assert_true(tls_context_refresh(client, &err));
	assert_true(connects(resume, "a.test", TLS1_3_VERSION));
	tls_resume_unref(resume);
}

static void
a_server_that_forgets_gets_a_full_handshake(void **state)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct tls_resume *resume = tls_resume_new();
		struct tls_pair pair = {.cert = cert_file};
		struct tls_settings settings = settings_accepts(&pair, 1);

		assert_false(connects(resume, "a.test", v));
		tls_context_unref(server);
		server = context_made(&settings, TLS_ACCEPTS);
		assert_false(connects(resume, "a.test", v));
		assert_true(connects(resume, "a.test", v));
		tls_resume_unref(resume);
	}
}

#define THREADS 2

/* Connections of several threads share a server's session. */
static void *
connect_often(void *arg)
{
	unsigned *failed = arg;
	static struct tls_resume *resume;
	static uint32_t next;
	uint32_t ticket = unit_ticket(&next);

	if (ticket == 0)
		atomic_store_release(&resume, tls_resume_new());
	while (!atomic_load_acquire(&resume))
		unit_nap();
	for (int i = 0; i < 100; i++) {
		struct tls_peer peer = {.host = "a.test", .resume = resume};
		struct pair pair = pair_made(ssl_made(client, TLS_CONNECTS),
		    ssl_made(server, TLS_ACCEPTS));

		if (!tls_peer_prepare(pair.client, &peer, NULL) ||
		    !pair_shake_and_talk(&pair))
			atomic_add_relaxed(failed, 1u);
		if (i % 10 == 9)
			tls_resume_drop(resume);
		pair_free(&pair);
	}
	if (atomic_add_acq_rel(&next, 1u) == 2 * THREADS - 1)
		tls_resume_unref(resume);
	return NULL;
}

static void
threads_share_a_session(void **state)
{
	struct unit_threads threads;
	unsigned failed = 0;

	unit_threads_start(&threads, THREADS, connect_often, &failed);
	unit_threads_join(&threads);
	assert_int_equal(failed, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    PEER_TEST(the_newest_session_is_resumed),
	    PEER_TEST(nothing_is_resumed_without_a_place_for_it),
	    PEER_TEST(another_server_or_name_begins_a_session),
	    PEER_TEST(an_expired_certificate_is_not_resumed),
	    PEER_TEST(a_dropped_session_is_not_resumed),
	    PEER_TEST(a_refresh_of_the_same_files_keeps_the_sessions),
	    PEER_TEST(a_server_that_forgets_gets_a_full_handshake),
	    PEER_TEST(threads_share_a_session),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
