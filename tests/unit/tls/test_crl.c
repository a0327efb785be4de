/* SPDX-License-Identifier: MIT
 * Revocation along whole chains: which authorities need a CRL, and whose CRL is
 * verified with whose key.
 */
#include "fixture.h"

#include <openssl/x509.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/* The authorities of a chain, the last issuer first; a set of them is a mask of
 * bits. */
enum { ROOT, UPPER, LOWER, AUTHORITIES };

/* Added to the time of day that OpenSSL sees. */
static time_t passed_s;

/* Takes the place of gettimeofday(2) for OpenSSL 3.2 and later. */
int
gettimeofday(struct timeval *restrict ret_now, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	ret_now->tv_sec = now.tv_sec + passed_s;
	ret_now->tv_usec = now.tv_nsec / 1000;
	return 0;
}

/* Takes the place of time(3) for OpenSSL and lfproxy. */
time_t
time(time_t *ret_now)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	if (ret_now)
		*ret_now = now.tv_sec;
	return now.tv_sec;
}

static const struct made *authorities[AUTHORITIES];
static struct tls_pair server_pair;

static int
setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	passed_s = 0;
	for (int i = 0; i < AUTHORITIES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "authority %d", i);
		authorities[i] = made_new(&(struct made_how){.cn = name,
		    .is_ca = true,
		    .own_key = true,
		    .issuer = i > 0 ? authorities[i - 1] : NULL});
	}
	server_pair.cert = made_write(
	    made_new(&(struct made_how){.cn = "a.test"}), NULL, "server.pem");
	return 0;
}

#define CRL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)

/* Adds a file's text to another one. */
static void
append(const char *to, const char *from)
{
	char *text = fixture_read(from);
	FILE *file = fopen(to, "a");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	free(text);
}

/* A chain, and what the verifying side knows of it. */
struct scene {
	int issuer;       /* of the leaf */
	unsigned ca;      /* the authorities in the file `ca` */
	unsigned crls;    /* the authorities with a list in the file `crl` */
	unsigned expired; /* those whose list is out of date */
	int revoked;      /* the certificate that its issuer's list names: an
	                   * authority, AUTHORITIES for the leaf, -1 for none */
	bool sent;        /* the peer sends the authorities between */
};

static const struct made *
revoked_by(const struct scene *scene, int issuer, const struct made *leaf)
{
	if (scene->revoked == AUTHORITIES)
		return scene->issuer == issuer ? leaf : NULL;
	return scene->revoked == issuer + 1 ? authorities[scene->revoked]
	                                    : NULL;
}

static void
write_files(const struct scene *scene, const struct made *leaf,
    struct tls_settings *ret_settings)
{
	ret_settings->ca = fixture_write_text("ca.pem", "");
	ret_settings->crl = fixture_write_text("crl.pem", "");
	for (int i = AUTHORITIES - 1; i >= 0; i--) {
		if (scene->ca >> i & 1)
			append(ret_settings->ca,
			    made_write_cert(authorities[i], "one.pem"));
		if (scene->crls >> i & 1)
			append(ret_settings->crl,
			    made_write_crl(authorities[i],
			        revoked_by(scene, i, leaf),
			        scene->expired >> i & 1 ? -60 : 3600,
			        "one.crl"));
	}
}

/* Whether an authority in `ca` ends chains: none of `ca` leads on from there.
 */
static bool
is_anchor(const struct scene *scene, int authority)
{
	return (scene->ca >> authority & 1) &&
	       (authority == ROOT || !(scene->ca >> (authority - 1) & 1));
}

/* The rule: from the leaf up to the first anchor each certificate needs its
 * issuer's list, which is in date and does not name it; the anchor may be named
 * by none. */
static bool
should_pass(const struct scene *scene)
{
	int issuer = scene->issuer;
	int cert = AUTHORITIES;

	for (;; cert = issuer--) {
		if (issuer < 0 || (!(scene->ca >> issuer & 1) &&
		                      !(scene->sent && issuer > ROOT)))
			return false;
		if (!(scene->crls >> issuer & 1) ||
		    (scene->expired >> issuer & 1) || scene->revoked == cert)
			return false;
		if (is_anchor(scene, issuer))
			return issuer == ROOT || scene->revoked != issuer ||
			       !(scene->crls >> (issuer - 1) & 1);
	}
}

