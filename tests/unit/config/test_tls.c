/* SPDX-License-Identifier: MIT
 * Sections [tls NAME], and their use by listens and servers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/edit.h"
#include "config/pool_text.h"
#include "config/support.h"
#include "tls/context.h"

/* A folder with CERT, a certificate with its key, and KEY, another key. */
static char folder[] = "/tmp/lfproxy-tls-XXXXXX";
static char cert_path[64], key_path[64];

#define SERVER "[backend b]\nserver = s www.example.com:443"

static void
write_cert(FILE *out, EVP_PKEY *key)
{
	X509 *cert = X509_new();
	X509_NAME *name = X509_get_subject_name(cert);

	assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(cert), 1), 1);
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), -3600));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(cert), 3600));
	assert_int_equal(
	    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
	        (const unsigned char *)"www.example.com", -1, -1, 0),
	    1);
	assert_int_equal(X509_set_issuer_name(cert, name), 1);
	assert_int_equal(X509_set_pubkey(cert, key), 1);
	assert_int_not_equal(X509_sign(cert, key, EVP_sha256()), 0);
	assert_int_equal(PEM_write_X509(out, cert), 1);
	X509_free(cert);
}

/* Writes a new key, and maybe a certificate for it. */
static void
write_files(const char *path, bool with_cert)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	FILE *out = fopen(path, "w");

	assert_non_null(key);
	assert_non_null(out);
	if (with_cert)
		write_cert(out, key);
	assert_int_equal(
	    PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL), 1);
	assert_int_equal(fclose(out), 0);
	EVP_PKEY_free(key);
}

static int
make_files(void **state)
{
	(void)state;
	umask(077);
	assert_non_null(mkdtemp(folder));
	snprintf(cert_path, sizeof(cert_path), "%s/cert.pem", folder);
	snprintf(key_path, sizeof(key_path), "%s/other.key", folder);
	write_files(cert_path, true);
	write_files(key_path, false);
	return 0;
}

static int
remove_files(void **state)
{
	(void)state;
	return unlink(cert_path) | unlink(key_path) | rmdir(folder);
}

/* Replaces CERT, KEY and DIR in the text by the paths. */
static const char *
with_paths(const char *text)
{
	static char texts[2][4096];
	static unsigned next;
	char *out = texts[next++ % 2];
	size_t len = 0;

	while (*text) {
		const char *path = strncmp(text, "CERT", 4) == 0  ? cert_path
		                   : strncmp(text, "KEY", 3) == 0 ? key_path
		                   : strncmp(text, "DIR", 3) == 0 ? folder
		                                                  : NULL;

		len += (size_t)snprintf(out + len, sizeof(texts[0]) - len,
		    path ? "%s" : "%.1s", path ? path : text);
		text += !path ? 1 : path == cert_path ? 4 : 3;
	}
	assert_true(len < sizeof(texts[0]));
	return out;
}

/* -- what is read -- */

static void
every_key_is_read_and_printed(void **state)
{
	char *printed = round_trip(with_paths(
	    "[tls t]\ncert = CERT\ncert = /a key=/k ocsp=/o\n"
	    "cert_dir = /d\ncert_dir = /e f\nmin_version = 1.2\n"
	    "max_version = 1.3\n"
	    "ciphers = ECDHE+AESGCM:!RC4:!EXPORT:@SECLEVEL=1\n"
	    "ciphersuites = TLS_AES_128_GCM_SHA256\n"
	    "curves = X25519:P-256\nalpn = h2 \t http/1.1\n"
	    "strict_sni = on\ntickets = on\ntickets_file = /t\n"
	    "session_timeout = 60m\nverify = request\ndepth = 3\n"
	    "ca = system\ncrl = /crl\nname = a.example\n"
	    "sni = client\ncommon_name = on\nkeylog = /log\n" FRONTEND
	        BACKEND));
	char *section = strstr(printed, "[tls t]");

	(void)state;
	assert_non_null(section);
	*strstr(section, "\n\n") = '\0';
	assert_string_equal(section,
	    with_paths("[tls t]\ncert = CERT\ncert = /a key=/k ocsp=/o\n"
	               "cert_dir = /d\ncert_dir = /e f\nmin_version = 1.2\n"
	               "max_version = 1.3\n"
	               "ciphers = ECDHE+AESGCM:!RC4:!EXPORT:@SECLEVEL=1\n"
	               "ciphersuites = TLS_AES_128_GCM_SHA256\n"
	               "curves = X25519:P-256\nalpn = h2 http/1.1\n"
	               "strict_sni = on\ntickets = on\ntickets_file = /t\n"
	               "session_timeout = 1h\nverify = request\ndepth = 3\n"
	               "ca = system\ncrl = /crl\nname = a.example\n"
	               "sni = client\ncommon_name = on\nkeylog = /log"));
	free(printed);
}

