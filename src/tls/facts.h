/* SPDX-License-Identifier: MIT
 * Facts for logs, show and PROXY headers: about a connection, and about a
 * certificate of ours.
 *
 * Texts from certificates are printable: other bytes are escaped as in RFC
 * 2253.  A text that does not fit is cut.
 */
#ifndef TLS_FACTS_H
#define TLS_FACTS_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>

#define TLS_NAME_SIZE    256 /* of a host name and NUL */
#define TLS_SUBJECT_SIZE 256
#define TLS_SERIAL_SIZE  64 /* hexadecimal digits */
#define TLS_SANS_SIZE    512

struct tls_facts {
	int version;              /* as TLS1_3_VERSION; 0: none yet */
	const char *version_name; /* `TLSv1.3`; static */
	const char *cipher;       /* `TLS_AES_128_GCM_SHA256`; static */
	const char *group;        /* `X25519`; static; NULL: no key exchange */
	bool resumed;
	char sni[TLS_NAME_SIZE];  /* sent by the client, by us to a server */
	char alpn[TLS_NAME_SIZE]; /* chosen; empty: none */
	/* The peer's certificate; a resumed session's is that of its first
	 * connection. */
	bool has_cert;
	long verify_result; /* X509_V_OK without a certificate */
	const char
	    *verify_error; /* in words; NULL: verified or no certificate */
	char subject[TLS_SUBJECT_SIZE]; /* `CN=x,O=y`, RFC 2253 */
	char issuer[TLS_SUBJECT_SIZE];
	char serial[TLS_SERIAL_SIZE];
	char cn[TLS_NAME_SIZE];
	char sans[TLS_SANS_SIZE]; /* `DNS:a,IP:10.0.0.1,email:x@y,URI:z` */
};

/* Reads what is known of the connection.  Runs on its owner. */
void tls_facts_read(SSL *ssl, struct tls_facts *ret_facts);

/* Returns the name of the cipher with that number (SSL_CIPHER_get_protocol_id),
 * or `-` if there is none; static.  Any thread. */
const char *tls_cipher_name(uint16_t number);

/* Returns the number of the group in which the handshake has exchanged keys, or
 * that of the session that was resumed; 0: none.  Runs on the owner. */
int tls_group(SSL *ssl);

/* Returns the name of that group as the key `curves` has it; static; NULL for
 * 0.  Any thread. */
const char *tls_group_name(int group);

enum tls_ocsp_state {
	TLS_OCSP_NONE,     /* no file */
	TLS_OCSP_SENT,     /* to clients that ask */
	TLS_OCSP_STALE,    /* past its next update: not sent */
	TLS_OCSP_NOT_YET,  /* before its this update: not sent */
	TLS_OCSP_NOT_GOOD, /* revoked or unknown: not sent */
	TLS_OCSP_OTHER     /* about another certificate: not sent */
};

/* A certificate of a context.  Pointers are valid during the call. */
struct tls_cert_facts {
	const char *file;
	const char *key_file;
	const char *const *names; /* lower case, `*.example.com` */
	unsigned names_n;
	const char *key_type; /* `RSA`, `EC`, `ED25519` */
	unsigned key_bits;
	const char *subject, *issuer;  /* RFC 2253 */
	const char *serial;            /* hexadecimal digits */
	const char *fingerprint;       /* SHA-256, hexadecimal digits */
	const char *fingerprint_sha1;  /* for HAProxy's clients */
	const char *sans;              /* as of tls_facts */
	int64_t not_before, not_after; /* seconds since 1970 */
	unsigned chain_n;              /* certificates besides this one */
	enum tls_ocsp_state ocsp;
	int64_t ocsp_next_update; /* 0: none given */
	bool is_default; /* for clients that ask for no name that we have */
	bool in_memory;  /* replaced since the files were read */
	bool staged;     /* a replacement waits to be committed */
};

/* A list of revoked certificates.  Pointers are valid during the call. */
struct tls_crl_facts {
	const char *file;
	bool in_memory;
	const char *issuer;  /* RFC 2253 */
	const char *sig_alg; /* `ecdsa-with-SHA256` */
	long version;        /* as HAProxy shows it: 1 for a CRL of version 2 */
	int64_t last_update; /* seconds since 1970 */
	int64_t next_update; /* 0: none given */
	unsigned revoked_n;
	X509_CRL *crl; /* for tls_crl_revoked */
};

/* Reads an entry of the CRL, from 0, below revoked_n. */
void tls_crl_revoked(const struct tls_crl_facts *facts, unsigned number,
    char ret_serial[TLS_SERIAL_SIZE], int64_t *ret_revoked_at);

#endif
