/* SPDX-License-Identifier: MIT
 * The peers that are accepted: servers by name and authority, clients by
 * authority and CRL; and the alert that the refused ones get.
 */
#include "fixture.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "tls/counters.h"
#include "tls/facts.h"
#include "tls/server_name.h"

/* An authority, and certificates of it and of others. */
static const struct made *root, *other_root, *middle;
static char *root_file;
/* Sent by clients behind their chain, unless NULL. */
static const struct made *chain_end;

static int
setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	root = made_new(&(struct made_how){.cn = "root", .is_ca = true});
	other_root = made_new(&(struct made_how){
	    .cn = "other root", .is_ca = true, .own_key = true});
	middle = made_new(&(struct made_how){
	    .cn = "middle", .is_ca = true, .own_key = true, .issuer = root});
	root_file = made_write_cert(root, "root.pem");
	chain_end = NULL;
	return 0;
}

#define VERIFY_TEST(f)                                                         \
	cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)

static const struct made *
leaf_made(const struct made *issuer, const char *sans, long from_s, long to_s)
{
	return made_new(&(struct made_how){.cn = "cn.test",
	    .sans = sans,
	    .issuer = issuer,
	    .from_s = from_s,
	    .to_s = to_s});
}

/* Settings by which a CN may have the name. */
static struct tls_settings
settings_take_cn(void)
{
	struct tls_settings settings = settings_connects(root_file);

	settings.common_name = true;
	return settings;
}

/* The alert that counters have counted, as the smallest one; 0: none. */
static unsigned
first_alert(const uint64_t alerts[TLS_ALERTS])
{
	unsigned alert = 1;

	while (alert < TLS_ALERTS && alerts[alert] == 0)
		alert++;
	return alert % TLS_ALERTS;
}

/* -- Servers -- */

/* Connects to a server with that certificate.  Returns X509_V_OK or why it was
 * refused; *ret_alert: what the server was told. */
static long
server_result(const struct made *leaf, const struct tls_settings *settings,
    const struct tls_peer *peer, unsigned *ret_alert)
{
	static unsigned files;
	char name[32];
	struct tls_pair pair = {.cert = NULL};
	struct tls_settings serving;
	struct tls_context *server, *client;
	struct tls_counts counts;
	struct pair ends;
	struct err err;
	long result;
	bool ok;

	snprintf(name, sizeof(name), "server-%u.pem", files++);
	pair.cert = made_write(leaf, middle, name);
	serving = settings_accepts(&pair, 1);
	server = context_made(&serving, TLS_ACCEPTS);
	client = context_made(settings, TLS_CONNECTS);
	ends = pair_made(
	    ssl_made(client, TLS_CONNECTS), ssl_made(server, TLS_ACCEPTS));
	if (!tls_peer_prepare(ends.client, peer, &err))
		fail_msg("%s", err.text);
	ok = pair_shake(&ends);
	result = SSL_get_verify_result(ends.client);
	assert_int_equal(
	    ok, result == X509_V_OK || settings->verify == TLS_VERIFY_NONE);
	pair_free(&ends);
	tls_context_counts(server, &counts);
	if (ret_alert)
		*ret_alert = first_alert(counts.alerts_received);
	assert_int_equal(counts.done + counts.failed, counts.begun);
	tls_context_counts(client, &counts);
	assert_int_equal(counts.begun, 1);
	assert_int_equal(counts.done, ok);
	assert_int_equal(counts.failed, !ok);
	tls_context_unref(server);
	tls_context_unref(client);
	return result;
}

static void
servers_are_verified(void **state)
{
	const struct made *self = made_new(&(struct made_how){
	    .cn = "self", .sans = "DNS:a.test", .own_key = true});
	const struct {
		const struct made *leaf;
		long result;
		unsigned alert;
	} table[] = {
	    {leaf_made(root, "DNS:a.test", 0, 0), X509_V_OK, 0},
	    {leaf_made(middle, "DNS:a.test", 0, 0), X509_V_OK, 0},
	    {leaf_made(root, "DNS:b.test", 0, 0), X509_V_ERR_HOSTNAME_MISMATCH,
	        SSL3_AD_BAD_CERTIFICATE},
	    {leaf_made(root, "DNS:a.test", -7200, -3600),
	        X509_V_ERR_CERT_HAS_EXPIRED, SSL3_AD_CERTIFICATE_EXPIRED},
	    {leaf_made(root, "DNS:a.test", 3600, 7200),
	        X509_V_ERR_CERT_NOT_YET_VALID, SSL3_AD_BAD_CERTIFICATE},
	    {leaf_made(other_root, "DNS:a.test", 0, 0),
	        X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
	        TLS1_AD_UNKNOWN_CA},
	    {self, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, TLS1_AD_UNKNOWN_CA},
	};
	struct tls_settings settings = settings_connects(root_file);
	struct tls_peer peer = {.host = "a.test", .ip = "192.0.2.1"};

	for (size_t i = 0; i < UNIT_N(table); i++) {
		unsigned alert;
		long result =
		    server_result(table[i].leaf, &settings, &peer, &alert);

		if (result != table[i].result || alert != table[i].alert)
			fail_msg("%zu: %s, alert %u", i,
			    X509_verify_cert_error_string(result), alert);
	}
}