static void
defaults_are_those_of_the_table(void **state)
{
	struct spec *spec = load("[tls t]\n" FRONTEND BACKEND);
	const struct tls_settings *s = &spec->tls[0].settings;

	(void)state;
	assert_int_equal(spec->tls_n, 1);
	assert_int_equal(s->min_version, TLS1_2_VERSION);
	assert_int_equal(s->max_version, 0);
	assert_true(s->tickets);
	assert_false(s->strict_sni);
	assert_int_equal(s->session_timeout_s, 300);
	assert_int_equal(s->verify, TLS_VERIFY_DEFAULT);
	assert_null(s->ciphers);
	assert_null(s->ca);
	assert_int_equal(spec->frontends[0].timeout_handshake_ms, 10000);
	assert_int_equal(spec->frontends[0].handshakes_max, 0);
	assert_int_equal(spec->pools[0].handshake_threads, 0);
	assert_int_equal(spec->pools[0].handshake_nice, 20);
	spec_free(spec);
}

/* Every pool but the first two has TLS, with clients or with servers. */
static void
pools_with_tls_have_spare_threads(void **state)
{
	struct spec *spec = load(with_paths(
	    "[pool plain]\n[pool given]\nthreads = 3\n[pool front]\n"
	    "[pool name]\n[pool rule]\n[pool fallback]\n[pool set]\n"
	    "[tls t]\ncert = CERT\n"
	    "[frontend a]\nlisten = :1\nbackend = plain\npool = plain\n"
	    "[frontend b]\nlisten = :2 tls=t\nbackend = plain\npool = given\n"
	    "[frontend c]\nlisten = :3\nlisten = :4 tls=t\nbackend = plain\n"
	    "pool = front\n"
	    "[frontend d]\nlisten = :5\nbackend = server\npool = name\n"
	    "[frontend e]\nlisten = :6\nbackend = plain\n"
	    "route = src=10.0.0.0/8 backend=whole\npool = rule\n"
	    "[frontend f]\nlisten = :7\nbackend = plain fallback=whole\n"
	    "pool = fallback\n"
	    "[frontend g]\nlisten = :8\nbackend = set\npool = set\n"
	    "[backend plain]\nserver = s 10.0.0.1:1\n"
	    "[backend server]\nserver = s 10.0.0.1:1\n"
	    "server = t 10.0.0.1:2 tls=t\n"
	    "[backend whole]\ntls = t\nserver = s 10.0.0.1:1\n"
	    "[backend set]\nservers = s 9 file=/nowhere tls=t\n"));
	unsigned cpus = spec->pools[0].threads_auto;

	(void)state;
	assert_int_equal(spec->pools_n, 7);
	for (size_t i = 0; i < spec->pools_n; i++) {
		const struct pool_spec *p = &spec->pools[i];

		assert_int_equal(p->has_tls, i > 0);
		assert_int_equal(p->threads_auto, i == 1 ? 0 : cpus);
		assert_int_equal(p->classes[0].threads,
		    i == 1 ? 3 : threads_for_cpus(cpus, i > 0));
		assert_int_equal(p->shards, i == 1 ? 2 : shards_auto(cpus));
	}
	spec_free(spec);
}

