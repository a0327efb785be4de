/* SPDX-License-Identifier: MIT
 * Certificates that change while connections are made; what is listed.
 */
#include "fixture.h"

#include <openssl/bio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tls/counters.h"
#include "tls/facts.h"
#include "tls/replaced.h"

static struct tls_context *
server_made(char *file)
{
	struct tls_pair pair = {.cert = file};
	struct tls_settings settings = settings_accepts(&pair, 1);

	return context_made(&settings, TLS_ACCEPTS);
}

/* Returns the CN that a new client gets. */
static const char *
cn_now(struct tls_context *server)
{
	SSL_CTX *ctx = plain_client_ctx();
	struct pair pair = pair_made(
	    plain_client(ctx, "a.test"), ssl_made(server, TLS_ACCEPTS));
	const char *cn;

	assert_true(pair_shake(&pair));
	cn = pair_server_cn(&pair);
	pair_free(&pair);
	SSL_CTX_free(ctx);
	return cn;
}

static const struct made *
made_named(const char *cn)
{
	return made_new(&(struct made_how){.cn = cn});
}

static const struct made *
made_with_own_key(const char *cn)
{
	return made_new(&(struct made_how){.cn = cn, .own_key = true});
}

/* -- Refresh -- */

static void
a_refresh_reads_files_again(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	struct tls_context *server = server_made(file);
	struct err err;

	assert_string_equal(cn_now(server), "one");
	made_write(made_named("two"), NULL, "a.pem");
	assert_string_equal(cn_now(server), "one");
	assert_true(tls_context_refresh(server, &err));
	assert_string_equal(cn_now(server), "two");
	tls_context_unref(server);
}

static void
a_refresh_that_fails_changes_nothing(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	struct tls_context *server = server_made(file);
	struct tls_counts counts;
	struct err err;

	fixture_write_text("a.pem", "half a certificate");
	assert_false(tls_context_refresh(server, &err));
	assert_non_null(strstr(err.text, file));
	assert_string_equal(cn_now(server), "one");
	made_write(made_named("two"), NULL, "a.pem");
	assert_true(tls_context_refresh(server, &err));
	assert_string_equal(cn_now(server), "two");
	tls_context_counts(server, &counts);
	assert_int_equal(counts.done, 2);
	tls_context_unref(server);
}

static void
connections_keep_what_they_began_with(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	struct tls_context *server = server_made(file);
	SSL *old = ssl_made(server, TLS_ACCEPTS);
	SSL_CTX *ctx = plain_client_ctx();
	struct pair pair;
	struct err err;

	made_write(made_named("two"), NULL, "a.pem");
	assert_true(tls_context_refresh(server, &err));
	tls_context_unref(server);
	pair = pair_made(plain_client(ctx, "a.test"), old);
	assert_true(pair_shake_and_talk(&pair));
	assert_string_equal(pair_server_cn(&pair), "one");
	pair_free(&pair);
	SSL_CTX_free(ctx);
}

static void
count_in_memory(void *arg, const struct tls_cert_facts *facts)
{
	*(unsigned *)arg += facts->in_memory;
}

static void
a_context_like_another_reads_what_has_changed(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	struct tls_pair pair = {.cert = file};
	struct tls_settings settings = settings_accepts(&pair, 1);
	struct tls_context *old = server_made(file), *new;
	char *pem = fixture_read(made_write(made_named("two"), NULL, "b.pem"));
	unsigned in_memory = 0;
	struct err err;

	assert_true(tls_context_stage(old, file, pem, &err));
	assert_true(tls_context_commit(old, file, &err));
	tls_context_each_cert(old, count_in_memory, &in_memory);
	assert_int_equal(in_memory, 1);
	assert_string_equal(cn_now(old), "two");
	/* A certificate replaced in memory stays while its file does. */
	new = tls_context_new_like(&settings, TLS_ACCEPTS, old, &err);
	assert_non_null(new);
	assert_string_equal(cn_now(new), "two");
	tls_context_unref(old);
	/* A new content is read, and the old context stays as it is. */
	made_write(made_named("three"), NULL, "a.pem");
	old = new;
	new = tls_context_new_like(&settings, TLS_ACCEPTS, old, &err);
	assert_non_null(new);
	assert_string_equal(cn_now(new), "three");
	assert_string_equal(cn_now(old), "two");
	tls_context_unref(old);
	assert_string_equal(cn_now(new), "three");
	tls_context_unref(new);
	free(pem);
}

