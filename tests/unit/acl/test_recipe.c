/* SPDX-License-Identifier: MIT
 * Reading what lists are made of: entries, files of lines, MaxMind databases.
 */
#include "acl/recipe.h"

#include <arpa/inet.h>

#include "acl/file.h"
#include "unit.h"

static char dir[] = "/tmp/lfproxy-acl-XXXXXX";
static char path[sizeof(dir) + 16];
static struct err_list errors;

static void
write_file(const void *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* Reads a list of this one file.  Returns NULL with errors. */
static struct acl_content *
read_file(const char *countries)
{
	struct acl_recipe *r = acl_recipe_new();
	struct acl_content *c;

	assert_non_null(r);
	assert_true(acl_recipe_add_file(r, path, countries));
	err_list_fini(&errors);
	c = acl_recipe_read(r, &errors);
	acl_recipe_unref(r);
	assert_int_equal(c == NULL, errors.n > 0);
	return c;
}

static struct acl_content *
read_text(const char *text)
{
	write_file(text, strlen(text));
	return read_file(NULL);
}

static bool
has(const struct acl_content *c, const char *client)
{
	struct endpoint e;
	struct addr addr;

	assert_true(addr_parse_ip(client, &addr));
	endpoint_set(&e, &addr.sa, addr.len);
	return acl_table_has(acl_content_table(c), &e);
}

static void
comments_blanks_and_empty_lines_are_skipped(void **state)
{
	struct acl_content *c = read_text("# a comment\n\n"
	                                  " \t10.0.0.0/8\t # behind it\r\n"
	                                  "#192.0.2.1\n"
	                                  "2001:db8::/32#\n"
	                                  "unix\n"
	                                  "192.0.2.7");
	struct acl_entry e;

	assert_non_null(c);
	assert_int_equal(acl_content_entries(c), 4);
	assert_true(acl_content_at(c, 1, &e));
	assert_int_equal(e.line, 3);
	assert_string_equal(acl_content_source(c, e.source), path);
	assert_true(acl_content_at(c, 2, &e));
	assert_int_equal(e.line, 7);
	assert_true(has(c, "10.1.2.3"));
	assert_false(has(c, "192.0.2.1"));
	acl_content_free(c);
}

static void
an_empty_file_is_an_empty_list(void **state)
{
	struct acl_content *c = read_text("");

	assert_non_null(c);
	assert_int_equal(acl_content_entries(c), 0);
	acl_content_free(c);
}

static void
wrong_lines_are_told_with_their_numbers(void **state)
{
	assert_null(read_text("10.0.0.0/8\n10.0.0.0/33\n10.0.0.1/8\n"
	                      "www.example.com\n1.2.3.4 5.6.7.8\n"));
	assert_int_equal(errors.n, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(errors.entries[i].file, path);
		assert_int_equal(errors.entries[i].line, 2 + i);
	}
	assert_string_equal(errors.entries[0].text,
	    "'10.0.0.0/33' has no number from 0 to 32 behind /");
	assert_string_equal(errors.entries[1].text,
	    "'10.0.0.1/8' has bits beyond the first 8; write 10.0.0.0/8");
}

static void
a_file_of_another_kind_has_few_errors(void **state)
{
	char text[4096];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(text); i += 4)
		text[i] = i % 64 ? '\0' : '\n';
	write_file(text, sizeof(text));
	assert_null(read_file(NULL));
	assert_int_equal(errors.n, ACL_FILE_ERRORS_MAX + 1);
	assert_non_null(strstr(errors.entries[0].text, "lines more are wrong"));
}

static void
what_is_not_a_file_is_told(void **state)
{
	char saved[sizeof(path)];

	unlink(path);
	assert_null(read_file(NULL));
	assert_non_null(strstr(errors.entries[0].text, "No such file"));
	strcpy(saved, path);
	strcpy(path, dir);
	assert_null(read_file(NULL));
	assert_non_null(strstr(errors.entries[0].text, "not a regular file"));
	strcpy(path, saved);
}

