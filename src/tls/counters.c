/* SPDX-License-Identifier: MIT
 * See counters.h.
 */
#include "tls/counters.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/ensure.h"
#include "tls/facts.h"
#include "tls/store.h"

struct tls_counters {
	unsigned refs;
	struct tls_counts counts CACHE_LINE_ALIGNED;
};

/* How far an SSL object's first handshake has come.  The slot holds the number
 * in place of a pointer, so nothing is allocated. */
enum handshake_state { HANDSHAKE_NONE, HANDSHAKE_BEGUN, HANDSHAKE_DONE };

static int state_slot;

static _Thread_local uint64_t key_operations_here;

/* Called by OpenSSL when the SSL object is freed: a handshake that was not done
 * by then has failed. */
static void
count_end(void *ssl, void *state, CRYPTO_EX_DATA *data, int slot, long number,
    void *arg)
{
	struct tls_counts *counts;
	struct tls_store *store;

	(void)data;
	(void)slot;
	(void)number;
	(void)arg;
	/* Other libraries of the process make SSL objects, too.  An SSL object
	 * that could not be made because memory is short has no SSL_CTX. */
	store = SSL_get_SSL_CTX(ssl) ? tls_store_of_ssl(ssl) : NULL;
	if (!store)
		return;
	counts = &store->parts.counters->counts;
	if ((uintptr_t)state == HANDSHAKE_BEGUN)
		atomic_add_relaxed(&counts->failed, 1ull);
	if ((uintptr_t)state != HANDSHAKE_NONE)
		atomic_add_relaxed(&counts->ended, 1ull);
	atomic_add_acq_rel(&store->ended, 1ull); /* [P31] */
}

static void
make_state_slot(void)
{
	state_slot = SSL_get_ex_new_index(0, NULL, NULL, NULL, count_end);
	ENSURE(state_slot >= 0);
}

static int
get_state_slot(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_state_slot);
	return state_slot;
}

struct tls_counters *
tls_counters_new(void)
{
	struct tls_counters *counters =
	    aligned_alloc(CACHE_LINE, sizeof(*counters));

	if (counters)
		*counters = (struct tls_counters){.refs = 1};
	return counters;
}

struct tls_counters *
tls_counters_ref(struct tls_counters *counters)
{
	atomic_add_relaxed(&counters->refs, 1u);
	return counters;
}

void
tls_counters_unref(struct tls_counters *counters)
{
	if (counters && atomic_sub_acq_rel(&counters->refs, 1u) == 1)
		free(counters);
}

void
tls_counters_read(
    const struct tls_counters *counters, struct tls_counts *ret_counts)
{
	const struct tls_counts *counts = &counters->counts;

	/* Ends before beginnings, so that no difference is negative. */
	ret_counts->resumed = atomic_load_relaxed(&counts->resumed);
	ret_counts->done = atomic_load_relaxed(&counts->done);
	ret_counts->failed = atomic_load_relaxed(&counts->failed);
	ret_counts->ended = atomic_load_relaxed(&counts->ended);
	ret_counts->cache_hits = atomic_load_relaxed(&counts->cache_hits);
	ret_counts->cache_misses = atomic_load_relaxed(&counts->cache_misses);
	ret_counts->begun = atomic_load_relaxed(&counts->begun);
	ret_counts->key_operations =
	    atomic_load_relaxed(&counts->key_operations);
	for (unsigned i = 0; i < TLS_GROUPS; i++) {
		ret_counts->groups[i].group =
		    atomic_load_relaxed(&counts->groups[i].group);
		ret_counts->groups[i].done =
		    atomic_load_relaxed(&counts->groups[i].done);
	}
	for (unsigned i = 0; i < TLS_ALERTS; i++) {
		ret_counts->alerts_sent[i] =
		    atomic_load_relaxed(&counts->alerts_sent[i]);
		ret_counts->alerts_received[i] =
		    atomic_load_relaxed(&counts->alerts_received[i]);
	}
}

uint64_t
tls_counters_key_operations_here(void)
{
	return key_operations_here;
}

void
tls_counters_key_operation(struct tls_counters *counters)
{
	key_operations_here++;
	atomic_add_relaxed(&counters->counts.key_operations, 1ull);
}

/* Returns the alert's name in RFC 8446, 6 and RFC 7301, 3.2 where OpenSSL 3.0
 * has none. */
