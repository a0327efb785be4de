/* SPDX-License-Identifier: MIT
 * See tickets.h.
 */
#include "tls/tickets.h"

#include <ctype.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/lock.h"
#include "tls/memory.h"
#include "tls/openssl_err.h"
#include "tls/pem.h"
#include "tls/store.h"
#include "tls/x509_text.h"

#define TICKET_NAME_SIZE 16
#define TICKET_IV_SIZE   16

/* A key that is made each half timeout decrypts for three halves: four keys
 * suffice. */
#define TICKET_OWN_KEYS 4
/* A file with more keys is refused. */
#define TICKET_KEYS_MAX 16

/* File formats: AES-128 with an HMAC key of 16 bytes, or AES-256 and 32. */
#define TICKET_SIZE_128 48
#define TICKET_SIZE_256 80

struct ticket_key {
	uint8_t name[TICKET_NAME_SIZE];
	uint8_t aes[32], hmac[32];
	size_t size;      /* of aes and of hmac: 16 or 32; 0: none */
	uint64_t made_ms; /* monotonic */
};

struct tls_tickets {
	unsigned refs;
	bool from_file;
	struct lock lock;    /* of keys, made and timeout_ms */
	uint64_t timeout_ms; /* of a session */
	/* Own keys are a ring, in which made counts the keys made so far; those
	 * of a file begin with the one that encrypts. */
	struct ticket_key keys[TICKET_KEYS_MAX];
	uint64_t made;
	EVP_CIPHER *aes_128, *aes_256;
};

void
tls_tickets_unref(struct tls_tickets *tickets)
{
	if (!tickets || atomic_sub_acq_rel(&tickets->refs, 1u) > 1)
		return;
	EVP_CIPHER_free(tickets->aes_128);
	EVP_CIPHER_free(tickets->aes_256);
	lock_fini(&tickets->lock);
	OPENSSL_clear_free(tickets, sizeof(*tickets));
}

struct tls_tickets *
tls_tickets_ref(struct tls_tickets *tickets)
{
	atomic_add_relaxed(&tickets->refs, 1u);
	return tickets;
}

bool
tls_tickets_are_from_file(const struct tls_tickets *tickets)
{
	return tickets->from_file;
}

void
tls_tickets_set_timeout(struct tls_tickets *tickets, uint64_t timeout_s)
{
	lock_acquire(&tickets->lock);
	tickets->timeout_ms = timeout_s * 1000u;
	lock_release(&tickets->lock);
}

/* Returns an object without keys. */
static struct tls_tickets *
tickets_make(struct err *err)
{
	struct tls_tickets *tickets;

	tls_memory_protect();
	tickets = OPENSSL_zalloc(sizeof(*tickets));
	tls_memory_unprotect();
	if (!tickets) {
		err_oom(err);
		return NULL;
	}
	tickets->refs = 1;
	lock_init(&tickets->lock);
	tickets->aes_128 = EVP_CIPHER_fetch(NULL, "AES-128-CBC", NULL);
	tickets->aes_256 = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
	if (tickets->aes_128 && tickets->aes_256)
		return tickets;
	err_set(
	    err, "tickets: OpenSSL has no AES-CBC: %s", tls_openssl_reason());
	tls_tickets_unref(tickets);
	return NULL;
}

/* -- Keys of our own -- */

/* Makes the next key.  Caller holds the lock. */
static bool
key_make(struct tls_tickets *tickets)
{
	struct ticket_key key = {.size = 32, .made_ms = clock_now_ms()};
	bool ok = RAND_bytes(key.name, sizeof(key.name)) == 1 &&
	          RAND_priv_bytes(key.aes, sizeof(key.aes)) == 1 &&
	          RAND_priv_bytes(key.hmac, sizeof(key.hmac)) == 1;

	if (ok)
		tickets->keys[tickets->made++ % TICKET_OWN_KEYS] = key;
	OPENSSL_cleanse(&key, sizeof(key));
	return ok;
}

/* Returns the newest of our own keys, or the first one of a file. */
static struct ticket_key *
key_newest(struct tls_tickets *tickets)
{
	if (tickets->from_file)
		return &tickets->keys[0];
	return &tickets->keys[(tickets->made - 1) % TICKET_OWN_KEYS];
}

/* Makes a key if the newest is due to be replaced, and wipes keys whose tickets
 * have all expired.  Caller holds the lock. */
static void
keys_rotate(struct tls_tickets *tickets)
{
	uint64_t now = clock_now_ms(), timeout = tickets->timeout_ms;

	if (tickets->from_file)
		return;
	/* Without random numbers the old key stays in use. */
	if (now - key_newest(tickets)->made_ms >= timeout / 2)
		(void)key_make(tickets);
	for (unsigned i = 0; i < TICKET_OWN_KEYS; i++) {
		struct ticket_key *key = &tickets->keys[i];

		if (key != key_newest(tickets) && key->size > 0 &&
		    now - key->made_ms >= timeout / 2 + timeout)
			OPENSSL_cleanse(key, sizeof(*key));
	}
}

