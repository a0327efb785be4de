/* SPDX-License-Identifier: MIT
 * The settings of TLS, as plain values.
 *
 * They belong to a section [tls NAME], which frontends and backends name.  The
 * owner's strings and arrays never change once a context was made of them.
 */
#ifndef TLS_SETTINGS_H
#define TLS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of a connection that lfproxy is. */
enum tls_role {
	TLS_ACCEPTS,  /* the server, towards clients */
	TLS_CONNECTS, /* the client, towards servers */
	TLS_ROLES
};

/* Whether the peer must have a certificate that the authorities have signed. */
enum tls_verify {
	TLS_VERIFY_DEFAULT, /* required of servers, none of clients */
	TLS_VERIFY_NONE,
	TLS_VERIFY_OPTIONAL, /* of clients: verified if sent */
	TLS_VERIFY_REQUEST,  /* of clients: accepted, the verdict is kept */
	TLS_VERIFY_REQUIRED,
};

/* `cert = /etc/x.pem key=/etc/x.key ocsp=/etc/x.ocsp`. */
struct tls_pair {
	char *cert; /* PEM: the certificate, its chain, maybe the key */
	char *key;  /* PEM; NULL: in cert, or in cert with .key at its end */
	char *ocsp; /* DER; NULL: in cert with .ocsp at its end, if it exists */
};

/* The members that are texts. */
#define TLS_PAIR_TEXTS(X) X(cert) X(key) X(ocsp)

/* The parts that peers are verified with. */
enum tls_trust {
	TLS_TRUST_CA,  /* certificates of authorities */
	TLS_TRUST_CRL, /* their lists of revoked certificates */
	TLS_TRUSTS
};

struct tls_settings {
	struct tls_pair *pairs;
	size_t pairs_n;
	char **cert_dirs; /* each *.pem in it is a pair */
	size_t cert_dirs_n;
	int min_version, max_version; /* as TLS1_2_VERSION; 0: no limit */
	/* Words of OpenSSL; NULL: the defaults. */
	char *ciphers;      /* up to TLS 1.2 */
	char *ciphersuites; /* from TLS 1.3 on */
	char *curves;
	char *alpn;      /* protocols, separated by blanks; NULL: none */
	bool strict_sni; /* refuse clients that ask for no known name */
	bool tickets;
	char *tickets_file;         /* NULL: keys of our own, which rotate */
	unsigned session_timeout_s; /* how long a session may be resumed */
	enum tls_verify verify;
	unsigned depth; /* of a chain; 0: OpenSSL's limit */
	char *ca;       /* file or directory, "system"; NULL: none */
	char *crl;      /* file; NULL: none */
	char *name;     /* the name in servers' certificates; NULL: see sni */
	char *sni;      /* sent to servers; "client": what the client asked for;
	                 * NULL: the server's host name, if it has one */
	bool common_name; /* a server's CN may have the name: server_name.h */
	char *keylog;     /* file for session secrets; NULL: none */
};

/* The members that are texts: whatever copies, frees or measures settings goes
 * by this list. */
#define TLS_SETTINGS_TEXTS(X)                                                  \
	X(ciphers)                                                             \
	X(ciphersuites)                                                        \
	X(curves) X(alpn) X(tickets_file) X(ca) X(crl) X(name) X(sni) X(keylog)

#endif
