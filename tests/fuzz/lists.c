/* SPDX-License-Identifier: MIT
 * Files of address lists, as lines or, if the input begins with `M`, as a
 * MaxMind database: an accepted file prints as one that has the same entries,
 * and the table has an address exactly if an entry has it.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "acl/file.h"
#include "fuzz/fuzz.h"

/* Entries beyond these are not tried with each other. */
#define TRIED_MAX 200u

/* The first address of the range, and the one behind its last. */
static void
check_borders(const struct acl_content *c, const struct cidr *range)
{
	struct endpoint first = {.family = range->family}, next;
	unsigned bytes = range->family == AF_INET ? 4 : 16;
	struct acl_entry found;

	memcpy(first.ip, range->ip, sizeof(first.ip));
	ENSURE(acl_table_has(acl_content_table(c), &first));
	next = first;
	for (unsigned i = range->bits; i < 8 * bytes; i++)
		next.ip[i / 8] |= (uint8_t)(0x80u >> i % 8);
	ENSURE(acl_table_has(acl_content_table(c), &next));
	for (unsigned i = bytes; i-- > 0 && ++next.ip[i] == 0;)
		;
	ENSURE(acl_table_has(acl_content_table(c), &next) ==
	       acl_content_find(c, &next, &found));
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
	for (size_t i = 0; i < TRIED_MAX && acl_content_at(c, i, &e); i++)
		if (e.range.family != AF_UNIX)
			check_borders(c, &e.range);
	again = read_again(c);
	ENSURE(acl_content_entries(again) == acl_content_entries(c));
	acl_content_free(again);
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
	else
		ENSURE(acl_file_parse("input", text, size, c, &errors));
	if (errors.n == 0)
		check(c);
	err_list_fini(&errors);
	acl_content_free(c);
	free(text);
	return 0;
}
