/* SPDX-License-Identifier: MIT
 * Versions, ciphers, curves and application protocols.
 */
#include "fixture.h"

#include <openssl/err.h>

#include "tls/counters.h"
#include "tls/facts.h"

static struct tls_pair rsa_and_ec[2];

static int
setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	rsa_and_ec[0].cert =
	    made_write(made_new(&(struct made_how){
	                   .cn = "a.test", .sans = "DNS:a.test", .key = "RSA"}),
	        NULL, "rsa.pem");
	rsa_and_ec[1].cert = made_write(
	    made_new(&(struct made_how){.cn = "a.test", .sans = "DNS:a.test"}),
	    NULL, "ec.pem");
	return 0;
}

#define PROTOCOL_TEST(f)                                                       \
	cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)

static struct tls_settings
settings_made(void)
{
	return settings_accepts(rsa_and_ec, 2);
}

struct client_how {
	int min, max;
	const char *ciphers, *suites, *curves, *alpn;
};

/* Connects a client to a server with these settings; returns whether that
 * works, and the facts. */
static bool
shake(const struct tls_settings *settings, const struct client_how *how,
    struct tls_facts *ret_facts, struct tls_counts *ret_counts)
{
	struct tls_context *server = context_made(settings, TLS_ACCEPTS);
	SSL_CTX *ctx = plain_client_ctx();
	struct pair pair;
	bool ok;

	SSL_CTX_set_security_level(ctx, 0);
	SSL_CTX_set_min_proto_version(ctx, how->min);
	SSL_CTX_set_max_proto_version(ctx, how->max);
	if (how->ciphers)
		assert_int_equal(SSL_CTX_set_cipher_list(ctx, how->ciphers), 1);
	if (how->suites)
		assert_int_equal(SSL_CTX_set_ciphersuites(ctx, how->suites), 1);
	if (how->curves)
		assert_int_equal(SSL_CTX_set1_groups_list(ctx, how->curves), 1);
	if (how->alpn)
		assert_int_equal(SSL_CTX_set_alpn_protos(ctx,
		                     (const unsigned char *)how->alpn,
		                     (unsigned)strlen(how->alpn)),
		    0);
	pair =
	    pair_made(plain_client(ctx, NULL), ssl_made(server, TLS_ACCEPTS));
	ok = pair_shake(&pair);
	tls_facts_read(pair.server, ret_facts);
	pair_free(&pair);
	if (ret_counts)
		tls_context_counts(server, ret_counts);
	SSL_CTX_free(ctx);
	tls_context_unref(server);
	return ok;
}

static void
versions_are_1_2_and_1_3_by_default(void **state)
{
	struct tls_settings settings = settings_made();
	struct tls_facts facts;
	struct tls_counts counts;

	assert_true(
	    shake(&settings, &(struct client_how){.max = 0}, &facts, NULL));
	assert_int_equal(facts.version, TLS1_3_VERSION);
	assert_string_equal(facts.version_name, "TLSv1.3");
	assert_true(shake(&settings,
	    &(struct client_how){.max = TLS1_2_VERSION}, &facts, NULL));
	assert_int_equal(facts.version, TLS1_2_VERSION);
	assert_false(shake(&settings,
	    &(struct client_how){
	        .max = TLS1_1_VERSION, .ciphers = "ALL:@SECLEVEL=0"},
	    &facts, &counts));
	assert_int_equal(counts.alerts_sent[SSL_AD_PROTOCOL_VERSION], 1);
	assert_int_equal(facts.version, 0);
}

