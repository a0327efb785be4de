/* SPDX-License-Identifier: MIT
 * The form of a file: what a line may be, and in which line an error stood.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "config/config.h"
#include "config/draft.h"
#include "config/ini.h"
#include "config/support.h"

/* A draft as text: `1[head]` and `2 key=value` lines. */
static char *
draft_text(const char *file, struct err_list *errors)
{
	struct draft draft;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	draft_init(&draft);
	ini_load(draft_add_file(&draft, file), &draft, errors);
	for (size_t i = 0; i < draft.sections_n; i++) {
		const struct draft_section *s = &draft.sections[i];

		fprintf(f, "%u[%s]\n", s->place.line, s->head);
		for (size_t j = 0; j < s->entries_n; j++)
			fprintf(f, "%u %s=%s\n", s->entries[j].place.line,
			    s->entries[j].name, s->entries[j].value);
	}
	fclose(f);
	draft_fini(&draft);
	return text;
}

static void
write_file(char path[32], const void *bytes, size_t size)
{
	int fd;

	strcpy(path, "/tmp/lfproxy-ini-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void
assert_draft_of(const void *bytes, size_t size, const char *expected)
{
	struct err_list errors;
	char path[32], *text;

	err_list_init(&errors);
	write_file(path, bytes, size);
	text = draft_text(path, &errors);
	unlink(path);
	err_list_print(&errors, "", stderr);
	assert_int_equal(errors.n, 0);
	assert_string_equal(text, expected);
	err_list_fini(&errors);
	free(text);
}

static void
assert_draft(const char *ini, const char *expected)
{
	assert_draft_of(ini, strlen(ini), expected);
}

static void
entries_have_their_lines(void **state)
{
	(void)state;
	assert_draft("\n[a]\nx = 1\n\n; c\ny = 2\n[b c]\nz=3\n",
	    "2[a]\n3 x=1\n6 y=2\n7[b c]\n8 z=3\n");
}

static void
equals_separates(void **state)
{
	(void)state;
	assert_draft("[a]\nx=1\nx = 1\nx\t=\t1\nu = unix:/a=b\nx ==\n",
	    "1[a]\n2 x=1\n3 x=1\n4 x=1\n5 u=unix:/a=b\n6 x==\n");
}

static void
indentation_means_nothing(void **state)
{
	(void)state;
	assert_draft("[a]\nx = 1\n  y = 2\n\t[b]\n \t z = 3  \n  ; c\n",
	    "1[a]\n2 x=1\n3 y=2\n4[b]\n5 z=3\n");
}

static void
comments_end_lines(void **state)
{
	(void)state;
	assert_draft("# c\n;c\n[a] ; c\nx = 1 ; c\ny = a;b\nz = ; c\n",
	    "3[a]\n4 x=1\n5 y=a;b\n6 z=\n");
}

static void
empty_and_repeated_sections_are_seen(void **state)
{
	(void)state;
	assert_draft("[a]\n[b]\n[a]\n", "1[a]\n2[b]\n3[a]\n");
}

static void
line_ends_and_byte_order_marks_are_accepted(void **state)
{
	(void)state;
	assert_draft("[a]\r\nx = 1\r\n\r\ny = 2", "1[a]\n2 x=1\n4 y=2\n");
	assert_draft("[a]\r\nx = 1\r", "1[a]\n2 x=1\n");
	assert_draft("\xef\xbb\xbf[a]\nx = 1\n", "1[a]\n2 x=1\n");
}

static void
missing_newline_at_the_end_is_fine(void **state)
{
	(void)state;
	assert_draft("[a]\nx = 1", "1[a]\n2 x=1\n");
	assert_draft("[a]\n[b]", "1[a]\n2[b]\n");
	assert_draft("[a]\n; c", "1[a]\n");
}

/* A name that inih would cut at 49 characters, silently. */
static void
long_names_are_not_cut(void **state)
{
	char ini[200], expected[200];

	(void)state;
	snprintf(ini, sizeof(ini), "[%060d]\n%060d = v\n", 1, 2);
	snprintf(expected, sizeof(expected), "1[%060d]\n2 %060d=v\n", 1, 2);
	assert_draft(ini, expected);
}

/* Lines of every length around inih's buffer of 200 bytes and the longest that
 * is allowed: in one line, continued, and with a comment behind. */
static void
lines_of_every_length_are_whole(void **state)
{
	static const size_t lengths[] = {250, 399, 400, 401, 8191, 8192};
	static char ini[9000], expected[9000];

	(void)state;
	for (size_t i = 0; i < 21 + sizeof(lengths) / sizeof(*lengths); i++) {
		size_t len = i < 21 ? 190 + i : lengths[i - 21];
		int pad = (int)(len - strlen("key = "));

		snprintf(expected, sizeof(expected),
		    "1[a]\n2 key=%0*d\n3 y=1\n", pad, 7);
		snprintf(ini, sizeof(ini), "[a]\nkey = %0*d\ny = 1\n", pad, 7);
		assert_draft(ini, expected);
		snprintf(ini, sizeof(ini),
		    "[a]\n\t key = %0*d\t ; %0300d\ny = 1\n", pad, 7, 8);
		assert_draft(ini, expected);
		snprintf(expected, sizeof(expected),
		    "1[a]\n2 key=%0*d 7\n5 y=1\n", pad - 2, 6);
		snprintf(ini, sizeof(ini),
		    "[a]\nkey = %0*d \\\n# %0300d\n 7\ny = 1\n", pad - 2, 6, 8);
		assert_draft(ini, expected);
	}
}

static void
blanks_before_the_equals_are_not_limited(void **state)
{
	char ini[600];

	(void)state;
	snprintf(ini, sizeof(ini), "[a]\nx %300s= 1\ny = 1\n", "");
	assert_draft(ini, "1[a]\n2 x=1\n3 y=1\n");
}

/* Values with all kinds of words at every place of a long line. */
static void
long_lines_are_whole(void **state)
{
	static const char *const words[] = {"a", "ab", "a=b", "a;b", "a;;b",
	    "#a", "a#", "a  b", "a \t b", "[a]", "a:b"};
	static char ini[3000], expected[4000];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (size_t pad = 0; pad < 230; pad++) {
			size_t len = (size_t)snprintf(
			    ini, sizeof(ini), "[a]\nx = %0*d", (int)pad, 7);

			while (len < 1000 + pad)
				len += (size_t)snprintf(ini + len,
				    sizeof(ini) - len, " %s", words[i]);
			snprintf(expected, sizeof(expected),
			    "1[a]\n2 x=%s\n3 y=1\n", ini + strlen("[a]\nx = "));
			snprintf(ini + len, sizeof(ini) - len, " ; c\ny = 1\n");
			assert_draft(ini, expected);
		}
	}
}

static void
longest_line_is_whole(void **state)
{
	static char ini[9000], expected[9000];

	(void)state;
	snprintf(ini, sizeof(ini), "[a]\n     x=%08190d    \n", 7);
	snprintf(expected, sizeof(expected), "1[a]\n2 x=%08190d\n", 7);
	assert_draft(ini, expected);
}

static void
longer_line_is_an_error_with_its_line(void **state)
{
	static char ini[30000];

	(void)state;
	snprintf(ini, sizeof(ini),
	    FRONTEND "x=%08191d\n" BACKEND "retries=%09000d\ny = 1\n", 7, 7);
	assert_errors(ini,
	    "4: the line has 8193 characters; at most 8192 are allowed\n"
	    "4: unknown key 'x' in [frontend f]\n"
	    "7: the line has 9008 characters; at most 8192 are allowed\n"
	    "8: unknown key 'y' in [backend b]");
}

/* The key is there, though not what it says: it is not missing, and what would
 * follow from it is not looked for. */
static void
line_with_an_error_adds_no_false_ones(void **state)
{
	static char ini[30000];

	(void)state;
	snprintf(ini, sizeof(ini),
	    "[frontend f]\nlisten = %09000d\nbackend = b\n" BACKEND, 7);
	assert_errors(ini, "2: the line has 9009 characters; at most");
	snprintf(ini, sizeof(ini),
	    FRONTEND "[backend b]\nserver = s 10.0.0.1:80 %09000d\n", 7);
	assert_errors(ini, "5: the line has 9023 characters; at most");
	assert_errors(FRONTEND "[backend b]\nserver = s\xc2\xa0"
	                       "10.0.0.1:80\n"
	                       "server = t 10.0.0.2:80 track=s\n",
	    "5: the line has a no-break space (U+00A0); write an ordinary");
	assert_errors(FRONTEND "[backend b]\nserver s 10.0.0.1:80\n"
	                       "server = t 10.0.0.2:80 track=s\n",
	    "5: the '=' between key and value is missing; write server = s 10");
	assert_errors(FRONTEND BACKEND "check = htt\x01p\n"
	                               "check_header = A: b\n",
	    "6: the line has the control character 0x01");
}

static void
long_head_keeps_its_keys_from_the_section_above(void **state)
{
	static char ini[20000];

	(void)state;
	snprintf(ini, sizeof(ini),
	    FRONTEND BACKEND "[frontend %09000d]\nlisten = :80\n", 7);
	assert_errors(ini, "6: the line has 9011 characters");
}

static void
backslash_continues_a_line(void **state)
{
	(void)state;
	assert_draft(
	    "[a]\nx = 1 \\\n  2\\\n\t3\ny = 4\n", "1[a]\n2 x=1 2 3\n5 y=4\n");
	/* Also where blanks or a carriage return follow. */
	assert_draft("[a]\nx = 1 \\ \t\r\n2\r\n", "1[a]\n2 x=1 2\n");
	/* Comment lines among the parts are left out. */
	assert_draft("[a]\nx = 1 \\\n; c \\\n # d\n  2\ny = 3\n",
	    "1[a]\n2 x=1 2\n6 y=3\n");
	/* A comment or an empty line ends the value. */
	assert_draft("[a]\nx = 1 \\\n2 ; c \\\ny = 3 \\\n\nz = 4\n",
	    "1[a]\n2 x=1 2\n4 y=3\n6 z=4\n");
	assert_draft("; c \\\n[a] ; c \\\nx = \\\n 1\n", "2[a]\n3 x=1\n");
	assert_draft("[a]\n\\\n x = 1\n", "1[a]\n2 x=1\n");
	/* Behind a backslash a '[' begins no section. */
	assert_draft("[a]\nx = \\\n[::1]:80\n", "1[a]\n2 x=[::1]:80\n");
	/* Within a line, or before a comment, a backslash is itself. */
	assert_draft(
	    "[a]\nx = \\d \\ ; c\ny = 1\n", "1[a]\n2 x=\\d \\\n3 y=1\n");
}

static void
errors_in_continued_lines_have_their_place(void **state)
{
	(void)state;
	assert_errors(FRONTEND BACKEND "retries = \\\n11\nx = 1 \\\n"
	                               "\x01 \\\n2\ny = 1\n",
	    "6: retries: '11' is not a whole number\n"
	    "8: unknown key 'x' in [backend b]\n"
	    "9: the line has the control character 0x01\n"
	    "11: unknown key 'y' in [backend b]");
	assert_errors(FRONTEND BACKEND "retries = 1 \\",
	    "6: the last line ends in a backslash, and no line follows");
	assert_errors(FRONTEND "[backend b] \\\nserver = s 10.0.0.1:80\n",
	    "4: '\\' follows the section's ']'");
}

/* A value that ends in a backslash must not swallow the line below. */
static void
backslash_at_the_end_is_printed_and_read(void **state)
{
	(void)state;
	assert_prints(FRONTEND BACKEND "check = http\n"
	                               "check_body = regex a\\\\ ;\n",
	    "\ncheck_body = regex a\\\\ ;\n");
}

static void
long_comment_is_fine(void **state)
{
	char ini[2000];

	(void)state;
	snprintf(ini, sizeof(ini), "; %01000d\n[a]\nx = 1\n", 7);
	assert_draft(ini, "2[a]\n3 x=1\n");
}

static void
nul_bytes_are_errors(void **state)
{
	static const char ini[] = FRONTEND BACKEND "retries = 1\0001\n\0\n"
	                                           "; c\0\nx = 1\n";
	static const char expected[] =
	    "6: the line has a NUL byte; this must be a text file\n"
	    "7: the line has a NUL byte; this must be a text file\n"
	    "8: the line has a NUL byte; this must be a text file\n"
	    "9: unknown key 'x' in [backend b]; allowed are balance, ";
	char *errors;

	(void)state;
	assert_null(load_bytes(ini, sizeof(ini) - 1, &errors));
	/* All keys that are allowed follow. */
	assert_int_equal(strncmp(errors, expected, strlen(expected)), 0);
	free(errors);
}

static void
control_characters_are_errors(void **state)
{
	(void)state;
	assert_errors(FRONTEND BACKEND "retries = \x1b[1m\nx\ry = 1\n\x7f\n",
	    "6: the line has the control character 0x1b; only printable\n"
	    "7: the line has the control character 0x0d\n"
	    "8: the line has the control character 0x7f");
	/* A tab is a blank. */
	assert_draft("[a]\nx\t=\t1\t2\n", "1[a]\n2 x=1\t2\n");
}

static void
lines_of_no_kind_are_errors(void **state)
{
	(void)state;
	assert_errors(FRONTEND BACKEND "plain\nretries 3\n= 3\n : \nlast",
	    "6: the line is neither [section] nor 'key = value' nor a comment\n"
	    "7: the '=' between key and value is missing; write retries = 3\n"
	    "8: the key before the '=' is missing\n"
	    "9: the line is neither [section] nor 'key = value' nor a comment\n"
	    "10: the line is neither [section] nor 'key = value' nor a ");
}

static void
malformed_heads_are_errors(void **state)
{
	(void)state;
	assert_errors(FRONTEND "[backend b\nserver = s 10.0.0.1:80\n",
	    "4: the section has no ']'; write [section] or [section NAME]");
	assert_errors(FRONTEND BACKEND "[]\nx = 1\n[ \t]\n[pool p] x\n",
	    "6: the section has no name; write [section]\n"
	    "8: the section has no name; write [section]\n"
	    "9: 'x' follows the section's ']'; only a comment");
	assert_errors(FRONTEND "[backend b ; c]\nserver = s 10.0.0.1:80\n",
	    "4: the section has no ']'; write [section] or [section NAME]");
}

static void
key_before_any_section_is_an_error(void **state)
{
	(void)state;
	assert_errors("a = 1\nb = 2\n" FRONTEND BACKEND,
	    "1: the key 'a' comes before any section; write a [section]\n"
	    "2: the key 'b' comes before any section; write a [section]");
	assert_errors("a = 1\n", "1: the key 'a' comes before any section");
}

static void
assert_path_error(const char *path, const char *expected)
{
	struct err_list errors;
	struct spec *spec = NULL;

	err_list_init(&errors);
	assert_false(
	    config_load_all((const char *[]){path}, 1, NULL, &spec, &errors));
	assert_null(spec);
	assert_int_equal(errors.n, 1);
	assert_string_equal(errors.entries[0].file, path);
	assert_int_equal(errors.entries[0].line, 0);
	assert_string_equal(errors.entries[0].text, expected);
	err_list_fini(&errors);
}

static void
unreadable_files_are_errors_of_their_kind(void **state)
{
	char path[32];

	(void)state;
	assert_path_error("/nonexistent/lfproxy.ini",
	    "cannot be read: No such file or directory");
	assert_path_error("/proc",
	    "is a directory without *.ini in it; name a file, or a directory "
	    "of such files");
	assert_path_error(
	    "/dev/zero", "is larger than 16 MiB; this is not a configuration");
	write_file(path, "x", 1);
	assert_int_equal(chmod(path, 0), 0);
	if (geteuid() != 0)
		assert_path_error(path, "cannot be read: Permission denied");
	unlink(path);
	/* A file that opens and cannot be read, whoever reads. */
	assert_path_error(
	    "/proc/self/mem", "cannot be read: Input/output error");
}

static void
empty_files_are_an_error(void **state)
{
	static const char *const empty[] = {
	    "", "\n", "; only\n# comments\n\n", "\xef\xbb\xbf"};

	(void)state;
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		assert_errors(
		    empty[i], " the file is empty or has comments only; it");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(entries_have_their_lines),
	    cmocka_unit_test(equals_separates),
	    cmocka_unit_test(indentation_means_nothing),
	    cmocka_unit_test(comments_end_lines),
	    cmocka_unit_test(empty_and_repeated_sections_are_seen),
	    cmocka_unit_test(line_ends_and_byte_order_marks_are_accepted),
	    cmocka_unit_test(missing_newline_at_the_end_is_fine),
	    cmocka_unit_test(long_names_are_not_cut),
	    cmocka_unit_test(lines_of_every_length_are_whole),
	    cmocka_unit_test(blanks_before_the_equals_are_not_limited),
	    cmocka_unit_test(long_lines_are_whole),
	    cmocka_unit_test(longest_line_is_whole),
	    cmocka_unit_test(longer_line_is_an_error_with_its_line),
	    cmocka_unit_test(line_with_an_error_adds_no_false_ones),
	    cmocka_unit_test(long_head_keeps_its_keys_from_the_section_above),
	    cmocka_unit_test(backslash_continues_a_line),
	    cmocka_unit_test(errors_in_continued_lines_have_their_place),
	    cmocka_unit_test(backslash_at_the_end_is_printed_and_read),
	    cmocka_unit_test(long_comment_is_fine),
	    cmocka_unit_test(nul_bytes_are_errors),
	    cmocka_unit_test(control_characters_are_errors),
	    cmocka_unit_test(lines_of_no_kind_are_errors),
	    cmocka_unit_test(malformed_heads_are_errors),
	    cmocka_unit_test(key_before_any_section_is_an_error),
	    cmocka_unit_test(unreadable_files_are_errors_of_their_kind),
	    cmocka_unit_test(empty_files_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