static void
send_chain(SSL_CTX *ctx, const struct scene *scene, const struct made *leaf)
{
	assert_int_equal(
	    SSL_CTX_use_cert_and_key(ctx, leaf->x509, leaf->key, NULL, 1), 1);
	for (int i = scene->issuer; scene->sent && i > ROOT; i--)
		assert_int_equal(
		    SSL_CTX_add1_chain_cert(ctx, authorities[i]->x509), 1);
}

/* Returns whether lfproxy takes a client, and whether its handshake resumes. */
static bool
client_passes(struct tls_context *server, SSL_CTX *client,
    SSL_SESSION **session, bool *ret_resumed)
{
	struct pair ends = pair_made(
	    plain_client(client, "a.test"), ssl_made(server, TLS_ACCEPTS));
	bool ok;

	if (*session)
		SSL_set_session(ends.client, *session);
	ok = pair_shake_and_talk(&ends);
	*ret_resumed = ok && SSL_session_reused(ends.server);
	SSL_SESSION_free(*session);
	*session = ok ? SSL_get1_session(ends.client) : NULL;
	SSL_set_shutdown(
	    ends.client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_set_shutdown(
	    ends.server, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	pair_free(&ends);
	return ok;
}

static bool
scene_passes_client(const struct scene *scene, const struct made *leaf)
{
	struct tls_settings settings = settings_accepts(&server_pair, 1);
	SSL_CTX *client = plain_client_ctx();
	SSL_SESSION *session = NULL;
	struct tls_context *server;
	bool ok, resumed;

	settings.verify = TLS_VERIFY_REQUIRED;
	write_files(scene, leaf, &settings);
	server = context_made(&settings, TLS_ACCEPTS);
	send_chain(client, scene, leaf);
	ok = client_passes(server, client, &session, &resumed);
	if (ok) {
		assert_true(client_passes(server, client, &session, &resumed));
		assert_true(resumed);
	}
	SSL_SESSION_free(session);
	SSL_CTX_free(client);
	tls_context_unref(server);
	return ok;
}

static bool
scene_passes_server(const struct scene *scene, const struct made *leaf)
{
	struct tls_settings settings = settings_connects(NULL);
	struct tls_peer peer = {.host = "a.test"};
	SSL_CTX *server = SSL_CTX_new(TLS_server_method());
	struct tls_context *client;
	struct pair ends;
	struct err err;
	bool ok;

	write_files(scene, leaf, &settings);
	client = context_made(&settings, TLS_CONNECTS);
	send_chain(server, scene, leaf);
	ends = pair_made(ssl_made(client, TLS_CONNECTS), SSL_new(server));
	SSL_set_accept_state(ends.server);
	if (!tls_peer_prepare(ends.client, &peer, &err))
		fail_msg("%s", err.text);
	ok = pair_shake(&ends);
	pair_free(&ends);
	SSL_CTX_free(server);
	tls_context_unref(client);
	return ok;
}

static void
assert_scene(const struct scene *scene)
{
	const struct made *leaf = made_new(&(struct made_how){.cn = "leaf",
	    .sans = "DNS:a.test",
	    .own_key = true,
	    .issuer = authorities[scene->issuer]});
	bool right = should_pass(scene);

	if (scene_passes_client(scene, leaf) != right ||
	    scene_passes_server(scene, leaf) != right)
		fail_msg("issuer %d, ca %x, crls %x, expired %x, revoked %d, "
		         "%s: should %s",
		    scene->issuer, scene->ca, scene->crls, scene->expired,
		    scene->revoked, scene->sent ? "sent" : "not sent",
		    right ? "pass" : "not pass");
}

/* Calls assert_scene for each set of authorities in `ca`, with the chain sent
 * and not. */
static void
assert_scenes(struct scene scene)
{
	for (unsigned ca = 1; ca < 1u << (scene.issuer + 1); ca++) {
		for (int sent = 0; sent < 2; sent++) {
			scene.ca = ca;
			scene.sent = sent;
			assert_scene(&scene);
		}
	}
}

static void
each_certificate_below_the_anchor_needs_a_crl(void **state)
{
	for (int issuer = ROOT; issuer < AUTHORITIES; issuer++) {
		for (unsigned crls = 1; crls < 1u << (issuer + 1); crls++)
			assert_scenes((struct scene){
			    .issuer = issuer, .crls = crls, .revoked = -1});
	}
}

static void
any_revoked_certificate_of_a_chain_is_refused(void **state)
{
	const unsigned all = (1u << AUTHORITIES) - 1;

	for (int issuer = ROOT; issuer < AUTHORITIES; issuer++) {
		for (int revoked = UPPER; revoked <= AUTHORITIES; revoked++)
			assert_scenes((struct scene){
			    .issuer = issuer, .crls = all, .revoked = revoked});
	}
}

static void
a_crl_out_of_date_counts_as_none(void **state)
{
	const unsigned all = (1u << AUTHORITIES) - 1;

	for (int expired = ROOT; expired < AUTHORITIES; expired++)
		assert_scenes((struct scene){.issuer = LOWER,
		    .crls = all,
		    .expired = 1u << expired,
		    .revoked = -1});
}

/* -- Ends of resumption -- */

/* Resumes once a second until some seconds after the session should be over:
 * session_timeout after the first handshake, or with the certificate. */
static void
assert_session_ends(int version, bool tickets, long cert_s, unsigned timeout_s)
{
	struct tls_settings settings = settings_accepts(&server_pair, 1);
	const struct made *leaf = made_new(&(struct made_how){.cn = "leaf",
	    .issuer = authorities[ROOT],
	    .from_s = -60,
	    .to_s = cert_s});
	const long end = cert_s < (long)timeout_s ? cert_s : (long)timeout_s;
	SSL_CTX *client = plain_client_ctx();
	SSL_SESSION *session = NULL;
	struct tls_context *server;
	bool ok, resumed;

	settings.verify = TLS_VERIFY_REQUIRED;
	settings.tickets = tickets;
	settings.session_timeout_s = timeout_s;
	settings.ca = made_write_cert(authorities[ROOT], "ca.pem");
	server = context_made(&settings, TLS_ACCEPTS);
	SSL_CTX_set_max_proto_version(client, version);
	SSL_CTX_use_cert_and_key(client, leaf->x509, leaf->key, NULL, 1);
	assert_true(client_passes(server, client, &session, &resumed));
	do {
		passed_s++;
		ok = client_passes(server, client, &session, &resumed);
	} while (resumed && passed_s < end + 5);
	/* The clock may tick meanwhile. */
	if (passed_s < end - 2 || passed_s > end + 2)
		fail_msg("TLS %x, %s, certificate %ld s, timeout %u s: resumed "
		         "for %ld s",
		    version, tickets ? "tickets" : "ids", cert_s, timeout_s,
		    (long)passed_s);
	assert_true(ok ? passed_s <= cert_s : cert_s < (long)timeout_s);
	SSL_SESSION_free(session);
	SSL_CTX_free(client);
	tls_context_unref(server);
}

static void
resumption_does_not_outlive_the_certificate_or_the_timeout(void **state)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		for (int tickets = 0; tickets < 2; tickets++) {
			passed_s = 0;
			assert_session_ends(v, tickets, 12, 300);
			passed_s = 0;
			assert_session_ends(v, tickets, 3600, 12);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    CRL_TEST(each_certificate_below_the_anchor_needs_a_crl),
	    CRL_TEST(any_revoked_certificate_of_a_chain_is_refused),
	    CRL_TEST(a_crl_out_of_date_counts_as_none),
	    CRL_TEST(
	        resumption_does_not_outlive_the_certificate_or_the_timeout),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