struct tls_tickets *
tls_tickets_new(uint64_t timeout_s, struct err *err)
{
	struct tls_tickets *tickets = tickets_make(err);

	if (!tickets)
		return NULL;
	tickets->timeout_ms = timeout_s * 1000u;
	if (key_make(tickets))
		return tickets;
	err_set(err, "tickets: no random numbers: %s", tls_openssl_reason());
	tls_tickets_unref(tickets);
	return NULL;
}

/* -- Keys of a file -- */

static void
key_parse(const uint8_t *bytes, size_t n, struct ticket_key *ret_key)
{
	struct ticket_key key = {
	    .size = n == TICKET_SIZE_128 ? 16 : 32, .made_ms = clock_now_ms()};
	const uint8_t *rest = bytes + TICKET_NAME_SIZE;

	memcpy(key.name, bytes, TICKET_NAME_SIZE);
	/* The short form begins with the cipher's key, the long one with that
	 * of the HMAC. */
	if (n == TICKET_SIZE_128) {
		memcpy(key.aes, rest, 16);
		memcpy(key.hmac, rest + 16, 16);
	} else {
		memcpy(key.hmac, rest, 32);
		memcpy(key.aes, rest + 32, 32);
	}
	*ret_key = key;
	OPENSSL_cleanse(&key, sizeof(key));
}

/* Decodes one line of base64; returns the number of bytes or -1. */
static int
line_decode(const char *line, size_t len, uint8_t out[TICKET_SIZE_256 + 3])
{
	int padding = 0, n;

	if (len == 0 || len % 4 != 0 || len / 4 * 3 > TICKET_SIZE_256 + 3)
		return -1;
	for (size_t i = len; i > 0 && line[i - 1] == '='; i--)
		padding++;
	n = EVP_DecodeBlock(out, (const unsigned char *)line, (int)len);
	return n < 0 || padding > 2 ? -1 : n - padding;
}

static bool
line_parse(struct tls_tickets *tickets, const char *line, size_t len,
    const char *file, unsigned number, struct err *err)
{
	uint8_t bytes[TICKET_SIZE_256 + 3];
	int n = line_decode(line, len, bytes);
	bool ok = n == TICKET_SIZE_128 || n == TICKET_SIZE_256;

	if (!ok)
		err_set(err,
		    "tickets_file '%s': line %u is not a key of 48 or 80 bytes "
		    "in base64",
		    file, number);
	else if (tickets->made == TICKET_KEYS_MAX)
		ok = err_set(err, "tickets_file '%s' has more than %u keys",
		    file, TICKET_KEYS_MAX);
	else
		key_parse(bytes, (size_t)n, &tickets->keys[tickets->made++]);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	return ok;
}

/* Puts the last key but one, which encrypts, first. */
static void
keys_order(struct tls_tickets *tickets)
{
	size_t at = tickets->made > 1 ? tickets->made - 2 : 0;
	struct ticket_key key = tickets->keys[at];

	memmove(&tickets->keys[1], &tickets->keys[0], at * sizeof(key));
	tickets->keys[0] = key;
	OPENSSL_cleanse(&key, sizeof(key));
}

static bool
lines_parse(struct tls_tickets *tickets, const struct tls_text *text,
    const char *file, struct err *err)
{
	const char *at = text->data, *end = text->data + text->n;
	unsigned number = 0;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		const char *last = eol ? eol : end;
		size_t len = (size_t)(last - at);

		number++;
		while (len > 0 && isspace((unsigned char)at[len - 1]))
			len--;
		if (len > 0 && !line_parse(tickets, at, len, file, number, err))
			return false;
		at = last + 1;
	}
	if (tickets->made == 0)
		return err_set(err, "tickets_file '%s' is empty", file);
	keys_order(tickets);
	return true;
}

struct tls_tickets *
tls_tickets_load(const char *file, struct err *err)
{
	struct tls_tickets *tickets;
	struct tls_text text;
	bool ok;

	tls_memory_protect();
	ok = tls_text_read("tickets_file", file, &text, err);
	tls_memory_unprotect();
	if (!ok)
		return NULL;
	tickets = tickets_make(err);
	if (tickets) {
		tickets->from_file = true;
		if (text.n == TICKET_SIZE_128 || text.n == TICKET_SIZE_256)
			key_parse((const uint8_t *)text.data, text.n,
			    &tickets->keys[tickets->made++]);
		else
			ok = lines_parse(tickets, &text, file, err);
	}
	tls_text_fini(&text);
	if (ok)
		return tickets;
	tls_tickets_unref(tickets);
	return NULL;
}

/* -- What there is -- */

void
tls_tickets_rotate(struct tls_tickets *tickets)
{
	lock_acquire(&tickets->lock);
	keys_rotate(tickets);
	lock_release(&tickets->lock);
}