struct kept {
	unsigned n;
	uint64_t base;
	char pem[8192], text[TLS_REPLACED_TEXT_SIZE];
};

static void
keep_replaced(void *arg, const struct tls_replaced *r)
{
	struct kept *kept = arg;
	BIO *pem = tls_replaced_pem(r);
	int n = BIO_read(pem, kept->pem, sizeof(kept->pem) - 1);

	assert_true(n > 0);
	kept->pem[n] = '\0';
	kept->n++;
	kept->base = r->base;
	strcpy(kept->text, r->text);
	BIO_free(pem);
}

static void
another_process_goes_on_with_what_was_replaced(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	struct tls_context *old = server_made(file), *new = server_made(file);
	char *own = fixture_read(file);
	char *pem = fixture_read(made_write(made_named("two"), NULL, "b.pem"));
	struct kept kept = {.n = 0};
	struct err err;

	tls_replaced_each(old, keep_replaced, &kept);
	assert_int_equal(kept.n, 0);
	assert_true(tls_context_stage(old, file, pem, &err));
	assert_true(tls_context_commit(old, file, &err));
	tls_replaced_each(old, keep_replaced, &kept);
	assert_int_equal(kept.n, 1);
	assert_non_null(strstr(kept.text, "CN=two, until "));
	assert_true(tls_replaced_restore(
	    new, "certificate", file, kept.base, kept.pem, &err));
	assert_string_equal(cn_now(new), "two");
	assert_false(tls_replaced_restore(
	    new, "certificate", file, kept.base + 1, kept.pem, &err));
	assert_false(tls_replaced_restore(
	    new, "certificate", "other", kept.base, kept.pem, &err));
	assert_false(
	    tls_replaced_restore(new, "crl", file, kept.base, kept.pem, &err));
	/* The file's own certificate replaces nothing. */
	assert_true(tls_context_stage(old, file, own, &err));
	assert_true(tls_context_commit(old, file, &err));
	tls_replaced_each(old, keep_replaced, &kept);
	assert_int_equal(kept.n, 1);
	tls_context_unref(old);
	tls_context_unref(new);
	free(own);
	free(pem);
}

/* Waits until the file, read now, counts as surely unchanged: two seconds after
 * its change. */
static void
wait_until_sure(const char *file)
{
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	while (time(NULL) < st.st_ctim.tv_sec + 2)
		usleep(20000);
}

static X509 *
own_cert(struct tls_context *context)
{
	SSL_CTX *ssl = tls_context_take(context);
	X509 *x509 = SSL_CTX_get0_certificate(ssl);

	tls_context_give_back(ssl);
	return x509;
}

static void
a_context_like_another_shares_what_is_the_same(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	struct tls_pair pair = {.cert = file};
	struct tls_settings settings = settings_accepts(&pair, 1);
	struct tls_context *old, *new;
	struct err err;

	wait_until_sure(file);
	old = server_made(file);
	new = tls_context_new_like(&settings, TLS_ACCEPTS, old, &err);
	assert_non_null(new);
	assert_ptr_equal(own_cert(new), own_cert(old));
	tls_context_unref(old);
	assert_string_equal(cn_now(new), "one");
	tls_context_unref(new);
}

#define SHAKES 60

struct storm {
	struct tls_context *server;
	unsigned running; /* threads */
	unsigned failed;
};