static void
entries_and_files_make_one_list(void **state)
{
	struct acl_recipe *r = acl_recipe_new();
	struct acl_content *c;
	struct endpoint client = {.family = AF_INET, .ip = {192, 0, 2, 9}};
	struct acl_entry e;
	struct cidr range;

	write_file("10.0.0.0/8\n", 11);
	assert_non_null(r);
	assert_true(cidr_parse("192.0.2.0/24", &range, NULL));
	assert_true(acl_recipe_add_entry(r, &range, "a.ini", 7));
	assert_true(cidr_parse("192.0.2.8/30", &range, NULL));
	assert_true(acl_recipe_add_entry(r, &range, "b.ini", 3));
	assert_true(acl_recipe_add_file(r, path, NULL));
	assert_string_equal(acl_recipe_file(r, 0), path);
	assert_null(acl_recipe_file(r, 1));
	c = acl_recipe_read(r, &errors);
	acl_recipe_unref(r);
	assert_non_null(c);
	assert_int_equal(acl_content_entries(c), 3);
	assert_true(acl_content_find(c, &client, &e));
	assert_string_equal(acl_content_source(c, e.source), "b.ini");
	assert_int_equal(e.line, 3);
	acl_content_free(c);
}

/* Returns the warning about that file, or NULL. */
static const char *
warning_of(const struct err_list *warnings, const char *file, unsigned line)
{
	for (size_t i = 0; i < warnings->n; i++)
		if (strcmp(warnings->entries[i].file, file) == 0 &&
		    warnings->entries[i].line == line)
			return warnings->entries[i].text;
	return NULL;
}

static void
a_file_with_covered_entries_has_one_warning_at_the_first(void **state)
{
	static const char lines[] =
	    "10.1.0.0/16\n2001:db8:0:1::\n2001:db8::/32\n10.0.0.0/8\n"
	    "10.1.2.3\n11.0.0.0\n10.1.2.3\n";
	struct acl_recipe *r = acl_recipe_new();
	struct err_list warnings;
	struct acl_content *c;
	const struct acl_covered *covered;
	const char *text;

	write_file(lines, sizeof(lines) - 1);
	err_list_init(&warnings);
	assert_non_null(r);
	assert_true(acl_recipe_add_file(r, path, NULL));
	c = acl_recipe_read(r, &errors);
	assert_non_null(c);
	/* 10.1.2.3 is in the list once. */
	assert_int_equal(acl_content_entries(c), 6);
	covered = acl_content_covered(c, 0);
	assert_int_equal(covered->n, 4);
	assert_int_equal(covered->first.line, 1);
	assert_int_equal(covered->cover.line, 4);
	assert_null(acl_content_covered(c, 1));
	acl_recipe_warn(r, c, "office", &warnings);
	assert_int_equal(warnings.n, 1);
	text = warning_of(&warnings, path, 1);
	assert_non_null(text);
	assert_string_equal(text,
	    "warning: [list office]: 10.1.0.0/16 is without effect: 10.0.0.0/8 "
	    "on line 4 has it; remove one; 3 more entries of this file are "
	    "without effect");
	err_list_fini(&warnings);
	acl_content_free(c);
	acl_recipe_unref(r);
}

/* Entries of the configuration are compared with each other elsewhere. */
static void
entries_of_a_file_and_the_configuration_are_compared(void **state)
{
	struct acl_recipe *r = acl_recipe_new();
	struct err_list warnings;
	struct acl_content *c;
	struct cidr range;

	write_file("unix\n192.0.2.0/24\n10.0.0.1\n", 27);
	err_list_init(&warnings);
	assert_non_null(r);
	assert_true(cidr_parse("10.0.0.0/8", &range, NULL));
	assert_true(acl_recipe_add_entry(r, &range, "a.ini", 1));
	assert_true(acl_recipe_add_entry(r, &range, "a.ini", 2));
	assert_true(cidr_parse("192.0.2.1", &range, NULL));
	assert_true(acl_recipe_add_entry(r, &range, "b.ini", 7));
	assert_true(cidr_parse("unix", &range, NULL));
	assert_true(acl_recipe_add_entry(r, &range, "c.ini", 1));
	assert_true(acl_recipe_add_file(r, path, NULL));
	c = acl_recipe_read(r, &errors);
	assert_non_null(c);
	acl_recipe_warn(r, c, "office", &warnings);
	assert_int_equal(warnings.n, 2);
	assert_int_equal(acl_content_covered(c, 0)->n, 1);
	assert_int_equal(acl_content_covered(c, 1)->n, 1);
	assert_int_equal(acl_content_covered(c, 2)->n, 0);
	assert_int_equal(acl_content_covered(c, 3)->n, 2);
	assert_non_null(strstr(warning_of(&warnings, "b.ini", 7),
	    "192.0.2.1 is without effect: 192.0.2.0/24 on line 2 of /tmp/"));
	assert_string_equal(warning_of(&warnings, path, 1),
	    "warning: [list office]: unix is without effect: unix on line 1 of "
	    "c.ini has it; remove one; 1 more entry of this file is without "
	    "effect");
	err_list_fini(&warnings);
	acl_content_free(c);
	acl_recipe_unref(r);
}

