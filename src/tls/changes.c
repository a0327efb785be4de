/* SPDX-License-Identifier: MIT
 * See changes.h.
 */
#include "tls/changes.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls/authorities.h"
#include "tls/cert.h"
#include "tls/facts.h"
#include "tls/store.h"
#include "tls/tickets.h"
#include "tls/x509_text.h"

#define CHANGE_TEXT_SIZE 512

struct comparison {
	void (*change)(void *arg, const char *text);
	void *arg;
	size_t n;
};

static void __attribute__((format(printf, 2, 3)))
note_difference(struct comparison *comparison, const char *fmt, ...)
{
	char text[CHANGE_TEXT_SIZE];
	va_list ap;

	comparison->n++;
	if (!comparison->change)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	comparison->change(comparison->arg, text);
}

/* -- certificates -- */

static bool
chains_equal(const struct tls_cert *a, const struct tls_cert *b)
{
	int n = sk_X509_num(a->chain);

	if (n != sk_X509_num(b->chain))
		return false;
	for (int i = 0; i < n; i++)
		if (X509_cmp(sk_X509_value(a->chain, i),
		        sk_X509_value(b->chain, i)) != 0)
			return false;
	return true;
}

static bool
ocsp_equal(const struct tls_ocsp *a, const struct tls_ocsp *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->der, b->der, a->n) == 0);
}

static void
compare_ocsp(struct comparison *comparison, const struct tls_cert *before,
    const struct tls_cert *now)
{
	if (now->ocsp.other && !before->ocsp.other)
		note_difference(comparison,
		    "OCSP response '%s' is about another certificate and is "
		    "not sent",
		    now->ocsp_file);
	else if (!ocsp_equal(&before->ocsp, &now->ocsp))
		note_difference(comparison,
		    now->ocsp.n == 0      ? "OCSP response '%s' is gone"
		    : before->ocsp.n == 0 ? "OCSP response '%s' is new"
		                          : "OCSP response '%s' is another",
		    now->ocsp_file);
}

static void
compare_cert(struct comparison *comparison, const struct tls_cert *before,
    const struct tls_cert *now)
{
	char subject[TLS_SUBJECT_SIZE], day[TLS_DAY_SIZE];

	if (before == now)
		return;
	if (X509_cmp(before->x509, now->x509) != 0) {
		tls_x509_name(
		    X509_get_subject_name(now->x509), subject, sizeof(subject));
		note_difference(comparison,
		    "certificate '%s' is another: %s, until %s", now->file,
		    subject, tls_day_text(now->not_after, day));
	} else if (EVP_PKEY_eq(before->key, now->key) != 1 ||
	           strcmp(before->key_file, now->key_file) != 0) {
		note_difference(
		    comparison, "key '%s' is another", now->key_file);
	} else if (!chains_equal(before, now)) {
		note_difference(comparison,
		    "certificate '%s' has another chain, of %d", now->file,
		    sk_X509_num(now->chain));
	}
	if (before->in_memory && !now->in_memory)
		note_difference(comparison,
		    "certificate '%s' is from its file, and no longer as it "
		    "was set by a command",
		    now->file);
	else
		compare_ocsp(comparison, before, now);
}

/* The certificates of a store, sorted by file. */
struct sorted_certs {
	struct tls_cert **certs;
	size_t n;
};

static int
compare_files(const void *a, const void *b)
{
	const struct tls_cert *const *x = a, *const *y = b;

	return strcmp((*x)->file, (*y)->file);
}

static bool
certs_sort(const struct tls_parts *parts, struct sorted_certs *ret_sorted)
{
	ret_sorted->n = parts->certs_n;
	ret_sorted->certs = calloc(parts->certs_n + 1, sizeof(*parts->certs));
	if (!ret_sorted->certs)
		return false;
	for (size_t i = 0; i < parts->certs_n; i++)
		ret_sorted->certs[i] = parts->certs[i];
	qsort(ret_sorted->certs, ret_sorted->n, sizeof(*ret_sorted->certs),
	    compare_files);
	return true;
}

static void
compare_sorted(struct comparison *comparison, const struct sorted_certs *before,
    const struct sorted_certs *now)
{
	size_t i = 0, j = 0;

	while (i < before->n || j < now->n) {
		int order = i == before->n ? 1
		            : j == now->n  ? -1
		                           : strcmp(before->certs[i]->file,
		                                 now->certs[j]->file);

		if (order < 0)
			note_difference(comparison,
			    "certificate '%s' is removed",
			    before->certs[i++]->file);
		else if (order > 0)
			note_difference(comparison, "certificate '%s' is new",
			    now->certs[j++]->file);
		else
			compare_cert(
			    comparison, before->certs[i++], now->certs[j++]);
	}
}

/* The first certificate without a known name is the default, so their order
 * counts as well. */
static void
compare_order(struct comparison *comparison, const struct tls_parts *before,
    const struct tls_parts *now)
{
	for (size_t i = 0; i < now->certs_n; i++) {
		if (strcmp(before->certs[i]->file, now->certs[i]->file) == 0)
			continue;
		note_difference(
		    comparison, "the certificates are in another order");
		return;
	}
}

static void
compare_certs(struct comparison *comparison, const struct tls_parts *before,
    const struct tls_parts *now)
{
	struct sorted_certs a = {NULL, 0}, b = {NULL, 0};
	size_t n = comparison->n;

	if (certs_sort(before, &a) && certs_sort(now, &b)) {
		compare_sorted(comparison, &a, &b);
		if (comparison->n == n)
			compare_order(comparison, before, now);
	} else {
		note_difference(
		    comparison, "the certificates may have changed");
	}
	free(a.certs);
	free(b.certs);
}

size_t
tls_changes(const SSL_CTX *before, const SSL_CTX *now,
    void (*change)(void *arg, const char *text), void *arg)
{
	const struct tls_parts *old = &tls_store_of(before)->parts;
	const struct tls_parts *new = &tls_store_of(now)->parts;
	struct comparison comparison = {.change = change, .arg = arg};

	compare_certs(&comparison, old, new);
	if (!tls_authorities_equal(old->authorities, new->authorities))
		note_difference(&comparison, "the authorities are others");
	if (!tls_authorities_crls_equal(old->authorities, new->authorities))
		note_difference(&comparison, "the CRLs are others");
	if (new->tickets && tls_tickets_are_from_file(new->tickets) &&
	    !tls_tickets_equal(old->tickets, new->tickets))
		note_difference(
		    &comparison, "the keys of tickets_file are others");
	return comparison.n;
}
