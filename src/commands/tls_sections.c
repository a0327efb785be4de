/* SPDX-License-Identifier: MIT
 * See tls_sections.h.
 */
#include "commands/tls_sections.h"

#include <string.h>

#include "base/events.h"
#include "tls/changes.h"
#include "tls/context.h"

bool
tls_section_next(
    const struct spec *spec, size_t *at, struct tls_section *ret_section)
{
	for (; *at < spec->tls_n * TLS_ROLES; (*at)++) {
		const struct tls_spec *tls = &spec->tls[*at / TLS_ROLES];
		enum tls_role role = (enum tls_role)(*at % TLS_ROLES);

		if (!tls->context[role])
			continue;
		*ret_section = (struct tls_section){
		    .tls = tls, .role = role, .context = tls->context[role]};
		(*at)++;
		return true;
	}
	return false;
}

const struct tls_spec *
tls_section_named(struct call *call, const char *name)
{
	const struct spec *spec = call->env->instance->model->spec;

	for (size_t i = 0; i < spec->tls_n; i++)
		if (strcmp(spec->tls[i].name, name) == 0)
			return &spec->tls[i];
	call_no_such_of(call, "No such [tls] section.", name,
	    NAME_TABLE(spec->tls, spec->tls_n));
	return NULL;
}

const char *
tls_key_text(const struct tls_cert_facts *facts, char out[TLS_KEY_TEXT_SIZE])
{
	bool sized = strncmp(facts->key_type, "ED", 2) != 0;

	snprintf(out, TLS_KEY_TEXT_SIZE, sized ? "%s%u" : "%s", facts->key_type,
	    facts->key_bits);
	return out;
}

struct section_change {
	const struct call *call;
	const char *name;
};

static void
note_change(void *arg, const char *text)
{
	const struct section_change *change = arg;

	event_add(EVENT_CERTIFICATE, LOG_LEVEL_INFO, "tls", change->name,
	    "tls %s: %s, by a command", change->name, text);
	call_audit(change->call, NULL, NULL, "tls %s: %s", change->name, text);
}

/* Logs and records what a commit has changed since the SSL_CTX before. */
static void
note_changes(
    struct call *call, const struct tls_section *section, const SSL_CTX *before)
{
	struct section_change change = {call, section->tls->name};
	SSL_CTX *now = tls_context_take(section->context);

	(void)tls_changes(before, now, note_change, &change);
	tls_context_give_back(now);
}

bool
tls_section_commit(
    struct call *call, const struct tls_section *section, const char *file)
{
	SSL_CTX *before = tls_context_take(section->context);
	bool ok = tls_context_commit(section->context, file, call->err);

	if (ok)
		note_changes(call, section, before);
	tls_context_give_back(before);
	return ok;
}

bool
tls_section_commit_trust(
    struct call *call, const struct tls_section *section, enum tls_trust part)
{
	SSL_CTX *before = tls_context_take(section->context);
	bool ok = tls_context_commit_trust(section->context, part, call->err);

	if (ok)
		note_changes(call, section, before);
	tls_context_give_back(before);
	return ok;
}
