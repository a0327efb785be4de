/* SPDX-License-Identifier: MIT
 * Sessions that clients resume: tickets under our own keys and under those of a
 * file, and ids.
 */
#include "fixture.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "tls/counters.h"

#define TIMEOUT_S 600u

static uint64_t now_ns = 1000 * NS_PER_S;

static uint64_t
stopped_now_ns(void)
{
	return now_ns;
}

static void
time_passes(uint64_t seconds)
{
	now_ns += seconds * NS_PER_S;
}

static struct tls_context *
server_made(bool tickets, char *tickets_file)
{
	static struct tls_pair pair;
	struct tls_settings settings;

	pair.cert = made_write(
	    made_new(&(struct made_how){.cn = "a.test"}), NULL, "a.pem");
	settings = settings_accepts(&pair, 1);
	settings.tickets = tickets;
	settings.tickets_file = tickets_file;
	settings.session_timeout_s = TIMEOUT_S;
	return context_made(&settings, TLS_ACCEPTS);
}

/* Gives OpenSSL's sessions to the SSL_CTX's owner, the newest last. */
static int
keep_newest(SSL *ssl, SSL_SESSION *session)
{
	SSL_SESSION **kept = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	SSL_SESSION_free(*kept);
	*kept = session;
	return 1;
}

/* A client that keeps its newest session. */
struct client {
	SSL_CTX *ctx;
	SSL_SESSION *session;
};

static void
client_init(struct client *client, int version)
{
	client->ctx = plain_client_ctx();
	client->session = NULL;
	SSL_CTX_set_max_proto_version(client->ctx, version);
	SSL_CTX_set_session_cache_mode(
	    client->ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(client->ctx, keep_newest);
	SSL_CTX_set_app_data(client->ctx, &client->session);
}

static void
client_fini(struct client *client)
{
	SSL_SESSION_free(client->session);
	SSL_CTX_free(client->ctx);
}

/* Connects with the kept session, if there is one; returns whether it was
 * resumed. */
static bool
client_connects(struct client *client, struct tls_context *server)
{
	SSL *ssl = plain_client(client->ctx, "a.test");
	struct pair pair;
	bool resumed;

	if (client->session)
		SSL_set_session(ssl, client->session);
	pair = pair_made(ssl, ssl_made(server, TLS_ACCEPTS));
	assert_true(pair_shake_and_talk(&pair));
	resumed = SSL_session_reused(pair.server);
	assert_int_equal(SSL_session_reused(pair.client), resumed);
	/* OpenSSL does not report a renewed ticket of TLS 1.2. */
	if (resumed && SSL_version(ssl) == TLS1_2_VERSION) {
		SSL_SESSION_free(client->session);
		client->session = SSL_get1_session(ssl);
	}
	/* Without an end OpenSSL forgets the session. */
	SSL_set_shutdown(
	    pair.client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_set_shutdown(
	    pair.server, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	pair_free(&pair);
	return resumed;
}

static void
assert_resumes(struct tls_context *first, struct tls_context *second, bool does)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct client client;

		client_init(&client, v);
		assert_false(client_connects(&client, first));
		assert_non_null(client.session);
		assert_int_equal(client_connects(&client, second), does);
		client_fini(&client);
	}
}

static void
tickets_resume(void **state)
{
	struct tls_context *server = server_made(true, NULL);
	struct tls_counts counts;

	assert_resumes(server, server, true);
	tls_context_counts(server, &counts);
	assert_int_equal(counts.begun, 4);
	assert_int_equal(counts.done, 4);
	assert_int_equal(counts.resumed, 2);
	assert_int_equal(counts.key_operations, 2);
	tls_context_unref(server);
}

static void
tickets_of_another_section_do_not(void **state)
{
	struct tls_context *a = server_made(true, NULL);
	struct tls_context *b = server_made(true, NULL);

	assert_resumes(a, b, false);
	tls_context_unref(a);
	tls_context_unref(b);
}

static void
tickets_survive_refresh_and_adoption(void **state)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct tls_context *old = server_made(true, NULL), *new;
		struct client client;
		struct tls_counts counts;
		struct err err;

		client_init(&client, v);
		assert_false(client_connects(&client, old));
		assert_true(tls_context_refresh(old, &err));
		assert_true(client_connects(&client, old));
		new = server_made(true, NULL);
		tls_context_adopt(new, old);
		tls_context_unref(old);
		assert_true(client_connects(&client, new));
		tls_context_counts(new, &counts);
		assert_int_equal(counts.done, 3);
		assert_int_equal(counts.resumed, 2);
		tls_context_unref(new);
		client_fini(&client);
	}
}