static void *
shake_often(void *arg)
{
	struct storm *storm = arg;
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	for (int i = 0; i < SHAKES; i++) {
		SSL *ssl = SSL_new(ctx);
		struct pair pair;

		SSL_set_connect_state(ssl);
		pair = pair_made(ssl, ssl_made(storm->server, TLS_ACCEPTS));
		if (!pair_shake_and_talk(&pair))
			atomic_add_relaxed(&storm->failed, 1u);
		pair_free(&pair);
	}
	SSL_CTX_free(ctx);
	atomic_sub_acq_rel(&storm->running, 1u);
	return NULL;
}

static void
handshakes_go_on_during_refreshes(void **state)
{
	const struct made *made[] = {made_named("one"), made_named("two")};
	char *file = made_write(made[0], NULL, "a.pem");
	struct storm storm = {.server = server_made(file), .running = 2};
	struct unit_threads threads;
	struct tls_counts counts;
	struct err err;

	unit_threads_start(&threads, 2, shake_often, &storm);
	for (unsigned i = 1; atomic_load_acquire(&storm.running) > 0; i++) {
		made_write(made[i % 2], NULL, "a.pem");
		assert_true(tls_context_refresh(storm.server, &err));
		if (i == 20)
			break;
	}
	unit_threads_join(&threads);
	assert_int_equal(storm.failed, 0);
	tls_context_counts(storm.server, &counts);
	assert_int_equal(counts.done, 2 * SHAKES);
	assert_int_equal(counts.failed, 0);
	tls_context_unref(storm.server);
}

/* -- Replacement in memory -- */

static void
a_commit_puts_a_new_certificate_into_use(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	char *new = made_write(made_with_own_key("two"), NULL, "new.pem");
	char *pem = fixture_read(new), *before = fixture_read(file), *after;
	struct tls_context *server = server_made(file);
	struct err err;

	assert_true(tls_context_stage(server, file, pem, &err));
	assert_string_equal(cn_now(server), "one");
	assert_true(tls_context_commit(server, file, &err));
	assert_string_equal(cn_now(server), "two");
	after = fixture_read(file);
	assert_string_equal(before, after);
	assert_false(tls_context_commit(server, file, &err));
	assert_non_null(strstr(err.text, "nothing is kept"));
	tls_context_unref(server);
	free(pem);
	free(before);
	free(after);
}

static void
what_is_aborted_is_not_used(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	char *pem =
	    fixture_read(made_write(made_with_own_key("two"), NULL, "new.pem"));
	struct tls_context *server = server_made(file);
	struct err err;

	assert_false(tls_context_abort(server, file));
	assert_true(tls_context_stage(server, file, pem, &err));
	assert_true(tls_context_abort(server, file));
	assert_false(tls_context_commit(server, file, &err));
	assert_string_equal(cn_now(server), "one");
	tls_context_unref(server);
	free(pem);
}

static void
certificate_and_key_of_two_files_go_together(void **state)
{
	const struct made *one = made_named("one");
	const struct made *two = made_with_own_key("two");
	char *file = made_write_cert(one, "a.pem");
	char *key_file = made_write_key(one, "a.pem.key");
	char *cert = made_cert_pem(two), *key = made_key_pem(two);
	struct tls_context *server = server_made(file);
	struct err err;

	assert_true(tls_context_stage(server, file, cert, &err));
	assert_false(tls_context_commit(server, file, &err));
	assert_non_null(strstr(err.text, "the key does not belong"));
	assert_string_equal(cn_now(server), "one");
	assert_true(tls_context_stage(server, key_file, key, &err));
	assert_true(tls_context_commit(server, file, &err));
	assert_string_equal(cn_now(server), "two");
	tls_context_unref(server);
	free(cert);
	free(key);
}

/* A key in a file of its own may come before or behind its certificate; the
 * second of the two has to match the first. */
