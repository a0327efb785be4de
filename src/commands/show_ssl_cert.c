/* SPDX-License-Identifier: MIT
 * `show ssl cert`, in HAProxy's words.  What is staged has an asterisk before
 * its name.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "commands/listing.h"
#include "commands/ssl_text.h"
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

static void
put_cert_facts(void *arg, const struct tls_cert_facts *f)
{
	struct cert_answer *answer = arg;
	struct report *r = answer->report;
	bool used = !answer->prefix[0];

	answer->put = true;
	report_row(r);
	report_json_string(r, "file", f->file);
	report_json_bool(r, "staged", !used);
	report_json_bool(r, "in_memory", f->in_memory);
	report_text(r, "Filename: %s%s\nStatus: %s", answer->prefix, f->file,
	    used ? "Used" : "Unused");
	ssl_put_facts(r, f);
	report_text(r, "\nOCSP Response Key: ");
	report_row_end(r);
}

/* Writes the certificate, from the first section that has it. */
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
