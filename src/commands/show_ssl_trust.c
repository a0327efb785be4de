/* SPDX-License-Identifier: MIT
 * `show ssl ca-file` and `show ssl crl-file`, in HAProxy's words.  What is
 * staged has an asterisk before its name.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/listing.h"
#include "commands/ssl_text.h"
#include "commands/tls_sections.h"
#include "tls/context.h"

static const char *
trust_part_text(enum tls_trust part)
{
	return part == TLS_TRUST_CA ? "CA" : "CRL";
}

/* -- the list -- */

/* Returns whether a section before this one has the file too. */
static bool
is_repeated(const struct spec *spec, size_t end, enum tls_trust part,
    const char *file, bool staged)
{
	struct tls_section section;
	size_t at = 0;

	while (tls_section_next(spec, &at, &section) && at < end) {
		const char *other =
		    tls_context_trust_file(section.context, part);

		if (other && strcmp(other, file) == 0 &&
		    tls_context_trust_count(section.context, part, staged) > 0)
			return true;
	}
	return false;
}

static void
put_trust_file(struct report *r, const struct tls_context *context,
    enum tls_trust part, bool staged)
{
	const char *file = tls_context_trust_file(context, part);
	unsigned n = tls_context_trust_count(context, part, staged);

	report_row(r);
	report_json_string(r, "file", file);
	report_json_bool(r, "staged", staged);
	report_json_bool(r, "in_memory",
	    !staged && tls_context_trust_is_in_memory(context, part));
	report_json(r, "count", "%u", n);
	report_text(r, "%s%s", staged ? "*" : "", file);
	if (part == TLS_TRUST_CA)
		report_text(r, " - %u certificate(s)", n);
	report_row_end(r);
}

/* Lists the files, staged or in use.  Returns whether there was one. */
static bool
put_trust_files(
    struct report *r, const struct spec *spec, enum tls_trust part, bool staged)
{
	struct tls_section section;
	bool any = false;
	size_t at = 0;

	while (tls_section_next(spec, &at, &section)) {
		const char *file =
		    tls_context_trust_file(section.context, part);

		if (!file ||
		    tls_context_trust_count(section.context, part, staged) ==
		        0 ||
		    is_repeated(spec, at, part, file, staged))
			continue;
		if (!any && staged)
			report_text(r, "# transaction\n");
		put_trust_file(r, section.context, part, staged);
		any = true;
	}
	return any;
}

static bool
list_files(struct call *call, enum tls_trust part, bool json)
{
	const struct spec *spec = call->env->instance->model->spec;
	struct report r;

	report_begin(&r, json, call->out);
	report_head(&r, "");
	(void)put_trust_files(&r, spec, part, true);
	report_text(&r, "# filename\n");
	(void)put_trust_files(&r, spec, part, false);
	report_end(&r);
	return true;
}

/* -- one file -- */

/* A CRL may have many entries: a step writes some of them. */
#define ENTRIES_A_STEP 50

struct trust_listing {
	struct listing listing;
	struct tls_context *context; /* a reference */
	enum tls_trust part;
	bool staged;
	unsigned at, end;    /* certificates or CRLs */
	unsigned entries_at; /* of the present CRL */
};

static void
trust_listing_fini(void *listing)
{
	struct trust_listing *l = listing;

	tls_context_unref(l->context);
}

static void
put_ca(void *arg, const struct tls_cert_facts *facts)
{
	struct trust_listing *l = arg;
	struct report *r = &l->listing.report;

	report_object(r, NULL);
	report_text(r, " \nCertificate #%u:", l->at + 1);
	ssl_put_facts(r, facts);
	report_text(r, "\n");
	report_close(r);
	l->at++;
}

static void
put_crl_head(struct trust_listing *l, const struct tls_crl_facts *f)
{
	struct report *r = &l->listing.report;
	char text[SSL_NAME_SIZE];

	report_object(r, NULL);
	report_text(r, " \nCertificate Revocation List #%u:\n", l->at + 1);
	report_text(r, "Version %ld\n", f->version);
	report_put(r, "signature", "Signature Algorithm: %s\n", f->sig_alg);
	report_json_string(r, "issuer", f->issuer);
	report_text(r, "Issuer: %s\n", ssl_name_text(f->issuer, text));
	report_json(r, "last_update", "%" PRId64, f->last_update);
	report_text(
	    r, "Last Update: %s\n", ssl_time_text(f->last_update, text));
	if (f->next_update != 0)
		report_json(r, "next_update", "%" PRId64, f->next_update);
	else
		report_json_null(r, "next_update");
	report_text(r, "Next Update: %s\n",
	    f->next_update != 0 ? ssl_time_text(f->next_update, text) : "NONE");
	report_text(r, f->revoked_n > 0 ? "Revoked Certificates:\n"
	                                : "No Revoked Certificates.\n");
	report_list(r, "revoked");
}

