/* SPDX-License-Identifier: MIT
 * Configurations of HAProxy and nginx, as `lfproxyctl import` reads them: each
 * input is taken for both.  No file that an input names is read.
 *
 * A refused input writes a message and nothing else.  A converted one gives an
 * lfproxy.ini by its form: heads, `key = value` and comments, without control
 * characters and overlong lines; and the same text is made again.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "import/import.h"

#define LINE_MAX_BYTES 8192

/* The output of one conversion. */
struct made {
	enum import_result result;
	char *text, *errors;
	size_t n, n_errors;
};

static struct made
convert(enum import_kind kind, const char *text, size_t n)
{
	const struct import_source source = {
	    "/etc/in.cfg", text, n, false, false};
	struct made made = {.text = NULL};
	FILE *out = open_memstream(&made.text, &made.n);
	FILE *errors = open_memstream(&made.errors, &made.n_errors);

	ENSURE(out && errors);
	made.result = import_convert(kind, &source, out, errors);
	ENSURE(fclose(out) == 0 && fclose(errors) == 0);
	return made;
}

static void
made_free(struct made *made)
{
	free(made->text);
	free(made->errors);
}

/* Comments may have any bytes of other scripts, but no control characters. */
static void
check_line(const char *line, size_t n)
{
	size_t key = 0;

	ENSURE(n < LINE_MAX_BYTES);
	for (size_t i = 0; i < n; i++)
		ENSURE(!iscntrl((unsigned char)line[i]));
	if (n == 0 || line[0] == ';')
		return;
	if (line[0] == '[') {
		ENSURE(line[n - 1] == ']');
		return;
	}
	while (key < n &&
	       (islower((unsigned char)line[key]) ||
	           isdigit((unsigned char)line[key]) || line[key] == '_'))
		key++;
	ENSURE(key > 0 && key + 3 <= n && memcmp(line + key, " = ", 3) == 0);
}

static void
check_form(const struct made *made)
{
	const char *at = made->text, *end = at + made->n;

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));

		ENSURE(eol);
		check_line(at, (size_t)(eol - at));
		at = eol + 1;
	}
}

static void
try_kind(enum import_kind kind, const char *text, size_t n)
{
	struct made first = convert(kind, text, n);
	struct made second = convert(kind, text, n);

	ENSURE(first.result == second.result && first.n == second.n &&
	       memcmp(first.text, second.text, first.n) == 0);
	if (first.result == IMPORT_FAILED)
		ENSURE(first.n == 0 && first.n_errors > 0);
	else
		check_form(&first);
	made_free(&first);
	made_free(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);

	try_kind(IMPORT_HAPROXY, text, size);
	try_kind(IMPORT_NGINX, text, size);
	free(text);
	return 0;
}
