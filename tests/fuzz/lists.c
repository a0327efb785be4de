/* SPDX-License-Identifier: MIT
 * Files of address lists, as lines or, if the input begins with `M`, as a
 * MaxMind database: an accepted file prints as one that has the same entries,
 * and the table has an address exactly if one of all entries has it, compared
 * bit by bit.
 *
 * If the input begins with `C`, it describes rows of ranges that lie close
 * together: more of them than lines would have.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "acl/file.h"
#include "fuzz/fuzz.h"

/* The number of entries that are compared with all others. */
#define TRIED_MAX 16u

static bool
plain_range_has(const struct cidr *range, const struct endpoint *e)
{
	if (range->family != e->family)
		return false;
	for (unsigned i = 0; i < range->bits; i++)
		if ((range->ip[i / 8] ^ e->ip[i / 8]) & 0x80u >> i % 8)
			return false;
	return true;
}

/* The table and the search for an entry agree with looking at all entries. */
static void
check_address(const struct acl_content *c, const struct endpoint *address)
{
	struct acl_entry e, found;
	int longest = -1;

	for (size_t i = 0; acl_content_at(c, i, &e); i++)
		if (plain_range_has(&e.range, address) &&
		    (int)e.range.bits > longest)
			longest = (int)e.range.bits;
	ENSURE(acl_table_has(acl_content_table(c), address) == (longest >= 0));
	ENSURE(acl_content_find(c, address, &found) == (longest >= 0));
	ENSURE(longest < 0 || (int)found.range.bits == longest);
}

/* The first address of the range, its last one, and those beside them. */
static void
check_borders(const struct acl_content *c, const struct cidr *range)
{
	struct endpoint first = {.family = range->family}, next;
	unsigned bytes = range->family == AF_INET ? 4 : 16;

	memcpy(first.ip, range->ip, sizeof(first.ip));
	ENSURE(acl_table_has(acl_content_table(c), &first));
	check_address(c, &first);
	next = first;
	for (unsigned i = range->bits; i < 8 * bytes; i++)
		next.ip[i / 8] |= (uint8_t)(0x80u >> i % 8);
	check_address(c, &next);
	for (unsigned i = bytes; i-- > 0 && ++next.ip[i] == 0;)
		;
	check_address(c, &next);
	for (unsigned i = bytes; i-- > 0 && first.ip[i]-- == 0;)
		;
	check_address(c, &first);
}

static struct acl_content *
read_again(const struct acl_content *c)
{
	struct acl_content *again = acl_content_new();
	struct err_list errors;
	struct acl_entry e;
	char text[CIDR_TEXT_SIZE + 1];

	err_list_init(&errors);
	ENSURE(again);
	for (size_t i = 0; acl_content_at(c, i, &e); i++) {
		size_t n = strlen(cidr_text(&e.range, text));
		struct acl_entry same = {.range = e.range};

		/* Each line is a file of its own, up to the limit. */
		if (i < ACL_SOURCES_MAX)
			ENSURE(
			    acl_file_parse("again", text, n, again, &errors));
		else
			ENSURE(acl_content_add(again, &same));
	}
	ENSURE(errors.n == 0);
	err_list_fini(&errors);
	ENSURE(acl_content_seal(again));
	return again;
}

static void
check(struct acl_content *c)
{
	struct acl_content *again;
	struct acl_entry e;

	ENSURE(acl_content_seal(c));
	for (size_t i = 0; acl_content_at(c, i, &e);
	     i += 1 + acl_content_entries(c) / TRIED_MAX)
		if (e.range.family != AF_UNIX)
			check_borders(c, &e.range);
	again = read_again(c);
	ENSURE(acl_content_entries(again) == acl_content_entries(c));
	acl_content_free(again);
}

/* Six bytes are a row: where it begins, how far apart the ranges are, how many
 * there are, and how long. */
#define ROW      6u
#define ROWS_MAX 4u

static void
add_rows(const uint8_t *data, size_t size, struct acl_content *c)
{
	for (size_t row = 0; row < ROWS_MAX && (row + 1) * ROW <= size; row++) {
		const uint8_t *d = data + row * ROW;
		bool v4 = d[0] & 1;
		uint64_t at = (uint64_t)(d[0] >> 1) << 56 | (uint64_t)d[1]
		                                                << (d[2] & 63);
		uint64_t step = UINT64_C(1) << (d[3] & 63);
		unsigned bits = d[5] % (v4 ? 33 : 129);

		for (unsigned i = 0; i < d[4]; i++, at += step) {
			struct acl_entry entry = {
			    .range = {.family = v4 ? AF_INET : AF_INET6,
			        .bits = (uint8_t)bits}};

			for (unsigned j = 0; j < bits; j++)
				if (at >> (63 - j % 64) & 1)
					entry.range.ip[j / 8] |=
					    (uint8_t)(0x80u >> j % 8);
			ENSURE(acl_content_add(c, &entry));
		}
	}
}

static bool
read_database(const uint8_t *data, size_t size, struct acl_content *c,
    struct err_list *errors)
{
	char path[] = "/tmp/lfproxy-fuzz-XXXXXX";
	int fd = mkstemp(path);
	bool ok;

	ENSURE(fd >= 0);
	ENSURE(write(fd, data, size) == (ssize_t)size);
	close(fd);
	ok = acl_file_read_countries(path, "DE,FR", c, errors);
	unlink(path);
	return ok;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct acl_content *c = acl_content_new();
	char *text = fuzz_string(data, size);
	struct err_list errors;

	err_list_init(&errors);
	ENSURE(c);
	if (size > 0 && data[0] == 'M')
		ENSURE(read_database(data + 1, size - 1, c, &errors));
	else if (size > 0 && data[0] == 'C')
		add_rows(data + 1, size - 1, c);
	else
		ENSURE(acl_file_parse("input", text, size, c, &errors));
	if (errors.n == 0)
		check(c);
	err_list_fini(&errors);
	acl_content_free(c);
	free(text);
	return 0;
}
