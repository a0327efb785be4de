/* SPDX-License-Identifier: MIT
 * The keys of [tls].
 */
#include "config/keys_internal.h"

#define CHAIN_MAX   100
#define SESSION_MAX (7u * 86400u) /* RFC 8446, section 4.6.1 */

/* The names of enum tls_verify, from TLS_VERIFY_NONE on. */
static const char *const verifies[] = {
    "none", "optional", "request", "required", NULL};
_Static_assert(
    sizeof(verifies) / sizeof(verifies[0]) == TLS_VERIFY_REQUIRED + 1,
    "the last is last");

/* clang-format off */
static const struct key cert_options[] = {
    {"key", "the private key, in PEM form",
        VALUE(file), PAIR(key), WITHOUT("in the certificate's file, or in FILE.key")},
    {"ocsp", "an OCSP response for the certificate, in DER form",
        VALUE(file), PAIR(ocsp), WITHOUT("FILE.ocsp, if it exists")},
    {.name = NULL}};

const struct key tls_keys[] = {
    {"cert", "certificate with its chain, in PEM form, and its private key",
        VALUE(cert), WITHOUT("none; listens need one"), OPTIONS(cert_options),
        REPEATABLE},
    {"cert_dir", "a folder whose *.pem are certificates with their keys",
        VALUE(cert_dir), WITHOUT("none"), REPEATABLE},
    {"min_version", "the oldest version of TLS",
        VALUE(tls_version), TLS(min_version), DEFAULT("1.2")},
    {"max_version", "the newest version of TLS",
        VALUE(tls_version), TLS(max_version), WITHOUT("the newest, 1.3")},
    {"ciphers", "ciphers of TLS 1.2, in OpenSSL's words",
        VALUE(ciphers), TLS(ciphers),
        WITHOUT("ECDHE with AES-GCM or ChaCha20; OpenSSL's for servers")},
    {"ciphersuites", "ciphers of TLS 1.3, in OpenSSL's words",
        VALUE(ciphersuites), TLS(ciphersuites), WITHOUT("OpenSSL's")},
    {"curves", "groups for the key exchange, in OpenSSL's words",
        VALUE(curves), TLS(curves),
        WITHOUT("X25519MLKEM768:X25519:P-256:P-384")},
    {"alpn", "protocols to agree on, the best one first",
        VALUE(alpn), TLS(alpn), WITHOUT("none")},
    {"strict_sni", "whether clients must ask for a name of a certificate",
        SWITCH("off"), TLS(strict_sni)},
    {"tickets", "whether clients may resume sessions by tickets",
        SWITCH("on"), TLS(tickets)},
    {"tickets_file", "keys of the tickets, for several lfproxies",
        VALUE(file), TLS(tickets_file), WITHOUT("own keys, which rotate")},
    {"session_timeout", "how long a session may be resumed",
        VALUE(seconds), ALLOWED("1s to 7d, whole seconds"),
        LIMITS(1, SESSION_MAX), TLS(session_timeout_s), DEFAULT("5m")},
    {"verify", "whether the peer must have a good certificate",
        VALUE(tls_verify), .choices = verifies, TLS(verify),
        WITHOUT("required of servers, none of clients")},
    {"depth", "the most certificates between the peer's and its authority's",
        NUMBER(1, CHAIN_MAX), TLS(depth), WITHOUT("100")},
    {"ca", "authorities that the peer's certificate may be from",
        VALUE(ca_path), TLS(ca), WITHOUT("system for servers, none for clients")},
    {"crl", "revoked certificates, in PEM form",
        VALUE(file), TLS(crl), WITHOUT("none")},
    {"name", "the name in the certificates of servers",
        VALUE(tls_name), TLS(name), WITHOUT("that of sni, or the server's host")},
    {"sni", "the name that servers are asked for; client: the client's",
        VALUE(tls_name), TLS(sni), WITHOUT("the server's host, if it has a name")},
    {"common_name", "whether a server's certificate may have its name as CN only",
        SWITCH("off"), TLS(common_name)},
    {"keylog", "file to which the secrets of all sessions are written",
        VALUE(file), TLS(keylog), WITHOUT("none")},
    {.name = NULL}};
/* clang-format on */