static void
a_cn_is_a_name_only_if_that_is_wanted(void **state)
{
	const struct {
		const char *sans, *host;
		bool refused, refused_with_cn;
	} table[] = {
	    {NULL, "cn.test", true, false},
	    {NULL, "cn.test.", true, false},
	    {"IP:192.0.2.1", "cn.test", true, false},
	    {"IP:192.0.2.1", NULL, false, false},
	    {NULL, NULL, true, true},
	    {NULL, "b.test", true, true},
	    {"DNS:a.test", "cn.test", true, true},
	    {"DNS:a.test", "a.test", false, false},
	};
	struct tls_settings strict = settings_connects(root_file);
	struct tls_settings lax = settings_take_cn();

	(void)state;
	for (size_t i = 0; i < UNIT_N(table); i++) {
		const struct made *leaf = leaf_made(root, table[i].sans, 0, 0);
		struct tls_peer peer = {
		    .host = table[i].host, .ip = "192.0.2.1"};
		unsigned alert;
		long result = server_result(leaf, &strict, &peer, &alert);
		bool by_cn = table[i].refused && !table[i].refused_with_cn;

		if ((result != X509_V_OK) != table[i].refused)
			fail_msg("%zu: %s", i, tls_server_verify_text(result));
		assert_int_equal(
		    alert, table[i].refused ? SSL3_AD_BAD_CERTIFICATE : 0);
		assert_int_equal(tls_server_name_error(result) != NULL, by_cn);
		result = server_result(leaf, &lax, &peer, NULL);
		if ((result != X509_V_OK) != table[i].refused_with_cn)
			fail_msg("%zu with CN: %s", i,
			    tls_server_verify_text(result));
		assert_null(tls_server_name_error(result));
	}
}

static void
servers_are_not_verified_if_told_so(void **state)
{
	struct tls_settings settings = settings_connects(NULL);
	struct tls_peer peer = {.ip = "192.0.2.1"};

	settings.verify = TLS_VERIFY_NONE;
	assert_int_not_equal(
	    server_result(leaf_made(other_root, "DNS:b.test", 0, 0), &settings,
	        &peer, NULL),
	    X509_V_OK);
}

static void
a_server_certificate_in_ca_is_trusted(void **state)
{
	const struct made *leaf = leaf_made(middle, "DNS:a.test", 0, 0);
	struct tls_settings settings =
	    settings_connects(made_write_cert(leaf, "leaf-ca.pem"));
	struct tls_peer peer = {.host = "a.test"};

	assert_int_equal(
	    server_result(leaf, &settings, &peer, NULL), X509_V_OK);
}