/* A ticket decrypts for the session timeout after its key was the newest, and
 * no longer. */
static void
keys_rotate(void **state)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct tls_context *server = server_made(true, NULL);
		struct client early, late, renewed;

		client_init(&early, v);
		client_init(&late, v);
		client_init(&renewed, v);
		assert_false(client_connects(&early, server));
		assert_false(client_connects(&renewed, server));
		time_passes(TIMEOUT_S / 2 - 1);
		assert_false(client_connects(&late, server));
		time_passes(TIMEOUT_S - 1);
		assert_true(client_connects(&late, server));
		/* This renews the ticket under the present key. */
		assert_true(client_connects(&renewed, server));
		time_passes(2);
		assert_false(client_connects(&early, server));
		time_passes(TIMEOUT_S / 2 - 3);
		assert_true(client_connects(&renewed, server));
		time_passes(TIMEOUT_S / 2 + TIMEOUT_S + 1);
		assert_false(client_connects(&renewed, server));
		client_fini(&early);
		client_fini(&late);
		client_fini(&renewed);
		tls_context_unref(server);
	}
}

/* -- Files -- */

static void
fill(uint8_t *key, size_t n, uint8_t seed)
{
	for (size_t i = 0; i < n; i++)
		key[i] = (uint8_t)(seed + 7 * i);
}

static char *
binary_file(const char *name, size_t n, uint8_t seed)
{
	uint8_t key[80];

	fill(key, n, seed);
	return fixture_write(name, key, n);
}

/* Writes a line of base64 for each seed, with keys of n bytes. */
static char *
lines_file(const char *name, size_t n, const char *seeds)
{
	char text[2048] = "";

	for (; *seeds; seeds++) {
		uint8_t key[80];
		unsigned char line[128];

		fill(key, n, (uint8_t)*seeds);
		EVP_EncodeBlock(line, key, (int)n);
		strcat(strcat(text, (char *)line), "\n");
	}
	return fixture_write_text(name, text);
}

static void
nodes_with_one_file_share_tickets(void **state)
{
	static const size_t sizes[] = {48, 80};

	for (size_t i = 0; i < UNIT_N(sizes); i++) {
		char *file = binary_file("keys", sizes[i], 1);
		char *lines = lines_file("lines", sizes[i], "\1");
		struct tls_context *a = server_made(true, file);
		struct tls_context *b = server_made(true, file);
		struct tls_context *c = server_made(true, lines);
		struct tls_context *d =
		    server_made(true, binary_file("other", sizes[i], 2));

		assert_resumes(a, b, true);
		assert_resumes(b, c, true);
		assert_resumes(c, a, true);
		assert_resumes(a, d, false);
		tls_context_unref(a);
		tls_context_unref(b);
		tls_context_unref(c);
		tls_context_unref(d);
	}
}

static void
the_last_line_but_one_encrypts(void **state)
{
	struct tls_context *abc = server_made(true, lines_file("1", 80, "abc"));
	struct tls_context *bcd = server_made(true, lines_file("2", 80, "bcd"));
	struct tls_context *b = server_made(true, lines_file("3", 80, "b"));
	struct tls_context *c = server_made(true, lines_file("4", 80, "c"));

	assert_resumes(abc, b, true);
	assert_resumes(abc, c, false);
	assert_resumes(abc, bcd, true);
	/* A node that has been given the next line, and one that has not. */
	assert_resumes(bcd, abc, true);
	tls_context_unref(abc);
	tls_context_unref(bcd);
	tls_context_unref(b);
	tls_context_unref(c);
}

static void
a_file_is_read_again_at_refresh(void **state)
{
	char *file = lines_file("keys", 48, "ab");
	struct tls_context *server = server_made(true, file);
	struct client client;
	struct err err;

	client_init(&client, TLS1_3_VERSION);
	assert_false(client_connects(&client, server));
	lines_file("keys", 48, "abc");
	assert_true(tls_context_refresh(server, &err));
	assert_true(client_connects(&client, server));
	lines_file("keys", 48, "cd");
	assert_true(tls_context_refresh(server, &err));
	assert_false(client_connects(&client, server));
	fixture_write_text("keys", "no key");
	assert_false(tls_context_refresh(server, &err));
	assert_true(client_connects(&client, server));
	client_fini(&client);
	tls_context_unref(server);
}

