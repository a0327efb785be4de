/* SPDX-License-Identifier: MIT
 * Files of certificates: what is refused and why, what is only warned of.
 */
#include "fixture.h"

#include <openssl/dsa.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "tls/cert.h"
#include "tls/facts.h"

static char *
good_pem(const char *name)
{
	return made_write(
	    made_new(&(struct made_how){.cn = "good.test"}), NULL, name);
}

/* A good certificate first, so that the error is about the second. */
static void
assert_pair_refused(struct tls_pair pair, const char *words)
{
	struct tls_pair pairs[] = {{.cert = good_pem("good.pem")}, pair};
	struct tls_settings settings = settings_accepts(pairs, 2);

	assert_context_refused(&settings, TLS_ACCEPTS, words);
	assert_context_refused(
	    &settings, TLS_ACCEPTS, pair.key ? pair.key : pair.cert);
}

/* The warnings of the context as one text; the caller's. */
static char *
warnings_text(struct tls_context *context)
{
	struct err_list list;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	err_list_init(&list);
	tls_context_warnings(context, &list);
	err_list_print(&list, "", out);
	err_list_fini(&list);
	fclose(out);
	return text;
}

static void
assert_pair_warned(struct tls_pair pair, const char *words)
{
	struct tls_settings settings = settings_accepts(&pair, 1);
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);
	char *text = warnings_text(context);

	if (words && !strstr(text, words))
		fail_msg("'%s' lacks '%s'", text, words);
	if (!words)
		assert_string_equal(text, "");
	free(text);
	tls_context_unref(context);
}

static void
a_missing_file_is_refused(void **state)
{
	struct tls_settings none = settings_accepts(NULL, 0);

	assert_pair_refused(
	    (struct tls_pair){.cert = fixture_path("no.pem")}, "No such file");
	assert_pair_refused((struct tls_pair){.cert = good_pem("a.pem"),
	                        .key = fixture_path("no.key")},
	    "no.key");
	assert_context_refused(&none, TLS_ACCEPTS, "cert or cert_dir");
}

static void
what_is_not_a_file_is_refused(void **state)
{
	char *fifo = fixture_path("fifo.pem");

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_pair_refused(
	    (struct tls_pair){.cert = fifo}, "not a regular file");
	assert_pair_refused(
	    (struct tls_pair){.cert = fixture_path("")}, "is a directory");
}

static void
an_unreadable_file_is_refused(void **state)
{
	char *path = good_pem("locked.pem");

	if (geteuid() == 0) {
		/* Root reads everything but loops. */
		unlink(path);
		assert_int_equal(symlink(path, path), 0);
		assert_pair_refused(
		    (struct tls_pair){.cert = path}, "cannot be read");
		return;
	}
	assert_int_equal(chmod(path, 0), 0);
	assert_pair_refused(
	    (struct tls_pair){.cert = path}, "Permission denied");
}

static void
a_file_without_certificate_is_refused(void **state)
{
	const struct made *made = made_new(&(struct made_how){.cn = "a.test"});

	assert_pair_refused(
	    (struct tls_pair){.cert = fixture_write_text("empty.pem", "")},
	    "has no certificate");
	assert_pair_refused(
	    (struct tls_pair){.cert = made_write_key(made, "key-only.pem")},
	    "has no certificate");
	assert_pair_refused((struct tls_pair){.cert = fixture_write("der.pem",
	                                          "\x30\x82\0\1\xff", 5)},
	    "has no certificate");
}

static void
a_damaged_certificate_is_refused(void **state)
{
	char *pem = made_cert_pem(made_new(&(struct made_how){.cn = "a.test"}));

	memset(strchr(pem, '\n') + 1, 'A', 40);
	assert_pair_refused(
	    (struct tls_pair){.cert = fixture_write_text("bad.pem", pem)},
	    "certificate 1 is damaged");
	free(pem);
}

static void
a_cut_file_is_refused(void **state)
{
	char *pem = made_cert_pem(made_new(&(struct made_how){.cn = "a.test"}));

	pem[strlen(pem) / 2] = '\0';
	assert_pair_refused(
	    (struct tls_pair){.cert = fixture_write_text("cut.pem", pem)},
	    "certificate 1 is damaged");
	free(pem);
}