/* -- a MaxMind database, written as its specification says -- */

#define NODES_MAX 4096u
#define NO_NODE   UINT32_MAX

/* A record of a node: another node, or a country. */
struct mm_record {
	uint32_t node;
	unsigned country; /* from 1; 0: none */
};
static struct mm_record nodes[NODES_MAX][2];
static uint32_t nodes_n;
static uint8_t out[1 << 16];
static size_t out_n;

static void
mm_begin(void)
{
	nodes_n = 1;
	nodes[0][0] = nodes[0][1] = (struct mm_record){.node = NO_NODE};
}

/* Returns the record of the prefix, with nodes on the way to it. */
static struct mm_record *
mm_record(const uint8_t ip[16], unsigned bits)
{
	uint32_t at = 0;

	for (unsigned i = 0;; i++) {
		struct mm_record *r = &nodes[at][ip[i / 8] >> (7 - i % 8) & 1];

		if (i + 1 == bits)
			return r;
		if (r->node == NO_NODE) {
			assert_true(nodes_n < NODES_MAX);
			r->node = nodes_n;
			nodes[nodes_n][0] = nodes[nodes_n][1] =
			    (struct mm_record){.node = NO_NODE};
			nodes_n++;
		}
		at = r->node;
	}
}

/* text: IPv4 addresses stand in the last 32 bits of the tree. */
static void
mm_add(const char *text, unsigned bits, unsigned country)
{
	uint8_t ip[16] = {0};

	if (strchr(text, ':')) {
		assert_int_equal(inet_pton(AF_INET6, text, ip), 1);
	} else {
		assert_int_equal(inet_pton(AF_INET, text, ip + 12), 1);
		bits += 96;
	}
	mm_record(ip, bits)->country = country;
}

static void
put_bytes(const void *bytes, size_t n)
{
	memcpy(out + out_n, bytes, n);
	out_n += n;
}

static void
put_byte(unsigned byte)
{
	put_bytes(&(uint8_t){(uint8_t)byte}, 1);
}

static void
put_string(const char *s)
{
	put_byte(2u << 5 | (unsigned)strlen(s));
	put_bytes(s, strlen(s));
}

static void
put_number(const char *name, unsigned type, uint64_t n, unsigned size)
{
	put_string(name);
	if (type > 7) {
		put_byte(size);
		put_byte(type - 7);
	} else {
		put_byte(type << 5 | size);
	}
	for (unsigned i = size; i-- > 0;)
		put_byte((unsigned)(n >> 8 * i) & 0xff);
}

static void
put_metadata(uint32_t node_count)
{
	put_bytes("\xab\xcd\xefMaxMind.com", 14);
	put_byte(7u << 5 | 9);
	put_number("node_count", 6, node_count, 4);
	put_number("record_size", 5, 24, 2);
	put_number("ip_version", 5, 6, 2);
	put_number("binary_format_major_version", 5, 2, 2);
	put_number("binary_format_minor_version", 5, 0, 2);
	put_number("build_epoch", 9, 1700000000, 8);
	put_string("database_type");
	put_string("Test-Country");
	put_string("languages");
	put_byte(0); /* an array of none */
	put_byte(11 - 7);
	put_string("description");
	put_byte(7u << 5);
}

/* Each record of the data section: {"country": {"iso_code": CODE}}. */
#define MM_DATA_SIZE 22u

static void
mm_write(const char *const *codes, uint32_t node_count)
{
	out_n = 0;
	for (uint32_t i = 0; i < nodes_n; i++)
		for (unsigned side = 0; side < 2; side++) {
			const struct mm_record *r = &nodes[i][side];
			uint32_t value = node_count;

			if (r->country)
				value = node_count + 16 +
				        (r->country - 1) * MM_DATA_SIZE;
			else if (r->node != NO_NODE)
				value = r->node;
			for (unsigned b = 3; b-- > 0;)
				put_byte(value >> 8 * b & 0xff);
		}
	put_bytes((uint8_t[16]){0}, 16);
	for (; *codes; codes++) {
		size_t begin = out_n;

		put_byte(7u << 5 | 1);
		put_string("country");
		put_byte(7u << 5 | 1);
		put_string("iso_code");
		put_string(*codes);
		assert_int_equal(out_n - begin, MM_DATA_SIZE);
	}
	put_metadata(node_count);
	write_file(out, out_n);
}

