/* SPDX-License-Identifier: MIT
 * See err.h.
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/secrets.h"

bool
err_set(struct err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return false;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return false;
}

bool
err_oom(struct err *err)
{
	return err_set(err, "out of memory");
}

void
err_list_init(struct err_list *list)
{
	*list = (struct err_list){.n = 0};
}

/* Frees the entries, but keeps their number. */
static void
drop_entries(struct err_list *list)
{
	for (size_t i = 0; list->entries && i < list->n; i++) {
		free(list->entries[i].file);
		free(list->entries[i].text);
	}
	free(list->entries);
	list->entries = NULL;
}

void
err_list_fini(struct err_list *list)
{
	drop_entries(list);
	err_list_init(list);
}

/* Returns the index for a new entry: behind the entries of the same file up to
 * that line, or at the end. */
static size_t
err_list_place(const struct err_list *list, const char *file, unsigned line)
{
	const struct err_entry *entries = list->entries;
	size_t at = list->n;

	while (at > 0 && strcmp(entries[at - 1].file, file) != 0)
		at--;
	if (at == 0)
		return list->n;
	while (at > 0 && strcmp(entries[at - 1].file, file) == 0 &&
	       entries[at - 1].line > line)
		at--;
	return at;
}

void
err_list_add(struct err_list *list, const char *file, unsigned line,
    const char *fmt, ...)
{
	struct err_entry *grown = NULL;
	struct err_entry e = {.line = line};
	char *text, *masked;
	va_list ap;
	size_t at;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text) {
		e.text = strdup(secrets_mask(text, &masked));
		free(masked);
		free(text);
	}
	if (e.text)
		printable_clean(e.text, '?');
	e.file = strdup(file ? file : "");
	/* Once an entry was lost, only the number grows. */
	if (e.file && e.text && (list->n == 0 || list->entries))
		grown =
		    reallocarray(list->entries, list->n + 1, sizeof(*grown));
	if (!grown) {
		free(e.file);
		free(e.text);
		drop_entries(list);
		list->n++;
		return;
	}
	list->entries = grown;
	at = err_list_place(list, e.file, line);
	memmove(&grown[at + 1], &grown[at], (list->n - at) * sizeof(*grown));
	grown[at] = e;
	list->n++;
}

char *
err_entry_text(const struct err_entry *entry)
{
	const struct err_entry *e = entry;
	char *text;
	int n;

	if (*e->file && e->line > 0)
		n = asprintf(&text, "%s:%u: %s", e->file, e->line, e->text);
	else
		n = asprintf(
		    &text, "%s%s%s", e->file, *e->file ? ": " : "", e->text);
	return n < 0 ? NULL : text;
}

void
err_list_print(const struct err_list *list, const char *before, FILE *out)
{
	if (list->n > 0 && !list->entries) {
		fprintf(out, "%sout of memory: %zu errors not shown\n", before,
		    list->n);
		return;
	}
	for (size_t i = 0; i < list->n; i++) {
		const struct err_entry *e = &list->entries[i];
		char *text = err_entry_text(e);

		fprintf(out, "%s%s\n", before, text ? text : e->text);
		free(text);
	}
}