static void
the_name_checked_is_name_then_sni_then_host_then_ip(void **state)
{
	static const struct {
		const char *sans, *name, *sni;
		struct tls_peer peer;
		bool ok;
	} table[] = {
	    {"DNS:n.test", "n.test", "s.test", {.host = "h.test"}, true},
	    {"DNS:s.test,DNS:h.test", "n.test", "s.test", {.host = "h.test"},
	        false},
	    {"DNS:s.test", NULL, "s.test", {.host = "h.test"}, true},
	    {"DNS:h.test", NULL, "s.test", {.host = "h.test"}, false},
	    {"DNS:c.test", NULL, "client",
	        {.host = "h.test", .client_sni = "c.test"}, true},
	    {"DNS:h.test", NULL, "client",
	        {.host = "h.test", .client_sni = "c.test"}, false},
	    {"DNS:h.test", NULL, "client", {.host = "h.test"}, true},
	    {"DNS:h.test", NULL, NULL, {.host = "h.test", .ip = "192.0.2.1"},
	        true},
	    {"IP:192.0.2.1", NULL, NULL, {.host = "h.test", .ip = "192.0.2.1"},
	        false},
	    {"IP:192.0.2.1", NULL, NULL, {.ip = "192.0.2.1"}, true},
	    {"IP:192.0.2.1", NULL, NULL, {.host = "192.0.2.1"}, true},
	    {"IP:192.0.2.2", NULL, NULL, {.ip = "192.0.2.1"}, false},
	    {"DNS:192.0.2.1", NULL, NULL, {.ip = "192.0.2.1"}, false},
	    {"IP:2001:db8::1", NULL, NULL, {.ip = "2001:db8::1"}, true},
	    {"IP:192.0.2.9", "192.0.2.9", NULL, {.ip = "192.0.2.1"}, true},
	    {"DNS:*.b.test", NULL, NULL, {.host = "a.b.test"}, true},
	    {"DNS:*.test", NULL, NULL, {.host = "a.b.test"}, false},
	    {"DNS:a*.b.test", NULL, NULL, {.host = "aa.b.test"}, false},
	};

	for (size_t i = 0; i < UNIT_N(table); i++) {
		struct tls_settings settings = settings_connects(root_file);
		long result;

		settings.name = (char *)(uintptr_t)table[i].name;
		settings.sni = (char *)(uintptr_t)table[i].sni;
		result = server_result(leaf_made(root, table[i].sans, 0, 0),
		    &settings, &table[i].peer, NULL);
		if ((result == X509_V_OK) != table[i].ok)
			fail_msg("%zu: %s", i,
			    X509_verify_cert_error_string(result));
	}
}

static void
a_server_without_any_name_is_refused_before(void **state)
{
	struct tls_settings settings = settings_connects(root_file);
	struct tls_context *context = context_made(&settings, TLS_CONNECTS);
	SSL *ssl = ssl_made(context, TLS_CONNECTS);
	struct err err;

	assert_false(
	    tls_peer_prepare(ssl, &(struct tls_peer){.ip = NULL}, &err));
	assert_non_null(strstr(err.text, "set name"));
	SSL_free(ssl);
	tls_context_unref(context);
}

static void
the_sni_is_a_name_only(void **state)
{
	static const struct {
		const char *sni;
		struct tls_peer peer;
		const char *sent;
	} table[] = {
	    {NULL, {.host = "h.test"}, "h.test"},
	    {NULL, {.ip = "192.0.2.1"}, NULL},
	    {NULL, {.host = "192.0.2.1"}, NULL},
	    {NULL, {.host = "2001:db8::1"}, NULL},
	    {"s.test", {.host = "h.test"}, "s.test"},
	    {"client", {.host = "h.test", .client_sni = "c.test"}, "c.test"},
	    {"client", {.host = "h.test"}, "h.test"},
	    {"client", {.ip = "192.0.2.1"}, NULL},
	};

	for (size_t i = 0; i < UNIT_N(table); i++) {
		struct tls_settings settings = settings_connects(NULL);
		struct tls_context *context;
		const char *sent;
		struct err err;
		SSL *ssl;

		settings.verify = TLS_VERIFY_NONE;
		settings.sni = (char *)(uintptr_t)table[i].sni;
		context = context_made(&settings, TLS_CONNECTS);
		ssl = ssl_made(context, TLS_CONNECTS);
		assert_true(tls_peer_prepare(ssl, &table[i].peer, &err));
		sent = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
		if (!sent != !table[i].sent ||
		    (sent && strcmp(sent, table[i].sent) != 0))
			fail_msg("%zu: '%s'", i, sent ? sent : "(none)");
		SSL_free(ssl);
		tls_context_unref(context);
	}
}

/* -- Clients -- */

/* Settings of a server that verifies clients with root. */
static struct tls_settings
settings_verifying(enum tls_verify verify)
{
	static struct tls_pair pair;
	struct tls_settings settings;

	pair.cert = made_write(
	    made_new(&(struct made_how){.cn = "server", .key = "RSA"}), NULL,
	    "verifying.pem");
	settings = settings_accepts(&pair, 1);
	settings.verify = verify;
	settings.ca = root_file;
	return settings;
}

/* A client with that certificate (NULL: none) connects.  Returns whether the
 * handshake succeeds; *ret_alert: what the client was told. */
