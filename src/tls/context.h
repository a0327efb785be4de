/* SPDX-License-Identifier: MIT
 * A TLS context: settings with the files that they name, ready for connections.
 *
 * A context is counted.  Its files can be read again while connections are made
 * from it: connections that exist keep the certificates that they began with
 * (OpenSSL counts the references), new connections get the new ones.  Counters
 * and ticket keys stay the same.
 *
 * Functions run on the control thread unless their comment says otherwise.
 */
#ifndef TLS_CONTEXT_H
#define TLS_CONTEXT_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tls/settings.h"

struct tls_cert_facts;
struct tls_counts;
struct tls_crl_facts;
struct tls_context;
struct tls_ticket_key_facts;

/* Reads all files and makes a context with one reference.  Returns NULL with
 * err set, which names the file or the setting.  Blocks for the files.  Copies
 * settings. */
struct tls_context *tls_context_new(const struct tls_settings *settings,
    enum tls_role role, struct err *err) MUST_CHECK;

/* Makes a context like tls_context_new, but shares with another context, of any
 * settings and role, the certificates, authorities and CRLs whose files have
 * not changed since that context read them, also if they were replaced in
 * memory. */
struct tls_context *tls_context_new_like(const struct tls_settings *settings,
    enum tls_role role, const struct tls_context *like,
    struct err *err) MUST_CHECK;

/* Returns the authorities that peers are verified against, as in the settings:
 * a path or `system`; NULL: peers are not verified.  Valid as long as the
 * context.  Any thread. */
const char *tls_context_ca(const struct tls_context *context);

/* Writes the protocol of that number in the settings' alpn, see
 * tls_alpn_number.  Any thread. */
void tls_context_alpn(
    const struct tls_context *context, unsigned number, char *out, size_t size);

/* Adds a reference.  Accepts NULL.  Any thread. */
struct tls_context *tls_context_ref(struct tls_context *context);

/* Drops a reference, the last one frees the context.  Accepts NULL.  Any
 * thread. */
void tls_context_unref(struct tls_context *context);

/* Returns the present SSL_CTX, with a reference for the caller.  Any thread;
 * holds a lock for a moment. */
SSL_CTX *tls_context_take(struct tls_context *context);

/* Drops a reference of tls_context_take or tls_context_load; the last one
 * frees the SSL_CTX.  To be used instead of SSL_CTX_free: see ended in store.h.
 * Accepts NULL, and an SSL_CTX of another library.  Any thread. */
void tls_context_give_back(SSL_CTX *ssl);

/* Gives another library's SSL_CTX, before its first connection, the present
 * certificates and all settings except ALPN.  Returns false with err set. */
bool tls_context_apply(const struct tls_context *context, SSL_CTX *ssl,
    struct err *err) MUST_CHECK;

/* Reads all files again.  If a file is not good, returns false with err set,
 * and the context stays as it was.  A certificate that was replaced by
 * tls_context_commit stays until its files change.  Blocks for the files. */
bool tls_context_refresh(
    struct tls_context *context, struct err *err) MUST_CHECK;

/* The first half of a refresh, for callers that must not block: reads all files
 * again and makes an SSL_CTX of them.  Shares what has not changed with
 * present, which is from tls_context_take.  Returns NULL with err set.  The
 * context stays as it is.  Any thread; blocks for the files. */
SSL_CTX *tls_context_load(const struct tls_context *context, SSL_CTX *present,
    struct err *err) MUST_CHECK;

/* The second half: gives loaded to new connections, and takes over the
 * reference.  Returns false, with loaded freed, if the context's SSL_CTX is not
 * present any more: it was replaced since tls_context_load began. */
bool tls_context_exchange(
    struct tls_context *context, SSL_CTX *present, SSL_CTX *loaded) MUST_CHECK;

/* Takes over the counters of old, the context that this one replaces, and its
 * ticket keys unless either has a tickets_file.  To be called before the first
 * connection of context; old stays usable. */
void tls_context_adopt(struct tls_context *context, struct tls_context *old);

/* Appends a sentence, under the name of the file, for each fault with which the
 * context still works: certificates and CRLs that are not valid now, OCSP
 * responses that are not sent, keys that every user can read, certificates that
 * others hide. */
void tls_context_warnings(
    const struct tls_context *context, struct err_list *warnings);

/* Calls file for every file and directory that the context was made of, to be
 * watched for changes, and for files that may come to exist (.key, .ocsp). */
void tls_context_each_file(const struct tls_context *context,
    void (*file)(void *arg, const char *path, bool is_directory), void *arg);

/* Does the same for the certificates of ssl, which is from tls_context_take or
 * tls_context_load.  Any thread. */
void tls_context_each_file_of(const struct tls_context *context,
    const SSL_CTX *ssl,
    void (*file)(void *arg, const char *path, bool is_directory), void *arg);

