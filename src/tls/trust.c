/* SPDX-License-Identifier: MIT
 * See trust.h.
 */
#include "tls/trust.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <string.h>
#include <unistd.h>

static bool
trust_fill(X509_STORE *trust, const char *file, struct err *err)
{
	if (!file)
		return X509_STORE_set_default_paths(trust) == 1 || err_oom(err);
	if (X509_STORE_load_file(trust, file) == 1)
		return true;
	/* OpenSSL does not tell why a file cannot be opened. */
	if (eaccess(file, R_OK) < 0)
		return err_set(
		    err, "'%s' cannot be read: %s", file, strerror(errno));
	return err_set(err, "'%s' has no certificate in PEM form", file);
}

X509_STORE *
trust_load(const char *file, struct err *err)
{
	X509_STORE *trust = X509_STORE_new();

	if (trust && trust_fill(trust, file, err))
		return trust;
	if (!trust)
		err_oom(err);
	ERR_clear_error();
	X509_STORE_free(trust);
	return NULL;
}

void
trust_free(X509_STORE *trust)
{
	X509_STORE_free(trust);
}
