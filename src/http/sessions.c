/* SPDX-License-Identifier: MIT
 * See sessions.h.
 */
#include "http/sessions.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"

/* Domains of the keyed hash. */
#define FOR_COOKIES 'c'
#define FOR_HEADERS 'h'
#define FOR_CSRF    'x'

static void
keyed_hash(const struct http_sessions *sessions, char domain, const char *text,
    unsigned char out[SESSION_HASH_SIZE])
{
	unsigned char key[SESSION_HASH_SIZE + 1], hash[EVP_MAX_MD_SIZE];

	memcpy(key, sessions->key, SESSION_HASH_SIZE);
	key[SESSION_HASH_SIZE] = (unsigned char)domain;
	memset(hash, 0, sizeof(hash));
	(void)HMAC(EVP_sha256(), key, (int)sizeof(key),
	    (const unsigned char *)text, strlen(text), hash, NULL);
	memcpy(out, hash, SESSION_HASH_SIZE);
}

bool
http_sessions_init(struct http_sessions *sessions)
{
	list_init(&sessions->all);
	sessions->n = 0;
	return RAND_bytes(sessions->key, sizeof(sessions->key)) == 1;
}

void
http_sessions_fini(struct http_sessions *sessions)
{
	list_for_each_safe (node, &sessions->all)
		http_session_end(
		    sessions, container_of(node, struct http_session, node));
	OPENSSL_cleanse(sessions->key, sizeof(sessions->key));
}

struct users_stamp
users_stamp_read(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct users_stamp){.size = 0};
	return (struct users_stamp){.device = st.st_dev,
	    .inode = st.st_ino,
	    .size = (uint64_t)st.st_size,
	    .changed_ns = (uint64_t)st.st_ctim.tv_sec * 1000000000 +
	                  (uint64_t)st.st_ctim.tv_nsec};
}

static bool
same_stamp(const struct users_stamp *a, const struct users_stamp *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && a->changed_ns == b->changed_ns;
}

bool
session_token_make(char out[SESSION_TOKEN_SIZE])
{
	unsigned char random[SESSION_HASH_SIZE];

	if (RAND_bytes(random, sizeof(random)) != 1)
		return false;
	base64_encode(random, sizeof(random), out);
	return true;
}

struct http_session *
http_session_begin(struct http_sessions *sessions, const char *token,
    bool by_header, const struct user *user, const struct users_stamp *stamp)
{
	struct http_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (sessions->n >= SESSIONS_MAX)
		http_session_end(sessions, container_of(sessions->all.next,
		                               struct http_session, node));
	keyed_hash(
	    sessions, by_header ? FOR_HEADERS : FOR_COOKIES, token, s->hash);
	memcpy(s->name, user->name, sizeof(s->name));
	s->level = user->level;
	s->stamp = *stamp;
	s->by_header = by_header;
	s->begun_ms = s->used_ms = clock_now_ms();
	list_append(&sessions->all, &s->node);
	sessions->n++;
	return s;
}

void
http_session_end(struct http_sessions *sessions, struct http_session *session)
{
	list_remove(&session->node);
	sessions->n--;
	OPENSSL_cleanse(session, sizeof(*session));
	free(session);
}

static bool
has_ended(const struct http_session *s, const char *users)
{
	struct users_stamp now = users ? users_stamp_read(users) : s->stamp;
	uint64_t now_ms = clock_now_ms();

	return !users || !same_stamp(&now, &s->stamp) ||
	       now_ms - s->used_ms > SESSION_IDLE_MS ||
	       now_ms - s->begun_ms > SESSION_AGE_MS;
}

struct http_session *
http_session_find(struct http_sessions *sessions, const char *token,
    bool by_header, const char *users)
{
	unsigned char hash[SESSION_HASH_SIZE];

	keyed_hash(
	    sessions, by_header ? FOR_HEADERS : FOR_COOKIES, token, hash);
	list_for_each_safe (node, &sessions->all) {
		struct http_session *s =
		    container_of(node, struct http_session, node);

		if (s->by_header != by_header ||
		    CRYPTO_memcmp(s->hash, hash, sizeof(hash)) != 0)
			continue;
		if (has_ended(s, users)) {
			http_session_end(sessions, s);
			return NULL;
		}
		s->used_ms = clock_now_ms();
		list_remove(&s->node);
		list_append(&sessions->all, &s->node);
		return s;
	}
	return NULL;
}

void
http_csrf_token(const struct http_sessions *sessions, const char *text,
    char out[SESSION_TOKEN_SIZE])
{
	unsigned char hash[SESSION_HASH_SIZE];

	keyed_hash(sessions, FOR_CSRF, text, hash);
	base64_encode(hash, sizeof(hash), out);
}