static void
contexts_are_made_for_the_roles_of_a_section(void **state)
{
	struct spec *spec = load(with_paths(
	    "[frontend f]\nlisten = :80\nlisten = :443 tls=both accept_proxy\n"
	    "listen = unix:/x tls=front\nbackend = b\n"
	    "[tls both]\ncert = CERT\n[tls front]\ncert_dir = DIR\n"
	    "[tls unused]\ncert = /nowhere\n[tls later]\n"
	    "[backend b]\nserver = s www.example.com:443 tls=both\n"
	    "server = t 10.0.0.1:80\n"
	    "[backend later]\ntls = later\nserver = s 10.0.0.1:80 tls=off\n"));
	const struct listen_spec *l = spec->frontends[0].listens;
	const struct backend_spec *b = spec->backends;

	(void)state;
	assert_false(l[0].tls.is_set);
	assert_true(l[1].tls.is_set && l[1].tls.value == 0);
	assert_true(l[1].accept_proxy);
	assert_true(l[2].tls.is_set && l[2].tls.value == 1);
	assert_non_null(spec->tls[0].context[TLS_ACCEPTS]);
	assert_non_null(spec->tls[0].context[TLS_CONNECTS]);
	assert_non_null(spec->tls[1].context[TLS_ACCEPTS]);
	assert_null(spec->tls[1].context[TLS_CONNECTS]);
	assert_null(spec->tls[2].context[TLS_ACCEPTS]);
	assert_null(spec->tls[2].context[TLS_CONNECTS]);
	assert_non_null(spec->tls[3].context[TLS_CONNECTS]);
	assert_ptr_equal(server_spec_tls(spec, &b[0], b[0].servers[0]),
	    spec->tls[0].context[TLS_CONNECTS]);
	assert_null(server_spec_tls(spec, &b[0], b[0].servers[1]));
	assert_null(server_spec_tls(spec, &b[1], b[1].servers[0]));
	spec_free(spec);
}

static void
defaults_may_name_a_section(void **state)
{
	(void)state;
	assert_prints("[defaults]\ntls = t\ntimeout_handshake = 1s\n"
	              "handshakes = 7\n[tls t]\n" FRONTEND BACKEND,
	    "\ntimeout_handshake = 1s\nhandshakes = 7\n");
	assert_prints(
	    "[defaults]\ntls = t\n[tls t]\n" FRONTEND BACKEND, "\ntls = t\n");
	assert_prints(
	    "[defaults]\nserver_defaults = tls=t\n[tls t]\n" FRONTEND BACKEND,
	    "\nserver = s 10.0.0.1:80 weight=100 maxconn=0 tls=t\n");
	assert_prints("[tls t]\n" FRONTEND BACKEND
	              "server_defaults = tls=t\nserver = t 10.0.0.2:80 "
	              "tls=off\n",
	    "\nserver = t 10.0.0.2:80 weight=100 maxconn=0 tls=off\n");
	assert_errors("[defaults]\ntls = x\n[tls t]\n" FRONTEND BACKEND,
	    "2: tls: unknown tls 'x'; there is t\n");
}

/* -- what is refused -- */