static void
versions_are_bounded_by_settings(void **state)
{
	struct tls_settings settings = settings_made();
	struct tls_facts facts;

	settings.max_version = TLS1_2_VERSION;
	assert_true(
	    shake(&settings, &(struct client_how){.max = 0}, &facts, NULL));
	assert_int_equal(facts.version, TLS1_2_VERSION);
	settings.max_version = 0;
	settings.min_version = TLS1_3_VERSION;
	assert_false(shake(&settings,
	    &(struct client_how){.max = TLS1_2_VERSION}, &facts, NULL));
	settings.min_version = TLS1_VERSION;
	settings.ciphers = (char *)(uintptr_t) "DEFAULT:@SECLEVEL=0";
	assert_true(shake(&settings,
	    &(struct client_how){
	        .max = TLS1_VERSION, .ciphers = "ALL:@SECLEVEL=0"},
	    &facts, NULL));
	assert_int_equal(facts.version, TLS1_VERSION);
	settings.max_version = TLS1_VERSION;
	settings.min_version = TLS1_2_VERSION;
	assert_context_refused(&settings, TLS_ACCEPTS, "max_version is lower");
}

/* Mozilla's "intermediate", the client's order. */
static void
default_ciphers_are_forward_secret_and_the_clients_choice(void **state)
{
	static const char *const good[] = {"ECDHE-RSA-AES128-GCM-SHA256",
	    "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384"};
	static const char *const bad[] = {"AES128-GCM-SHA256",
	    "ECDHE-RSA-AES128-SHA", "ECDHE-ECDSA-AES128-SHA256",
	    "DHE-RSA-AES128-GCM-SHA256", "AES128-SHA"};
	struct tls_settings settings = settings_made();
	struct client_how how = {.max = TLS1_2_VERSION};
	struct tls_facts facts;

	for (size_t i = 0; i < UNIT_N(good); i++) {
		how.ciphers = good[i];
		assert_true(shake(&settings, &how, &facts, NULL));
		assert_string_equal(facts.cipher, good[i]);
	}
	for (size_t i = 0; i < UNIT_N(bad); i++) {
		how.ciphers = bad[i];
		assert_false(shake(&settings, &how, &facts, NULL));
	}
	how.ciphers =
	    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256";
	assert_true(shake(&settings, &how, &facts, NULL));
	assert_string_equal(facts.cipher, "ECDHE-ECDSA-CHACHA20-POLY1305");
	how = (struct client_how){.min = TLS1_3_VERSION,
	    .suites = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"};
	assert_true(shake(&settings, &how, &facts, NULL));
	assert_string_equal(facts.cipher, "TLS_CHACHA20_POLY1305_SHA256");
}

static void
ciphers_are_as_set(void **state)
{
	struct tls_settings settings = settings_made();
	struct client_how how = {.max = TLS1_2_VERSION, .ciphers = "ALL"};
	struct tls_facts facts;

	settings.ciphers = (char *)(uintptr_t) "DHE-RSA-AES128-GCM-SHA256";
	assert_true(shake(&settings, &how, &facts, NULL));
	assert_string_equal(facts.cipher, "DHE-RSA-AES128-GCM-SHA256");
	settings = settings_made();
	settings.ciphersuites = (char *)(uintptr_t) "TLS_AES_128_CCM_SHA256";
	how = (struct client_how){.suites = "TLS_AES_128_GCM_SHA256:"
	                                    "TLS_AES_128_CCM_SHA256",
	    .min = TLS1_3_VERSION};
	assert_true(shake(&settings, &how, &facts, NULL));
	assert_string_equal(facts.cipher, "TLS_AES_128_CCM_SHA256");
}

static void
curves_are_as_set(void **state)
{
	struct tls_settings settings = settings_made();
	struct client_how how = {.curves = "P-521"};
	struct tls_facts facts;

	assert_false(shake(&settings, &how, &facts, NULL));
	settings.curves = (char *)(uintptr_t) "P-521:P-256";
	assert_true(shake(&settings, &how, &facts, NULL));
	how.curves = "X25519";
	assert_false(shake(&settings, &how, &facts, NULL));
}

static bool
has_group(const char *name)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	bool has = SSL_CTX_set1_groups_list(ctx, name) == 1;

	SSL_CTX_free(ctx);
	ERR_clear_error();
	return has;
}

