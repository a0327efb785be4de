/* SPDX-License-Identifier: MIT
 * See cert.h.
 */
#include "tls/cert.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/atomics.h"
#include "base/ensure.h"
#include "tls/cert_names.h"
#include "tls/memory.h"
#include "tls/openssl_err.h"
#include "tls/pem.h"
#include "tls/x509_text.h"

static int x509_slot;

static void
make_x509_slot(void)
{
	x509_slot = X509_get_ex_new_index(0, NULL, NULL, NULL, NULL);
	ENSURE(x509_slot >= 0);
}

static int
get_x509_slot(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_x509_slot);
	return x509_slot;
}

struct tls_cert *
tls_cert_of(const X509 *x509)
{
	return x509 ? X509_get_ex_data(x509, get_x509_slot()) : NULL;
}

/* -- Files -- */

static bool
same_or_default(const char *given, const char *used)
{
	return !given || strcmp(given, used) == 0;
}

bool
tls_cert_is_current(const struct tls_cert *cert, const struct tls_pair *pair)
{
	time_t sure_at;

	if (strcmp(cert->file, pair->cert) != 0 ||
	    !same_or_default(pair->key, cert->key_file) ||
	    !same_or_default(pair->ocsp, cert->ocsp_file) ||
	    cert->ocsp_named != (pair->ocsp != NULL))
		return false;
	/* When in doubt, content that is only in memory stays. */
	sure_at = cert->in_memory ? INT64_MAX : cert->read_at;
	return tls_stamp_is_current(cert->file, &cert->stamp, sure_at) &&
	       tls_stamp_is_current(
	           cert->key_file, &cert->key_stamp, sure_at) &&
	       (cert->in_memory || tls_stamp_is_current(cert->ocsp_file,
	                               &cert->ocsp_stamp, sure_at));
}

/* -- Parts -- */

/* Signs something with an RSA key.  OpenSSL keeps what it derives from the
 * primes in the first signature: here it does so in protected memory. */
static bool
rsa_key_use(EVP_PKEY *key)
{
	static const unsigned char text[] = "lfproxy";
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	size_t n = (size_t)EVP_PKEY_get_size(key);
	unsigned char *signature = OPENSSL_malloc(n);
	bool ok = md && signature &&
	          EVP_DigestSignInit(md, NULL, EVP_sha256(), NULL, key) == 1 &&
	          EVP_DigestSign(md, signature, &n, text, sizeof(text)) == 1;

	EVP_MD_CTX_free(md);
	OPENSSL_free(signature);
	return ok;
}