static void
wrong_values_are_named(void **state)
{
	static const struct {
		const char *line, *expected;
	} cases[] = {
	    {"min_version = 1.1", "min_version: '1.1' is not supported"},
	    {"min_version = SSLv3", "min_version: 'SSLv3' is not supported"},
	    {"max_version = TLSv1.3",
	        "max_version: 'TLSv1.3' is unknown; write 1.3"},
	    {"max_version = 1.4",
	        "max_version: '1.4' is unknown; did you mean '1.2'? "
	        "allowed are 1.2, 1.3"},
	    {"ciphers = AES128-SHA:ECDHE-RSA-AES128-GCM-SHA265",
	        "ciphers: OpenSSL has no cipher 'ECDHE-RSA-AES128-GCM-SHA265'; "
	        "did you mean 'ECDHE-RSA-AES128-GCM-SHA256'?"},
	    {"ciphers = ECDHE+AESGCM:!aNUL",
	        "ciphers: OpenSSL has no cipher 'aNUL'"},
	    {"ciphers = RC4", "ciphers: OpenSSL has no cipher 'RC4'"},
	    {"ciphers = ALL:@SECLEVEL=9",
	        "ciphers: '@SECLEVEL=9' is unknown; allowed are"},
	    {"ciphers = TLS_AES_128_GCM_SHA256",
	        "ciphers: 'TLS_AES_128_GCM_SHA256' is a cipher of TLS 1.3; "
	        "write it behind ciphersuites ="},
	    {"ciphers = TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256:xx", "ciphers: "},
	    {"ciphers = HIGH:!", "ciphers: OpenSSL has no cipher ''"},
	    {"ciphers = AES:!AES", "ciphers: 'AES:!AES' leaves no cipher"},
	    {"ciphersuites = TLS_AES_128_GCM_SHA256:TLS_AES_128_GCM_SHA255",
	        "ciphersuites: OpenSSL has no cipher 'TLS_AES_128_GCM_SHA255'; "
	        "did you mean 'TLS_AES_128_GCM_SHA256'?"},
	    {"ciphersuites = AES128-SHA",
	        "ciphersuites: 'AES128-SHA' is not a cipher of TLS 1.3"},
	    {"ciphersuites = :", "ciphersuites: ':' has no word"},
	    {"alpn = h2,http/1.1", "alpn: 'h2,http/1.1' has a comma"},
	    {"alpn = h2 h2", "alpn: 'h2' is given twice; keep one"},
	    {"tickets = maybe", "tickets: 'maybe' is unknown"},
	    {"session_timeout = 8d", "session_timeout: '8d' is out of range"},
	    {"session_timeout = 60",
	        "session_timeout: '60' has no unit; write 60s"},
	    {"verify = on", "verify: 'on' is unknown; write required"},
	    {"verify = optinal",
	        "verify: 'optinal' is unknown; did you mean 'optional'?"},
	    {"depth = 0", "depth: '0' is not a whole number from 1 to 100"},
	    {"name = 10.0.0.1", "name: '10.0.0.1' is an address"},
	    {"sni = ::1", "sni: '::1' is an address"},
	    {"sni = a/b", "sni: 'a/b' is not a host name"},
	    {"cert = /a kee=/b",
	        "cert: unknown option 'kee'; did you mean 'key'?"},
	    {"cert = /a key", "cert: key: the value is missing"},
	    {"listen = :1",
	        "the key 'listen' does not belong in [tls t] but in [frontend "
	        "NAME]"},
	    {"tls = a",
	        "the key 'tls' does not belong in [tls t] but in [backend "
	        "NAME]"},
	    {"ssl_certificate = /a",
	        "unknown key 'ssl_certificate' in [tls t]; write cert = FILE"},
	    {"cipher = a",
	        "unknown key 'cipher' in [tls t]; did you mean 'ciphers'?"},
	};
	char longest[300];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_line_error("tls t", cases[i].line, cases[i].expected);
	assert_line_error("frontend x", "tls = t",
	    "unknown key 'tls' in [frontend x]; it is an option of listen: "
	    "write listen = :81 tls=t; the key belongs in [backend NAME]");
	snprintf(longest, sizeof(longest), "alpn = h2 %0256d", 0);
	assert_line_error("tls t", longest,
	    "alpn: '0000000000000000000000000000000000000000...' has 256 "
	    "bytes; the name of a protocol has at most 255");
	assert_errors("[tls t]\ncert = /a\ncert = /a key=/k\ncert_dir = /d\n"
	              "cert_dir = /d\n" FRONTEND BACKEND,
	    "3: cert: '/a' is given twice; keep one\n"
	    "5: cert_dir: '/d' is given twice; keep one\n");
}

static bool
has_curve(const char *name)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	bool has = SSL_CTX_set1_groups_list(ctx, name) == 1;

	SSL_CTX_free(ctx);
	ERR_clear_error();
	return has;
}