static void
the_second_of_two_texts_has_to_match_the_first(void **state)
{
	const struct made *one = made_named("one");
	const struct made *two = made_with_own_key("two");
	const struct made *three = made_with_own_key("three");
	char *file = made_write_cert(one, "a.pem");
	char *key_file = made_write_key(one, "a.pem.key");
	char *cert = made_cert_pem(two), *key = made_key_pem(two);
	char *other_cert = made_cert_pem(three);
	char *other_key = made_key_pem(three);
	struct tls_context *server = server_made(file);
	struct err err;

	assert_true(tls_context_stage(server, file, cert, &err));
	assert_false(tls_context_stage(server, key_file, other_key, &err));
	assert_non_null(strstr(err.text, "the key does not belong"));
	assert_true(tls_context_abort(server, file));
	assert_true(tls_context_stage(server, key_file, key, &err));
	assert_false(tls_context_stage(server, file, other_cert, &err));
	assert_non_null(strstr(err.text, "the key does not belong"));
	assert_true(tls_context_stage(server, file, cert, &err));
	assert_true(tls_context_commit(server, file, &err));
	assert_string_equal(cn_now(server), "two");
	tls_context_unref(server);
	free(cert);
	free(key);
	free(other_cert);
	free(other_key);
}

static void
a_renewed_certificate_may_keep_its_key(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	char *cert = made_cert_pem(made_named("two"));
	struct tls_context *server = server_made(file);
	struct err err;

	assert_true(tls_context_stage(server, file, cert, &err));
	assert_true(tls_context_commit(server, file, &err));
	assert_string_equal(cn_now(server), "two");
	tls_context_unref(server);
	free(cert);
}

static void
bad_texts_are_not_kept(void **state)
{
	const struct made *weak =
	    made_new(&(struct made_how){.cn = "weak", .key = "RSA1024"});
	char *file = made_write(made_named("one"), NULL, "a.pem");
	char *weak_pem = fixture_read(made_write(weak, NULL, "weak.pem"));
	char *two = made_cert_pem(made_with_own_key("two"));
	char *key = made_key_pem(made_named("x")), *mixed;
	struct tls_context *server = server_made(file);
	struct err err;

	assert_true(asprintf(&mixed, "%s%s", two, key) > 0);
	assert_false(tls_context_stage(server, "/no/such.pem", two, &err));
	assert_non_null(strstr(err.text, "/no/such.pem"));
	assert_false(tls_context_stage(server, file, "", &err));
	assert_false(tls_context_stage(server, file, key, &err));
	assert_non_null(strstr(err.text, "has no certificate"));
	assert_false(tls_context_stage(server, file, two, &err));
	assert_non_null(strstr(err.text, "the key does not belong"));
	assert_false(tls_context_stage(server, file, mixed, &err));
	assert_non_null(strstr(err.text, "the key does not belong"));
	assert_false(tls_context_commit(server, file, &err));
	assert_true(tls_context_stage(server, file, weak_pem, &err));
	assert_false(tls_context_commit(server, file, &err));
	assert_non_null(strstr(err.text, "security level"));
	assert_string_equal(cn_now(server), "one");
	tls_context_unref(server);
	free(weak_pem);
	free(two);
	free(key);
	free(mixed);
}

static void
a_refresh_keeps_what_was_committed_until_the_file_changes(void **state)
{
	char *file = made_write(made_named("one"), NULL, "a.pem");
	char *pem = made_cert_pem(made_named("two"));
	struct tls_context *server;
	struct err err;

	server = server_made(file);
	assert_true(tls_context_stage(server, file, pem, &err));
	assert_true(tls_context_commit(server, file, &err));
	assert_true(tls_context_refresh(server, &err));
	assert_string_equal(cn_now(server), "two");
	made_write(made_named("three"), NULL, "a.pem");
	assert_true(tls_context_refresh(server, &err));
	assert_string_equal(cn_now(server), "three");
	tls_context_unref(server);
	free(pem);
}

/* -- Facts -- */

struct listed {
	unsigned n;
	struct tls_cert_facts facts[4];
	char text[4][1024];
};

static void
list_cert(void *arg, const struct tls_cert_facts *facts)
{
	struct listed *listed = arg;
	char *text = listed->text[listed->n];

	listed->facts[listed->n++] = *facts;
	snprintf(text, sizeof(listed->text[0]), "%s|%s|%s|%s|%u|%u",
	    facts->subject, facts->issuer, facts->names[0], facts->key_type,
	    facts->key_bits, facts->names_n);
}

