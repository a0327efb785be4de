/* SPDX-License-Identifier: MIT
 * See tls_diff.h.
 */
#include "watch/tls_diff.h"

#include "tls/changes.h"
#include "tls/context.h"

struct section_changes {
	const char *name;
	struct changes *changes;
};

static void
add_section_change(void *arg, const char *text)
{
	const struct section_changes *section = arg;

	changes_add(section->changes, false, "tls %s: %s", section->name, text);
}

static void
compare_contexts(const struct tls_spec *tls, struct tls_context *before,
    struct tls_context *now, struct changes *changes)
{
	struct section_changes section = {tls->name, changes};
	SSL_CTX *old_ssl = tls_context_take(before);
	SSL_CTX *new_ssl = tls_context_take(now);

	tls_changes(old_ssl, new_ssl, add_section_change, &section);
	tls_context_give_back(old_ssl);
	tls_context_give_back(new_ssl);
}

/* The files of a section are the same in both roles, so the contexts of one
 * role are compared. */
void
tls_diff(
    const struct spec *before, const struct spec *spec, struct changes *changes)
{
	for (size_t i = 0; i < spec->tls_n; i++) {
		const struct tls_spec *now = &spec->tls[i];
		const struct tls_spec *old = spec_tls_named(before, now->name);
		enum tls_role role = 0;

		while (old && role < TLS_ROLES &&
		       (!now->context[role] || !old->context[role]))
			role++;
		if (old && role < TLS_ROLES)
			compare_contexts(now, old->context[role],
			    now->context[role], changes);
	}
}