static const char *const codes[] = {"DE", "FR", "CH", NULL};

static void
fill_world(void)
{
	mm_begin();
	mm_add("10.0.0.0", 8, 1);
	mm_add("11.128.0.0", 9, 2);
	mm_add("12.0.0.1", 32, 3);
	mm_add("2a00::", 16, 1);
	mm_add("2a01:db8::", 48, 2);
}

static void
networks_of_a_country_are_taken_from_a_database(void **state)
{
	struct acl_content *c;
	struct acl_entry e;

	fill_world();
	mm_write(codes, nodes_n);
	c = read_file("FR");
	assert_non_null(c);
	assert_int_equal(acl_content_entries(c), 2);
	assert_true(has(c, "11.128.0.0"));
	assert_false(has(c, "11.127.255.255"));
	assert_false(has(c, "10.1.1.1"));
	assert_true(has(c, "2a01:db8::1"));
	assert_false(has(c, "2a01:db9::"));
	assert_true(acl_content_at(c, 0, &e));
	assert_int_equal(e.line, 0);
	assert_non_null(strstr(acl_content_source(c, e.source), " country=FR"));
	acl_content_free(c);
	c = read_file("CH,DE");
	assert_non_null(c);
	assert_int_equal(acl_content_entries(c), 3);
	assert_true(has(c, "12.0.0.1"));
	assert_false(has(c, "12.0.0.2"));
	assert_true(has(c, "2a00:ffff::"));
	acl_content_free(c);
	c = read_file("AT");
	assert_non_null(c);
	assert_int_equal(acl_content_entries(c), 0);
	acl_content_free(c);
}

static void
ipv4_within_ipv6_counts_once(void **state)
{
	struct acl_content *c;
	uint8_t ip[16] = {0};
	uint32_t v4;

	fill_world();
	v4 = mm_record(ip, 96)->node;
	inet_pton(AF_INET6, "2002::", ip);
	mm_record(ip, 16)->node = v4;
	inet_pton(AF_INET6, "::ffff:0:0", ip);
	mm_record(ip, 96)->node = v4;
	mm_write(codes, nodes_n);
	c = read_file("DE");
	assert_non_null(c);
	assert_int_equal(acl_content_entries(c), 2);
	acl_content_free(c);
}

static void
a_database_whose_nodes_go_in_circles_is_refused(void **state)
{
	uint8_t ip[16] = {0x2b};

	fill_world();
	mm_record(ip, 8)->node = 0;
	mm_write(codes, nodes_n);
	assert_null(read_file("DE"));
	assert_non_null(
	    strstr(errors.entries[0].text, "not a MaxMind database"));
}

static void
what_is_not_a_database_of_countries_is_refused(void **state)
{
	write_file("10.0.0.0/8\n", 11);
	assert_null(read_file("DE"));
	assert_non_null(
	    strstr(errors.entries[0].text, "not a MaxMind database"));
	mm_begin();
	mm_write(codes, nodes_n);
	assert_null(read_file("DE"));
	assert_non_null(strstr(errors.entries[0].text, "has no countries"));
}

static int
make_dir(void **state)
{
	err_list_init(&errors);
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/list", dir);
	return 0;
}

static int
remove_dir(void **state)
{
	err_list_fini(&errors);
	unlink(path);
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(comments_blanks_and_empty_lines_are_skipped),
	    cmocka_unit_test(an_empty_file_is_an_empty_list),
	    cmocka_unit_test(wrong_lines_are_told_with_their_numbers),
	    cmocka_unit_test(a_file_of_another_kind_has_few_errors),
	    cmocka_unit_test(what_is_not_a_file_is_told),
	    cmocka_unit_test(entries_and_files_make_one_list),
	    cmocka_unit_test(
	        a_file_with_covered_entries_has_one_warning_at_the_first),
	    cmocka_unit_test(
	        entries_of_a_file_and_the_configuration_are_compared),
	    cmocka_unit_test(networks_of_a_country_are_taken_from_a_database),
	    cmocka_unit_test(ipv4_within_ipv6_counts_once),
	    cmocka_unit_test(a_database_whose_nodes_go_in_circles_is_refused),
	    cmocka_unit_test(what_is_not_a_database_of_countries_is_refused),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
