/* SPDX-License-Identifier: MIT
 * `show ssl cert`, in HAProxy's words.  What is staged has an asterisk before
 * its name.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "commands/report.h"
#include "commands/ssl_text.h"
#include "commands/tls_sections.h"
#include "tls/context.h"

/* -- the list -- */

struct cert_names {
	const char **all;
	size_t n, room;
};

static int
compare_cert_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names, and drops repetitions. */
static void
names_sort(struct cert_names *names)
{
	size_t kept = 0;

	if (names->n > 0)
		qsort(names->all, names->n, sizeof(*names->all),
		    compare_cert_names);
	for (size_t i = 0; i < names->n; i++)
		if (kept == 0 ||
		    strcmp(names->all[kept - 1], names->all[i]) != 0)
			names->all[kept++] = names->all[i];
	names->n = kept;
}

/* Collects the names of the certificates, which the contexts own.  Returns
 * false when memory is short. */
static bool
names_collect(
    struct cert_names *names, const struct spec *spec, bool only_staged)
{
	struct tls_section section;
	size_t at = 0;

	while (tls_section_next(spec, &at, &section)) {
		size_t n = tls_context_certs(section.context);

		for (size_t i = 0; i < n; i++) {
			bool staged;
			const char *file =
			    tls_context_cert_file(section.context, i, &staged);
			const char **grown = grow(
			    names->all, names->n, &names->room, sizeof(*grown));

			if (!grown)
				return false;
			names->all = grown;
			if (staged || !only_staged)
				grown[names->n++] = file;
		}
	}
	names_sort(names);
	return true;
}

static void
put_names(struct report *r, const struct cert_names *names, bool staged)
{
	for (size_t i = 0; i < names->n; i++) {
		report_row(r);
		report_json_string(r, "file", names->all[i]);
		report_json_bool(r, "staged", staged);
		report_text(r, "%s%s", staged ? "*" : "", names->all[i]);
		report_row_end(r);
	}
}

static bool
list_certs(struct call *call, bool json)
{
	const struct spec *spec = call->env->instance->model->spec;
	struct cert_names staged = {.n = 0}, used = {.n = 0};
	bool ok = names_collect(&staged, spec, true) &&
	          names_collect(&used, spec, false);
	struct report r;

	if (ok) {
		report_begin(&r, json, call->out);
		report_head(&r, staged.n > 0 ? "# transaction\n" : "");
		put_names(&r, &staged, true);
		report_text(&r, "# filename\n");
		put_names(&r, &used, false);
		report_end(&r);
	}
	free(staged.all);
	free(used.all);
	return ok || err_oom(call->err);
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
	const struct spec *spec = call->env->instance->model->spec;
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
