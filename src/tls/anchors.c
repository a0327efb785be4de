/* SPDX-License-Identifier: MIT
 * See anchors.h.
 */
#include "tls/anchors.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdlib.h>

enum cert_kind {
	CERT_UNSETTLED,
	CERT_ANCHOR,
	CERT_LINK,
};

static bool
is_self_signed(X509 *cert)
{
	return (X509_get_extension_flags(cert) & EXFLAG_SS) != 0;
}

static bool
has_issued(X509 *issuer, X509 *cert)
{
	return X509_check_issued(issuer, cert) == X509_V_OK &&
	       X509_verify(cert, X509_get0_pubkey(issuer)) == 1;
}

/* Returns whether a certificate of the stack has issued that of this number;
 * settled: one whose kind is known. */
static bool
is_issued(const STACK_OF(X509) * certs, int number, const uint8_t *kinds,
    bool settled)
{
	X509 *cert = sk_X509_value(certs, number);

	for (int i = 0; i < sk_X509_num(certs); i++) {
		if (i != number && (!settled || kinds[i] != CERT_UNSETTLED) &&
		    has_issued(sk_X509_value(certs, i), cert))
			return true;
	}
	return false;
}

/* Authorities that have signed each other in a circle stay unsettled. */
static void
settle(const STACK_OF(X509) * certs, uint8_t *kinds)
{
	int n = sk_X509_num(certs);
	bool found;

	for (int i = 0; i < n; i++) {
		if (is_self_signed(sk_X509_value(certs, i)) ||
		    !is_issued(certs, i, kinds, false))
			kinds[i] = CERT_ANCHOR;
	}
	do {
		found = false;
		for (int i = 0; i < n; i++) {
			if (kinds[i] != CERT_UNSETTLED ||
			    !is_issued(certs, i, kinds, true))
				continue;
			kinds[i] = CERT_LINK;
			found = true;
		}
	} while (found);
}

STACK_OF(X509) * tls_anchors_links(const STACK_OF(X509) * certs)
{
	int n = sk_X509_num(certs);
	uint8_t *kinds = calloc((size_t)n + 1, sizeof(*kinds));
	STACK_OF(X509) *links = sk_X509_new_reserve(NULL, n);

	if (!kinds || !links) {
		free(kinds);
		sk_X509_free(links);
		return NULL;
	}
	settle(certs, kinds);
	ERR_clear_error(); /* of signatures by other keys */
	for (int i = 0; i < n; i++) {
		if (kinds[i] == CERT_LINK)
			sk_X509_push(links, sk_X509_value(certs, i));
	}
	free(kinds);
	return links;
}

static bool
is_about_crls(int error)
{
	switch (error) {
	case X509_V_ERR_UNABLE_TO_GET_CRL:
	case X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER:
	case X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE:
	case X509_V_ERR_CRL_SIGNATURE_FAILURE:
	case X509_V_ERR_CRL_NOT_YET_VALID:
	case X509_V_ERR_CRL_HAS_EXPIRED:
	case X509_V_ERR_KEYUSAGE_NO_CRL_SIGN:
	case X509_V_ERR_DIFFERENT_CRL_SCOPE:
	case X509_V_ERR_CRL_PATH_VALIDATION_ERROR:
		return true;
	default:
		return false;
	}
}

bool
tls_anchors_excuse(X509_STORE_CTX *chain)
{
	const STACK_OF(X509) *certs = X509_STORE_CTX_get0_chain(chain);
	int last = sk_X509_num(certs) - 1;

	return is_about_crls(X509_STORE_CTX_get_error(chain)) &&
	       X509_STORE_CTX_get_error_depth(chain) == last &&
	       (last == 0 || !is_self_signed(sk_X509_value(certs, last)));
}