static void
a_certificate_without_key_is_refused(void **state)
{
	const struct made *made = made_new(&(struct made_how){.cn = "a.test"});

	assert_pair_refused(
	    (struct tls_pair){.cert = made_write_cert(made, "a.pem")},
	    "has no private key, and ");
	assert_pair_refused(
	    (struct tls_pair){.cert = made_write_cert(made, "b.pem"),
	        .key = made_write_cert(made, "b.key")},
	    "b.key' has no private key in PEM form");
}

static void
a_key_may_be_inside_beside_or_named(void **state)
{
	const struct made *made = made_new(&(struct made_how){.cn = "a.test"});
	struct tls_pair pairs[] = {
	    {.cert = made_write(made, NULL, "inside.pem")},
	    {.cert = made_write_cert(made, "beside.pem")},
	    {.cert = made_write_cert(made, "named.pem"),
	        .key = made_write_key(made, "x")},
	};

	made_write_key(made, "beside.pem.key");
	for (size_t i = 0; i < UNIT_N(pairs); i++)
		assert_pair_warned(pairs[i], NULL);
}

static void
an_encrypted_key_is_refused_without_a_prompt(void **state)
{
	const struct made *made = made_new(&(struct made_how){.cn = "a.test"});
	BIO *pkcs8 = BIO_new_file(fixture_path("pkcs8.key"), "w");
	BIO *old = BIO_new_file(fixture_path("old.key"), "w");
	unsigned char secret[] = "secret";

	PEM_write_bio_PKCS8PrivateKey(
	    pkcs8, made->key, EVP_aes_128_cbc(), (char *)secret, 6, NULL, NULL);
	PEM_write_bio_PrivateKey_traditional(
	    old, made->key, EVP_aes_128_cbc(), secret, 6, NULL, NULL);
	BIO_free(pkcs8);
	BIO_free(old);
	assert_pair_refused(
	    (struct tls_pair){.cert = made_write_cert(made, "a.pem"),
	        .key = fixture_path("pkcs8.key")},
	    "pkcs8.key' is encrypted");
	assert_pair_refused(
	    (struct tls_pair){.cert = made_write_cert(made, "b.pem"),
	        .key = fixture_path("old.key")},
	    "old.key' is encrypted");
}

static void
a_key_of_another_certificate_is_refused(void **state)
{
	const struct made *a = made_new(&(struct made_how){.cn = "a.test"});
	const struct made *b =
	    made_new(&(struct made_how){.cn = "b.test", .own_key = true});
	const struct made *c =
	    made_new(&(struct made_how){.cn = "c.test", .key = "RSA"});

	assert_pair_refused(
	    (struct tls_pair){.cert = made_write_cert(a, "a.pem"),
	        .key = made_write_key(b, "b.key")},
	    "the key does not belong to the certificate");
	assert_pair_refused(
	    (struct tls_pair){.cert = made_write_cert(a, "a.pem"),
	        .key = made_write_key(c, "c.key")},
	    "c.key': the key does not belong to the certificate");
}

static void
a_damaged_key_is_refused(void **state)
{
	const struct made *a = made_new(&(struct made_how){.cn = "a.test"});

	assert_pair_refused(
	    (struct tls_pair){.cert = made_write_cert(a, "a.pem"),
	        .key = fixture_write_text("bad.key",
	            "-----BEGIN PRIVATE KEY-----\nAAAA\n"
	            "-----END PRIVATE KEY-----\n")},
	    "bad.key' is damaged");
}

static void
a_key_that_is_too_weak_is_refused(void **state)
{
	assert_pair_refused(
	    (struct tls_pair){
	        .cert = made_write(made_new(&(struct made_how){
	                               .cn = "a.test", .key = "RSA1024"}),
	            NULL, "weak.pem")},
	    "key is too small for the security level");
}

static void
a_chain_with_a_weak_hash_is_refused(void **state)
{
	const struct made *root =
	    made_new(&(struct made_how){.cn = "root", .is_ca = true});
	const struct made *middle = made_new(&(struct made_how){
	    .cn = "m", .is_ca = true, .issuer = root, .md = "SHA1"});
	const struct made *leaf =
	    made_new(&(struct made_how){.cn = "a.test", .issuer = middle});

	assert_pair_refused(
	    (struct tls_pair){.cert = made_write(leaf, middle, "a.pem")},
	    "too weak for the security level");
}

