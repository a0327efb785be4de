/* SPDX-License-Identifier: MIT
 * See fixture.h.
 */
#include "fixture.h"

#include <dirent.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#define PATHS_MAX 8192
#define MADE_MAX  512

static char dir[64];
static char *paths[PATHS_MAX];
static unsigned paths_n;
static struct made *all_made[MADE_MAX];
static unsigned made_n;

/* Keys are slow to make, RSA keys above all. */
static struct {
	const char *kind;
	EVP_PKEY *key;
} shared_keys[8];

int
fixture_setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/lfproxy-tls-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static void
remove_all(const char *path)
{
	DIR *open_dir = opendir(path);
	struct dirent *entry;

	while (open_dir && (entry = readdir(open_dir))) {
		char name[512];

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_DIR)
			remove_all(name);
		else
			unlink(name);
	}
	if (open_dir)
		closedir(open_dir);
	rmdir(path);
}

int
fixture_teardown(void **state)
{
	(void)state;
	remove_all(dir);
	while (paths_n > 0)
		free(paths[--paths_n]);
	while (made_n > 0) {
		struct made *made = all_made[--made_n];

		X509_free(made->x509);
		EVP_PKEY_free(made->key);
		free(made);
	}
	return 0;
}

char *
fixture_path(const char *name)
{
	assert_true(paths_n < PATHS_MAX);
	assert_true(asprintf(&paths[paths_n], "%s/%s", dir, name) > 0);
	return paths[paths_n++];
}

char *
fixture_write(const char *name, const void *data, size_t n)
{
	char *path = fixture_path(name);
	FILE *file;

	/* A new file, as tools that renew certificates make one. */
	unlink(path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0600), 0);
	return path;
}

char *
fixture_write_text(const char *name, const char *text)
{
	return fixture_write(name, text, strlen(text));
}

char *
fixture_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 65536);

	assert_non_null(file);
	assert_non_null(text);
	(void)!fread(text, 1, 65535, file);
	fclose(file);
	return text;
}

/* -- Certificates -- */

static EVP_PKEY *
key_made(const char *kind)
{
	EVP_PKEY *key;

	if (strcmp(kind, "RSA") == 0)
		key = EVP_RSA_gen(2048);
	else if (strcmp(kind, "RSA1024") == 0)
		key = EVP_RSA_gen(1024);
	else if (strcmp(kind, "EC") == 0)
		key = EVP_EC_gen("P-256");
	else
		key = EVP_PKEY_Q_keygen(NULL, NULL, kind);
	assert_non_null(key);
	return key;
}

static EVP_PKEY *
key_shared(const char *kind)
{
	for (size_t i = 0; i < UNIT_N(shared_keys); i++) {
		if (!shared_keys[i].kind) {
			shared_keys[i].kind = kind;
			shared_keys[i].key = key_made(kind);
		}
		if (strcmp(shared_keys[i].kind, kind) == 0) {
			EVP_PKEY_up_ref(shared_keys[i].key);
			return shared_keys[i].key;
		}
	}
	fail_msg("too many kinds of keys");
	return NULL;
}