/* The group that the client offers first is taken if possible, without another
 * hello; a client that has the hybrid is asked for it. */
static void
default_curves_are_a_hybrid_if_openssl_has_it_and_x25519(void **state)
{
	static const struct {
		const char *offered, *group; /* NULL: refused */
	} table[] = {{"X25519MLKEM768", "X25519MLKEM768"},
	    {"X25519MLKEM768:X25519", "X25519MLKEM768"},
	    {"X25519:X25519MLKEM768", "X25519MLKEM768"}, {"X25519", "X25519"},
	    {"P-256:X25519", "P-256"}, {"P-384", "P-384"}, {"P-521", NULL},
	    {NULL, "X25519MLKEM768"}};
	bool has_hybrid = has_group("X25519MLKEM768");
	struct tls_settings settings = settings_made();
	struct tls_facts facts;
	struct tls_counts counts;

	for (size_t i = 0; i < UNIT_N(table); i++) {
		const char *offered = table[i].offered;
		const char *group = table[i].group;

		if (!has_hybrid && offered && strstr(offered, "MLKEM"))
			continue;
		if (!has_hybrid && !offered)
			group = "X25519";
		assert_int_equal(
		    shake(&settings, &(struct client_how){.curves = offered},
		        &facts, &counts),
		    group != NULL);
		if (!group)
			continue;
		assert_string_equal(facts.group, group);
		assert_string_equal(
		    tls_group_name(counts.groups[0].group), group);
		assert_int_equal(counts.groups[0].done, 1);
		assert_int_equal(counts.groups[1].group, 0);
	}
}

static void
count_hellos(int written, int version, int type, const void *message, size_t n,
    SSL *ssl, void *arg)
{
	const uint8_t *bytes = message;

	(void)version;
	(void)ssl;
	if (written && type == SSL3_RT_HANDSHAKE && n > 0 &&
	    bytes[0] == SSL3_MT_CLIENT_HELLO)
		(*(unsigned *)arg)++;
}

/* Connects to a server with these curves, NULL for the defaults; returns the
 * group and the number of hellos that it took. */
static const char *
shake_with_server(const char *curves, unsigned *ret_hellos)
{
	struct tls_settings settings = settings_made();
	struct tls_context *server, *client;
	struct tls_peer peer = {.host = "a.test"};
	struct pair pair;
	struct tls_facts facts;

	settings.curves = (char *)(uintptr_t)curves;
	server = context_made(&settings, TLS_ACCEPTS);
	settings = settings_connects(rsa_and_ec[1].cert);
	client = context_made(&settings, TLS_CONNECTS);
	pair = pair_made(
	    ssl_made(client, TLS_CONNECTS), ssl_made(server, TLS_ACCEPTS));
	*ret_hellos = 0;
	SSL_set_msg_callback(pair.client, count_hellos);
	SSL_set_msg_callback_arg(pair.client, ret_hellos);
	assert_true(tls_peer_prepare(pair.client, &peer, NULL));
	assert_true(pair_shake(&pair));
	tls_facts_read(pair.client, &facts);
	pair_free(&pair);
	tls_context_unref(server);
	tls_context_unref(client);
	return facts.group;
}

/* Servers without the hybrid get a key share of X25519 at once; other groups
 * take a second hello. */
static void
servers_are_offered_the_same_curves(void **state)
{
	unsigned hellos;

	assert_string_equal(shake_with_server(NULL, &hellos),
	    has_group("X25519MLKEM768") ? "X25519MLKEM768" : "X25519");
	assert_int_equal(hellos, 1);
	assert_string_equal(shake_with_server("X25519", &hellos), "X25519");
	assert_int_equal(hellos, 1);
	assert_string_equal(shake_with_server("P-384", &hellos), "P-384");
	assert_int_equal(hellos, 2);
}