static bool
client_result(const struct tls_settings *settings, const struct made *leaf,
    const struct made *chain, int version, unsigned *ret_alert)
{
	struct tls_context *server = context_made(settings, TLS_ACCEPTS);
	SSL_CTX *ctx = plain_client_ctx();
	struct tls_counts counts;
	struct tls_facts facts;
	struct pair ends;
	bool ok;

	SSL_CTX_set_max_proto_version(ctx, version);
	if (leaf)
		assert_int_equal(SSL_CTX_use_cert_and_key(
		                     ctx, leaf->x509, leaf->key, NULL, 1),
		    1);
	if (chain)
		assert_int_equal(SSL_CTX_add1_chain_cert(ctx, chain->x509), 1);
	if (chain_end)
		assert_int_equal(
		    SSL_CTX_add1_chain_cert(ctx, chain_end->x509), 1);
	ends = pair_made(
	    plain_client(ctx, "a.test"), ssl_made(server, TLS_ACCEPTS));
	ok = pair_shake(&ends);
	tls_facts_read(ends.server, &facts);
	if (ok) {
		assert_int_equal(facts.has_cert, leaf != NULL);
		assert_null(facts.verify_error);
		assert_string_equal(facts.cn, leaf ? "cn.test" : "");
	}
	pair_free(&ends);
	tls_context_counts(server, &counts);
	assert_int_equal(counts.begun, 1);
	assert_int_equal(counts.done, ok);
	assert_int_equal(counts.failed, !ok);
	*ret_alert = first_alert(counts.alerts_sent);
	SSL_CTX_free(ctx);
	tls_context_unref(server);
	return ok;
}

static void
assert_client(const struct tls_settings *settings, const struct made *leaf,
    const struct made *chain, unsigned alert)
{
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		unsigned found = 0;
		bool ok = client_result(settings, leaf, chain, v, &found);

		if (ok != (alert == 0) || found != alert)
			fail_msg("%s: alert %u, not %u",
			    ok ? "taken" : "refused", found, alert);
	}
}

static void
clients_are_verified(void **state)
{
	const struct made *self =
	    made_new(&(struct made_how){.cn = "cn.test", .own_key = true});
	const struct {
		const struct made *leaf, *chain;
		unsigned alert;
	} table[] = {
	    {leaf_made(root, NULL, 0, 0), NULL, 0},
	    {leaf_made(middle, NULL, 0, 0), middle, 0},
	    {leaf_made(middle, NULL, 0, 0), NULL, TLS1_AD_UNKNOWN_CA},
	    {leaf_made(other_root, NULL, 0, 0), NULL, TLS1_AD_UNKNOWN_CA},
	    {self, NULL, TLS1_AD_UNKNOWN_CA},
	    {leaf_made(root, NULL, -7200, -3600), NULL,
	        SSL3_AD_CERTIFICATE_EXPIRED},
	    {leaf_made(root, NULL, 3600, 7200), NULL, SSL3_AD_BAD_CERTIFICATE},
	};
	struct tls_settings required = settings_verifying(TLS_VERIFY_REQUIRED);
	struct tls_settings optional = settings_verifying(TLS_VERIFY_OPTIONAL);

	for (size_t i = 0; i < UNIT_N(table); i++) {
		assert_client(
		    &required, table[i].leaf, table[i].chain, table[i].alert);
		assert_client(
		    &optional, table[i].leaf, table[i].chain, table[i].alert);
	}
}

/* Connects twice with the certificate and expects the verdict, the second time
 * of a resumed session. */
