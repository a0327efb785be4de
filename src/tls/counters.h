/* SPDX-License-Identifier: MIT
 * Counters of a context, which survive its refreshes and reloads.
 *
 * OpenSSL's callbacks count by themselves whatever is done with the SSL objects
 * of the context.  Writers: any thread, relaxed.  Readers: any thread.
 */
#ifndef TLS_COUNTERS_H
#define TLS_COUNTERS_H

#include <openssl/types.h>
#include <stdint.h>

/* An alert's number has eight bits. */
#define TLS_ALERTS 256

/* The groups that are counted by themselves.  Peers rarely use more than three.
 */
#define TLS_GROUPS 15

/* Handshakes that have exchanged keys in a group. */
struct tls_group_count {
	int group; /* tls_group; 0: an unused entry */
	uint64_t done;
};

/* The sum of done and failed lags behind begun by the handshakes under way. */
struct tls_counts {
	uint64_t begun;
	uint64_t done;
	uint64_t resumed;        /* of done */
	uint64_t failed;         /* freed before the handshake was done */
	uint64_t ended;          /* of begun: freed since then */
	uint64_t cache_hits;     /* of resumed: by id, from the store's cache */
	uint64_t cache_misses;   /* ids of clients not found in the cache */
	uint64_t key_operations; /* signatures with keys of the context */
	struct tls_group_count groups[TLS_GROUPS];
	uint64_t alerts_sent[TLS_ALERTS]; /* close_notify (0) is an alert too */
	uint64_t alerts_received[TLS_ALERTS];
};

/* Counted. */
struct tls_counters;

/* Returns counters with one reference, or NULL when memory is short. */
struct tls_counters *tls_counters_new(void);
/* Adds a reference.  Returns counters.  Any thread. */
struct tls_counters *tls_counters_ref(struct tls_counters *counters);
/* Drops a reference, the last one frees it.  Accepts NULL. */
void tls_counters_unref(struct tls_counters *counters);

/* Copies the present values. */
void tls_counters_read(
    const struct tls_counters *counters, struct tls_counts *ret_counts);

#define TLS_ALERT_NAME_SIZE 48

/* Writes the name of an alert as in RFC 8446, `bad_certificate`, or
 * `alert_200` for a number that OpenSSL does not know.  Returns out. */
const char *tls_alert_name(unsigned alert, char out[TLS_ALERT_NAME_SIZE]);

/* Counts the handshakes and alerts of all SSL objects of ssl, whose store has
 * counters. */
void tls_counters_attach(SSL_CTX *ssl);

/* Counts a signature. */
void tls_counters_key_operation(struct tls_counters *counters);

/* Returns the signatures that this thread has counted, of all contexts. */
uint64_t tls_counters_key_operations_here(void);

#endif
