/* SPDX-License-Identifier: MIT
 * See pem.h.
 */
#include "tls/pem.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "tls/openssl_err.h"

/* Reads until the end, or until the text is full. */
static ssize_t
read_up_to(int fd, char *data, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, data + n, size - n);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)n;
}

static bool
fd_read(const char *what, const char *file, int fd, struct tls_text *text,
    struct err *err)
{
	ssize_t n;

	if (fstat(fd, &text->stat) < 0)
		return err_set(err, "%s '%s' cannot be read: %s", what, file,
		    strerror(errno));
	if (S_ISDIR(text->stat.st_mode))
		return err_set(err, "%s '%s' is a directory", what, file);
	if (!S_ISREG(text->stat.st_mode))
		return err_set(
		    err, "%s '%s' is not a regular file", what, file);
	if (text->stat.st_size >= TLS_FILE_MAX)
		return err_set(err, "%s '%s' is larger than %u MiB", what, file,
		    TLS_FILE_MAX >> 20);
	text->n = (size_t)text->stat.st_size;
	text->data = OPENSSL_malloc(text->n + 1);
	if (!text->data)
		return err_oom(err);
	n = read_up_to(fd, text->data, text->n);
	if (n < 0)
		err_set(err, "%s '%s' cannot be read: %s", what, file,
		    strerror((int)-n));
	if (n < 0) {
		OPENSSL_free(text->data);
		return false;
	}
	text->n = (size_t)n;
	text->data[n] = '\0';
	return true;
}

bool
tls_text_read(const char *what, const char *file, struct tls_text *ret_text,
    struct err *err)
{
	struct tls_text text = {.n = 0};
	/* A FIFO must not keep the control thread. */
	int fd = open(fault_hang(file), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool ok;

	if (fd < 0)
		return err_set(err, "%s '%s' cannot be read: %s", what, file,
		    strerror(errno));
	ok = fd_read(what, file, fd, &text, err);
	close(fd);
	if (ok)
		*ret_text = text;
	return ok;
}

void
tls_text_fini(struct tls_text *text)
{
	OPENSSL_clear_free(text->data, text->n);
	*text = (struct tls_text){.n = 0};
}

/* Returns whether reading stopped at the end of the text; clears that error. */
static bool
at_end(void)
{
	bool end = ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_PEM &&
	           ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;

	if (end)
		ERR_clear_error();
	return end;
}

/* Appends certificates until the text ends. */
static bool
read_certs(const char *what, const char *file, BIO *bio, STACK_OF(X509) * certs,
    struct err *err)
{
	int before = sk_X509_num(certs);
	X509 *cert;

	ERR_clear_error();
	while ((cert = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
		/* OpenSSL keeps decoded extensions from the first use on.  That
		 * is now, before other threads see the certificate. */
		(void)X509_check_purpose(cert, -1, 0);
		if (!sk_X509_push(certs, cert)) {
			X509_free(cert);
			return err_oom(err);
		}
	}
	if (!at_end())
		return err_set(err, "%s '%s': certificate %d is damaged: %s",
		    what, file, sk_X509_num(certs) - before + 1,
		    tls_openssl_reason());
	if (sk_X509_num(certs) == before)
		return err_set(err,
		    "%s '%s' has no certificate in PEM form (-----BEGIN "
		    "CERTIFICATE-----)",
		    what, file);
	return true;
}

bool
tls_pem_certs(const char *what, const char *file, const char *pem, size_t n,
    STACK_OF(X509) * certs, struct err *err)
{
	BIO *bio = BIO_new_mem_buf(pem, (int)n);
	bool ok = bio ? read_certs(what, file, bio, certs, err) : err_oom(err);

	BIO_free(bio);
	return ok;
}

bool
tls_pem_chain(const char *file, const char *pem, size_t n, X509 **ret_cert,
    STACK_OF(X509) * *ret_chain, struct err *err)
{
	STACK_OF(X509) *certs = sk_X509_new_null();

	if (!certs)
		return err_oom(err);
	if (!tls_pem_certs("certificate", file, pem, n, certs, err)) {
		sk_X509_pop_free(certs, X509_free);
		return false;
	}
	*ret_cert = sk_X509_shift(certs);
	*ret_chain = certs;
	return true;
}

bool
tls_pem_has_key(const char *pem, size_t n)
{
	static const char begin[] = "-----BEGIN ";
	const char *at = pem, *end = pem + n;

	while ((at = memmem(at, (size_t)(end - at), begin, strlen(begin)))) {
		const char *label = at + strlen(begin);
		const char *eol = memchr(label, '\n', (size_t)(end - label));
		size_t len = (size_t)((eol ? eol : end) - label);

		if (memmem(label, len, "PRIVATE KEY-----", 16))
			return true;
		at = label;
	}
	return false;
}

/* Called by OpenSSL for the passphrase of an encrypted key. */
static int
refuse_passphrase(char *buf, int size, int for_writing, void *asked)
{
	(void)buf;
	(void)size;
	(void)for_writing;
	*(bool *)asked = true;
	return -1;
}

EVP_PKEY *
tls_pem_key(const char *file, const char *pem, size_t n, struct err *err)
{
	BIO *bio = BIO_new_mem_buf(pem, (int)n);
	bool encrypted = false;
	EVP_PKEY *key = NULL;

	ERR_clear_error();
	if (bio)
		key = PEM_read_bio_PrivateKey(
		    bio, NULL, refuse_passphrase, &encrypted);
	BIO_free(bio);
	if (!key && encrypted)
		err_set(err,
		    "key '%s' is encrypted; lfproxy asks for no passphrase: "
		    "decrypt it with `openssl pkey`",
		    file);
	else if (!key && !tls_pem_has_key(pem, n))
		err_set(err,
		    "key '%s' has no private key in PEM form (-----BEGIN "
		    "PRIVATE KEY-----)",
		    file);
	else if (!key)
		err_set(err,
		    "key '%s' is damaged or of an unsupported kind: %s", file,
		    tls_openssl_reason());
	ERR_clear_error();
	return key;
}