static void
put_revoked(struct report *r, const struct tls_crl_facts *f, unsigned number)
{
	char serial[TLS_SERIAL_SIZE], text[SSL_NAME_SIZE];
	int64_t revoked_at;

	tls_crl_revoked(f, number, serial, &revoked_at);
	report_object(r, NULL);
	report_put(r, "serial", "    Serial Number: %s\n",
	    ssl_upper_text(serial, text, sizeof(text)));
	report_json(r, "revoked_at", "%" PRId64, revoked_at);
	report_text(r, "        Revocation Date: %s\n",
	    ssl_time_text(revoked_at, text));
	report_close(r);
}

static void
put_crl(void *arg, const struct tls_crl_facts *facts)
{
	struct trust_listing *l = arg;
	struct report *r = &l->listing.report;
	unsigned end = l->entries_at + ENTRIES_A_STEP;

	if (l->entries_at == 0)
		put_crl_head(l, facts);
	for (; l->entries_at < facts->revoked_n && l->entries_at < end;
	     l->entries_at++)
		put_revoked(r, facts, l->entries_at);
	if (l->entries_at < facts->revoked_n)
		return;
	report_close(r);
	report_close(r);
	l->entries_at = 0;
	l->at++;
}

/* Writes the next certificate, or a part of the next CRL.  A commit or a new
 * file may have shortened the list since the last step. */
static bool
trust_listing_step(void *listing, const struct command_env *env)
{
	struct trust_listing *l = listing;

	(void)env;
	if (l->at >= l->end ||
	    l->at >= tls_context_trust_count(l->context, l->part, l->staged))
		return false;
	if (l->part == TLS_TRUST_CA)
		tls_context_ca_at(l->context, l->staged, l->at, put_ca, l);
	else
		tls_context_crl_at(l->context, l->staged, l->at, put_crl, l);
	return true;
}

/* Finds the file in the first section that has it. */
static bool
find_file(struct trust_listing *l, const struct spec *spec, const char *file)
{
	struct tls_section section;
	size_t at = 0;

	while (tls_section_next(spec, &at, &section)) {
		const char *used =
		    tls_context_trust_file(section.context, l->part);

		l->end = tls_context_trust_count(
		    section.context, l->part, l->staged);
		if (!used || strcmp(used, file) != 0 || l->end == 0)
			continue;
		l->context = tls_context_ref(section.context);
		return true;
	}
	return false;
}

/* Reads `FILE`, or `FILE:NUMBER` if no file has that name. */
static bool
take_trust_file(struct call *call, struct trust_listing *l, char *name)
{
	const struct spec *spec = call->env->instance->model->spec;
	const char *what = trust_part_text(l->part);
	char *colon = strrchr(name, ':'), *end;
	unsigned long number;

	if (find_file(l, spec, name))
		return true;
	if (colon)
		*colon = '\0';
	if (!colon || !find_file(l, spec, name))
		return err_set(
		    call->err, "Can't display the %s file : Not found!", what);
	number = strtoul(colon + 1, &end, 10);
	if (colon[1] < '1' || colon[1] > '9' || *end)
		return err_set(call->err,
		    "wrong %s index after colons in '%s:%s'!", what, name,
		    colon + 1);
	if (number > l->end)
		return err_set(call->err,
		    "%s file '%s' has %u, and not number %lu.", what, name,
		    l->end, number);
	l->at = (unsigned)number - 1;
	l->end = (unsigned)number;
	return true;
}

static void
put_trust_head(struct trust_listing *l)
{
	struct report *r = &l->listing.report;
	const char *file = tls_context_trust_file(l->context, l->part);

	report_row(r);
	report_json_string(r, "file", file);
	report_json_bool(r, "staged", l->staged);
	report_json_bool(r, "in_memory",
	    !l->staged && tls_context_trust_is_in_memory(l->context, l->part));
	report_text(r, "Filename: %s%s\nStatus: %s\n", l->staged ? "*" : "",
	    file, l->staged ? "Unused" : "Used");
	report_list(r, l->part == TLS_TRUST_CA ? "certificates" : "crls");
}

static bool
show_file(struct call *call, enum tls_trust part, const char *arg, bool json)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct trust_listing),
	    .step = trust_listing_step,
	    .fini = trust_listing_fini,
	};
	struct trust_listing *l = listing_new(call, &kind, json);
	char *name;
	bool ok;

	if (!l)
		return false;
	l->part = part;
	l->staged = arg[0] == '*';
	name = strdup(arg + l->staged);
	ok = name ? take_trust_file(call, l, name) : err_oom(call->err);
	free(name);
	if (ok)
		put_trust_head(l);
	return listing_answer(call, &l->listing, ok);
}

static bool
show_trust(struct call *call, enum tls_trust part)
{
	bool json = call_take_json(call);
	const char *arg = call_arg(call, 0);

	return *arg ? show_file(call, part, arg, json)
	            : list_files(call, part, json);
}

bool
run_show_ssl_ca_file(struct call *call)
{
	return show_trust(call, TLS_TRUST_CA);
}

bool
run_show_ssl_crl_file(struct call *call)
{
	return show_trust(call, TLS_TRUST_CRL);
}
