/* SPDX-License-Identifier: MIT
 * Parts of certificates as text and numbers.
 *
 * Texts are printable, cut to size, and end with NUL.  Any thread.
 */
#ifndef TLS_X509_TEXT_H
#define TLS_X509_TEXT_H

#include <openssl/types.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

/* Returns seconds since 1970, or 0 if the time cannot be read. */
int64_t tls_asn1_seconds(const ASN1_TIME *time);

/* Writes a name as in RFC 2253. */
void tls_x509_name(const X509_NAME *name, char *out, size_t size);

/* Writes the last common name of the subject; empty: there is none. */
void tls_x509_cn(const X509 *cert, char *out, size_t size);

/* Writes the algorithm of the signature, as in `RSA-SHA256`. */
void tls_x509_sig_alg(const X509 *cert, char *out, size_t size);
/* Writes the algorithm of the key with its bits, as in `EC256`. */
void tls_x509_key_alg(X509 *cert, char *out, size_t size);

/* Writes the serial number in hexadecimal digits. */
void tls_x509_serial(const X509 *cert, char *out, size_t size);

/* Writes the alternative names, as in `DNS:a,IP:10.0.0.1`. */
void tls_x509_sans(const X509 *cert, char *out, size_t size);

#define TLS_DAY_SIZE 32

/* Writes a time, in seconds since 1970, in UTC: `2026-01-31 12:00 UTC`.
 * Returns out. */
const char *tls_day_text(int64_t seconds, char out[TLS_DAY_SIZE]);

/* Writes bytes in hexadecimal digits. */
void tls_hex(const uint8_t *bytes, size_t n, char *out, size_t size);

#endif