/* OpenSSL takes standard names since version 3.2. */
static void
standard_names_of_ciphers_are_taken_if_openssl_has_them(void **state)
{
#define STANDARD "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
#define ADVICE                                                                 \
	"is the standard's name; OpenSSL's is 'ECDHE-RSA-AES128-GCM-SHA256'"
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	bool has = SSL_CTX_set_cipher_list(ctx, STANDARD) == 1;

	(void)state;
	SSL_CTX_free(ctx);
	ERR_clear_error();
	if (has)
		spec_free(
		    load("[tls t]\nciphers = " STANDARD "\n" FRONTEND BACKEND));
	else
		assert_line_error("tls t", "ciphers = " STANDARD,
		    "ciphers: '" STANDARD "' " ADVICE);
	assert_line_error("tls t", "ciphersuites = " STANDARD,
	    has ? "ciphersuites: '" STANDARD "' is not a cipher of TLS 1.3; "
	          "write it behind ciphers ="
	        : "ciphersuites: '" STANDARD "' " ADVICE);
}

static void
unknown_curves_are_errors_with_the_curves_of_this_openssl(void **state)
{
	const char *version = OpenSSL_version(OPENSSL_VERSION_STRING);
	char expected[160];

	(void)state;
	snprintf(expected, sizeof(expected),
	    "curves: OpenSSL %s has no curve 'X25518'; did you mean 'X25519'?",
	    version);
	assert_line_error("tls t", "curves = P-256:X25518", expected);
	snprintf(expected, sizeof(expected),
	    "curves: OpenSSL %s has no curve 'NOSUCH'; allowed are %s, ",
	    version,
	    has_curve("X25519MLKEM768") ? "X25519MLKEM768, X25519, X448, P-256"
	                                : "P-256, P-384, P-521, X25519, X448");
	assert_line_error("tls t", "curves = NOSUCH:X25519", expected);
}

static void
sections_are_found_by_name(void **state)
{
	(void)state;
	assert_errors("[tls public]\n[tls p]\n[tls p]\n[tls off]\n[tls]\n"
	              "[frontend f]\nlisten = :443 tls=publik\nbackend "
	              "= b\n" BACKEND "tls = x\n",
	    "3: there is a second [tls p], first in line 2\n"
	    "4: [tls off]: tls=off means no TLS; give the section another name"
	    "\n"
	    "5: [tls] has no name; write [tls NAME]\n"
	    "7: listen: tls: unknown tls 'publik'; did you mean 'public'?\n"
	    "11: tls: unknown tls 'x'; there are public, p, p, off\n");
	assert_errors(
	    "[frontend f]\nlisten = :443 tls=t\nbackend = b\n" BACKEND,
	    "2: listen: tls: unknown tls 't'; write a section [tls t]\n");
}

static void
the_command_line_has_no_section(void **state)
{
	const char *listens[] = {":443 tls=t"}, *servers[] = {"10.0.0.1:80"};
	struct config_options options = {.listens = listens,
	    .listens_n = 1,
	    .servers = servers,
	    .servers_n = 1};
	struct err_list errors;
	struct spec *spec;

	(void)state;
	err_list_init(&errors);
	assert_false(config_from_options(&options, &spec, &errors));
	assert_int_equal(errors.n, 1);
	assert_non_null(strstr(errors.entries[0].text, "only a file can have"));
	err_list_fini(&errors);
}

#define LISTEN "[frontend f]\nlisten = :443 tls=t\nbackend = b\n"

static void
uses_are_checked(void **state)
{
	(void)state;
	assert_errors(LISTEN "[tls t]\n" BACKEND,
	    "2: [frontend f]: listen: ':443' has tls=t, and [tls t] has no "
	    "certificate; write cert = FILE\n");
	assert_errors(with_paths(LISTEN
	                  "[tls t]\ncert = CERT\nverify = required\n" BACKEND),
	    "6: verify: clients' certificates need authorities\n");
	assert_errors(
	    with_paths(LISTEN "[tls t]\ncert = CERT\nca = CERT\n"
	                      "verify = optional\n" BACKEND "tls = t\n"),
	    "7: verify: 'optional' is for clients\n");
	assert_errors(
	    with_paths(LISTEN "[tls t]\ncert = CERT\nca = CERT\n"
	                      "verify = request\n" BACKEND "tls = t\n"),
	    "7: verify: 'request' is for clients\n");
	assert_errors(with_paths(LISTEN
	                  "[tls t]\ncert = CERT\nverify = request\n" BACKEND),
	    "6: verify: clients' certificates need authorities\n");
	assert_errors("[tls t]\nmin_version = 1.3\nmax_version = 1.2\n"
	              "tickets_file = /t\ntickets = off\n" FRONTEND BACKEND,
	    "3: max_version: it is older than min_version\n"
	    "4: tickets_file: it is without effect while tickets = off\n");
	assert_errors("[tls t]\n" FRONTEND
	              "[backend b]\nserver = s unix:/x tls=t\n",
	    "6: [backend b]: server: 's' is a unix socket, which has no "
	    "name\n");
	spec_free(load("[tls t]\nname = a.example\n" FRONTEND
	               "[backend b]\nserver = s unix:/x tls=t\n"));
	spec_free(load("[tls t]\nverify = none\n" FRONTEND
	               "[backend b]\nserver = s unix:/x tls=t\n"));
}

