/* SPDX-License-Identifier: MIT
 * The certificate that a client gets: by its name, and by what it can verify.
 */
#include "fixture.h"

#include "tls/counters.h"

/* Returns the CN of the certificate for that client, which is freed, with this
 * SNI; "-" if the handshake fails. */
static const char *
cn_for_client(struct tls_context *context, const char *sni, SSL_CTX *ctx)
{
	struct pair pair =
	    pair_made(plain_client(ctx, sni), ssl_made(context, TLS_ACCEPTS));
	const char *cn = pair_shake(&pair) ? pair_server_cn(&pair) : "-";

	pair_free(&pair);
	SSL_CTX_free(ctx);
	return cn;
}

/* Returns the CN of the certificate for a client with this SNI, and with these
 * signature algorithms (NULL: OpenSSL's); "-" if the handshake fails. */
static const char *
cn_for(struct tls_context *context, const char *sni, const char *sigalgs,
    int version)
{
	SSL_CTX *ctx = plain_client_ctx();

	if (sigalgs)
		assert_int_equal(SSL_CTX_set1_sigalgs_list(ctx, sigalgs), 1);
	if (version)
		SSL_CTX_set_max_proto_version(ctx, version);
	return cn_for_client(context, sni, ctx);
}

static char *
cert_file(const char *cn, const char *sans, const char *key)
{
	char name[64];
	struct made_how how = {.cn = cn, .sans = sans, .key = key};

	snprintf(name, sizeof(name), "%s.pem", cn);
	return made_write(made_new(&how), NULL, name);
}

static void
name_chooses_exact_then_longest_wildcard_then_first(void **state)
{
	static const struct {
		const char *sni, *cn;
	} table[] = {
	    {NULL, "first"},
	    {"", "first"},
	    {"unknown.test", "first"},
	    {"first.test", "first"},
	    {"a.example.test", "exact"},
	    {"A.Example.TEST", "exact"},
	    {"a.example.test.", "exact"},
	    {"b.example.test", "wild"},
	    {"x.deep.example.test", "deep"},
	    {"x.y.deep.example.test", "deep"},
	    {"x.other.example.test", "wild"},
	    {"example.test", "first"},
	    {"test", "first"},
	    {".", "first"},
	    {"..", "first"},
	    {".example.test", "first"},
	    {"only-cn.test", "only-cn.test"},
	    {"cn-with-san", "first"},
	    {"san.test", "cn-with-san"},
	    {"second.test", "exact"},
	};
	struct tls_pair pairs[] = {
	    {.cert = cert_file("first", "DNS:first.test", NULL)},
	    {.cert = cert_file(
	         "exact", "DNS:a.example.test,DNS:second.test", NULL)},
	    {.cert = cert_file("wild", "DNS:*.example.test", NULL)},
	    {.cert = cert_file("deep", "DNS:*.deep.example.test", NULL)},
	    {.cert = cert_file("only-cn.test", NULL, NULL)},
	    {.cert = cert_file("cn-with-san", "DNS:san.test", NULL)},
	    {.cert = cert_file("late", "DNS:a.example.test", NULL)},
	};
	struct tls_settings settings = settings_accepts(pairs, UNIT_N(pairs));
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);

	for (size_t i = 0; i < UNIT_N(table); i++) {
		/* OpenSSL sends no empty name. */
		const char *sni =
		    table[i].sni && *table[i].sni ? table[i].sni : NULL;

		for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
			const char *cn = cn_for(context, sni, NULL, v);

			if (strcmp(cn, table[i].cn) != 0)
				fail_msg("'%s' gets '%s', not '%s'",
				    sni ? sni : "(none)", cn, table[i].cn);
		}
	}
	tls_context_unref(context);
}

