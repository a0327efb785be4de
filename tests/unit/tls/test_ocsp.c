/* SPDX-License-Identifier: MIT
 * OCSP responses that are stapled, and those that are not.
 */
#include "fixture.h"

#include <openssl/ocsp.h>

#include "tls/facts.h"

static const struct made *root, *leaf;

static int
setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	root = made_new(&(struct made_how){.cn = "root", .is_ca = true});
	leaf = made_new(&(struct made_how){
	    .cn = "leaf", .sans = "DNS:leaf.test", .issuer = root});
	return 0;
}

#define OCSP_TEST(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)

/* Writes a response about the certificate, valid from and to seconds from now.
 */
static char *
response_write(const char *name, const struct made *about, int status,
    long from_s, long to_s)
{
	OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
	OCSP_CERTID *id = OCSP_cert_to_id(NULL, about->x509, root->x509);
	ASN1_TIME *from = X509_gmtime_adj(NULL, from_s);
	ASN1_TIME *to = X509_gmtime_adj(NULL, to_s);
	OCSP_RESPONSE *response;
	unsigned char *der = NULL;
	char *path;
	int n;

	assert_non_null(OCSP_basic_add1_status(basic, id, status,
	    OCSP_REVOKED_STATUS_NOSTATUS,
	    status == V_OCSP_CERTSTATUS_REVOKED ? from : NULL, from, to));
	assert_int_equal(OCSP_basic_sign(basic, root->x509, root->key,
	                     EVP_sha256(), NULL, 0),
	    1);
	response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
	n = i2d_OCSP_RESPONSE(response, &der);
	assert_true(n > 0);
	path = fixture_write(name, der, (size_t)n);
	OPENSSL_free(der);
	OCSP_RESPONSE_free(response);
	OCSP_BASICRESP_free(basic);
	OCSP_CERTID_free(id);
	ASN1_TIME_free(from);
	ASN1_TIME_free(to);
	return path;
}

/* The length of the response that a client gets, -1: none. */
static long
stapled(struct tls_context *server, const char *sni, bool asks, int version)
{
	SSL_CTX *ctx = plain_client_ctx();
	const unsigned char *response;
	struct pair pair;
	long n;

	SSL_CTX_set_max_proto_version(ctx, version);
	if (asks)
		SSL_CTX_set_tlsext_status_type(ctx, TLSEXT_STATUSTYPE_ocsp);
	pair = pair_made(plain_client(ctx, sni), ssl_made(server, TLS_ACCEPTS));
	assert_true(pair_shake(&pair));
	n = SSL_get_tlsext_status_ocsp_resp(pair.client, &response);
	pair_free(&pair);
	SSL_CTX_free(ctx);
	return n;
}

static void
keep_facts(void *arg, const struct tls_cert_facts *facts)
{
	*(struct tls_cert_facts *)arg = *facts;
}

/* Serves leaf with the response and compares what becomes of it. */
static void
assert_response(char *response, enum tls_ocsp_state state, const char *warning)
{
	struct tls_pair pair = {
	    .cert = made_write(leaf, root, "leaf.pem"), .ocsp = response};
	struct tls_settings settings = settings_accepts(&pair, 1);
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);
	struct tls_cert_facts facts;
	struct err_list list;

	tls_context_each_cert(context, keep_facts, &facts);
	assert_int_equal(facts.ocsp, state);
	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		assert_int_equal(stapled(context, NULL, true, v) > 0,
		    state == TLS_OCSP_SENT);
		assert_int_equal(stapled(context, NULL, false, v), -1);
	}
	err_list_init(&list);
	tls_context_warnings(context, &list);
	assert_int_equal(list.n, warning != NULL);
	if (warning)
		assert_non_null(strstr(list.entries[0].text, warning));
	err_list_fini(&list);
	tls_context_unref(context);
}

static void
a_good_response_is_stapled(void **state)
{
	assert_response(
	    response_write("x", leaf, V_OCSP_CERTSTATUS_GOOD, -60, 3600),
	    TLS_OCSP_SENT, NULL);
	response_write(
	    "leaf.pem.ocsp", leaf, V_OCSP_CERTSTATUS_GOOD, -60, 3600);
	assert_response(NULL, TLS_OCSP_SENT, NULL);
}