static void
a_key_that_tls_has_no_use_for_is_refused(void **state)
{
	const struct made *root =
	    made_new(&(struct made_how){.cn = "root", .is_ca = true});
	const struct made *leaf = made_new(
	    &(struct made_how){.cn = "a.test", .key = "SM2", .issuer = root});

	assert_pair_refused(
	    (struct tls_pair){.cert = made_write(leaf, NULL, "x.pem")},
	    "its kind of key cannot be used");
}

static void
dates_and_open_keys_are_warnings(void **state)
{
	const struct made *old = made_new(
	    &(struct made_how){.cn = "a.test", .from_s = -7200, .to_s = -3600});
	const struct made *early = made_new(
	    &(struct made_how){.cn = "a.test", .from_s = 3600, .to_s = 7200});
	char *open_key = good_pem("open.pem");

	chmod(open_key, 0644);
	assert_pair_warned((struct tls_pair){.cert = good_pem("a.pem")}, NULL);
	assert_pair_warned(
	    (struct tls_pair){.cert = made_write(old, NULL, "old.pem")},
	    "old.pem: the certificate has expired on ");
	assert_pair_warned(
	    (struct tls_pair){.cert = made_write(early, NULL, "early.pem")},
	    "early.pem: the certificate is not valid before ");
	assert_pair_warned((struct tls_pair){.cert = open_key},
	    "open.pem: every user of this host can read the key");
}

static void
a_certificate_that_others_hide_is_a_warning(void **state)
{
	struct tls_pair pairs[] = {
	    {.cert = good_pem("a.pem")}, {.cert = good_pem("b.pem")}};
	struct tls_settings settings = settings_accepts(pairs, 2);
	struct tls_context *context = context_made(&settings, TLS_ACCEPTS);
	char *text = warnings_text(context);

	assert_non_null(strstr(text, "b.pem: the certificate is never used"));
	assert_null(strstr(text, "a.pem"));
	free(text);
	tls_context_unref(context);
}

static void
append_file(void *arg, const struct tls_cert_facts *facts)
{
	strcat(arg, strrchr(facts->file, '/'));
}

static void
a_directory_gives_its_pem_files_by_name(void **state)
{
	char *dirs[] = {fixture_path("sites/")};
	struct tls_settings settings = {.cert_dirs = dirs, .cert_dirs_n = 1};
	struct tls_context *context;
	char files[256] = "";

	assert_context_refused(&settings, TLS_ACCEPTS, "No such file");
	assert_int_equal(mkdir(dirs[0], 0700), 0);
	assert_context_refused(&settings, TLS_ACCEPTS, "has no certificate");
	good_pem("sites/b.pem");
	good_pem("sites/a.pem");
	good_pem("sites/.hidden.pem");
	fixture_write_text("sites/c.pem.bak", "text");
	context = context_made(&settings, TLS_ACCEPTS);
	tls_context_each_cert(context, append_file, files);
	assert_string_equal(files, "/a.pem/b.pem");
	tls_context_unref(context);
	/* All or nothing. */
	fixture_write_text("sites/c.pem", "text");
	assert_context_refused(
	    &settings, TLS_ACCEPTS, "sites/c.pem' has no certificate");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(a_missing_file_is_refused),
	    FIXTURE_TEST(what_is_not_a_file_is_refused),
	    FIXTURE_TEST(an_unreadable_file_is_refused),
	    FIXTURE_TEST(a_file_without_certificate_is_refused),
	    FIXTURE_TEST(a_damaged_certificate_is_refused),
	    FIXTURE_TEST(a_cut_file_is_refused),
	    FIXTURE_TEST(a_certificate_without_key_is_refused),
	    FIXTURE_TEST(a_key_may_be_inside_beside_or_named),
	    FIXTURE_TEST(an_encrypted_key_is_refused_without_a_prompt),
	    FIXTURE_TEST(a_key_of_another_certificate_is_refused),
	    FIXTURE_TEST(a_damaged_key_is_refused),
	    FIXTURE_TEST(a_key_that_is_too_weak_is_refused),
	    FIXTURE_TEST(a_chain_with_a_weak_hash_is_refused),
	    FIXTURE_TEST(a_key_that_tls_has_no_use_for_is_refused),
	    FIXTURE_TEST(dates_and_open_keys_are_warnings),
	    FIXTURE_TEST(a_certificate_that_others_hide_is_a_warning),
	    FIXTURE_TEST(a_directory_gives_its_pem_files_by_name),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
