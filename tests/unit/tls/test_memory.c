/* SPDX-License-Identifier: MIT
 * No private key is in what a core dump has.
 */
#include "fixture.h"

#include <openssl/core_names.h>
#include <sys/wait.h>

#include "tls/memory.h"
#include "tls/memory_area.h"

static void
protected_blocks_grow_and_come_back(void **state)
{
	const void *first = NULL;

	for (int round = 0; round < 2; round++) {
		char *block;

		tls_memory_protect();
		block = OPENSSL_malloc(20);
		strcpy(block, "private");
		tls_memory_unprotect();
		if (round == 0)
			first = block;
		assert_ptr_equal(block, first);
		for (size_t n = 20; n < 300000; n = 2 * n + 1) {
			block = OPENSSL_realloc(block, n);
			assert_non_null(block);
			assert_true(tls_memory_area_has(block));
			assert_string_equal(block, "private");
		}
		OPENSSL_free(block);
	}
}

/* -- Core dumps -- */

#define NEEDLE 32
#define MASK   0x5a

/* Bytes of a key, which are not to be in memory because of this test: each is
 * masked. */
struct needle {
	uint8_t masked[NEEDLE];
};

struct needles {
	struct needle needles[6];
	unsigned n;
};

static void
needle_append(struct needles *needles, const BIGNUM *number, bool little)
{
	uint8_t bytes[512];
	int n = BN_num_bytes(number);
	struct needle *needle = &needles->needles[needles->n++];

	assert_true(n >= NEEDLE && n <= 512);
	if (little)
		BN_bn2lebinpad(number, bytes, n);
	else
		BN_bn2bin(number, bytes);
	for (int i = 0; i < NEEDLE; i++)
		needle->masked[i] = bytes[i] ^ MASK;
}

/* Makes keys and files; run in a process of its own, whose memory goes with it.
 */
static void
keys_make(const char *needles_path)
{
	const struct made *rsa = made_new(
	    &(struct made_how){.cn = "a.test", .key = "RSA", .own_key = true});
	const struct made *ec =
	    made_new(&(struct made_how){.cn = "a.test", .own_key = true});
	struct needles needles = {.n = 0};
	BIGNUM *number = NULL;
	FILE *out = fopen(needles_path, "w");

	EVP_PKEY_get_bn_param(rsa->key, OSSL_PKEY_PARAM_RSA_FACTOR1, &number);
	needle_append(&needles, number, true);
	needle_append(&needles, number, false);
	EVP_PKEY_get_bn_param(rsa->key, OSSL_PKEY_PARAM_RSA_D, &number);
	needle_append(&needles, number, true);
	needle_append(&needles, number, false);
	EVP_PKEY_get_bn_param(ec->key, OSSL_PKEY_PARAM_PRIV_KEY, &number);
	/* The scalar is shorter in one key of 256. */
	if (BN_num_bytes(number) == NEEDLE) {
		needle_append(&needles, number, true);
		needle_append(&needles, number, false);
	}
	made_write(rsa, NULL, "rsa.pem");
	made_write_cert(ec, "ec.pem");
	made_write_key(ec, "ec.pem.key");
	fwrite(&needles, sizeof(needles), 1, out);
	fclose(out);
}

static bool
is_needle(const uint8_t *at, const struct needle *needle)
{
	for (int i = 0; i < NEEDLE; i++) {
		if ((at[i] ^ MASK) != needle->masked[i])
			return false;
	}
	return true;
}

/* Counts the places of a mapping that have a needle. */
static unsigned
count_needles(
    int mem, uint64_t from, uint64_t to, const struct needles *needles)
{
	static uint8_t window[1 << 16];
	unsigned found = 0;

	for (uint64_t at = from; at + NEEDLE <= to;
	     at += sizeof(window) - NEEDLE) {
		ssize_t n = pread(mem, window, sizeof(window), (off_t)at);

		for (ssize_t i = 0; i + NEEDLE <= n; i++) {
			for (unsigned k = 0; k < needles->n; k++)
				found +=
				    is_needle(&window[i], &needles->needles[k]);
		}
	}
	return found;
}

/* Counts needles in memory that core dumps have, and in what they leave out. */
static void
scan_memory(
    const struct needles *needles, unsigned *ret_dumped, unsigned *ret_left_out)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	unsigned long from = 0, to = 0, a, b;
	char line[512], modes[8] = "", m[8];

	*ret_dumped = *ret_left_out = 0;
	assert_non_null(maps);
	assert_true(mem >= 0);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &a, &b, m) == 3) {
			from = a;
			to = b;
			strcpy(modes, m);
		} else if (strncmp(line, "VmFlags:", 8) == 0 &&
		           strncmp(modes, "rw", 2) == 0) {
			unsigned n = count_needles(mem, from, to, needles);

			*(strstr(line, " dd") ? ret_left_out : ret_dumped) += n;
		}
	}
	fclose(maps);
	close(mem);
}

static void
keys_are_only_in_memory_that_is_not_dumped(void **state)
{
	char *path = fixture_path("needles");
	struct tls_pair pairs[] = {{.cert = fixture_path("rsa.pem")},
	    {.cert = fixture_path("ec.pem")}};
	struct tls_settings settings = settings_accepts(pairs, 2);
	static const char *const sigalgs[] = {"RSA-PSS+SHA256", "ECDSA+SHA256"};
	struct tls_context *server;
	struct needles needles;
	unsigned dumped, left_out;
	int status;
	FILE *in;
	pid_t pid;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	print_message("a sanitizer's shadow memory is too large to search\n");
	skip();
#endif
	unit_skip_when_emulated("/proc/self/smaps of the program alone");
	pid = fork();
	if (pid == 0) {
		keys_make(path);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(fread(&needles, sizeof(needles), 1, in), 1);
	fclose(in);
	server = context_made(&settings, TLS_ACCEPTS);
	scan_memory(&needles, &dumped, &left_out);
	assert_int_equal(dumped, 0);
	assert_true(left_out >= needles.n / 2);
	for (int i = 0; i < 4; i++) {
		SSL_CTX *ctx = plain_client_ctx();
		struct pair pair;

		SSL_CTX_set1_sigalgs_list(ctx, sigalgs[i % 2]);
		pair = pair_made(
		    plain_client(ctx, NULL), ssl_made(server, TLS_ACCEPTS));
		assert_true(pair_shake_and_talk(&pair));
		pair_free(&pair);
		SSL_CTX_free(ctx);
	}
	scan_memory(&needles, &dumped, &left_out);
	assert_int_equal(dumped, 0);
	assert_true(left_out >= needles.n / 2);
	tls_context_unref(server);
	/* A key that is freed is wiped. */
	scan_memory(&needles, &dumped, &left_out);
	assert_int_equal(dumped + left_out, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    FIXTURE_TEST(keys_are_only_in_memory_that_is_not_dumped),
	    FIXTURE_TEST(protected_blocks_grow_and_come_back),
	};

	unit_watchdog();
	tls_memory_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