static void
certificates_are_listed(void **state)
{
	const struct made *root =
	    made_new(&(struct made_how){.cn = "root", .is_ca = true});
	const struct made *rsa = made_new(&(struct made_how){.cn = "rsa",
	    .sans = "DNS:B.test,DNS:a.test,DNS:a.test,IP:10.0.0.1",
	    .key = "RSA",
	    .issuer = root});
	struct tls_pair pairs[] = {{.cert = made_write(rsa, root, "rsa.pem")},
	    {.cert = made_write(made_named("b.test"), NULL, "b.pem")},
	    {.cert = made_write(made_named("c.test"), NULL, "c.pem")}};
	struct tls_settings settings = settings_accepts(pairs, 3);
	struct tls_context *server = context_made(&settings, TLS_ACCEPTS);
	char *pem = made_cert_pem(made_named("d.test"));
	struct listed listed = {.n = 0};
	struct err err;
	time_t now = time(NULL);

	assert_true(tls_context_stage(server, pairs[2].cert, pem, &err));
	tls_context_each_cert(server, list_cert, &listed);
	assert_int_equal(listed.n, 3);
	assert_string_equal(listed.text[0], "CN=rsa|CN=root|a.test|RSA|2048|2");
	assert_string_equal(
	    listed.text[1], "CN=b.test|CN=b.test|b.test|EC|256|1");
	assert_string_equal(listed.facts[0].file, pairs[0].cert);
	assert_int_equal(listed.facts[0].chain_n, 1);
	assert_true(listed.facts[0].is_default);
	assert_false(listed.facts[1].is_default);
	assert_true(listed.facts[0].not_before <= now - 3500);
	assert_true(listed.facts[0].not_after >= now + 86000);
	assert_false(listed.facts[1].staged);
	assert_true(listed.facts[2].staged);
	assert_true(tls_context_commit(server, pairs[2].cert, &err));
	listed.n = 0;
	tls_context_each_cert(server, list_cert, &listed);
	assert_true(listed.facts[2].in_memory);
	assert_string_equal(
	    listed.text[2], "CN=d.test|CN=d.test|d.test|EC|256|1");
	tls_context_unref(server);
	free(pem);
}

static void
append_path(void *arg, const char *path, bool is_directory)
{
	strcat(strcat(arg, strrchr(path, '/')), is_directory ? "/ " : " ");
}

static void
files_to_watch_are_listed(void **state)
{
	char *dirs[] = {fixture_path("sites")};
	struct tls_pair pair = {
	    .cert = made_write(made_named("a.test"), NULL, "a.pem")};
	struct tls_settings settings = settings_accepts(&pair, 1);
	struct tls_context *server;
	char files[1024] = "";

	mkdir(dirs[0], 0700);
	made_write_cert(made_named("b.test"), "sites/b.pem");
	made_write_key(made_named("b.test"), "sites/b.pem.key");
	settings.cert_dirs = dirs;
	settings.cert_dirs_n = 1;
	settings.verify = TLS_VERIFY_OPTIONAL;
	settings.ca = pair.cert;
	server = context_made(&settings, TLS_ACCEPTS);
	tls_context_each_file(server, append_path, files);
	assert_string_equal(files,
	    "/a.pem /a.pem.ocsp /b.pem /b.pem.key /b.pem.ocsp /sites/ /a.pem ");
	tls_context_unref(server);
}