static void
other_responses_are_kept_back_with_a_warning(void **state)
{
	const struct made *other =
	    made_new(&(struct made_how){.cn = "other", .issuer = root});

	assert_response(NULL, TLS_OCSP_NONE, NULL);
	assert_response(
	    response_write("stale", leaf, V_OCSP_CERTSTATUS_GOOD, -7200, -3600),
	    TLS_OCSP_STALE, "was valid until");
	assert_response(
	    response_write("early", leaf, V_OCSP_CERTSTATUS_GOOD, 3600, 7200),
	    TLS_OCSP_NOT_YET, "not valid before");
	assert_response(response_write("revoked", leaf,
	                    V_OCSP_CERTSTATUS_REVOKED, -60, 3600),
	    TLS_OCSP_NOT_GOOD, "revoked");
	assert_response(
	    response_write("other", other, V_OCSP_CERTSTATUS_GOOD, -60, 3600),
	    TLS_OCSP_OTHER, "is about another certificate");
}

static void
wrong_files_are_refused(void **state)
{
	OCSP_RESPONSE *later =
	    OCSP_response_create(OCSP_RESPONSE_STATUS_TRYLATER, NULL);
	unsigned char *der = NULL;
	int n = i2d_OCSP_RESPONSE(later, &der);
	const struct {
		char *file;
		const char *words;
	} table[] = {
	    {fixture_path("missing"), "No such file"},
	    {fixture_write_text("text", "text"), "not in DER form"},
	    {fixture_write_text("empty", ""), "not in DER form"},
	    {fixture_write("later", der, (size_t)n), "trylater"},
	};

	OPENSSL_free(der);
	OCSP_RESPONSE_free(later);
	for (size_t i = 0; i < UNIT_N(table); i++) {
		struct tls_pair pair = {
		    .cert = made_write(leaf, root, "leaf.pem"),
		    .ocsp = table[i].file};
		struct tls_settings settings = settings_accepts(&pair, 1);

		assert_context_refused(&settings, TLS_ACCEPTS, table[i].words);
		assert_context_refused(&settings, TLS_ACCEPTS, table[i].file);
	}
}

/* Without the issuer in the chain the serial number has to suffice. */
static void
a_chain_without_issuer_will_do(void **state)
{
	const struct made *other =
	    made_new(&(struct made_how){.cn = "other", .issuer = root});
	struct tls_pair pair = {.cert = made_write(leaf, NULL, "alone.pem"),
	    .ocsp = response_write(
	        "other", other, V_OCSP_CERTSTATUS_GOOD, -60, 3600)};
	struct tls_settings settings = settings_accepts(&pair, 1);
	struct tls_context *context;

	context = context_made(&settings, TLS_ACCEPTS);
	assert_int_equal(stapled(context, NULL, true, 0), -1);
	tls_context_unref(context);
	pair.ocsp =
	    response_write("own", leaf, V_OCSP_CERTSTATUS_GOOD, -60, 3600);
	context = context_made(&settings, TLS_ACCEPTS);
	assert_true(stapled(context, NULL, true, 0) > 0);
	tls_context_unref(context);
}

static void
each_certificate_has_its_own(void **state)
{
	const struct made *second = made_new(&(struct made_how){
	    .cn = "second", .sans = "DNS:second.test", .issuer = root});
	struct tls_pair pairs[] = {
	    {.cert = made_write(leaf, root, "leaf.pem")},
	    {.cert = made_write(second, root, "second.pem"),
	        .ocsp = response_write(
	            "x", second, V_OCSP_CERTSTATUS_GOOD, -60, 3600)},
	};
	struct tls_settings settings = settings_accepts(pairs, 2);
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);

	assert_int_equal(stapled(context, "leaf.test", true, 0), -1);
	assert_true(stapled(context, "second.test", true, 0) > 0);
	tls_context_unref(context);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    OCSP_TEST(a_good_response_is_stapled),
	    OCSP_TEST(other_responses_are_kept_back_with_a_warning),
	    OCSP_TEST(wrong_files_are_refused),
	    OCSP_TEST(a_chain_without_issuer_will_do),
	    OCSP_TEST(each_certificate_has_its_own),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
