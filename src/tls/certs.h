/* SPDX-License-Identifier: MIT
 * All certificates of a context.
 *
 * Functions run on the control thread.
 */
#ifndef TLS_CERTS_H
#define TLS_CERTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "tls/settings.h"

struct tls_cert;
struct tls_names;

struct tls_certs {
	struct tls_cert **certs; /* in the order given; each a reference */
	size_t n;
};

/* Reads the certificates of the settings, those of directories last.  Shares
 * those of old (NULL: none) whose files have not changed, also if they were
 * replaced in memory.  Returns false with err set, which names the file.
 * Blocks. */
bool tls_certs_load(const struct tls_settings *settings,
    const struct tls_certs *old, struct tls_certs *ret_certs,
    struct err *err) MUST_CHECK;

/* Calls error for each certificate of the folder that cannot be used, or for
 * the folder itself, with a sentence that names the file.  Blocks. */
void tls_certs_dir_errors(
    const char *dir, void (*error)(void *arg, const char *text), void *arg);

/* Copies the list with replacement in the place of certificate at. */
bool tls_certs_copy_with(const struct tls_certs *certs, size_t at,
    struct tls_cert *replacement, struct tls_certs *ret_copy) MUST_CHECK;

/* Drops the references and frees the array. */
void tls_certs_fini(struct tls_certs *certs);

/* Appends a sentence for everything that an operator should know; see
 * tls_context_warnings. */
void tls_certs_warnings(const struct tls_certs *certs,
    const struct tls_names *names, struct err_list *warnings);

#endif
