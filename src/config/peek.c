/* SPDX-License-Identifier: MIT
 * See peek.h.
 */
#include "config/peek.h"

#include <stdlib.h>
#include <string.h>

#include "base/secrets.h"
#include "config/draft.h"
#include "config/include.h"

/* Returns the value of the key in [global], or NULL. */
static const char *
find_global(const struct draft *draft, const char *key)
{
	for (size_t i = 0; i < draft->sections_n; i++) {
		const struct draft_section *s = &draft->sections[i];

		if (strcmp(s->head, "global") != 0)
			continue;
		for (size_t j = 0; j < s->entries_n; j++)
			if (strcmp(s->entries[j].name, key) == 0 &&
			    s->entries[j].value)
				return s->entries[j].value;
	}
	return NULL;
}

static bool
copy_draft(const struct draft *draft, struct peek *peek)
{
	const char *chroot = find_global(draft, "chroot");

	if (chroot && !(peek->chroot = strdup(chroot)))
		return false;
	peek->files = calloc(draft->files_n + 1, sizeof(*peek->files));
	while (peek->files && peek->files_n < draft->files_n) {
		char *copy = strdup(draft->files[peek->files_n]);

		if (!copy)
			return false;
		peek->files[peek->files_n++] = copy;
	}
	return peek->files != NULL;
}

bool
config_peek(
    const char *const *paths, size_t n, struct peek *ret_peek, struct err *err)
{
	struct peek peek = {.chroot = NULL};
	struct err_list errors;
	struct draft draft;
	bool ok;

	secrets_begin();
	err_list_init(&errors);
	draft_init(&draft);
	include_load(paths, n, &draft, &errors);
	ok = copy_draft(&draft, &peek);
	draft_fini(&draft);
	err_list_fini(&errors);
	if (!ok) {
		config_peek_fini(&peek);
		return err_oom(err);
	}
	*ret_peek = peek;
	return true;
}

void
config_peek_fini(struct peek *peek)
{
	for (size_t i = 0; i < peek->files_n; i++)
		free(peek->files[i]);
	free(peek->files);
	free(peek->chroot);
}