static void
strict_names_refuse_all_others(void **state)
{
	static const struct {
		const char *sni, *cn;
	} table[] = {
	    {NULL, "-"},
	    {"unknown.test", "-"},
	    {"test", "-"},
	    {"first.test", "first"},
	    {"FIRST.test.", "first"},
	    {"x.y.example.test", "wild"},
	    {"example.test", "-"},
	};
	struct tls_pair pairs[] = {
	    {.cert = cert_file("first", "DNS:first.test", NULL)},
	    {.cert = cert_file("wild", "DNS:*.example.test", NULL)},
	};
	struct tls_settings settings = settings_accepts(pairs, UNIT_N(pairs));
	struct tls_context *context;
	struct tls_counts counts;
	uint64_t refused = 0;

	settings.strict_sni = true;
	context = context_made(&settings, TLS_ACCEPTS);
	for (size_t i = 0; i < UNIT_N(table); i++) {
		for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
			const char *cn = cn_for(context, table[i].sni, NULL, v);

			refused += table[i].cn[0] == '-';
			if (strcmp(cn, table[i].cn) != 0)
				fail_msg("'%s' gets '%s', not '%s'",
				    table[i].sni ? table[i].sni : "(none)", cn,
				    table[i].cn);
		}
	}
	tls_context_counts(context, &counts);
	assert_int_equal(counts.alerts_sent[SSL_AD_UNRECOGNIZED_NAME], refused);
	assert_int_equal(counts.failed, refused);
	tls_context_unref(context);
}

static void
kinds_of_keys_for_a_name_lie_side_by_side(void **state)
{
	static const char rsa[] = "RSA-PSS+SHA256:RSA+SHA256";
	static const char ec[] = "ECDSA+SHA256";
	struct tls_pair pairs[] = {
	    {.cert = cert_file("first", "DNS:first.test", "EC")},
	    {.cert = cert_file("a-rsa", "DNS:a.test", "RSA")},
	    {.cert = cert_file("a-ec", "DNS:a.test,DNS:b.test", "EC")},
	    {.cert = cert_file("a-ed", "DNS:a.test", "ED25519")},
	    {.cert = cert_file("b-rsa", "DNS:b.test,DNS:first.test", "RSA")},
	    {.cert = cert_file("c-ec", "DNS:c.test", "EC")},
	};
	struct tls_settings settings = settings_accepts(pairs, UNIT_N(pairs));
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		assert_string_equal(cn_for(context, "a.test", rsa, v), "a-rsa");
		assert_string_equal(cn_for(context, "a.test", ec, v), "a-ec");
		assert_string_equal(cn_for(context, "b.test", rsa, v), "b-rsa");
		assert_string_equal(cn_for(context, "b.test", ec, v), "a-ec");
		/* Another name's certificate would not help. */
		assert_string_equal(cn_for(context, "c.test", ec, v), "c-ec");
		assert_string_equal(cn_for(context, "c.test", rsa, v), "-");
		/* The default is for the names of the first certificate. */
		assert_string_equal(cn_for(context, NULL, rsa, v), "b-rsa");
		assert_string_equal(
		    cn_for(context, "unknown.test", ec, v), "first");
	}
	assert_string_equal(
	    cn_for(context, "a.test", "ed25519", TLS1_3_VERSION), "a-ed");
	assert_string_equal(
	    cn_for(context, "b.test", "ed25519", TLS1_3_VERSION), "-");
	tls_context_unref(context);
}

/* Returns the CN for a client of TLS 1.2 with only these ciphers and groups. */
static const char *
cn_for_ciphers(struct tls_context *context, const char *sni,
    const char *ciphers, const char *groups)
{
	SSL_CTX *ctx = plain_client_ctx();

	SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
	assert_int_equal(SSL_CTX_set_cipher_list(ctx, ciphers), 1);
	assert_int_equal(SSL_CTX_set1_groups_list(ctx, groups), 1);
	return cn_for_client(context, sni, ctx);
}

