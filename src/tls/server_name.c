/* SPDX-License-Identifier: MIT
 * See server_name.h.
 */
#include "tls/server_name.h"

#include <arpa/inet.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <string.h>

#define HOST_FLAGS X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS

/* OpenSSL has no number for this error.  This one cannot be the result of
 * another fault, since no mail address is verified, and the server gets the
 * alert bad_certificate for it, as for X509_V_ERR_HOSTNAME_MISMATCH. */
#define ERROR_ONLY_CN X509_V_ERR_EMAIL_MISMATCH

bool
tls_is_address(const char *name)
{
	struct in6_addr address;

	return inet_pton(AF_INET, name, &address) == 1 ||
	       inet_pton(AF_INET6, name, &address) == 1;
}

bool
tls_server_name_set(
    X509_VERIFY_PARAM *param, const char *name, bool common_name)
{
	size_t len = strlen(name);

	if (tls_is_address(name))
		return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
	if (len > 1 && name[len - 1] == '.')
		len--;
	X509_VERIFY_PARAM_set_hostflags(
	    param, HOST_FLAGS |
	               (common_name ? 0 : X509_CHECK_FLAG_NEVER_CHECK_SUBJECT));
	return X509_VERIFY_PARAM_set1_host(param, name, len) == 1;
}

int
tls_server_name_verify(int ok, X509_STORE_CTX *chain)
{
	X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(chain);
	const char *name;

	if (ok ||
	    X509_STORE_CTX_get_error(chain) != X509_V_ERR_HOSTNAME_MISMATCH)
		return ok;
	name = X509_VERIFY_PARAM_get0_host(param, 0);
	if (name && X509_check_host(X509_STORE_CTX_get0_cert(chain), name, 0,
	                HOST_FLAGS, NULL) == 1)
		X509_STORE_CTX_set_error(chain, ERROR_ONLY_CN);
	return ok;
}

const char *
tls_server_name_error(long result)
{
	return result == ERROR_ONLY_CN
	           ? "the certificate has no host name in subjectAltName; "
	             "renew it, or set common_name=on"
	           : NULL;
}

const char *
tls_server_verify_text(long result)
{
	const char *text = tls_server_name_error(result);

	return text ? text : X509_verify_cert_error_string(result);
}
