/* SPDX-License-Identifier: MIT
 * Calls that have other names in newer versions of OpenSSL: lfproxy builds with
 * 3.0 and later, without deprecated calls.
 */
#ifndef TLS_OPENSSL_COMPAT_H
#define TLS_OPENSSL_COMPAT_H

#include <openssl/ssl.h>
#include <stdint.h>

/* Returns when the session was established, in seconds since 1970. */
static inline int64_t
tls_session_time(const SSL_SESSION *session)
{
#if OPENSSL_VERSION_PREREQ(3, 3)
	return SSL_SESSION_get_time_ex(session);
#else
	return SSL_SESSION_get_time(session);
#endif
}

#endif
