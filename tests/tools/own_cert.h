/* SPDX-License-Identifier: MIT
 * A certificate made on the spot, for tests that need one, no matter which.
 */
#ifndef TOOLS_OWN_CERT_H
#define TOOLS_OWN_CERT_H

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Signs a certificate for localhost with its own P-256 key. */
static inline X509 *
own_cert_make(EVP_PKEY *key)
{
	X509 *cert = X509_new();
	X509_NAME *name = cert ? X509_get_subject_name(cert) : NULL;
	X509_EXTENSION *names = X509V3_EXT_conf_nid(
	    NULL, NULL, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");

	if (!names || !name || X509_set_version(cert, X509_VERSION_3) != 1 ||
	    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) != 1 ||
	    !X509_gmtime_adj(X509_getm_notBefore(cert), -3600) ||
	    !X509_gmtime_adj(X509_getm_notAfter(cert), 86400) ||
	    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
	        (const unsigned char *)"localhost", -1, -1, 0) != 1 ||
	    X509_set_issuer_name(cert, name) != 1 ||
	    X509_set_pubkey(cert, key) != 1 ||
	    X509_add_ext(cert, names, -1) != 1 ||
	    X509_sign(cert, key, EVP_sha256()) == 0) {
		X509_free(cert);
		cert = NULL;
	}
	X509_EXTENSION_free(names);
	return cert;
}

/* Writes a certificate and its key to the file, with mode 0600.  Returns false
 * when that has failed. */
static inline bool
own_cert_write(const char *path)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = key ? own_cert_make(key) : NULL;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool ok = cert && f && PEM_write_X509(f, cert) == 1 &&
	          PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1;

	if (f)
		ok = fclose(f) == 0 && ok;
	else if (fd >= 0)
		close(fd);
	X509_free(cert);
	EVP_PKEY_free(key);
	return ok;
}

#endif