static void
report_ticket_key(const struct tls_tickets *tickets,
    const struct ticket_key *key, bool encrypts,
    void (*report)(void *arg, const struct tls_ticket_key_facts *facts),
    void *arg)
{
	char name[2 * TICKET_NAME_SIZE + 1];

	if (key->size == 0)
		return;
	tls_hex(key->name, TICKET_NAME_SIZE, name, sizeof(name));
	report(arg, &(struct tls_ticket_key_facts){.name = name,
	                .from_file = tickets->from_file,
	                .encrypts = encrypts,
	                .bits = (unsigned)key->size * 8,
	                .age_ms = clock_now_ms() - key->made_ms});
}

void
tls_tickets_each_key(struct tls_tickets *tickets,
    void (*key)(void *arg, const struct tls_ticket_key_facts *facts), void *arg)
{
	struct ticket_key keys[TICKET_KEYS_MAX];
	unsigned n = tickets->from_file ? TICKET_KEYS_MAX : TICKET_OWN_KEYS;
	uint64_t made;

	lock_acquire(&tickets->lock);
	memcpy(keys, tickets->keys, sizeof(keys));
	made = tickets->made;
	lock_release(&tickets->lock);
	for (unsigned i = 0; i < n; i++) {
		uint64_t at =
		    tickets->from_file
		        ? i
		        : (made + TICKET_OWN_KEYS - 1 - i) % TICKET_OWN_KEYS;

		report_ticket_key(tickets, &keys[at], i == 0, key, arg);
	}
	OPENSSL_cleanse(keys, sizeof(keys));
}

bool
tls_tickets_equal(const struct tls_tickets *a, const struct tls_tickets *b)
{
	if (a == b)
		return true;
	if (!a || !b || !a->from_file || !b->from_file || a->made != b->made)
		return false;
	for (uint64_t i = 0; i < a->made; i++) {
		const struct ticket_key *x = &a->keys[i], *y = &b->keys[i];

		if (x->size != y->size ||
		    memcmp(x->name, y->name, sizeof(x->name)) != 0 ||
		    CRYPTO_memcmp(x->aes, y->aes, sizeof(x->aes)) != 0 ||
		    CRYPTO_memcmp(x->hmac, y->hmac, sizeof(x->hmac)) != 0)
			return false;
	}
	return true;
}

/* -- Tickets -- */

/* Copies the key for a new ticket. */
static void
key_for_new(struct tls_tickets *tickets, struct ticket_key *ret_key)
{
	lock_acquire(&tickets->lock);
	keys_rotate(tickets);
	*ret_key = *key_newest(tickets);
	lock_release(&tickets->lock);
}

/* Copies the key with the name; returns false if it is unknown or expired. */
static bool
key_by_name(struct tls_tickets *tickets, const uint8_t *name,
    struct ticket_key *ret_key, bool *ret_newest)
{
	bool found = false;

	lock_acquire(&tickets->lock);
	keys_rotate(tickets);
	for (unsigned i = 0; !found && i < TICKET_KEYS_MAX; i++) {
		const struct ticket_key *key = &tickets->keys[i];

		found = key->size > 0 &&
		        memcmp(key->name, name, TICKET_NAME_SIZE) == 0;
		if (found) {
			*ret_key = *key;
			*ret_newest = key == key_newest(tickets);
		}
	}
	lock_release(&tickets->lock);
	return found;
}

static bool
mac_set(EVP_MAC_CTX *mac, struct ticket_key *key)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(
	                           OSSL_MAC_PARAM_KEY, key->hmac, key->size),
	    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
	    OSSL_PARAM_construct_end()};

	return EVP_MAC_CTX_set_params(mac, params) == 1;
}

/* Prepares cipher and mac; see SSL_CTX_set_tlsext_ticket_key_evp_cb(3ssl), also
 * for the values returned. */
static int
use_ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv,
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int encrypt)
{
	struct tls_tickets *tickets = tls_store_of_ssl(ssl)->parts.tickets;
	struct ticket_key key;
	bool newest = true, ok;

	if (encrypt) {
		key_for_new(tickets, &key);
		memcpy(name, key.name, TICKET_NAME_SIZE);
		ok = RAND_bytes(iv, TICKET_IV_SIZE) == 1;
	} else {
		ok = true;
		if (!key_by_name(tickets, name, &key, &newest))
			return 0;
	}
	ok = ok &&
	     EVP_CipherInit_ex2(cipher,
	         key.size == 16 ? tickets->aes_128 : tickets->aes_256, key.aes,
	         iv, encrypt, NULL) == 1 &&
	     mac_set(mac, &key);
	OPENSSL_cleanse(&key, sizeof(key));
	if (!ok)
		return -1;
	/* Clients use a ticket of TLS 1.3 once (RFC 8446, appendix C.4): they
	 * need another one after each. */
	return newest && SSL_version(ssl) < TLS1_3_VERSION ? 1 : 2;
}

void
tls_tickets_attach(SSL_CTX *ssl)
{
	SSL_CTX_set_tlsext_ticket_key_evp_cb(ssl, use_ticket_key);
}