static void
assert_verdict(const struct tls_settings *settings, const struct made *leaf,
    int version, long verdict)
{
	struct tls_context *server = context_made(settings, TLS_ACCEPTS);
	SSL_SESSION *session = NULL;
	SSL_CTX *ctx = plain_client_ctx();

	SSL_CTX_set_max_proto_version(ctx, version);
	assert_int_equal(
	    SSL_CTX_use_cert_and_key(ctx, leaf->x509, leaf->key, NULL, 1), 1);
	for (int i = 0; i < 2; i++) {
		SSL *client = plain_client(ctx, "a.test");
		struct tls_facts facts;
		struct pair ends;

		if (session)
			SSL_set_session(client, session);
		ends = pair_made(client, ssl_made(server, TLS_ACCEPTS));
		assert_true(pair_shake_and_talk(&ends));
		tls_facts_read(ends.server, &facts);
		assert_true(facts.has_cert);
		assert_int_equal(facts.verify_result, verdict);
		assert_int_equal(
		    facts.verify_error == NULL, verdict == X509_V_OK);
		assert_string_equal(facts.cn, "cn.test");
		/* A session whose certificate has expired is over. */
		if (i > 0 && verdict != X509_V_ERR_CERT_HAS_EXPIRED)
			assert_true(facts.resumed);
		SSL_SESSION_free(session);
		session = SSL_get1_session(ends.client);
		SSL_set_shutdown(
		    ends.client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
		pair_free(&ends);
	}
	SSL_SESSION_free(session);
	SSL_CTX_free(ctx);
	tls_context_unref(server);
}

static void
a_bad_certificate_passes_with_its_verdict_if_requested(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUEST);
	const struct {
		const struct made *leaf;
		long verdict;
	} table[] = {
	    {leaf_made(root, NULL, 0, 0), X509_V_OK},
	    {leaf_made(middle, NULL, 0, 0),
	        X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY},
	    {made_new(&(struct made_how){.cn = "cn.test", .own_key = true}),
	        X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT},
	    {leaf_made(root, NULL, -7200, -3600), X509_V_ERR_CERT_HAS_EXPIRED},
	    {leaf_made(root, NULL, 3600, 7200), X509_V_ERR_CERT_NOT_YET_VALID},
	};

	for (size_t i = 0; i < UNIT_N(table); i++) {
		for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++)
			assert_verdict(
			    &settings, table[i].leaf, v, table[i].verdict);
	}
	assert_client(&settings, NULL, NULL, 0);
}

static void
a_client_without_certificate_is_refused_if_required(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);
	unsigned alert;

	assert_false(
	    client_result(&settings, NULL, NULL, TLS1_3_VERSION, &alert));
	assert_int_equal(alert, SSL_AD_CERTIFICATE_REQUIRED);
	assert_false(
	    client_result(&settings, NULL, NULL, TLS1_2_VERSION, &alert));
	assert_int_equal(alert, SSL3_AD_HANDSHAKE_FAILURE);
	settings = settings_verifying(TLS_VERIFY_OPTIONAL);
	assert_client(&settings, NULL, NULL, 0);
	settings = settings_verifying(TLS_VERIFY_NONE);
	assert_client(&settings, NULL, NULL, 0);
}

static void
verifying_clients_needs_authorities(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_OPTIONAL);

	settings.ca = NULL;
	assert_context_refused(&settings, TLS_ACCEPTS, "needs ca");
	settings.ca = fixture_write_text("empty-ca.pem", "");
	assert_context_refused(
	    &settings, TLS_ACCEPTS, "empty-ca.pem' has no certificate");
	settings.ca = fixture_path("missing-ca.pem");
	assert_context_refused(&settings, TLS_ACCEPTS, "missing-ca.pem");
	settings.ca = root_file;
	settings.crl = fixture_write_text("empty.crl", "");
	assert_context_refused(&settings, TLS_ACCEPTS, "has no CRL");
	settings.crl = fixture_path("missing.crl");
	assert_context_refused(&settings, TLS_ACCEPTS, "missing.crl");
}

static void
authorities_may_be_a_directory(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);

	settings.ca = fixture_path("cas");
	assert_int_equal(mkdir(settings.ca, 0700), 0);
	assert_context_refused(&settings, TLS_ACCEPTS, "has no certificate");
	made_write_cert(other_root, "cas/a.crt");
	made_write_cert(root, "cas/b.pem");
	made_write_cert(root, "cas/again.pem");
	assert_client(&settings, leaf_made(root, NULL, 0, 0), NULL, 0);
	assert_client(&settings, leaf_made(other_root, NULL, 0, 0), NULL, 0);
}

static void
the_names_of_the_authorities_are_sent(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_OPTIONAL);
	struct tls_context *server = context_made(&settings, TLS_ACCEPTS);
	SSL_CTX *ctx = plain_client_ctx();
	struct pair ends =
	    pair_made(plain_client(ctx, NULL), ssl_made(server, TLS_ACCEPTS));
	const STACK_OF(X509_NAME) * names;

	assert_true(pair_shake(&ends));
	names = SSL_get0_peer_CA_list(ends.client);
	assert_int_equal(sk_X509_NAME_num(names), 1);
	assert_int_equal(X509_NAME_cmp(sk_X509_NAME_value(names, 0),
	                     X509_get_subject_name(root->x509)),
	    0);
	pair_free(&ends);
	SSL_CTX_free(ctx);
	tls_context_unref(server);
}