static uint64_t
add_print(uint64_t print, const X509 *x509)
{
	uint8_t sha256[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (X509_digest(x509, EVP_sha256(), sha256, &n) != 1)
		n = 0;
	return XXH64(sha256, n, print);
}

static uint64_t
make_print(const struct tls_cert *cert)
{
	uint64_t print = add_print(0, cert->x509);

	for (int i = 0; i < sk_X509_num(cert->chain); i++)
		print = add_print(print, sk_X509_value(cert->chain, i));
	return print;
}

/* Sets all that depends on the certificate and its key, which must match. */
static bool
cert_complete(struct tls_cert *cert, struct err *err)
{
	ERR_clear_error();
	if (X509_check_private_key(cert->x509, cert->key) != 1)
		return err_set(err, "certificate '%s' with key '%s': %s",
		    cert->file, cert->key_file, tls_openssl_reason());
	cert->key_type = EVP_PKEY_get_base_id(cert->key);
	if (cert->key_type == EVP_PKEY_RSA && !rsa_key_use(cert->key))
		return err_set(err, "key '%s' cannot sign: %s", cert->key_file,
		    tls_openssl_reason());
	cert->print = make_print(cert);
	if (!cert->in_memory)
		cert->base = cert->print;
	cert->not_before = tls_asn1_seconds(X509_get0_notBefore(cert->x509));
	cert->not_after = tls_asn1_seconds(X509_get0_notAfter(cert->x509));
	if (!tls_cert_names(cert->x509, &cert->names, &cert->names_n) ||
	    X509_set_ex_data(cert->x509, get_x509_slot(), cert) != 1)
		return err_oom(err);
	return true;
}

/* Reads the key from a file of its own. */
static bool
key_file_read(struct tls_cert *cert, bool named, struct err *err)
{
	struct tls_text text;

	if (!named && access(cert->key_file, F_OK) < 0 && errno == ENOENT)
		return err_set(err,
		    "certificate '%s' has no private key, and '%s' does not "
		    "exist (or give it with key=)",
		    cert->file, cert->key_file);
	if (!tls_text_read("key", cert->key_file, &text, err))
		return false;
	cert->key = tls_pem_key(cert->key_file, text.data, text.n, err);
	cert->key_stamp = tls_stamp_of(&text.stat);
	cert->key_is_open = text.stat.st_mode & S_IROTH;
	tls_text_fini(&text);
	return cert->key != NULL;
}

/* Reads the chain, and the key if it is in the same file. */
static bool
cert_file_read(
    struct tls_cert *cert, const struct tls_pair *pair, struct err *err)
{
	struct tls_text text;
	bool key_inside, ok;

	if (!tls_text_read("certificate", cert->file, &text, err))
		return false;
	cert->stamp = tls_stamp_of(&text.stat);
	ok = tls_pem_chain(
	    cert->file, text.data, text.n, &cert->x509, &cert->chain, err);
	key_inside = !pair->key && tls_pem_has_key(text.data, text.n);
	if (key_inside)
		cert->key_file = strdup(cert->file);
	else if (pair->key)
		cert->key_file = strdup(pair->key);
	else if (asprintf(&cert->key_file, "%s.key", cert->file) < 0)
		cert->key_file = NULL;
	if (ok && !cert->key_file)
		ok = err_oom(err);
	if (ok && key_inside) {
		cert->key = tls_pem_key(cert->file, text.data, text.n, err);
		cert->key_stamp = cert->stamp;
		cert->key_is_open = text.stat.st_mode & S_IROTH;
		ok = cert->key != NULL;
	}
	tls_text_fini(&text);
	return ok && (key_inside || key_file_read(cert, pair->key, err));
}

static bool
ocsp_file_read(struct tls_cert *cert, struct err *err)
{
	struct tls_text text;
	bool ok;

	if (!cert->ocsp_named && access(cert->ocsp_file, F_OK) < 0 &&
	    errno == ENOENT)
		return true;
	if (!tls_text_read("OCSP response", cert->ocsp_file, &text, err))
		return false;
	cert->ocsp_stamp = tls_stamp_of(&text.stat);
	ok = tls_ocsp_parse(cert->ocsp_file, text.data, text.n, cert->x509,
	    cert->chain, &cert->ocsp, err);
	tls_text_fini(&text);
	return ok;
}

/* -- Certificates -- */

static struct tls_cert *
cert_load(const struct tls_pair *pair, struct err *err)
{
	struct tls_cert *cert = calloc(1, sizeof(*cert));

	if (!cert) {
		err_oom(err);
		return NULL;
	}
	cert->refs = 1;
	cert->read_at = time(NULL);
	cert->file = strdup(pair->cert);
	cert->ocsp_named = pair->ocsp != NULL;
	if (pair->ocsp)
		cert->ocsp_file = strdup(pair->ocsp);
	else if (asprintf(&cert->ocsp_file, "%s.ocsp", pair->cert) < 0)
		cert->ocsp_file = NULL;
	if (!cert->file || !cert->ocsp_file)
		err_oom(err);
	else if (cert_file_read(cert, pair, err) && cert_complete(cert, err) &&
	         ocsp_file_read(cert, err))
		return cert;
	tls_cert_unref(cert);
	return NULL;
}

/* Copies the names and stamps of the files; the content is in memory. */
static bool
files_copy(struct tls_cert *cert, const struct tls_cert *old)
{
	cert->file = strdup(old->file);
	cert->key_file = strdup(old->key_file);
	cert->ocsp_file = strdup(old->ocsp_file);
	cert->ocsp_named = old->ocsp_named;
	cert->stamp = old->stamp;
	cert->key_stamp = old->key_stamp;
	cert->ocsp_stamp = old->ocsp_stamp;
	cert->read_at = old->read_at;
	cert->key_is_open = old->key_is_open;
	cert->in_memory = true;
	cert->base = old->base;
	return cert->file && cert->key_file && cert->ocsp_file;
}

static bool
content_replace(struct tls_cert *cert, const struct tls_cert *old,
    const char *pem, const char *key_pem, struct err *err)
{
	if (pem && !tls_pem_chain(cert->file, pem, strlen(pem), &cert->x509,
	               &cert->chain, err))
		return false;
	if (!pem) {
		cert->x509 = X509_dup(old->x509);
		cert->chain = X509_chain_up_ref(old->chain);
	}
	if (!key_pem && pem && tls_pem_has_key(pem, strlen(pem)))
		key_pem = pem;
	if (key_pem)
		cert->key =
		    tls_pem_key(cert->key_file, key_pem, strlen(key_pem), err);
	else if (EVP_PKEY_up_ref(old->key) == 1)
		cert->key = old->key;
	if (!cert->key)
		return false;
	if (!cert->x509 || !cert->chain)
		return err_oom(err);
	return true;
}

static struct tls_cert *
cert_replace(const struct tls_cert *old, const char *pem, const char *key_pem,
    struct err *err)
{
	struct tls_cert *cert = calloc(1, sizeof(*cert));

	if (!cert) {
		err_oom(err);
		return NULL;
	}
	cert->refs = 1;
	if (!files_copy(cert, old)) {
		err_oom(err);
	} else if (content_replace(cert, old, pem, key_pem, err) &&
	           cert_complete(cert, err)) {
		/* A response about the old certificate is of no use. */
		if (X509_cmp(cert->x509, old->x509) != 0 ||
		    tls_ocsp_copy(&old->ocsp, &cert->ocsp))
			return cert;
		err_oom(err);
	}
	tls_cert_unref(cert);
	return NULL;
}

struct tls_cert *
tls_cert_load(const struct tls_pair *pair, struct err *err)
{
	struct tls_cert *cert;

	tls_memory_protect();
	cert = cert_load(pair, err);
	tls_memory_unprotect();
	return cert;
}

struct tls_cert *
tls_cert_replace(const struct tls_cert *old, const char *pem,
    const char *key_pem, struct err *err)
{
	struct tls_cert *cert;

	tls_memory_protect();
	cert = cert_replace(old, pem, key_pem, err);
	tls_memory_unprotect();
	return cert;
}

struct tls_cert *
tls_cert_ref(struct tls_cert *cert)
{
	atomic_add_relaxed(&cert->refs, 1u);
	return cert;
}

void
tls_cert_unref(struct tls_cert *cert)
{
	if (!cert || atomic_sub_acq_rel(&cert->refs, 1u) > 1)
		return;
	if (cert->x509)
		X509_set_ex_data(cert->x509, get_x509_slot(), NULL);
	X509_free(cert->x509);
	sk_X509_pop_free(cert->chain, X509_free);
	EVP_PKEY_free(cert->key);
	tls_cert_names_free(cert->names, cert->names_n);
	tls_ocsp_fini(&cert->ocsp);
	free(cert->file);
	free(cert->key_file);
	free(cert->ocsp_file);
	free(cert);
}

const char *
tls_cert_key_type_name(const struct tls_cert *cert)
{
	const char *name = EVP_PKEY_get0_type_name(cert->key);

	return name ? name : "?";
}