static void
bad_files_are_refused(void **state)
{
	struct tls_pair pair = {
	    .cert = made_write(
	        made_new(&(struct made_how){.cn = "a.test"}), NULL, "a.pem")};
	struct tls_settings settings = settings_accepts(&pair, 1);
	const struct {
		char *file;
		const char *words;
	} table[] = {
	    {fixture_path("missing"), "No such file"},
	    {fixture_write_text("empty", ""), "is empty"},
	    {fixture_write_text("blank", "\n\n"), "is empty"},
	    {binary_file("long", 49, 1), "line 1 is not a key"},
	    {lines_file("short", 47, "ab"), "line 1 is not a key"},
	    {fixture_write_text("text", "not base64\n"), "line 1 is not a key"},
	    {lines_file("many", 48, "abcdefghijklmnopq"), "more than 16 keys"},
	};

	for (size_t i = 0; i < UNIT_N(table); i++) {
		settings.tickets_file = table[i].file;
		assert_context_refused(&settings, TLS_ACCEPTS, table[i].words);
		assert_context_refused(&settings, TLS_ACCEPTS, table[i].file);
	}
}

/* -- Without tickets -- */

static void
ids_resume_without_tickets(void **state)
{
	struct tls_context *server = server_made(false, NULL);

	assert_resumes(server, server, true);
	/* No ticket has the session itself: those of TLS 1.3 are an id. */
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct client client;
		const unsigned char *ticket;
		size_t n;

		client_init(&client, v);
		assert_false(client_connects(&client, server));
		SSL_SESSION_get0_ticket(client.session, &ticket, &n);
		assert_int_equal(n, v == TLS1_2_VERSION ? 0 : 32);
		client_fini(&client);
	}
	tls_context_unref(server);
}

static void
ids_resume_clients_that_take_no_tickets(void **state)
{
	struct tls_context *server = server_made(true, NULL);
	struct client client;

	client_init(&client, TLS1_2_VERSION);
	SSL_CTX_set_options(client.ctx, SSL_OP_NO_TICKET);
	assert_false(client_connects(&client, server));
	assert_true(client_connects(&client, server));
	client_fini(&client);
	tls_context_unref(server);
}

static void
clients_are_told_the_session_timeout(void **state)
{
	struct tls_context *server = server_made(true, NULL);

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct client client;

		client_init(&client, v);
		assert_false(client_connects(&client, server));
		assert_int_equal(
		    SSL_SESSION_get_ticket_lifetime_hint(client.session),
		    TIMEOUT_S);
		client_fini(&client);
	}
	tls_context_unref(server);
}

static void
a_session_ends_when_clients_are_verified_otherwise(void **state)
{
	const struct made *root =
	    made_new(&(struct made_how){.cn = "root", .is_ca = true});
	const struct made *leaf =
	    made_new(&(struct made_how){.cn = "leaf", .issuer = root});
	const struct made *revoked =
	    made_new(&(struct made_how){.cn = "revoked", .issuer = root});
	struct tls_pair pair = {
	    .cert = made_write(
	        made_new(&(struct made_how){.cn = "a.test"}), NULL, "a.pem")};

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct tls_settings settings = settings_accepts(&pair, 1);
		struct tls_context *server;
		struct client client;
		struct err err;

		settings.verify = TLS_VERIFY_REQUIRED;
		settings.ca = made_write_cert(root, "root.pem");
		settings.crl = made_write_crl(root, NULL, 3600, "root.crl");
		server = context_made(&settings, TLS_ACCEPTS);
		client_init(&client, v);
		SSL_CTX_use_cert_and_key(
		    client.ctx, leaf->x509, leaf->key, NULL, 1);
		assert_false(client_connects(&client, server));
		assert_true(tls_context_refresh(server, &err));
		assert_true(client_connects(&client, server));
		made_write_crl(root, revoked, 3600, "root.crl");
		assert_true(tls_context_refresh(server, &err));
		assert_false(client_connects(&client, server));
		client_fini(&client);
		tls_context_unref(server);
	}
}

