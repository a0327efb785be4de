/* SPDX-License-Identifier: MIT
 * `show ssl cert`, in HAProxy's words.  What is staged has an asterisk before
 * its name.
 */
#include "commands/commands.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "commands/listing.h"
#include "commands/tls_sections.h"
#include "tls/context.h"

/* -- the list -- */

struct cert_listing {
	struct listing listing;
	char **names; /* those that are staged, then a NULL, then all */
	size_t n, room, at;
};

static bool
cert_name_append(struct cert_listing *l, const char *prefix, const char *file)
{
	char **grown = grow(l->names, l->n, &l->room, sizeof(*grown));
	char *name = NULL;

	if (!grown)
		return false;
	l->names = grown;
	if (file && asprintf(&name, "%s%s", prefix, file) < 0)
		return false;
	grown[l->n++] = name;
	return true;
}

static int
compare_cert_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the names from number `from` on, and drops repetitions. */
static void
names_sort(struct cert_listing *l, size_t from)
{
	size_t kept = from;

	qsort(l->names + from, l->n - from, sizeof(*l->names),
	    compare_cert_names);
	for (size_t i = from; i < l->n; i++) {
		if (kept > from && strcmp(l->names[kept - 1], l->names[i]) == 0)
			free(l->names[i]);
		else
			l->names[kept++] = l->names[i];
	}
	l->n = kept;
}

static bool
names_collect(struct cert_listing *l, const struct spec *spec, bool only_staged)
{
	struct tls_section section;
	size_t at = 0, from = l->n;

	while (tls_section_next(spec, &at, &section)) {
		size_t n = tls_context_certs(section.context);

		for (size_t i = 0; i < n; i++) {
			bool staged;
			const char *file =
			    tls_context_cert_file(section.context, i, &staged);

			if ((staged || !only_staged) &&
			    !cert_name_append(l, only_staged ? "*" : "", file))
				return false;
		}
	}
	if (l->n > from)
		names_sort(l, from);
	return true;
}

static bool
cert_listing_step(void *listing, const struct command_env *env)
{
	struct cert_listing *l = listing;
	struct report *r = &l->listing.report;
	const char *name;

	(void)env;
	if (l->at == l->n)
		return false;
	name = l->names[l->at++];
	if (!name) {
		report_text(r, "# filename\n");
		return true;
	}
	report_row(r);
	report_json_string(r, "file", name + (name[0] == '*'));
	report_json_bool(r, "staged", name[0] == '*');
	report_text(r, "%s", name);
	report_row_end(r);
	return true;
}

static void
cert_listing_fini(void *listing)
{
	struct cert_listing *l = listing;

	for (size_t i = 0; i < l->n; i++)
		free(l->names[i]);
	free(l->names);
}

static bool
list_certs(struct call *call, bool json)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct cert_listing),
	    .step = cert_listing_step,
	    .fini = cert_listing_fini,
	    .steps_max = 100,
	};
	const struct spec *spec = control_model(call->env->control)->spec;
	struct cert_listing *l = listing_new(call, &kind, json);
	bool ok;

	if (!l)
		return false;
	ok = names_collect(l, spec, true);
	if (ok)
		report_head(
		    &l->listing.report, l->n > 0 ? "# transaction\n" : "");
	ok = ok && cert_name_append(l, "", NULL) &&
	     names_collect(l, spec, false);
	return listing_answer(call, &l->listing, ok || err_oom(call->err));
}

/* -- one certificate -- */

struct cert_answer {
	struct report *report;
	const char *prefix;
	bool put;
};

/* `Nov 23 20:54:12 2026 GMT`, as ASN1_TIME_print. */
#define TIME_TEXT_SIZE 40

static const char *
time_text(int64_t seconds, char out[TIME_TEXT_SIZE])
{
	time_t time = seconds;
	struct tm tm;

	out[0] = '\0';
	if (gmtime_r(&time, &tm))
		(void)strftime(
		    out, TIME_TEXT_SIZE, "%b %e %H:%M:%S %Y GMT", &tm);
	return out;
}