static const char *
alert_text(unsigned alert)
{
	switch (alert) {
	case TLS13_AD_MISSING_EXTENSION:
		return "missing extension";
	case TLS13_AD_CERTIFICATE_REQUIRED:
		return "certificate required";
	case TLS1_AD_NO_APPLICATION_PROTOCOL:
		return "no application protocol";
	default:
		return SSL_alert_desc_string_long((int)alert);
	}
}

const char *
tls_alert_name(unsigned alert, char out[TLS_ALERT_NAME_SIZE])
{
	const char *text = alert_text(alert);
	size_t n = 0;

	if (strcmp(text, "unknown") == 0) {
		snprintf(out, TLS_ALERT_NAME_SIZE, "alert_%u", alert);
		return out;
	}
	for (; text[n] && n + 1 < TLS_ALERT_NAME_SIZE; n++)
		out[n] = text[n] == ' ' ? '_'
		                        : (char)tolower((unsigned char)text[n]);
	out[n] = '\0';
	return out;
}

/* -- OpenSSL's events -- */

static void
count_begin(SSL *ssl, struct tls_counts *counts)
{
	void *begun = (void *)(uintptr_t)HANDSHAKE_BEGUN; /* NOLINT */

	if (SSL_get_ex_data(ssl, get_state_slot()) ||
	    SSL_set_ex_data(ssl, get_state_slot(), begun) != 1)
		return;
	atomic_add_relaxed(&counts->begun, 1ull);
}

/* Counts the group in its entry, or in the first unused one, which becomes its
 * entry.  Any thread may take that one meanwhile, for any group. */
static void
count_group(int group, struct tls_counts *counts)
{
	for (unsigned i = 0; group != 0 && i < TLS_GROUPS; i++) {
		struct tls_group_count *entry = &counts->groups[i];
		int found = 0;

		if (atomic_cas_relaxed(&entry->group, &found, group) ||
		    found == group) {
			atomic_add_relaxed(&entry->done, 1ull);
			return;
		}
	}
}

static void
count_done(SSL *ssl, struct tls_counts *counts)
{
	uintptr_t state = (uintptr_t)SSL_get_ex_data(ssl, get_state_slot());
	void *done = (void *)(uintptr_t)HANDSHAKE_DONE; /* NOLINT */

	/* OpenSSL reports messages behind the handshake in the same way. */
	if (state != HANDSHAKE_BEGUN)
		return;
	SSL_set_ex_data(ssl, get_state_slot(), done);
	atomic_add_relaxed(&counts->done, 1ull);
	count_group(tls_group(ssl), counts);
	if (!SSL_session_reused(ssl))
		return;
	atomic_add_relaxed(&counts->resumed, 1ull);
	if (SSL_is_server(ssl) && !tls_store_of_ssl(ssl)->parts.tickets)
		atomic_add_relaxed(&counts->cache_hits, 1ull);
}

/* Called after a miss in OpenSSL's own cache.  Returns NULL: lfproxy has no
 * second cache. */
static SSL_SESSION *
count_miss(SSL *ssl, const unsigned char *id, int n, int *copy)
{
	struct tls_counts *counts =
	    &tls_store_of_ssl(ssl)->parts.counters->counts;

	(void)id;
	(void)n;
	(void)copy;
	atomic_add_relaxed(&counts->cache_misses, 1ull);
	return NULL;
}

/* Counts what OpenSSL reports.  The object is const only in its signature. */
static void
count_event(const SSL *const_ssl, int where, int value)
{
	SSL *ssl = (SSL *)(uintptr_t)const_ssl;
	struct tls_counts *counts =
	    &tls_store_of_ssl(ssl)->parts.counters->counts;

	if (where & SSL_CB_HANDSHAKE_START)
		count_begin(ssl, counts);
	else if (where & SSL_CB_HANDSHAKE_DONE)
		count_done(ssl, counts);
	else if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT)
		atomic_add_relaxed(
		    &counts->alerts_received[value & 0xff], 1ull);
	else if ((where & SSL_CB_WRITE_ALERT) == SSL_CB_WRITE_ALERT)
		atomic_add_relaxed(&counts->alerts_sent[value & 0xff], 1ull);
}

void
tls_counters_attach(SSL_CTX *ssl)
{
	(void)get_state_slot();
	SSL_CTX_set_info_callback(ssl, count_event);
	if (tls_store_of(ssl)->parts.role == TLS_ACCEPTS)
		SSL_CTX_sess_set_get_cb(ssl, count_miss);
}
