/* SPDX-License-Identifier: MIT
 * New contents for certificates, until they are committed.
 *
 * Functions run on the control thread.
 */
#ifndef TLS_STAGED_H
#define TLS_STAGED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct tls_cert;
struct tls_certs;

/* The new content of one certificate. */
struct tls_staged {
	char *file;    /* the certificate's */
	char *pem;     /* its new text; NULL: the old one stays */
	char *key_pem; /* its key's; NULL: that in pem, or else the old one */
};

struct tls_staged_list {
	struct tls_staged *entries;
	size_t n, room;
};

/* Returns the place of the certificate that has this file, or whose key has it;
 * certs->n if there is none. */
size_t tls_staged_place(const struct tls_certs *certs, const char *file);

/* Keeps pem for the certificate, or for its key if file is the key's file and
 * not the certificate's own.  Returns false with err set if the text is not
 * usable, or if certificate and key are known not to match: only a key in a
 * file of its own may come before or after its certificate. */
bool tls_staged_keep(struct tls_staged_list *list, const struct tls_cert *cert,
    const char *file, const char *pem, struct err *err) MUST_CHECK;

/* Returns what is kept for the certificate, or NULL. */
struct tls_staged *tls_staged_find(
    const struct tls_staged_list *list, const struct tls_cert *cert);

/* Wipes what is kept. */
void tls_staged_drop(struct tls_staged_list *list, struct tls_staged *staged);
/* Wipes all contents and frees the list. */
void tls_staged_fini(struct tls_staged_list *list);

#endif
