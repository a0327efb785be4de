/* SPDX-License-Identifier: MIT
 * See import.h.
 */
#include "import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/convert.h"
#include "import/serve_check.h"
#include "import/value.h"

static const struct {
	const char *name;
	bool (*convert)(struct document *doc,
	    const struct import_source *source, FILE *errors);
} kinds[] = {
    [IMPORT_HAPROXY] = {"haproxy", haproxy_convert},
    [IMPORT_NGINX] = {"nginx", nginx_convert},
};

/* Writes a summary, which precedes everything else. */
static void
write_summary(const char *sum, const char *kind, const char *file, FILE *out)
{
	fprintf(out, "; Made from %s by `lfproxyctl import %s`.\n; %s.\n\n",
	    file, kind, sum);
}

enum import_result
import_convert(enum import_kind kind, const struct import_source *source,
    FILE *out, FILE *errors)
{
	const char *slash = strrchr(source->file, '/');
	struct document doc = {.first = NULL};
	enum import_result result = IMPORT_FAILED;
	bool done = kinds[kind].convert(&doc, source, errors);

	if (done) {
		const char *sum;

		doc_report_unread(&doc);
		sum = ledger_sum(&doc.arena, &doc.ledger);
		write_summary(sum, kinds[kind].name,
		    slash ? slash + 1 : source->file, out);
		doc_write(&doc, out);
		fprintf(errors, "lfproxyctl: %s: %s\n", source->file, sum);
		result = ledger_is_noticed(&doc.ledger) ? IMPORT_DIFFERS
		                                        : IMPORT_SAME;
	}
	doc_fini(&doc);
	return result;
}

/* Does what import_convert does, and writes nothing that the service would not
 * start with. */
static enum import_result
convert_checked(enum import_kind kind, const struct import_source *source,
    FILE *out, FILE *errors)
{
	char *text = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&text, &n);
	enum import_result result = IMPORT_FAILED;

	if (!memory) {
		fputs("lfproxyctl: import: out of memory\n", errors);
		return IMPORT_FAILED;
	}
	result = import_convert(kind, source, memory, errors);
	fclose(memory);
	if (result != IMPORT_FAILED && !serve_check(text, n, errors))
		result = IMPORT_FAILED;
	if (result != IMPORT_FAILED)
		fwrite(text, 1, n, out);
	free(text);
	return result;
}

static enum import_result
convert_file(enum import_kind kind, const char *path, bool serves, FILE *out,
    FILE *errors)
{
	struct arena arena = {NULL};
	struct import_source source = {
	    .file = path, .may_read = true, .serves = serves};
	enum import_result result = IMPORT_FAILED;

	source.text = value_read_file(&arena, path, &source.n);
	if (strcmp(path, "-") == 0)
		source.file = "stdin";
	if (source.text && serves)
		result = convert_checked(kind, &source, out, errors);
	else if (source.text)
		result = import_convert(kind, &source, out, errors);
	else
		fprintf(errors, "lfproxyctl: cannot read %s: %s\n", path,
		    errno == EBADF
		        ? "not a regular file; - reads standard input"
		        : strerror(errno));
	arena_fini(&arena);
	if (fflush(out) != 0) {
		fprintf(
		    errors, "lfproxyctl: cannot write: %s\n", strerror(errno));
		return IMPORT_FAILED;
	}
	return result;
}

enum import_result
import_command(int argc, const char *const *argv, FILE *out, FILE *errors)
{
	size_t n = sizeof(kinds) / sizeof(kinds[0]), i = 0;
	bool serves = argc > 0 && strcmp(argv[0], "--serve-check") == 0;

	argc -= serves;
	argv += serves;
	while (i < n && argc > 0 && strcmp(argv[0], kinds[i].name) != 0)
		i++;
	if (i < n && argc == 2)
		return convert_file(
		    (enum import_kind)i, argv[1], serves, out, errors);
	if (i == n && argc > 0)
		fprintf(errors,
		    "lfproxyctl: cannot import '%s'; the formats are haproxy, "
		    "for haproxy.cfg, and nginx, for an nginx.conf with a "
		    "stream block\n",
		    argv[0]);
	else if (argc == 1)
		fputs("lfproxyctl: import: the FILE is missing; - is standard "
		      "input\n",
		    errors);
	fputs("usage: lfproxyctl import [--serve-check] haproxy|nginx FILE\n",
	    errors);
	return IMPORT_USAGE;
}