static const char *
upper_text(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; text[n] && n + 1 < size; n++)
		out[n] = (char)toupper((unsigned char)text[n]);
	out[n] = '\0';
	return out;
}

/* Writes `/O=y/CN=x` for `CN=x,O=y`, which is RFC 2253's order. */
static const char *
name_text(const char *name, char out[TLS_SUBJECT_SIZE + 8])
{
	size_t end = strlen(name), n = 0;

	while (end > 0) {
		size_t from = end;

		while (from > 0 && (name[from - 1] != ',' ||
		                       (from > 1 && name[from - 2] == '\\')))
			from--;
		n += (size_t)snprintf(out + n, TLS_SUBJECT_SIZE + 8 - n,
		    "/%.*s", (int)(end - from), name + from);
		end = from > 0 ? from - 1 : 0;
		if (n >= TLS_SUBJECT_SIZE + 7)
			break;
	}
	if (n == 0)
		out[0] = '\0';
	return out;
}

static void
put_sans(struct report *r, const char *sans)
{
	report_json_string(r, "sans", sans);
	report_text(r, "\nSubject Alternative Name: ");
	for (const char *at = sans; *at;) {
		size_t n = strcspn(at, ",");
		char name[TLS_SANS_SIZE];

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		report_text(r, "%s%s", at > sans ? ", " : "", name);
		at += n + (at[n] == ',');
	}
}

static void
put_cert_facts(void *arg, const struct tls_cert_facts *f)
{
	struct cert_answer *answer = arg;
	struct report *r = answer->report;
	bool used = !answer->prefix[0];
	char text[TLS_SUBJECT_SIZE + 8], key[TLS_KEY_TEXT_SIZE];

	answer->put = true;
	report_row(r);
	report_json_string(r, "file", f->file);
	report_json_bool(r, "staged", !used);
	report_json_bool(r, "in_memory", f->in_memory);
	report_text(r, "Filename: %s%s\nStatus: %s", answer->prefix, f->file,
	    used ? "Used" : "Unused");
	report_put(r, "serial", "\nSerial: %s",
	    upper_text(f->serial, text, sizeof(text)));
	report_json(r, "not_before", "%" PRId64, f->not_before);
	report_text(r, "\nnotBefore: %s", time_text(f->not_before, text));
	report_json(r, "not_after", "%" PRId64, f->not_after);
	report_text(r, "\nnotAfter: %s", time_text(f->not_after, text));
	put_sans(r, f->sans);
	report_put(r, "key", "\nAlgorithm: %s", tls_key_text(f, key));
	report_put(r, "sha1", "\nSHA1 FingerPrint: %s",
	    upper_text(f->fingerprint_sha1, text, sizeof(text)));
	report_json_string(r, "sha256", f->fingerprint);
	report_json_string(r, "subject", f->subject);
	report_text(r, "\nSubject: %s", name_text(f->subject, text));
	report_json_string(r, "issuer", f->issuer);
	report_text(r, "\nIssuer: %s", name_text(f->issuer, text));
	report_text(r, "\nOCSP Response Key: ");
	report_row_end(r);
}

/* The certificate of the first section that has it. */
static bool
put_cert(struct call *call, struct report *report, const char *name)
{
	const struct spec *spec = control_model(call->env->control)->spec;
	bool staged = name[0] == '*';
	struct cert_answer answer = {report, staged ? "*" : "", false};
	struct tls_section section;
	size_t at = 0;

	while (!answer.put && tls_section_next(spec, &at, &section)) {
		struct err err;

		if (!staged)
			(void)tls_context_cert_of(
			    section.context, name, put_cert_facts, &answer);
		else if (!tls_context_show_staged(section.context, name + 1,
		             put_cert_facts, &answer, &err))
			continue;
	}
	return answer.put;
}

bool
run_show_ssl_cert(struct call *call)
{
	bool json = call_take_json(call);
	const char *name = call_arg(call, 0);
	struct report r;

	if (!*name)
		return list_certs(call, json);
	report_begin(&r, json, call->out);
	if (!put_cert(call, &r, name))
		return err_set(call->err,
		    "Can't display the certificate: Not found or the "
		    "certificate is a bundle!");
	report_end(&r);
	return true;
}