static void
a_wildcard_serves_whom_the_exact_name_cannot(void **state)
{
	static const char rsa[] = "ECDHE-RSA-AES256-GCM-SHA384";
	static const char ec[] = "ECDHE-ECDSA-AES256-GCM-SHA384";
	static const char both[] = "ECDHE-RSA-AES256-GCM-SHA384:"
	                           "ECDHE-ECDSA-AES256-GCM-SHA384";
	static const char any[] = "X25519:P-256:P-384";
	struct tls_pair pairs[] = {
	    {.cert = cert_file("first", "DNS:first.test", "EC")},
	    {.cert = cert_file("exact", "DNS:a.sub.test", "EC")},
	    {.cert = cert_file("near", "DNS:*.sub.test", "ED25519")},
	    {.cert = cert_file("far", "DNS:*.test", "RSA")},
	};
	struct tls_settings settings = settings_accepts(pairs, UNIT_N(pairs));
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);

	assert_string_equal(
	    cn_for_ciphers(context, "a.sub.test", both, any), "exact");
	assert_string_equal(
	    cn_for_ciphers(context, "a.sub.test", ec, any), "exact");
	assert_string_equal(
	    cn_for_ciphers(context, "a.sub.test", rsa, any), "far");
	assert_string_equal(
	    cn_for_ciphers(context, "b.sub.test", rsa, any), "far");
	assert_string_equal(
	    cn_for_ciphers(context, "b.sub.test", both, any), "near");
	/* The exact certificate's group is P-256. */
	assert_string_equal(
	    cn_for_ciphers(context, "a.sub.test", both, "X25519:P-384"),
	    "near");
	assert_string_equal(
	    cn_for_ciphers(context, "first.test", rsa, any), "far");
	assert_string_equal(
	    cn_for_ciphers(context, "other.example", rsa, any), "-");
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		assert_string_equal(cn_for(context, "a.sub.test",
		                        "RSA-PSS+SHA256:RSA+SHA256", v),
		    "far");
		assert_string_equal(
		    cn_for(context, "a.sub.test", "ed25519", v), "near");
		assert_string_equal(
		    cn_for(context, "a.sub.test", NULL, v), "exact");
	}
	tls_context_unref(context);
}

static void
a_certificate_without_names_is_the_default(void **state)
{
	struct made_how nameless = {.cn = "not a host name"};
	struct tls_pair pairs[] = {
	    {.cert = made_write(made_new(&nameless), NULL, "x.pem")},
	    {.cert = cert_file("b", "DNS:b.test", NULL)},
	};
	struct tls_settings settings = settings_accepts(pairs, UNIT_N(pairs));
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);

	assert_string_equal(
	    cn_for(context, "a.test", NULL, 0), "not a host name");
	assert_string_equal(cn_for(context, "b.test", NULL, 0), "b");
	tls_context_unref(context);
}

static void
the_chain_is_sent_behind_the_certificate(void **state)
{
	const struct made *root =
	    made_new(&(struct made_how){.cn = "root", .is_ca = true});
	const struct made *middle = made_new(
	    &(struct made_how){.cn = "middle", .is_ca = true, .issuer = root});
	const struct made *leaf = made_new(&(struct made_how){
	    .cn = "leaf", .sans = "DNS:leaf.test", .issuer = middle});
	struct tls_pair pairs[] = {
	    {.cert = cert_file("first", "DNS:first.test", NULL)},
	    {.cert = made_write(leaf, middle, "leaf.pem")},
	};
	struct tls_settings settings = settings_accepts(pairs, UNIT_N(pairs));
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);
	SSL_CTX *ctx = plain_client_ctx();
	struct pair pair = pair_made(
	    plain_client(ctx, "leaf.test"), ssl_made(context, TLS_ACCEPTS));
	STACK_OF(X509) * chain;

	assert_true(pair_shake(&pair));
	chain = SSL_get_peer_cert_chain(pair.client);
	assert_int_equal(sk_X509_num(chain), 2);
	assert_int_equal(X509_cmp(sk_X509_value(chain, 0), leaf->x509), 0);
	assert_int_equal(X509_cmp(sk_X509_value(chain, 1), middle->x509), 0);
	pair_free(&pair);
	SSL_CTX_free(ctx);
	tls_context_unref(context);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(name_chooses_exact_then_longest_wildcard_then_first),
	    FIXTURE_TEST(strict_names_refuse_all_others),
	    FIXTURE_TEST(kinds_of_keys_for_a_name_lie_side_by_side),
	    FIXTURE_TEST(a_wildcard_serves_whom_the_exact_name_cannot),
	    FIXTURE_TEST(a_certificate_without_names_is_the_default),
	    FIXTURE_TEST(the_chain_is_sent_behind_the_certificate),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