/* There is one error, at that line, and it names the file. */
static void
assert_file_error(const char *text, unsigned line, const char *file)
{
	char *errors, at[24];
	struct spec *spec =
	    load_bytes(with_paths(text), strlen(with_paths(text)), &errors);

	assert_null(spec);
	snprintf(at, sizeof(at), "%u: [tls t]: ", line);
	if (strncmp(errors, at, strlen(at)) != 0 || !strstr(errors, file) ||
	    strchr(errors, '\n') != strrchr(errors, '\n'))
		fail_msg("not line %u and %s: %s", line, file, errors);
	free(errors);
}

static void
files_at_fault_are_named_with_their_line(void **state)
{
	(void)state;
	assert_file_error("[tls t]\ncert = CERT\ncert = /nowhere/a.pem\n" //
	    LISTEN BACKEND,
	    3, "'/nowhere/a.pem'");
	assert_file_error("[tls t]\nalpn = h2\ncert = CERT key=KEY\n" //
	    LISTEN BACKEND,
	    3, key_path);
	assert_file_error(
	    "[tls t]\nca = KEY\n" FRONTEND SERVER " tls=t\n", 2, key_path);
}

/* -- changes, warnings -- */

static void
changes_are_told_by_key(void **state)
{
	struct spec *old = load(with_paths(
	    "[tls t]\ncert = CERT\n[tls u]\n[tls v]\nca = CERT\n" LISTEN
	    "[backend b]\ntls = v\nserver = s a.example:80 tls=u\n"));
	struct spec *new = load(with_paths(
	    "[tls w]\ncert = CERT\n[tls v]\nca = CERT\nmin_version = 1.3\n"
	    "[tls t]\ncert = CERT\ncert_dir = DIR\n"
	    "[frontend f]\nlisten = :443 tls=w\nbackend = b\n"
	    "[backend b]\ntls = v\nserver = s a.example:80\n"));
	static const char *const expected[] = {
	    "tls t: cert_dir: (none) -> DIR",
	    "tls u is removed",
	    "tls v: min_version: 1.2 -> 1.3",
	    "tls w is new",
	    "frontend f: listen: :443: tls: t -> w",
	    "backend b: server s: tls: u -> (the backend's)",
	};
	struct changes changes;

	(void)state;
	changes_init(&changes);
	assert_true(config_diff(old, new, &changes));
	assert_int_equal(changes.n, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < changes.n; i++) {
		assert_string_equal(
		    changes.all[i].text, with_paths(expected[i]));
		assert_false(changes.all[i].restart);
	}
	changes_fini(&changes);
	spec_free(old);
	spec_free(new);
}

static bool
has_warning(const char *text, const char *part)
{
	struct spec *spec = load(with_paths(text));
	struct err_list warnings;
	bool found = false;

	err_list_init(&warnings);
	config_warnings(spec, &warnings);
	for (size_t i = 0; i < warnings.n; i++) {
		assert_int_equal(
		    strncmp(warnings.entries[i].text, "warning: ", 9), 0);
		found |= strstr(warnings.entries[i].text, part) != NULL;
	}
	err_list_fini(&warnings);
	spec_free(spec);
	return found;
}