static void
a_revoked_certificate_is_refused(void **state)
{
	const struct made *good = leaf_made(root, NULL, 0, 0);
	const struct made *bad = leaf_made(root, "DNS:cn.test", 0, 0);
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);
	struct tls_settings serving = settings_connects(root_file);
	struct tls_peer peer = {.host = "cn.test"};

	settings.crl = made_write_crl(root, bad, 3600, "root.crl");
	assert_client(&settings, good, NULL, 0);
	assert_client(&settings, bad, NULL, SSL3_AD_CERTIFICATE_REVOKED);
	/* The chain's other authority has no CRL. */
	assert_client(&settings, leaf_made(middle, NULL, 0, 0), middle,
	    TLS1_AD_UNKNOWN_CA);
	serving.crl = settings.crl;
	assert_int_equal(server_result(leaf_made(root, "DNS:cn.test", 0, 0),
	                     &serving, &peer, NULL),
	    X509_V_OK);
	assert_int_equal(
	    server_result(bad, &serving, &peer, NULL), X509_V_ERR_CERT_REVOKED);
}

static void
a_crl_out_of_date_is_a_warning(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);
	struct tls_context *context;
	struct err_list list;

	settings.crl = made_write_crl(root, NULL, -3600, "old.crl");
	context = context_made(&settings, TLS_ACCEPTS);
	err_list_init(&list);
	tls_context_warnings(context, &list);
	assert_int_equal(list.n, 1);
	assert_string_equal(list.entries[0].file, settings.crl);
	assert_non_null(strstr(list.entries[0].text, "out of date"));
	err_list_fini(&list);
	tls_context_unref(context);
	assert_client(&settings, leaf_made(root, NULL, 0, 0), NULL,
	    SSL3_AD_CERTIFICATE_EXPIRED);
}

static void
the_depth_of_chains_is_bounded(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);
	const struct made *low = made_new(&(struct made_how){
	    .cn = "low", .is_ca = true, .own_key = true, .issuer = middle});
	const struct made *leaf = leaf_made(middle, NULL, 0, 0);
	const struct made *deep = leaf_made(low, NULL, 0, 0);

	settings.depth = 1;
	assert_client(&settings, leaf, middle, 0);
	chain_end = middle;
	assert_client(&settings, deep, low, TLS1_AD_UNKNOWN_CA);
	settings.depth = 0;
	assert_client(&settings, deep, low, 0);
}

/* -- Replacement in memory -- */

/* Returns whether the server takes a client with that certificate. */
static bool
takes(struct tls_context *server, const struct made *leaf)
{
	SSL_CTX *ctx = plain_client_ctx();
	struct pair ends;
	bool ok;

	assert_int_equal(
	    SSL_CTX_use_cert_and_key(ctx, leaf->x509, leaf->key, NULL, 1), 1);
	ends = pair_made(
	    plain_client(ctx, "a.test"), ssl_made(server, TLS_ACCEPTS));
	ok = pair_shake(&ends);
	pair_free(&ends);
	SSL_CTX_free(ctx);
	return ok;
}

/* Has the part replaced by what the file has. */
static void
replace(struct tls_context *server, enum tls_trust part, const char *file)
{
	char *pem = fixture_read(file);
	struct err err;

	assert_true(tls_context_stage_trust(server, part, pem, &err));
	assert_true(tls_context_commit_trust(server, part, &err));
	assert_true(tls_context_trust_is_in_memory(server, part));
	free(pem);
}

static void
replaced_authorities_stay_until_their_file_changes(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);
	const struct made *old = leaf_made(root, NULL, 0, 0);
	const struct made *new = leaf_made(other_root, NULL, 0, 0);
	struct tls_context *server = context_made(&settings, TLS_ACCEPTS);
	struct err err;

	assert_true(takes(server, old));
	replace(server, TLS_TRUST_CA, made_write_cert(other_root, "other.pem"));
	assert_false(takes(server, old));
	assert_true(takes(server, new));
	assert_true(tls_context_refresh(server, &err));
	assert_true(takes(server, new));
	assert_true(tls_context_trust_is_in_memory(server, TLS_TRUST_CA));
	made_write_cert(root, "again.pem");
	assert_int_equal(rename(fixture_path("again.pem"), root_file), 0);
	assert_true(tls_context_refresh(server, &err));
	assert_false(tls_context_trust_is_in_memory(server, TLS_TRUST_CA));
	assert_true(takes(server, old));
	assert_false(takes(server, new));
	tls_context_unref(server);
}