static void
errors_name_the_word(void **state)
{
	static const struct {
		const char *ciphers, *suites, *curves, *words;
	} table[] = {
	    {"ECDHE-RSA-AES128-GCM-SHA256:NOSUCH", NULL, NULL,
	        "ciphers: unknown word 'NOSUCH'"},
	    {"HIGH:!aNUL", NULL, NULL, "ciphers: unknown word '!aNUL'"},
	    {"HIGH:@STRENGHT", NULL, NULL, "unknown word '@STRENGHT'"},
	    {"HIGH:@SECLEVEL=9", NULL, NULL, "unknown word '@SECLEVEL=9'"},
	    {"HIGH:!ALL", NULL, NULL, "leaves no cipher"},
	    {"", NULL, NULL, "leaves no cipher"},
	    {NULL, "TLS_AES_128_GCM_SHA256:TLS_AES_129", NULL,
	        "ciphersuites: unknown word 'TLS_AES_129'"},
	    {NULL, "ECDHE-RSA-AES128-GCM-SHA256", NULL,
	        "unknown word 'ECDHE-RSA-AES128-GCM-SHA256'"},
	    {NULL, NULL, "X25519:P-255", "curves: unknown word 'P-255'"},
	};

	for (size_t i = 0; i < UNIT_N(table); i++) {
		struct tls_settings settings = settings_made();

		settings.ciphers = (char *)(uintptr_t)table[i].ciphers;
		settings.ciphersuites = (char *)(uintptr_t)table[i].suites;
		settings.curves = (char *)(uintptr_t)table[i].curves;
		assert_context_refused(&settings, TLS_ACCEPTS, table[i].words);
		assert_context_refused(&settings, TLS_CONNECTS, table[i].words);
	}
}

/* Lists that administrators copy from one server to the next. */
static void
usual_lists_are_taken(void **state)
{
	static const char *const lists[] = {
	    "HIGH:!aNULL:!MD5",
	    "HIGH:!aNULL:!eNULL:!EXPORT:!DES:!MD5:!PSK:!RC4",
	    "EECDH+AESGCM:EDH+AESGCM:AES256+EECDH:AES256+EDH",
	    "DEFAULT@SECLEVEL=1",
	    "ALL:!ADH:!LOW:!EXP:!MD5:@STRENGTH",
	    "ECDHE+AESGCM ECDHE+CHACHA20",
	    "ECDHE-RSA-AES128-GCM-SHA256,ECDHE-RSA-AES256-GCM-SHA384",
	    "ECDH+AESGCM:DH+AESGCM:ECDH+AES256:!aNULL:!SRP:!CAMELLIA:!3DES",
	    "kEECDH+ECDSA+AES128:-AES128-SHA:+AES256",
	};

	for (size_t i = 0; i < UNIT_N(lists); i++) {
		struct tls_settings settings = settings_made();

		settings.ciphers = (char *)(uintptr_t)lists[i];
		tls_context_unref(context_made(&settings, TLS_ACCEPTS));
	}
}

/* -- ALPN -- */

static void
the_first_protocol_of_ours_that_the_client_has_is_chosen(void **state)
{
	static const struct {
		const char *ours, *theirs, *chosen; /* NULL: refused */
	} table[] = {
	    {NULL, NULL, ""},
	    {NULL, "\2h2", ""},
	    {"h2 http/1.1", NULL, ""},
	    {"h2 http/1.1", "\2h2\10http/1.1", "h2"},
	    {"h2 http/1.1", "\10http/1.1\2h2", "h2"},
	    {"  http/1.1\th2 ", "\2h2\10http/1.1", "http/1.1"},
	    {"h2 http/1.1", "\10http/1.1", "http/1.1"},
	    {"h2 http/1.1", "\4imap", NULL},
	    {"h2", "\3h2c", NULL},
	};

	for (size_t i = 0; i < UNIT_N(table); i++) {
		struct tls_settings settings = settings_made();
		struct tls_facts facts;
		struct tls_counts counts;
		bool ok;

		settings.alpn = (char *)(uintptr_t)table[i].ours;
		ok = shake(&settings,
		    &(struct client_how){.alpn = table[i].theirs}, &facts,
		    &counts);
		assert_int_equal(ok, table[i].chosen != NULL);
		assert_int_equal(
		    counts.alerts_sent[SSL_AD_NO_APPLICATION_PROTOCOL], !ok);
		if (ok)
			assert_string_equal(facts.alpn, table[i].chosen);
	}
}