static void
facts_of_a_client_certificate_are_text(void **state)
{
	const struct made *root =
	    made_new(&(struct made_how){.cn = "ro,ot\x01", .is_ca = true});
	const struct made *leaf = made_new(&(struct made_how){.cn = "J\xc3\xb6",
	    .sans = "DNS:a.test,IP:10.0.0.1,email:x@y.test,URI:urn:z",
	    .issuer = root});
	struct tls_pair pair = {
	    .cert = made_write(made_named("s"), NULL, "s.pem")};
	struct tls_settings settings = settings_accepts(&pair, 1);
	struct tls_context *server;
	SSL_CTX *ctx = plain_client_ctx();
	struct tls_facts facts;
	struct pair ends;

	settings.verify = TLS_VERIFY_REQUIRED;
	settings.ca = made_write_cert(root, "root.pem");
	server = context_made(&settings, TLS_ACCEPTS);
	SSL_CTX_use_cert_and_key(ctx, leaf->x509, leaf->key, NULL, 1);
	ends = pair_made(
	    plain_client(ctx, "Sni.test"), ssl_made(server, TLS_ACCEPTS));
	tls_facts_read(ends.server, &facts);
	assert_int_equal(facts.version, 0);
	assert_string_equal(facts.cipher, "-");
	assert_true(pair_shake(&ends));
	tls_facts_read(ends.server, &facts);
	assert_string_equal(facts.sni, "Sni.test");
	assert_string_equal(facts.subject, "CN=J\\C3\\B6");
	assert_string_equal(facts.issuer, "CN=ro\\,ot\\01");
	assert_string_equal(
	    facts.sans, "DNS:a.test,IP:10.0.0.1,email:x@y.test,URI:urn:z");
	assert_true(strlen(facts.serial) >= 4);
	pair_free(&ends);
	SSL_CTX_free(ctx);
	tls_context_unref(server);
}

static void
secrets_are_logged_where_the_setting_says(void **state)
{
	struct tls_pair pair = {
	    .cert = made_write(made_named("s"), NULL, "s.pem")};
	struct tls_settings settings = settings_accepts(&pair, 1);
	struct tls_context *server;
	struct stat st;
	char *text;

	setenv("SSLKEYLOGFILE", fixture_path("environment.log"), 1);
	settings.keylog = fixture_path("none/secrets.log");
	assert_context_refused(&settings, TLS_ACCEPTS, "none/secrets.log");
	settings.keylog = fixture_path("secrets.log");
	server = context_made(&settings, TLS_ACCEPTS);
	assert_string_equal(cn_now(server), "s");
	tls_context_unref(server);
	text = fixture_read(settings.keylog);
	assert_int_equal(
	    strncmp(text, "SERVER_HANDSHAKE_TRAFFIC_SECRET ", 32), 0);
	assert_non_null(strstr(text, "\nEXPORTER_SECRET "));
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_int_equal(stat(settings.keylog, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	free(text);
	settings.keylog = NULL;
	server = context_made(&settings, TLS_ACCEPTS);
	assert_string_equal(cn_now(server), "s");
	tls_context_unref(server);
	assert_int_equal(stat(fixture_path("environment.log"), &st), -1);
	unsetenv("SSLKEYLOGFILE");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(a_refresh_reads_files_again),
	    FIXTURE_TEST(a_refresh_that_fails_changes_nothing),
	    FIXTURE_TEST(a_context_like_another_reads_what_has_changed),
	    FIXTURE_TEST(another_process_goes_on_with_what_was_replaced),
	    FIXTURE_TEST(a_context_like_another_shares_what_is_the_same),
	    FIXTURE_TEST(connections_keep_what_they_began_with),
	    FIXTURE_TEST(handshakes_go_on_during_refreshes),
	    FIXTURE_TEST(a_commit_puts_a_new_certificate_into_use),
	    FIXTURE_TEST(what_is_aborted_is_not_used),
	    FIXTURE_TEST(certificate_and_key_of_two_files_go_together),
	    FIXTURE_TEST(the_second_of_two_texts_has_to_match_the_first),
	    FIXTURE_TEST(a_renewed_certificate_may_keep_its_key),
	    FIXTURE_TEST(bad_texts_are_not_kept),
	    FIXTURE_TEST(
	        a_refresh_keeps_what_was_committed_until_the_file_changes),
	    FIXTURE_TEST(certificates_are_listed),
	    FIXTURE_TEST(files_to_watch_are_listed),
	    FIXTURE_TEST(facts_of_a_client_certificate_are_text),
	    FIXTURE_TEST(secrets_are_logged_where_the_setting_says),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