/* A server that verifies its clients, and a client with a certificate that is
 * valid for that long. */
static struct tls_context *
verifying_server_made(
    struct client *client, int version, long valid_s, bool tickets)
{
	const struct made *root =
	    made_new(&(struct made_how){.cn = "root", .is_ca = true});
	const struct made *leaf = made_new(&(struct made_how){
	    .cn = "client", .issuer = root, .from_s = -60, .to_s = valid_s});
	struct tls_pair pair = {.cert = made_write(root, NULL, "server.pem")};
	struct tls_settings settings = settings_accepts(&pair, 1);

	settings.verify = TLS_VERIFY_REQUIRED;
	settings.tickets = tickets;
	settings.ca = made_write_cert(root, "root.pem");
	settings.session_timeout_s = TIMEOUT_S;
	client_init(client, version);
	assert_int_equal(SSL_CTX_use_cert_and_key(
	                     client->ctx, leaf->x509, leaf->key, NULL, 1),
	    1);
	return context_made(&settings, TLS_ACCEPTS);
}

static void
a_session_ends_with_the_certificate_of_its_client(void **state)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct client client;
		struct tls_context *server =
		    verifying_server_made(&client, v, TIMEOUT_S / 2, true);

		assert_false(client_connects(&client, server));
		assert_in_range(
		    SSL_SESSION_get_ticket_lifetime_hint(client.session), 1,
		    TIMEOUT_S / 2);
		client_fini(&client);
		tls_context_unref(server);
	}
}

/* Without tickets the server keeps the sessions. */
static void
a_kept_session_ends_with_the_certificate_of_its_client(void **state)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		struct client client;
		struct tls_context *server =
		    verifying_server_made(&client, v, TIMEOUT_S / 2, false);
		struct pair pair = pair_made(plain_client(client.ctx, "a.test"),
		    ssl_made(server, TLS_ACCEPTS));

		assert_true(pair_shake_and_talk(&pair));
		assert_in_range(
		    SSL_SESSION_get_timeout(SSL_get_session(pair.server)), 1,
		    TIMEOUT_S / 2);
		pair_free(&pair);
		assert_false(client_connects(&client, server));
		assert_true(client_connects(&client, server));
		client_fini(&client);
		tls_context_unref(server);
	}
}

/* The lifetime of tickets is in seconds of the system's clock. */
static void
resuming_does_not_extend_the_session_of_a_verified_client(void **state)
{
	const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
	struct client client;
	struct tls_context *server =
	    verifying_server_made(&client, TLS1_3_VERSION, 86400, true);
	time_t start;

	assert_false(client_connects(&client, server));
	assert_int_equal(
	    SSL_SESSION_get_ticket_lifetime_hint(client.session), TIMEOUT_S);
	for (start = time(NULL); time(NULL) - start < 2;) {
		assert_true(client_connects(&client, server));
		nanosleep(&pause, NULL);
	}
	assert_true(client_connects(&client, server));
	assert_in_range(SSL_SESSION_get_ticket_lifetime_hint(client.session), 1,
	    TIMEOUT_S - 2);
	client_fini(&client);
	tls_context_unref(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(tickets_resume),
	    FIXTURE_TEST(tickets_of_another_section_do_not),
	    FIXTURE_TEST(tickets_survive_refresh_and_adoption),
	    FIXTURE_TEST(keys_rotate),
	    FIXTURE_TEST(nodes_with_one_file_share_tickets),
	    FIXTURE_TEST(the_last_line_but_one_encrypts),
	    FIXTURE_TEST(a_file_is_read_again_at_refresh),
	    FIXTURE_TEST(bad_files_are_refused),
	    FIXTURE_TEST(ids_resume_without_tickets),
	    FIXTURE_TEST(ids_resume_clients_that_take_no_tickets),
	    FIXTURE_TEST(clients_are_told_the_session_timeout),
	    FIXTURE_TEST(a_session_ends_when_clients_are_verified_otherwise),
	    FIXTURE_TEST(a_session_ends_with_the_certificate_of_its_client),
	    FIXTURE_TEST(
	        a_kept_session_ends_with_the_certificate_of_its_client),
	    FIXTURE_TEST(
	        resuming_does_not_extend_the_session_of_a_verified_client),
	};

	unit_watchdog();
	clock_replace(stopped_now_ns);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
