/* SPDX-License-Identifier: MIT
 * Files, and certificates and keys in PEM form.
 *
 * Errors name the file.  Functions run on the control thread.
 */
#ifndef TLS_PEM_H
#define TLS_PEM_H

#include <openssl/types.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

/* Larger files are refused. */
#define TLS_FILE_MAX (16u << 20)

/* A file's content, with a NUL behind it. */
struct tls_text {
	char *data; /* OpenSSL's memory: it may be a key */
	size_t n;
	struct stat stat; /* before the content was read */
};

/* Reads a whole file.  what names its purpose in errors, such as "certificate".
 * Returns false with err set.  Blocks. */
bool tls_text_read(const char *what, const char *file,
    struct tls_text *ret_text, struct err *err) MUST_CHECK;

/* Wipes and frees the content. */
void tls_text_fini(struct tls_text *text);

/* Reads the first certificate, which is ours, and the following ones, its
 * chain.  The results are the caller's.  Returns false with err set. */
bool tls_pem_chain(const char *file, const char *pem, size_t n, X509 **ret_cert,
    STACK_OF(X509) * *ret_chain, struct err *err) MUST_CHECK;

/* Reads every certificate, at least one, and appends them to certs.  Returns
 * false with err set. */
bool tls_pem_certs(const char *what, const char *file, const char *pem,
    size_t n, STACK_OF(X509) * certs, struct err *err) MUST_CHECK;

/* Returns whether the text has a private key, encrypted or not. */
bool tls_pem_has_key(const char *pem, size_t n);

/* Reads the first private key.  Never asks for a passphrase.  Returns NULL with
 * err set. */
EVP_PKEY *tls_pem_key(
    const char *file, const char *pem, size_t n, struct err *err) MUST_CHECK;

#endif
