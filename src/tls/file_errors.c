/* SPDX-License-Identifier: MIT
 * See file_errors.h.
 */
#include "tls/file_errors.h"

#include "tls/authorities.h"
#include "tls/certs.h"
#include "tls/tickets.h"

/* Reads each pair, and each folder, as if there were no other. */
static void
cert_errors(const struct tls_settings *settings,
    void (*error)(void *arg, const char *text), void *arg)
{
	struct tls_settings one = {.pairs_n = 1};
	struct tls_certs certs;
	struct err err;

	for (size_t i = 0; i < settings->pairs_n; i++) {
		one.pairs = &settings->pairs[i];
		if (tls_certs_load(&one, NULL, &certs, &err))
			tls_certs_fini(&certs);
		else
			error(arg, err.text);
	}
	for (size_t i = 0; i < settings->cert_dirs_n; i++)
		tls_certs_dir_errors(settings->cert_dirs[i], error, arg);
}

/* Reads the authorities, and then the CRL. */
static void
authorities_errors(const struct tls_settings *settings, enum tls_role role,
    void (*error)(void *arg, const char *text), void *arg)
{
	struct tls_authorities *authorities;
	struct err err;

	if (tls_authorities_load(settings, role, NULL, &authorities, &err))
		tls_authorities_unref(authorities);
	else
		error(arg, err.text);
}

void
tls_file_errors(const struct tls_settings *settings, enum tls_role role,
    void (*error)(void *arg, const char *text), void *arg)
{
	struct tls_tickets *tickets;
	struct err err;

	cert_errors(settings, error, arg);
	authorities_errors(settings, role, error, arg);
	if (role == TLS_CONNECTS || !settings->tickets ||
	    !settings->tickets_file)
		return;
	tickets = tls_tickets_load(settings->tickets_file, &err);
	if (!tickets)
		error(arg, err.text);
	tls_tickets_unref(tickets);
}
