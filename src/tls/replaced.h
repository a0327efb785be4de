/* SPDX-License-Identifier: MIT
 * Certificates with their keys, authorities and CRLs that commands have put in
 * place of a context's files, in a form for another process.
 *
 * Functions run on the control thread and do not block.
 */
#ifndef TLS_REPLACED_H
#define TLS_REPLACED_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct tls_context;
struct tls_authorities;
struct tls_cert;

#define TLS_REPLACED_TEXT_SIZE 320

/* Content in memory that is not the file's. */
struct tls_replaced {
	const char *what; /* `certificate`, `ca` or `crl` */
	const char *file;
	uint64_t base; /* a digest of what the file had when it was read */
	char text[TLS_REPLACED_TEXT_SIZE]; /* the content, for people */
	/* Exactly one of these is not NULL. */
	const struct tls_cert *cert;
	const struct tls_authorities *authorities;
};

/* Calls replaced for each, with a pointer that is valid during the call. */
void tls_replaced_each(const struct tls_context *context,
    void (*replaced)(void *arg, const struct tls_replaced *r), void *arg);

/* Returns the content in PEM form, with the key of a certificate, or NULL when
 * memory is short.  BIO_free wipes it. */
BIO *tls_replaced_pem(const struct tls_replaced *replaced);

/* Puts content into use as it was in another process.  Returns false with err
 * set if the file is not that of the base any more, or the text is not usable.
 */
bool tls_replaced_restore(struct tls_context *context, const char *what,
    const char *file, uint64_t base, const char *pem,
    struct err *err) MUST_CHECK;

#endif