/* Calls cert for every certificate, in the order given; directories by name. */
void tls_context_each_cert(const struct tls_context *context,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg);

/* Returns the number of certificates. */
size_t tls_context_certs(const struct tls_context *context);

/* Returns the file of the certificate of that number, from 0; borrowed.
 * *ret_staged: a replacement waits to be committed. */
const char *tls_context_cert_file(
    const struct tls_context *context, size_t number, bool *ret_staged);

/* Returns the end of the validity of the certificate of that number, from 0, in
 * seconds since 1970. */
int64_t tls_context_cert_end(const struct tls_context *context, size_t number);

/* Calls cert for the certificate of that number, from 0, in the same order. */
void tls_context_cert_at(const struct tls_context *context, size_t number,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg);

/* Calls cert for the certificate that has this file, or whose key has it.
 * Returns false if there is none. */
bool tls_context_cert_of(const struct tls_context *context, const char *file,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg);

/* Calls key for every key of tickets that is in use, the newest first; see
 * tickets.h.  Does nothing without tickets. */
void tls_context_each_ticket_key(const struct tls_context *context,
    void (*key)(void *arg, const struct tls_ticket_key_facts *facts),
    void *arg);

/* Makes the next key of tickets if it is due, and wipes those that have
 * expired, as a handshake would. */
void tls_context_rotate_tickets(struct tls_context *context);

/* Calls cert for the certificates for the name, at most one of each type of
 * key: a client that asks for the name gets one of them.  name may be NULL. */
void tls_context_find_certs(const struct tls_context *context, const char *name,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg);

/* Returns the counters' present values. */
void tls_context_counts(
    const struct tls_context *context, struct tls_counts *ret_counts);

/* Calls cert for what was kept for the certificate of the file, as it will be
 * once committed.  Returns false if nothing was kept, or with err set if key
 * and certificate do not match. */
bool tls_context_show_staged(const struct tls_context *context,
    const char *file,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg,
    struct err *err) MUST_CHECK;

/* Keeps a new content for one of the context's certificates until it is
 * committed or aborted; what was kept for the same file before is dropped.
 * file is the certificate's, or that of its key if the key has a file of its
 * own.  For the certificate's file, pem has the certificate with its chain, and
 * maybe the key; without it the present key stays.  Returns false with err set
 * if the context has no such file, or the text is not usable. */
bool tls_context_stage(struct tls_context *context, const char *file,
    const char *pem, struct err *err) MUST_CHECK;

/* Puts what was kept for the file into use, for new connections; no file is
 * written.  A certificate and its key are committed together, under either
 * name.  Returns false with err set if nothing was kept, or if key and
 * certificate do not match; then what was kept stays. */
bool tls_context_commit(
    struct tls_context *context, const char *file, struct err *err) MUST_CHECK;

/* Drops what was kept for the certificate of the file and its key.  Returns
 * false if nothing was kept. */
bool tls_context_abort(struct tls_context *context, const char *file);

/* -- Authorities and CRLs, see enum tls_trust -- */

/* Returns the file of the part as in the settings, or `system`; borrowed.
 * NULL: the context does not use it. */
const char *tls_context_trust_file(
    const struct tls_context *context, enum tls_trust part);

/* Returns how many certificates or CRLs the part has; staged: how many wait to
 * be committed, 0 if none do. */
unsigned tls_context_trust_count(
    const struct tls_context *context, enum tls_trust part, bool staged);

/* Returns whether the part was replaced since its file was read. */
bool tls_context_trust_is_in_memory(
    const struct tls_context *context, enum tls_trust part);

/* Calls cert for the authority's certificate of that number, from 0, below
 * tls_context_trust_count.  Its facts have no key_file, names, chain or
 * OCSP. */
void tls_context_ca_at(const struct tls_context *context, bool staged,
    unsigned number,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg);

/* Calls crl for the CRL of that number.  Pointers are valid during the call. */
void tls_context_crl_at(const struct tls_context *context, bool staged,
    unsigned number, void (*crl)(void *arg, const struct tls_crl_facts *facts),
    void *arg);

/* Keeps a new content of the part, in PEM form, until it is committed or
 * aborted; what was kept before is dropped.  Returns false with err set if the
 * part is not from one file, or the text is not usable. */
bool tls_context_stage_trust(struct tls_context *context, enum tls_trust part,
    const char *pem, struct err *err) MUST_CHECK;

/* Makes new connections verify with what was kept for the part; no file is
 * written.  Existing connections go on, and no session from before is resumed.
 * Returns false with err set. */
bool tls_context_commit_trust(struct tls_context *context, enum tls_trust part,
    struct err *err) MUST_CHECK;

/* Drops what was kept for the part.  Returns false if nothing was kept. */
bool tls_context_abort_trust(struct tls_context *context, enum tls_trust part);

#endif