static void
protocols_are_offered_to_servers(void **state)
{
	struct tls_settings settings = settings_made();
	struct tls_context *server, *client;
	struct tls_peer peer = {.host = "a.test"};
	struct pair pair;
	struct tls_facts facts;

	settings.alpn = (char *)(uintptr_t) "http/1.1";
	server = context_made(&settings, TLS_ACCEPTS);
	settings = settings_connects(rsa_and_ec[1].cert);
	settings.alpn = (char *)(uintptr_t) "h2 http/1.1";
	client = context_made(&settings, TLS_CONNECTS);
	pair = pair_made(
	    ssl_made(client, TLS_CONNECTS), ssl_made(server, TLS_ACCEPTS));
	assert_true(tls_peer_prepare(pair.client, &peer, NULL));
	assert_true(pair_shake(&pair));
	tls_facts_read(pair.client, &facts);
	assert_string_equal(facts.alpn, "http/1.1");
	pair_free(&pair);
	tls_context_unref(server);
	tls_context_unref(client);
}

static void
a_protocol_that_is_too_long_is_refused(void **state)
{
	struct tls_settings settings = settings_made();
	char name[300];

	memset(name, 'x', sizeof(name));
	name[256] = '\0';
	settings.alpn = name;
	assert_context_refused(&settings, TLS_ACCEPTS, "alpn: 'xxx");
	name[255] = '\0';
	tls_context_unref(context_made(&settings, TLS_ACCEPTS));
}

static void
renegotiation_is_refused(void **state)
{
	struct tls_settings settings = settings_made();
	struct tls_context *server = context_made(&settings, TLS_ACCEPTS);
	SSL_CTX *ctx = plain_client_ctx();
	struct pair pair;
	char byte;

	SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
	pair =
	    pair_made(plain_client(ctx, NULL), ssl_made(server, TLS_ACCEPTS));
	assert_true(pair_shake(&pair));
	assert_int_equal(SSL_renegotiate(pair.client), 1);
	assert_true(SSL_do_handshake(pair.client) <= 0);
	assert_true(SSL_read(pair.server, &byte, 1) <= 0);
	assert_true(SSL_do_handshake(pair.client) <= 0);
	assert_int_equal(SSL_get_error(pair.client, -1), SSL_ERROR_SSL);
	ERR_clear_error();
	pair_free(&pair);
	SSL_CTX_free(ctx);
	tls_context_unref(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    PROTOCOL_TEST(versions_are_1_2_and_1_3_by_default),
	    PROTOCOL_TEST(versions_are_bounded_by_settings),
	    PROTOCOL_TEST(
	        default_ciphers_are_forward_secret_and_the_clients_choice),
	    PROTOCOL_TEST(ciphers_are_as_set),
	    PROTOCOL_TEST(curves_are_as_set),
	    PROTOCOL_TEST(
	        default_curves_are_a_hybrid_if_openssl_has_it_and_x25519),
	    PROTOCOL_TEST(servers_are_offered_the_same_curves),
	    PROTOCOL_TEST(errors_name_the_word),
	    PROTOCOL_TEST(usual_lists_are_taken),
	    PROTOCOL_TEST(
	        the_first_protocol_of_ours_that_the_client_has_is_chosen),
	    PROTOCOL_TEST(protocols_are_offered_to_servers),
	    PROTOCOL_TEST(a_protocol_that_is_too_long_is_refused),
	    PROTOCOL_TEST(renegotiation_is_refused),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
