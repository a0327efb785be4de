/* SPDX-License-Identifier: MIT
 * See context.h.
 */
#include "tls/context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomics.h"
#include "tls/alpn.h"
#include "tls/authorities.h"
#include "tls/cert.h"
#include "tls/certs.h"
#include "tls/context_internal.h"
#include "tls/counters.h"
#include "tls/settings_copy.h"
#include "tls/store.h"
#include "tls/store_make.h"
#include "tls/tickets.h"

struct tls_store *
tls_context_store(const struct tls_context *context)
{
	return tls_store_of(context->ssl);
}

/* Returns the list in the parts of ssl's store; borrowed. */
static struct tls_certs
certs_of(const SSL_CTX *ssl)
{
	const struct tls_parts *parts = &tls_store_of(ssl)->parts;

	return (struct tls_certs){.certs = parts->certs, .n = parts->certs_n};
}

struct tls_certs
tls_context_list(const struct tls_context *context)
{
	return certs_of(context->ssl);
}

/* -- Making the SSL_CTX -- */

static void
parts_fini(struct tls_parts *parts)
{
	struct tls_certs certs = {.certs = parts->certs, .n = parts->certs_n};

	tls_certs_fini(&certs);
	tls_authorities_unref(parts->authorities);
	tls_tickets_unref(parts->tickets);
	tls_counters_unref(parts->counters);
}

static bool
certs_load(const struct tls_context *context, const SSL_CTX *like,
    struct tls_parts *parts, struct err *err)
{
	struct tls_certs old = {.n = 0}, certs;

	if (like)
		old = certs_of(like);
	if (!tls_certs_load(context->settings, &old, &certs, err))
		return false;
	parts->certs = certs.certs;
	parts->certs_n = certs.n;
	return certs.n > 0 || context->role == TLS_CONNECTS ||
	       err_set(
	           err, "a server needs a certificate: set cert or cert_dir");
}

/* Loads the ticket keys.  Our own keys survive a refresh; keys of a file are
 * read again. */
static bool
tickets_load(const struct tls_context *context, const SSL_CTX *present,
    struct tls_parts *parts, struct err *err)
{
	const struct tls_settings *settings = context->settings;

	if (!settings->tickets || context->role == TLS_CONNECTS)
		return true;
	if (settings->tickets_file)
		parts->tickets = tls_tickets_load(settings->tickets_file, err);
	else if (present)
		parts->tickets =
		    tls_tickets_ref(tls_store_of(present)->parts.tickets);
	else
		parts->tickets =
		    tls_tickets_new(settings->session_timeout_s, err);
	return parts->tickets != NULL;
}

static bool
counters_load(const SSL_CTX *present, struct tls_parts *parts)
{
	parts->counters =
	    present ? tls_counters_ref(tls_store_of(present)->parts.counters)
	            : tls_counters_new();
	return parts->counters != NULL;
}

/* Makes an SSL_CTX of the files.  present: the SSL_CTX that will be replaced,
 * whose tickets and counters stay; NULL: none.  like: the SSL_CTX with which
 * unchanged files and what replaces them in memory are shared; NULL: none. */
static SSL_CTX *
ssl_load(const struct tls_context *context, const SSL_CTX *present,
    const SSL_CTX *like, struct err *err)
{
	struct tls_parts parts = {.role = context->role};
	SSL_CTX *ssl = NULL;

	ERR_clear_error();
	if (certs_load(context, like, &parts, err) &&
	    tls_authorities_load(context->settings, context->role,
	        like ? tls_store_of(like)->parts.authorities : NULL,
	        &parts.authorities, err) &&
	    tickets_load(context, present, &parts, err)) {
		if (counters_load(present, &parts))
			ssl = tls_store_make(context->settings, &parts, err);
		else
			err_oom(err);
	}
	parts_fini(&parts);
	ERR_clear_error();
	return ssl;
}

SSL_CTX *
tls_context_load(
    const struct tls_context *context, SSL_CTX *present, struct err *err)
{
	return ssl_load(context, present, present, err);
}

void
tls_context_give_back(SSL_CTX *ssl)
{
	struct tls_store *store = ssl ? tls_store_of(ssl) : NULL;

	if (store)
		atomic_add_acq_rel(&store->ended, 1ull); /* [P31] */
	SSL_CTX_free(ssl);
}

void
tls_context_swap(struct tls_context *context, SSL_CTX *ssl)
{
	SSL_CTX *old;

	lock_acquire(&context->lock);
	old = context->ssl;
	context->ssl = ssl;
	lock_release(&context->lock);
	tls_context_give_back(old);
}

/* -- Contexts -- */

static void
context_free(struct tls_context *context)
{
	tls_context_give_back(context->ssl);
	tls_settings_free(context->settings);
	tls_staged_fini(&context->staged);
	for (enum tls_trust part = 0; part < TLS_TRUSTS; part++)
		tls_authorities_unref(context->staged_trust[part]);
	lock_fini(&context->lock);
	free(context);
}

struct tls_context *
tls_context_new(
    const struct tls_settings *settings, enum tls_role role, struct err *err)
{
	return tls_context_new_like(settings, role, NULL, err);
}

