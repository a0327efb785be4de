/* SPDX-License-Identifier: MIT
 * See support.h.
 */
#include "config/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "config/config.h"

/* The list as text, each line without the path. */
static char *
errors_text(const struct err_list *errors, const char *path)
{
	char *text = NULL, *to, *from;
	size_t size, len = strlen(path);
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	err_list_print(errors, "", f);
	assert_int_equal(fclose(f), 0);
	for (to = from = text; *from;) {
		char *end = strchrnul(from, '\n');

		if (strncmp(from, path, len) == 0)
			from += len + 1;
		memmove(to, from, (size_t)(end - from) + 1);
		to += end - from + 1;
		from = *end ? end + 1 : end;
	}
	*to = '\0';
	return text;
}

struct spec *
load_bytes(const void *bytes, size_t size, char **ret_errors)
{
	struct spec *spec = NULL;
	struct err_list errors;
	char path[40];
	bool ok;
	int fd = memfd_create("config", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err_list_init(&errors);
	ok = config_load_all((const char *[]){path}, 1, NULL, &spec, &errors);
	close(fd);
	assert_int_equal(ok, spec != NULL);
	assert_int_equal(ok, errors.n == 0);
	*ret_errors = errors_text(&errors, path);
	err_list_fini(&errors);
	return spec;
}

struct spec *
load(const char *text)
{
	char *errors;
	struct spec *spec = load_bytes(text, strlen(text), &errors);

	if (!spec)
		fail_msg("%s", errors);
	free(errors);
	return spec;
}

void
assert_errors(const char *text, const char *expected)
{
	char *errors;
	struct spec *spec = load_bytes(text, strlen(text), &errors);
	const char *e = expected, *found = errors;

	if (spec)
		fail_msg("it was taken:\n%s", text);
	while (*e && *found) {
		size_t len = strcspn(e, "\n");

		if (strncmp(e, found, len) != 0)
			break;
		e += len + (e[len] == '\n');
		found = strchr(found, '\n') + 1;
	}
	if (*e || *found)
		fail_msg("expected:\n%s\nfound:\n%s", expected, errors);
	free(errors);
}

void
assert_line_error(const char *head, const char *line, const char *expected)
{
	char text[4096], numbered[1024];

	snprintf(text, sizeof(text), "[%s]\n%s\n%s%s%s%s", head, line,
	    strncmp(head, "frontend", 8) == 0 &&
	            strncmp(line, "listen =", 8) != 0
	        ? "listen = :81\n"
	        : "",
	    strncmp(head, "frontend", 8) == 0 &&
	            strncmp(line, "backend =", 9) != 0
	        ? "backend = b\n"
	        : "",
	    strncmp(head, "backend", 7) == 0 &&
	            strncmp(line, "server =", 8) != 0
	        ? "server = t 10.0.0.2:80\n"
	        : "",
	    FRONTEND BACKEND);
	snprintf(numbered, sizeof(numbered), "2: %s", expected);
	assert_errors(text, numbered);
}

char *
print(const struct spec *spec)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	config_print(spec, f);
	assert_int_equal(fclose(f), 0);
	return text;
}

char *
round_trip(const char *text)
{
	struct spec *spec = load(text), *again;
	char *printed = print(spec), *printed_again;

	spec_free(spec);
	again = load(printed);
	printed_again = print(again);
	spec_free(again);
	assert_string_equal(printed, printed_again);
	free(printed_again);
	return printed;
}

void
assert_prints(const char *text, const char *line)
{
	char *printed = round_trip(text);

	if (!strstr(printed, line))
		fail_msg("no '%s' in:\n%s", line, printed);
	free(printed);
}
