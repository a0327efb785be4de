/* SPDX-License-Identifier: MIT
 * See ocsp.h.
 */
#include "tls/ocsp.h"

#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <stdlib.h>
#include <string.h>

#include "tls/x509_text.h"

/* Returns the issuer if the chain has it. */
static X509 *
find_issuer(X509 *cert, STACK_OF(X509) * chain)
{
	for (int i = 0; i < sk_X509_num(chain); i++) {
		if (X509_check_issued(sk_X509_value(chain, i), cert) ==
		    X509_V_OK)
			return sk_X509_value(chain, i);
	}
	return X509_check_issued(cert, cert) == X509_V_OK ? cert : NULL;
}

/* Returns whether id is the certificate's, in the hash that the response has
 * chosen. */
static bool
id_is_of(const OCSP_CERTID *id, X509 *cert, X509 *issuer)
{
	ASN1_INTEGER *serial = NULL;
	ASN1_OBJECT *hash = NULL;
	OCSP_CERTID *own;
	const EVP_MD *md;
	bool same;

	/* OpenSSL's function returns parts of the id and changes nothing. */
	OCSP_id_get0_info(
	    NULL, &hash, NULL, &serial, (OCSP_CERTID *)(uintptr_t)id);
	if (ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(cert)) != 0)
		return false;
	md = EVP_get_digestbyobj(hash);
	if (!issuer || !md)
		return true;
	own = OCSP_cert_to_id(md, cert, issuer);
	same = own && OCSP_id_cmp(own, id) == 0;
	OCSP_CERTID_free(own);
	return same;
}

static int64_t
seconds(const ASN1_GENERALIZEDTIME *time)
{
	return time ? tls_asn1_seconds(time) : 0;
}

/* Sets the facts of the response for the certificate; false: there is none. */
static bool
read_status(OCSP_BASICRESP *basic, X509 *cert, STACK_OF(X509) * chain,
    struct tls_ocsp *ocsp)
{
	X509 *issuer = find_issuer(cert, chain);

	for (int i = 0; i < OCSP_resp_count(basic); i++) {
		OCSP_SINGLERESP *single = OCSP_resp_get0(basic, i);
		ASN1_GENERALIZEDTIME *this_update, *next_update;

		if (!id_is_of(OCSP_SINGLERESP_get0_id(single), cert, issuer))
			continue;
		ocsp->good =
		    OCSP_single_get0_status(single, NULL, NULL, &this_update,
		        &next_update) == V_OCSP_CERTSTATUS_GOOD;
		ocsp->this_update = seconds(this_update);
		ocsp->next_update = seconds(next_update);
		return true;
	}
	return false;
}

static bool
read_response(const char *file, OCSP_RESPONSE *response, X509 *cert,
    STACK_OF(X509) * chain, struct tls_ocsp *ocsp, struct err *err)
{
	int status = OCSP_response_status(response);
	OCSP_BASICRESP *basic;

	if (status != OCSP_RESPONSE_STATUS_SUCCESSFUL)
		return err_set(err, "OCSP response '%s' is the error '%s'",
		    file, OCSP_response_status_str(status));
	basic = OCSP_response_get1_basic(response);
	if (!basic)
		return err_set(
		    err, "OCSP response '%s' is of an unknown kind", file);
	ocsp->other = !read_status(basic, cert, chain, ocsp);
	OCSP_BASICRESP_free(basic);
	return true;
}

bool
tls_ocsp_parse(const char *file, const void *der, size_t n, X509 *cert,
    STACK_OF(X509) * chain, struct tls_ocsp *ret_ocsp, struct err *err)
{
	const unsigned char *at = der;
	OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &at, (long)n);
	struct tls_ocsp ocsp = {.n = n};
	bool ok;

	if (!response || at != (const unsigned char *)der + n)
		ok =
		    err_set(err, "OCSP response '%s' is not in DER form", file);
	else
		ok = read_response(file, response, cert, chain, &ocsp, err);
	OCSP_RESPONSE_free(response);
	ERR_clear_error();
	if (!ok)
		return false;
	ocsp.der = malloc(n);
	if (!ocsp.der)
		return err_oom(err);
	memcpy(ocsp.der, der, n);
	*ret_ocsp = ocsp;
	return true;
}

bool
tls_ocsp_copy(const struct tls_ocsp *ocsp, struct tls_ocsp *ret_copy)
{
	struct tls_ocsp copy = *ocsp;

	if (ocsp->der) {
		copy.der = malloc(ocsp->n);
		if (!copy.der)
			return false;
		memcpy(copy.der, ocsp->der, ocsp->n);
	}
	*ret_copy = copy;
	return true;
}

void
tls_ocsp_fini(struct tls_ocsp *ocsp)
{
	free(ocsp->der);
	*ocsp = (struct tls_ocsp){.n = 0};
}

enum tls_ocsp_state
tls_ocsp_state(const struct tls_ocsp *ocsp, int64_t now_s)
{
	if (!ocsp->der)
		return TLS_OCSP_NONE;
	if (ocsp->other)
		return TLS_OCSP_OTHER;
	if (!ocsp->good)
		return TLS_OCSP_NOT_GOOD;
	if (now_s < ocsp->this_update)
		return TLS_OCSP_NOT_YET;
	if (ocsp->next_update && now_s >= ocsp->next_update)
		return TLS_OCSP_STALE;
	return TLS_OCSP_SENT;
}