struct tls_context *
tls_context_new_like(const struct tls_settings *settings, enum tls_role role,
    const struct tls_context *like, struct err *err)
{
	struct tls_context *context = calloc(1, sizeof(*context));

	if (!context) {
		err_oom(err);
		return NULL;
	}
	context->refs = 1;
	context->role = role;
	lock_init(&context->lock);
	context->settings = tls_settings_copy(settings);
	if (!context->settings)
		err_oom(err);
	else
		context->ssl =
		    ssl_load(context, NULL, like ? like->ssl : NULL, err);
	if (context->ssl)
		return context;
	context_free(context);
	return NULL;
}

struct tls_context *
tls_context_ref(struct tls_context *context)
{
	if (context)
		atomic_add_relaxed(&context->refs, 1u);
	return context;
}

void
tls_context_unref(struct tls_context *context)
{
	if (context && atomic_sub_acq_rel(&context->refs, 1u) == 1)
		context_free(context);
}

const char *
tls_context_ca(const struct tls_context *context)
{
	const struct tls_settings *settings = context->settings;

	if (!tls_store_verifies(settings, context->role))
		return NULL;
	return settings->ca ? settings->ca : "system";
}

void
tls_context_alpn(
    const struct tls_context *context, unsigned number, char *out, size_t size)
{
	tls_alpn_name(context->settings->alpn, number, out, size);
}

SSL_CTX *
tls_context_take(struct tls_context *context)
{
	SSL_CTX *ssl;

	lock_acquire(&context->lock);
	ssl = context->ssl;
	SSL_CTX_up_ref(ssl);
	lock_release(&context->lock);
	return ssl;
}

bool
tls_context_apply(
    const struct tls_context *context, SSL_CTX *ssl, struct err *err)
{
	bool ok = tls_store_give(
	    ssl, context->settings, &tls_context_store(context)->parts, err);

	/* The library that will own the connections does not expect bytes
	 * beyond a record. */
	SSL_CTX_set_read_ahead(ssl, 0);
	ERR_clear_error();
	return ok;
}

bool
tls_context_refresh(struct tls_context *context, struct err *err)
{
	SSL_CTX *ssl = tls_context_load(context, context->ssl, err);

	if (!ssl)
		return false;
	tls_context_swap(context, ssl);
	return true;
}

bool
tls_context_exchange(
    struct tls_context *context, SSL_CTX *present, SSL_CTX *loaded)
{
	if (context->ssl != present) {
		tls_context_give_back(loaded);
		return false;
	}
	tls_context_swap(context, loaded);
	return true;
}

void
tls_context_adopt(struct tls_context *context, struct tls_context *old)
{
	struct tls_parts *parts = &tls_context_store(context)->parts;
	const struct tls_parts *old_parts = &tls_context_store(old)->parts;

	tls_counters_unref(parts->counters);
	parts->counters = tls_counters_ref(old_parts->counters);
	if (!parts->tickets || tls_tickets_are_from_file(parts->tickets) ||
	    !old_parts->tickets ||
	    tls_tickets_are_from_file(old_parts->tickets))
		return;
	tls_tickets_unref(parts->tickets);
	parts->tickets = tls_tickets_ref(old_parts->tickets);
	tls_tickets_set_timeout(
	    parts->tickets, context->settings->session_timeout_s);
}

/* -- What there is -- */

void
tls_context_warnings(
    const struct tls_context *context, struct err_list *warnings)
{
	const struct tls_store *store = tls_context_store(context);
	struct tls_certs certs = tls_context_list(context);

	tls_certs_warnings(&certs,
	    context->role == TLS_ACCEPTS ? &store->names : NULL, warnings);
	tls_authorities_warnings(
	    store->parts.authorities, context->settings, warnings);
}

static bool
is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void
tls_context_each_file_of(const struct tls_context *context, const SSL_CTX *ssl,
    void (*file)(void *arg, const char *path, bool is_directory), void *arg)
{
	const struct tls_settings *settings = context->settings;
	struct tls_certs certs = certs_of(ssl);

	for (size_t i = 0; i < certs.n; i++) {
		const struct tls_cert *cert = certs.certs[i];

		file(arg, cert->file, false);
		if (strcmp(cert->key_file, cert->file) != 0)
			file(arg, cert->key_file, false);
		file(arg, cert->ocsp_file, false);
	}
	for (size_t i = 0; i < settings->cert_dirs_n; i++)
		file(arg, settings->cert_dirs[i], true);
	if (settings->tickets_file)
		file(arg, settings->tickets_file, false);
	if (settings->ca && strcmp(settings->ca, "system") != 0)
		file(arg, settings->ca, is_directory(settings->ca));
	if (settings->crl)
		file(arg, settings->crl, false);
}

void
tls_context_each_file(const struct tls_context *context,
    void (*file)(void *arg, const char *path, bool is_directory), void *arg)
{
	tls_context_each_file_of(context, context->ssl, file, arg);
}

void
tls_context_each_ticket_key(const struct tls_context *context,
    void (*key)(void *arg, const struct tls_ticket_key_facts *facts), void *arg)
{
	struct tls_tickets *tickets = tls_context_store(context)->parts.tickets;

	if (tickets)
		tls_tickets_each_key(tickets, key, arg);
}

void
tls_context_rotate_tickets(struct tls_context *context)
{
	struct tls_tickets *tickets = tls_context_store(context)->parts.tickets;

	if (tickets)
		tls_tickets_rotate(tickets);
}

void
tls_context_counts(
    const struct tls_context *context, struct tls_counts *ret_counts)
{
	tls_counters_read(
	    tls_context_store(context)->parts.counters, ret_counts);
}