static void
extension_append(X509 *x509, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *extension;

	X509V3_set_ctx(&ctx, issuer, x509, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	assert_non_null(extension);
	assert_int_equal(X509_add_ext(x509, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

static const EVP_MD *
digest_for(const struct made_how *how, const EVP_PKEY *key)
{
	if (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519)
		return NULL;
	return how->md ? EVP_get_digestbyname(how->md) : EVP_sha256();
}

const struct made *
made_new(const struct made_how *how)
{
	static long serial = 0x1000;
	const char *kind = how->key ? how->key : "EC";
	struct made *made = calloc(1, sizeof(*made));
	const struct made *issuer = how->issuer ? how->issuer : made;
	bool no_dates = how->from_s == 0 && how->to_s == 0;
	X509_NAME *name;

	assert_non_null(made);
	assert_true(made_n < MADE_MAX);
	all_made[made_n++] = made;
	made->key = how->own_key ? key_made(kind) : key_shared(kind);
	made->x509 = X509_new();
	assert_non_null(made->x509);
	X509_set_version(made->x509, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(made->x509), ++serial);
	X509_gmtime_adj(
	    X509_getm_notBefore(made->x509), no_dates ? -3600 : how->from_s);
	X509_gmtime_adj(
	    X509_getm_notAfter(made->x509), no_dates ? 86400 : how->to_s);
	X509_set_pubkey(made->x509, made->key);
	name = X509_get_subject_name(made->x509);
	if (how->cn)
		X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
		    (const unsigned char *)how->cn, -1, -1, 0);
	X509_set_issuer_name(made->x509, X509_get_subject_name(issuer->x509));
	extension_append(made->x509, issuer->x509, NID_basic_constraints,
	    how->is_ca ? "critical,CA:TRUE" : "CA:FALSE");
	if (how->sans)
		extension_append(
		    made->x509, issuer->x509, NID_subject_alt_name, how->sans);
	assert_true(X509_sign(made->x509, issuer->key,
	                digest_for(how, issuer->key)) > 0);
	return made;
}

static char *
bio_string(BIO *bio)
{
	char *data, *copy;
	long n = BIO_get_mem_data(bio, &data);

	copy = strndup(data, (size_t)n);
	assert_non_null(copy);
	BIO_free(bio);
	return copy;
}

char *
made_cert_pem(const struct made *made)
{
	BIO *bio = BIO_new(BIO_s_mem());

	assert_int_equal(PEM_write_bio_X509(bio, made->x509), 1);
	return bio_string(bio);
}

char *
made_key_pem(const struct made *made)
{
	BIO *bio = BIO_new(BIO_s_mem());

	assert_int_equal(
	    PEM_write_bio_PrivateKey(bio, made->key, NULL, NULL, 0, NULL, NULL),
	    1);
	return bio_string(bio);
}

static char *
texts_write(const char *name, char *first, char *second, char *third)
{
	char *text, *path;

	assert_true(asprintf(&text, "%s%s%s", first, second ? second : "",
	                third ? third : "") > 0);
	path = fixture_write_text(name, text);
	free(text);
	free(first);
	free(second);
	free(third);
	return path;
}

char *
made_write(const struct made *made, const struct made *chain, const char *name)
{
	return texts_write(name, made_cert_pem(made),
	    chain ? made_cert_pem(chain) : NULL, made_key_pem(made));
}

char *
made_write_cert(const struct made *made, const char *name)
{
	return texts_write(name, made_cert_pem(made), NULL, NULL);
}

char *
made_write_key(const struct made *made, const char *name)
{
	return texts_write(name, made_key_pem(made), NULL, NULL);
}

char *
made_write_crl(const struct made *issuer, const struct made *revoked, long to_s,
    const char *name)
{
	X509_CRL *crl = X509_CRL_new();
	ASN1_TIME *from = X509_gmtime_adj(NULL, -7200);
	ASN1_TIME *to = X509_gmtime_adj(NULL, to_s);
	BIO *bio = BIO_new(BIO_s_mem());

	X509_CRL_set_version(crl, X509_CRL_VERSION_2);
	X509_CRL_set_issuer_name(crl, X509_get_subject_name(issuer->x509));
	X509_CRL_set1_lastUpdate(crl, from);
	X509_CRL_set1_nextUpdate(crl, to);
	if (revoked) {
		X509_REVOKED *entry = X509_REVOKED_new();

		X509_REVOKED_set_serialNumber(
		    entry, X509_get_serialNumber(revoked->x509));
		X509_REVOKED_set_revocationDate(entry, from);
		X509_CRL_add0_revoked(crl, entry);
	}
	assert_true(X509_CRL_sign(crl, issuer->key, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509_CRL(bio, crl), 1);
	X509_CRL_free(crl);
	ASN1_TIME_free(from);
	ASN1_TIME_free(to);
	return texts_write(name, bio_string(bio), NULL, NULL);
}

/* -- Contexts -- */

struct tls_settings
settings_accepts(struct tls_pair *pairs, size_t n)
{
	return (struct tls_settings){.pairs = pairs,
	    .pairs_n = n,
	    .tickets = true,
	    .session_timeout_s = 300};
}

struct tls_settings
settings_connects(char *ca)
{
	return (struct tls_settings){
	    .ca = ca, .tickets = true, .session_timeout_s = 300};
}

struct tls_context *
context_made(const struct tls_settings *settings, enum tls_role role)
{
	struct err err = {""};
	struct tls_context *context = tls_context_new(settings, role, &err);

	if (!context)
		fail_msg("%s", err.text);
	assert_int_equal(ERR_peek_error(), 0);
	return context;
}

void
assert_context_refused(
    const struct tls_settings *settings, enum tls_role role, const char *words)
{
	struct err err = {""};
	struct tls_context *context = tls_context_new(settings, role, &err);

	if (context)
		fail_msg("taken, although '%s'", words);
	if (!strstr(err.text, words))
		fail_msg("'%s' lacks '%s'", err.text, words);
	assert_int_equal(ERR_peek_error(), 0);
}

/* -- Handshakes -- */

SSL *
ssl_made(struct tls_context *context, enum tls_role role)
{
	SSL_CTX *ctx = tls_context_take(context);
	SSL *ssl = SSL_new(ctx);

	SSL_CTX_free(ctx);
	if (!ssl)
		abort();
	if (role == TLS_ACCEPTS)
		SSL_set_accept_state(ssl);
	else
		SSL_set_connect_state(ssl);
	return ssl;
}

SSL_CTX *
plain_client_ctx(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	assert_non_null(ctx);
	return ctx;
}

SSL *
plain_client(SSL_CTX *ctx, const char *sni)
{
	SSL *ssl = SSL_new(ctx);

	assert_non_null(ssl);
	SSL_set_connect_state(ssl);
	if (sni)
		assert_int_equal(SSL_set_tlsext_host_name(ssl, sni), 1);
	return ssl;
}

struct pair
pair_made(SSL *client, SSL *server)
{
	BIO *near, *far;

	if (BIO_new_bio_pair(&near, 0, &far, 0) != 1)
		abort();
	SSL_set_bio(client, near, near);
	SSL_set_bio(server, far, far);
	return (struct pair){.client = client, .server = server};
}

/* Whether the call only waits for the other end. */
static bool
is_waiting(SSL *ssl, int result)
{
	int why = SSL_get_error(ssl, result);

	return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

bool
pair_shake(struct pair *pair)
{
	bool client_on = true, server_on = true;
	int client = 0, server = 0;

	/* An end that has failed has sent an alert for the other. */
	for (int i = 0; i < 40 && (client_on || server_on); i++) {
		ERR_clear_error();
		if (client_on) {
			client = SSL_do_handshake(pair->client);
			client_on =
			    client != 1 && is_waiting(pair->client, client);
		}
		ERR_clear_error();
		if (server_on) {
			server = SSL_do_handshake(pair->server);
			server_on =
			    server != 1 && is_waiting(pair->server, server);
		}
	}
	ERR_clear_error();
	return client == 1 && server == 1;
}

bool
pair_shake_and_talk(struct pair *pair)
{
	char byte = 'x';
	bool ok;

	if (!pair_shake(pair))
		return false;
	ok = SSL_write(pair->client, &byte, 1) == 1 &&
	     SSL_read(pair->server, &byte, 1) == 1 &&
	     SSL_write(pair->server, &byte, 1) == 1 &&
	     SSL_read(pair->client, &byte, 1) == 1;
	ERR_clear_error();
	return ok;
}

void
pair_free(struct pair *pair)
{
	SSL_free(pair->client);
	SSL_free(pair->server);
}

const char *
pair_server_cn(const struct pair *pair)
{
	static char cn[256];
	X509 *cert = SSL_get0_peer_certificate(pair->client);

	strcpy(cn, "-");
	if (cert)
		X509_NAME_get_text_by_NID(X509_get_subject_name(cert),
		    NID_commonName, cn, sizeof(cn));
	return cn;
}
