/* SPDX-License-Identifier: MIT
 * See err.h.
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdint.h>
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
	list->entries = NULL;
	list->n = 0;
}

/* Forgets the entries but not their number. */
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

void
err_list_add(struct err_list *list, const char *file, unsigned line,
    const char *fmt, ...)
{
	struct err_entry *grown = NULL;
	struct err_entry e = {.line = line};
	char *text, *masked;
	va_list ap;

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
	/* Once an entry was lost only the count goes on. */
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
	list->entries[list->n++] = e;
}

/* The entry at which this entry's file appears first; what orders files. */
static size_t
first_of_file(const struct err_list *list, const struct err_entry *e)
{
	size_t first = 0;

	while (strcmp(list->entries[first].file, e->file) != 0)
		first++;
	return first;
}

static int
compare_places(const void *a, const void *b, void *list)
{
	const struct err_entry *x = *(const struct err_entry *const *)a;
	const struct err_entry *y = *(const struct err_entry *const *)b;
	size_t file_x = first_of_file(list, x), file_y = first_of_file(list, y);

	if (file_x != file_y)
		return file_x < file_y ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x < y ? -1 : 1;
}

void
err_list_print(const struct err_list *list, FILE *out)
{
	const struct err_entry **sorted = NULL;

	if (list->entries)
		sorted = calloc(list->n, sizeof(*sorted));
	if (!sorted) {
		if (list->n > 0)
			fprintf(out, "out of memory: %zu errors not shown\n",
			    list->n);
		return;
	}
	for (size_t i = 0; i < list->n; i++)
		sorted[i] = &list->entries[i];
	qsort_r(sorted, list->n, sizeof(*sorted), compare_places,
	    (void *)(uintptr_t)list);
	for (size_t i = 0; i < list->n; i++) {
		if (!*sorted[i]->file)
			fprintf(out, "%s\n", sorted[i]->text);
		else if (sorted[i]->line > 0)
			fprintf(out, "%s:%u: %s\n", sorted[i]->file,
			    sorted[i]->line, sorted[i]->text);
		else
			fprintf(
			    out, "%s: %s\n", sorted[i]->file, sorted[i]->text);
	}
	free(sorted);
}
