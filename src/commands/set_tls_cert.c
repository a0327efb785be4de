/* SPDX-License-Identifier: MIT
 * `set tls cert`: replaces a certificate of a section in memory, at once.
 */
#include "commands/commands.h"

#include "commands/tls_sections.h"
#include "tls/context.h"
#include "tls/x509_text.h"

struct answer {
	const struct call *call;
	const char *section;
};

static void
put_replaced(void *arg, const struct tls_cert_facts *facts)
{
	const struct answer *answer = arg;
	char day[TLS_DAY_SIZE];

	call_say(answer->call, SEVERITY_NOTICE,
	    "Certificate %s of [tls %s] is now %s, until %s. " TLS_IN_MEMORY,
	    facts->file, answer->section, facts->subject,
	    tls_day_text(facts->not_after, day));
}

/* Stages and commits; nothing stays behind after an error. */
static bool
replace_cert(
    struct call *call, const struct tls_section *section, const char *file)
{
	if (!tls_context_stage(
	        section->context, file, call->payload, call->err))
		return false;
	if (tls_section_commit(call, section, file))
		return true;
	(void)tls_context_abort(section->context, file);
	return false;
}

bool
run_set_tls_cert(struct call *call)
{
	const char *name = call_arg(call, 0), *file = call_arg(call, 1);
	const struct tls_spec *tls;
	struct answer answer = {call, name};
	struct tls_context *last = NULL;

	if (!*name || !*file || !call->payload || !*call->payload)
		return err_set(call->err,
		    "'set tls cert' expects a section, a file name, and a "
		    "certificate as a payload.");
	tls = tls_section_named(call, name);
	if (!tls)
		return false;
	for (enum tls_role role = 0; role < TLS_ROLES; role++) {
		struct tls_section section = {tls, role, tls->context[role]};

		if (!section.context)
			continue;
		if (!replace_cert(call, &section, file))
			return err_as_sentence(call->err);
		last = section.context;
	}
	if (!last)
		return err_set(
		    call->err, "No listen and no server uses [tls %s].", name);
	(void)tls_context_cert_of(last, file, put_replaced, &answer);
	return true;
}