static void
settings_without_effect_and_risks_are_warned_of(void **state)
{
#define T "[tls t]\ncert = CERT\n"
#define U FRONTEND SERVER " tls=t\n[tls t]\n"
	(void)state;
	assert_false(has_warning(T LISTEN BACKEND, ""));
	assert_false(has_warning(U, ""));
	assert_true(has_warning(T "name = a\n" LISTEN BACKEND,
	    "name is for servers, and only clients use this section"));
	assert_true(has_warning(U "tickets_file = /t\n",
	    "tickets_file is for clients, and only servers use"));
	assert_true(has_warning(T "ca = CERT\n" LISTEN BACKEND,
	    "ca is without effect, as no certificate is verified"));
	assert_true(has_warning(
	    U "verify = none\ncrl = CERT\n", "crl is without effect"));
	assert_true(has_warning(T "ca = system\nverify = required\n" LISTEN //
	                            BACKEND,
	    "certificate of any public authority"));
	assert_true(has_warning(T "ciphers = ALL\nmin_version = 1.3\n" LISTEN //
	                            BACKEND,
	    "ciphers is without effect"));
	assert_true(has_warning(U "ciphersuites = TLS_AES_128_GCM_SHA256\n"
	                          "max_version = 1.2\n",
	    "ciphersuites is without effect"));
	/* An address, and who may confirm it. */
	assert_true(has_warning("[tls t]\n" FRONTEND
	                        "[backend b]\nserver = s 10.0.0.1:443 tls=t\n",
	    "'s' is given by its address"));
	assert_false(has_warning("[tls t]\nca = CERT\n" FRONTEND
	                         "[backend b]\nserver = s 10.0.0.1:443 tls=t\n",
	    ""));
	assert_false(has_warning("[tls t]\nname = a.example\n" FRONTEND
	                         "[backend b]\nserver = s 10.0.0.1:443 tls=t\n",
	    ""));
	assert_false(has_warning("[tls t]\nverify = none\n" FRONTEND
	                         "[backend b]\nserver = s 10.0.0.1:443 tls=t\n",
	    ""));
}

static void
an_added_server_gets_a_context(void **state)
{
	struct spec *spec =
	    load("[tls t]\n[tls bad]\nca = /nowhere\n" FRONTEND BACKEND);
	const struct backend_spec *b = &spec->backends[0];
	struct server_spec *s;
	struct err_list errors;

	(void)state;
	err_list_init(&errors);
	assert_null(spec->tls[0].context[TLS_CONNECTS]);
	s = config_read_server(spec, b, "a a.example:443 tls=t", &errors);
	assert_non_null(s);
	assert_non_null(server_spec_tls(spec, b, s));
	assert_ptr_equal(
	    server_spec_tls(spec, b, s), spec->tls[0].context[TLS_CONNECTS]);
	server_spec_free(s);
	assert_null(
	    config_read_server(spec, b, "c a.example:443 tls=bad", &errors));
	assert_non_null(strstr(errors.entries[0].text, "/nowhere"));
	assert_null(
	    config_read_server(spec, b, "d a.example:443 tls=x", &errors));
	assert_non_null(strstr(errors.entries[1].text, "unknown tls 'x'"));
	err_list_fini(&errors);
	spec_free(spec);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_key_is_read_and_printed),
	    cmocka_unit_test(defaults_are_those_of_the_table),
	    cmocka_unit_test(pools_with_tls_have_spare_threads),
	    cmocka_unit_test(contexts_are_made_for_the_roles_of_a_section),
	    cmocka_unit_test(defaults_may_name_a_section),
	    cmocka_unit_test(wrong_values_are_named),
	    cmocka_unit_test(
	        standard_names_of_ciphers_are_taken_if_openssl_has_them),
	    cmocka_unit_test(
	        unknown_curves_are_errors_with_the_curves_of_this_openssl),
	    cmocka_unit_test(sections_are_found_by_name),
	    cmocka_unit_test(the_command_line_has_no_section),
	    cmocka_unit_test(uses_are_checked),
	    cmocka_unit_test(files_at_fault_are_named_with_their_line),
	    cmocka_unit_test(changes_are_told_by_key),
	    cmocka_unit_test(settings_without_effect_and_risks_are_warned_of),
	    cmocka_unit_test(an_added_server_gets_a_context),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
