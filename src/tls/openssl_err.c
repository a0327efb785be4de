/* SPDX-License-Identifier: MIT
 * See openssl_err.h.
 */
#include "tls/openssl_err.h"

#include <openssl/err.h>
#include <openssl/pemerr.h>
#include <openssl/sslerr.h>
#include <openssl/x509err.h>
#include <pthread.h>
#include <stddef.h>

/* Reasons that OpenSSL's own words do not explain to an operator. */
static const struct {
	int library, reason;
	const char *text;
} reasons[] = {
    {ERR_LIB_SSL, SSL_R_EE_KEY_TOO_SMALL,
        "its key is too small for the security level; make a larger one"},
    {ERR_LIB_SSL, SSL_R_CA_KEY_TOO_SMALL,
        "a key in its chain is too small for the security level"},
    {ERR_LIB_SSL, SSL_R_CA_MD_TOO_WEAK,
        "it is signed with a hash too weak for the security level, such as "
        "SHA-1"},
    {ERR_LIB_SSL, SSL_R_UNKNOWN_CERTIFICATE_TYPE,
        "its kind of key cannot be used for TLS; use RSA, ECDSA or Ed25519"},
    {ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH, TLS_KEY_MISMATCH},
    {ERR_LIB_X509, X509_R_KEY_TYPE_MISMATCH,
        TLS_KEY_MISMATCH ": it is of another kind"},
    {ERR_LIB_SSL, SSL_R_PRIVATE_KEY_MISMATCH, TLS_KEY_MISMATCH},
};

/* Our reasons have a library number of their own in OpenSSL. */
#define REASON_UNKNOWN_NAME 1

static int own_library;

static void
make_own_library(void)
{
	static ERR_STRING_DATA texts[] = {
	    {ERR_PACK(0, 0, REASON_UNKNOWN_NAME),
	        "no certificate has the name that the client asks for "
	        "(strict_sni)"},
	    {0, NULL}};

	own_library = ERR_get_next_error_library();
	ERR_load_strings(own_library, texts);
}

void
tls_openssl_raise_unknown_name(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make_own_library);
	ERR_raise(own_library, REASON_UNKNOWN_NAME);
}

const char *
tls_openssl_reason(void)
{
	unsigned long code = ERR_peek_last_error();
	const char *text = ERR_reason_error_string(code);

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (ERR_GET_LIB(code) == reasons[i].library &&
		    ERR_GET_REASON(code) == reasons[i].reason)
			text = reasons[i].text;
	}
	ERR_clear_error();
	return text ? text : "out of memory";
}

int
tls_openssl_failed_with(int library, int reason)
{
	unsigned long code = ERR_peek_error();

	return ERR_GET_LIB(code) == library && ERR_GET_REASON(code) == reason;
}
