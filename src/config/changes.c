/* SPDX-License-Identifier: MIT
 * See changes.h.
 */
#include "config/changes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
changes_init(struct changes *changes)
{
	*changes = (struct changes){.n = 0};
}

void
changes_fini(struct changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		free(changes->all[i].text);
	free(changes->all);
	free(changes->moved);
	changes_init(changes);
}

void
changes_add(struct changes *changes, bool restart, const char *fmt, ...)
{
	struct change *grown =
	    reallocarray(changes->all, changes->n + 1, sizeof(*grown));
	char *text;
	va_list ap;

	if (!grown)
		return;
	changes->all = grown;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		grown[changes->n++] =
		    (struct change){.text = text, .restart = restart};
}
