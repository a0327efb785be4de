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

/* Sets that time. */
static inline void
tls_session_set_time(SSL_SESSION *session, int64_t time_s)
{
#if OPENSSL_VERSION_PREREQ(3, 3)
	(void)SSL_SESSION_set_time_ex(session, (time_t)time_s);
#else
	(void)SSL_SESSION_set_time(session, (long)time_s);
#endif
}

#endif
