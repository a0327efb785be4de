/* SPDX-License-Identifier: MIT
 * `set ssl cert`, `commit ssl cert` and `abort ssl cert`: certificates are
 * replaced in memory, in HAProxy's words.  A name is that of a file in the
 * configuration, and means all sections that have it.
 *
 * HAProxy has one transaction at a time.  Here each certificate may have its
 * own, so that one that was forgotten does not stand in the way.
 */
#include "commands/commands.h"

#include <string.h>

#include "commands/tls_sections.h"
#include "tls/context.h"
#include "tls/openssl_err.h"

static void
note_staged(void *arg, const struct tls_cert_facts *facts)
{
	*(bool *)arg = facts->staged;
}

/* Returns whether the section has the file. */
static bool
section_has(
    const struct tls_section *section, const char *file, bool *ret_staged)
{
	return tls_context_cert_of(
	    section->context, file, note_staged, ret_staged);
}

/* Returns the file of a transaction, or NULL if there is none. */
static const char *
find_staged_file(const struct spec *spec)
{
	struct tls_section section;
	size_t at = 0;

	while (tls_section_next(spec, &at, &section)) {
		size_t n = tls_context_certs(section.context);

		for (size_t i = 0; i < n; i++) {
			bool staged;
			const char *file =
			    tls_context_cert_file(section.context, i, &staged);

			if (staged)
				return file;
		}
	}
	return NULL;
}

/* Drops what this call has staged in the sections before the one that refused
 * it. */
static void
unstage(const struct spec *spec, size_t end, const char *file)
{
	struct tls_section section;
	size_t at = 0;

	while (tls_section_next(spec, &at, &section) && at < end)
		(void)tls_context_abort(section.context, file);
}

bool
run_set_ssl_cert(struct call *call)
{
	const struct spec *spec = call->env->instance->model->spec;
	const char *file = call_arg(call, 0);
	struct tls_section section;
	bool found = false, staged = false;
	size_t at = 0;

	if (!*file || !call->payload || !*call->payload)
		return err_set(call->err,
		    "'set ssl cert expects a filename and a certificate as a "
		    "payload");
	while (tls_section_next(spec, &at, &section)) {
		struct err err;

		if (!section_has(&section, file, &staged))
			continue;
		found = true;
		if (tls_context_stage(
		        section.context, file, call->payload, &err))
			continue;
		unstage(spec, at, file);
		if (strstr(err.text, TLS_KEY_MISMATCH))
			err_set(&err,
			    "inconsistencies between private key and "
			    "certificate loaded '%s'.",
			    file);
		return err_set(call->err,
		    "%s\nCan't load the payload\nCan't update %s!", err.text,
		    file);
	}
	if (!found)
		return err_set(call->err,
		    "Can't replace a certificate which is not referenced by "
		    "the configuration!\nCan't update %s!",
		    file);
	call_say(call, SEVERITY_NOTICE, "Transaction %s for certificate %s!",
	    staged ? "updated" : "created", file);
	return true;
}

static void
ignore_facts(void *arg, const struct tls_cert_facts *facts)
{
	(void)arg;
	(void)facts;
}

/* Returns whether the file has a transaction whose key and certificate match,
 * in every section that has one.  Else sets call->err. */
static bool
can_commit(struct call *call, const struct spec *spec, const char *file)
{
	struct tls_section section;
	bool any = false;
	size_t at = 0;

	while (tls_section_next(spec, &at, &section)) {
		bool staged = false;
		struct err err;

		if (!section_has(&section, file, &staged) || !staged)
			continue;
		any = true;
		if (!tls_context_show_staged(
		        section.context, file, ignore_facts, NULL, &err))
			return err_set(
			    call->err, "%s\nCan't commit %s!", err.text, file);
	}
	if (any)
		return true;
	if (find_staged_file(spec))
		return err_set(call->err,
		    "The ongoing transaction is about '%s' but you are trying "
		    "to set '%s'\nCan't commit %s!",
		    find_staged_file(spec), file, file);
	err_set(call->err, "No ongoing transaction! !\nCan't commit %s!", file);
	return call_ended_before(call, "set ssl cert");
}

bool
run_commit_ssl_cert(struct call *call)
{
	const struct spec *spec = call->env->instance->model->spec;
	const char *file = call_arg(call, 0);
	struct tls_section section;
	size_t at = 0;

	if (!*file)
		return err_set(
		    call->err, "'commit ssl cert expects a filename");
	if (!can_commit(call, spec, file))
		return false;
	fprintf(call->out, "Committing %s", file);
	while (tls_section_next(spec, &at, &section)) {
		bool staged = false;

		if (!section_has(&section, file, &staged) || !staged)
			continue;
		if (!tls_section_commit(call, &section, file)) {
			fputc('\n', call->out);
			return false;
		}
		fputc('.', call->out);
	}
	fputs("\nSuccess!\n", call->out);
	if (call_is_strict(call))
		fputs(TLS_IN_MEMORY "\n", call->out);
	return true;
}

bool
run_abort_ssl_cert(struct call *call)
{
	const struct spec *spec = call->env->instance->model->spec;
	const char *file = call_arg(call, 0);
	struct tls_section section;
	bool any = false;
	size_t at = 0;

	if (!*file)
		return err_set(
		    call->err, "'abort ssl cert' expects a filename");
	while (tls_section_next(spec, &at, &section))
		any |= tls_context_abort(section.context, file);
	if (any) {
		call_say(call, SEVERITY_NOTICE,
		    "Transaction aborted for certificate '%s'!", file);
		return true;
	}
	if (find_staged_file(spec))
		return err_set(call->err,
		    "The ongoing transaction is about '%s' but you are trying "
		    "to abort a transaction for '%s'",
		    find_staged_file(spec), file);
	err_set(call->err, "No ongoing transaction!");
	return call_ended_before(call, "set ssl cert");
}