static void
a_replaced_crl_revokes(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);
	const struct made *leaf = leaf_made(root, NULL, 0, 0);
	struct tls_context *server;

	settings.crl = made_write_crl(root, NULL, 3600, "root.crl");
	server = context_made(&settings, TLS_ACCEPTS);
	assert_true(takes(server, leaf));
	replace(server, TLS_TRUST_CRL,
	    made_write_crl(root, leaf, 3600, "next.crl"));
	assert_false(takes(server, leaf));
	assert_false(tls_context_trust_is_in_memory(server, TLS_TRUST_CA));
	tls_context_unref(server);
}

static void
what_is_announced_changes_nothing_and_can_be_dropped(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);
	const struct made *leaf = leaf_made(root, NULL, 0, 0);
	struct tls_context *server = context_made(&settings, TLS_ACCEPTS);
	char *pem = made_cert_pem(other_root);
	struct err err;

	assert_true(tls_context_stage_trust(server, TLS_TRUST_CA, pem, &err));
	assert_true(takes(server, leaf));
	assert_int_equal(
	    tls_context_trust_count(server, TLS_TRUST_CA, true), 1);
	assert_true(tls_context_abort_trust(server, TLS_TRUST_CA));
	assert_false(tls_context_abort_trust(server, TLS_TRUST_CA));
	assert_int_equal(
	    tls_context_trust_count(server, TLS_TRUST_CA, true), 0);
	assert_false(tls_context_commit_trust(server, TLS_TRUST_CA, &err));
	assert_true(takes(server, leaf));
	free(pem);
	tls_context_unref(server);
}

static void
unusable_authorities_are_refused_when_announced(void **state)
{
	struct tls_settings settings = settings_verifying(TLS_VERIFY_REQUIRED);
	struct tls_context *server = context_made(&settings, TLS_ACCEPTS);
	char *pem = made_cert_pem(other_root);
	struct err err;

	assert_false(
	    tls_context_stage_trust(server, TLS_TRUST_CA, "nothing", &err));
	assert_non_null(strstr(err.text, root_file));
	assert_null(tls_context_trust_file(server, TLS_TRUST_CRL));
	assert_false(tls_context_stage_trust(server, TLS_TRUST_CRL, pem, &err));
	tls_context_unref(server);
	assert_int_equal(mkdir(fixture_path("cas"), 0700), 0);
	made_write_cert(root, "cas/root.pem");
	settings.ca = fixture_path("cas");
	server = context_made(&settings, TLS_ACCEPTS);
	assert_false(tls_context_stage_trust(server, TLS_TRUST_CA, pem, &err));
	assert_non_null(strstr(err.text, "is not one file"));
	tls_context_unref(server);
	free(pem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    VERIFY_TEST(servers_are_verified),
	    VERIFY_TEST(a_cn_is_a_name_only_if_that_is_wanted),
	    VERIFY_TEST(servers_are_not_verified_if_told_so),
	    VERIFY_TEST(a_server_certificate_in_ca_is_trusted),
	    VERIFY_TEST(the_name_checked_is_name_then_sni_then_host_then_ip),
	    VERIFY_TEST(a_server_without_any_name_is_refused_before),
	    VERIFY_TEST(the_sni_is_a_name_only),
	    VERIFY_TEST(clients_are_verified),
	    VERIFY_TEST(a_bad_certificate_passes_with_its_verdict_if_requested),
	    VERIFY_TEST(a_client_without_certificate_is_refused_if_required),
	    VERIFY_TEST(verifying_clients_needs_authorities),
	    VERIFY_TEST(authorities_may_be_a_directory),
	    VERIFY_TEST(the_names_of_the_authorities_are_sent),
	    VERIFY_TEST(a_revoked_certificate_is_refused),
	    VERIFY_TEST(a_crl_out_of_date_is_a_warning),
	    VERIFY_TEST(the_depth_of_chains_is_bounded),
	    VERIFY_TEST(replaced_authorities_stay_until_their_file_changes),
	    VERIFY_TEST(a_replaced_crl_revokes),
	    VERIFY_TEST(what_is_announced_changes_nothing_and_can_be_dropped),
	    VERIFY_TEST(unusable_authorities_are_refused_when_announced),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
