/* SPDX-License-Identifier: MIT
 * `set`, `commit` and `abort` of `ssl ca-file` and `ssl crl-file`: authorities
 * and lists of revoked certificates are replaced in memory, in HAProxy's words.
 * A name is that of a file in the configuration, and means all sections that
 * have it.
 *
 * Each file may have a transaction of its own, as in set_ssl_cert.c.
 */
#include "commands/commands.h"

#include <string.h>

#include "commands/tls_sections.h"
#include "tls/context.h"

/* HAProxy's words for a part. */
struct words {
	enum tls_trust part;
	const char *command; /* `ca-file` */
	const char *name;    /* of one */
	const char *content; /* several */
};

static const struct words ca_words = {TLS_TRUST_CA, "ca-file", "CA", "CAs"};
static const struct words crl_words = {
    TLS_TRUST_CRL, "crl-file", "CRL", "CRLs"};

/* Finds the next section that has the file, as tls_section_next does.  staged:
 * the section must have a transaction for it. */
static bool
next_with_file(const struct spec *spec, size_t *at, enum tls_trust part,
    const char *file, bool staged, struct tls_section *ret_section)
{
	while (tls_section_next(spec, at, ret_section)) {
		const struct tls_context *context = ret_section->context;
		const char *used = tls_context_trust_file(context, part);

		if (used && strcmp(used, file) == 0 &&
		    (!staged ||
		        tls_context_trust_count(context, part, true) > 0))
			return true;
	}
	return false;
}

static bool
any_with_file(
    const struct spec *spec, enum tls_trust part, const char *file, bool staged)
{
	struct tls_section section;
	size_t at = 0;

	return next_with_file(spec, &at, part, file, staged, &section);
}

/* Returns the file of a transaction, or NULL if there is none. */
static const char *
find_staged_trust(const struct spec *spec, enum tls_trust part)
{
	struct tls_section section;
	size_t at = 0;

	while (tls_section_next(spec, &at, &section))
		if (tls_context_trust_count(section.context, part, true) > 0)
			return tls_context_trust_file(section.context, part);
	return NULL;
}

/* Drops what this call has staged in the sections before the one that refused
 * it. */
static void
unstage_trust(
    const struct spec *spec, size_t end, enum tls_trust part, const char *file)
{
	struct tls_section section;
	size_t at = 0;

	while (
	    next_with_file(spec, &at, part, file, true, &section) && at < end)
		(void)tls_context_abort_trust(section.context, part);
}

static bool
set_trust(struct call *call, const struct words *words)
{
	const struct spec *spec = call->env->instance->model->spec;
	const char *file = call_arg(call, 0);
	struct tls_section section;
	bool staged;
	size_t at = 0;

	if (!*file || !call->payload || !*call->payload)
		return err_set(call->err,
		    "'set ssl %s expects a filename and %s as a payload",
		    words->command, words->content);
	if (!any_with_file(spec, words->part, file, false))
		return err_set(call->err,
		    "Can't replace a %s file which is not referenced by the "
		    "configuration!\nCan't update %s!",
		    words->name, file);
	staged = any_with_file(spec, words->part, file, true);
	while (next_with_file(spec, &at, words->part, file, false, &section)) {
		struct err err;

		if (tls_context_stage_trust(
		        section.context, words->part, call->payload, &err))
			continue;
		unstage_trust(spec, at, words->part, file);
		return err_set(call->err,
		    "%s\nInvalid payload\nCan't update %s!", err.text, file);
	}
	call_say(call, SEVERITY_NOTICE, "transaction %s for %s %s!",
	    staged ? "updated" : "created", words->name, file);
	return true;
}

/* Sets call->err to which transaction there is instead.  Returns false. */
static bool
refuse_other(
    struct call *call, const struct words *words, const char *file, bool abort)
{
	const struct spec *spec = call->env->instance->model->spec;
	const char *other = find_staged_trust(spec, words->part);

	if (other && abort)
		return err_set(call->err,
		    "The ongoing transaction is about '%s' but you are trying "
		    "to abort a transaction for '%s'",
		    other, file);
	if (other)
		return err_set(call->err,
		    "The ongoing transaction is about '%s' but you are trying "
		    "to set '%s'\nCan't commit %s!",
		    other, file, file);
	if (abort)
		err_set(call->err, "No ongoing transaction!");
	else
		err_set(call->err,
		    "No ongoing transaction! !\nCan't commit %s!", file);
	return call_ended_before(call, words->part == TLS_TRUST_CA
	                                   ? "set ssl ca-file"
	                                   : "set ssl crl-file");
}

static bool
commit_trust(struct call *call, const struct words *words)
{
	const struct spec *spec = call->env->instance->model->spec;
	const char *file = call_arg(call, 0);
	struct tls_section section;
	size_t at = 0;

	if (!*file)
		return err_set(call->err, "'commit ssl %s expects a filename",
		    words->command);
	if (!any_with_file(spec, words->part, file, true))
		return refuse_other(call, words, file, false);
	fprintf(call->out, "Committing %s", file);
	while (next_with_file(spec, &at, words->part, file, true, &section)) {
		if (!tls_section_commit_trust(call, &section, words->part)) {
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

static bool
abort_trust(struct call *call, const struct words *words)
{
	const struct spec *spec = call->env->instance->model->spec;
	const char *file = call_arg(call, 0);
	struct tls_section section;
	bool any = false;
	size_t at = 0;

	if (!*file)
		return err_set(call->err, "'abort ssl %s' expects a filename",
		    words->command);
	while (next_with_file(spec, &at, words->part, file, true, &section))
		any |= tls_context_abort_trust(section.context, words->part);
	if (!any)
		return refuse_other(call, words, file, true);
	call_say(call, SEVERITY_NOTICE,
	    "Transaction aborted for certificate '%s'!", file);
	return true;
}

bool
run_set_ssl_ca_file(struct call *call)
{
	return set_trust(call, &ca_words);
}

bool
run_commit_ssl_ca_file(struct call *call)
{
	return commit_trust(call, &ca_words);
}

bool
run_abort_ssl_ca_file(struct call *call)
{
	return abort_trust(call, &ca_words);
}

bool
run_set_ssl_crl_file(struct call *call)
{
	return set_trust(call, &crl_words);
}

bool
run_commit_ssl_crl_file(struct call *call)
{
	return commit_trust(call, &crl_words);
}

bool
run_abort_ssl_crl_file(struct call *call)
{
	return abort_trust(call, &crl_words);
}
