/* SPDX-License-Identifier: MIT
 * The file of users of the HTTP port.
 */
#include "config/users_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/* crypt("secret") by bcrypt of the least cost. */
#define BCRYPT "$2y$04$6TYDTnlRQpBJdZOQ1qCKZOtDncmdtb2QkIk4uxB9qWbeWkZbKgVrC"
static char path[32];

static void
write_users(const char *text)
{
	FILE *out;
	int fd;

	strcpy(path, "/tmp/lfproxy-users-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static void
assert_wrong(const char *text, unsigned line, const char *what)
{
	char place[64];
	struct err err;

	write_users(text);
	assert_false(users_check(path, &err));
	snprintf(place, sizeof(place), "%s:%u: ", path, line);
	if (strncmp(err.text, place, strlen(place)) != 0 ||
	    !strstr(err.text, what))
		fail_msg("found: %s", err.text);
	unlink(path);
}

static void
wrong_lines_are_told(void **state)
{
	(void)state;
	assert_wrong("alice\n", 1, "NAME:HASH");
	assert_wrong("# x\n\nalice:*:admin:more\n", 3, "NAME:HASH");
	assert_wrong(":*\n", 1, "the name has");
	assert_wrong("a b:*\n", 1, "the name has");
	assert_wrong("alice:secret\n", 1, "not a hash of crypt(3)");
	assert_wrong("alice:\n", 1, "not a hash of crypt(3)");
	assert_wrong("alice:$1$abcdefgh$x\n", 1, "not a hash of crypt(3)");
	assert_wrong("alice:*:root\n", 1, "user, operator or admin");
	assert_wrong("alice:*\nbob:*\nalice:*\n", 3, "above");
}

static void
only_some_may_read_it(void **state)
{
	struct err err;

	(void)state;
	write_users("alice:*\n");
	assert_true(users_check(path, &err));
	assert_int_equal(chmod(path, 0644), 0);
	assert_false(users_check(path, &err));
	assert_non_null(strstr(err.text, "chmod o-r"));
	unlink(path);
	assert_false(users_check(path, &err));
	assert_non_null(strstr(err.text, "cannot be opened"));
	assert_false(users_check("/tmp", &err));
}

static void
users_are_found(void **state)
{
	struct user user;
	struct err err;

	(void)state;
	write_users("# staff\r\nalice:" BCRYPT
	            ":admin\r\n\nbob:*\ncarol:" BCRYPT ":user");
	assert_true(users_find(path, "alice", &user, &err));
	assert_int_equal(user.level, LEVEL_ADMIN);
	assert_true(users_find(path, "bob", &user, &err));
	assert_int_equal(user.level, LEVEL_OPERATOR);
	assert_true(users_find(path, "carol", &user, &err));
	assert_int_equal(user.level, LEVEL_USER);
	assert_false(users_find(path, "dave", &user, &err));
	assert_string_equal(err.text, "");
	assert_false(users_find(path, "", &user, &err));
	unlink(path);
}

static void
passwords_fit_their_hash(void **state)
{
	struct user user;
	struct err err;

	(void)state;
	write_users("alice:" BCRYPT ":admin\nbob:*\n");
	assert_true(users_authenticate(path, "alice", "secret", &user, &err));
	assert_string_equal(user.name, "alice");
	assert_int_equal(user.level, LEVEL_ADMIN);
	assert_false(users_authenticate(path, "alice", "Secret", &user, &err));
	assert_string_equal(err.text, "");
	assert_false(users_authenticate(path, "alice", "", &user, &err));
	assert_false(users_authenticate(path, "bob", "*", &user, &err));
	assert_false(users_authenticate(path, "bob", "", &user, &err));
	/* His password is compared with the hash of another user. */
	assert_false(users_authenticate(path, "bob", "secret", &user, &err));
	assert_false(users_authenticate(path, "dave", "secret", &user, &err));
	assert_string_equal(err.text, "");
	unlink(path);
	assert_false(users_authenticate(path, "alice", "secret", &user, &err));
	assert_string_not_equal(err.text, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wrong_lines_are_told),
	    cmocka_unit_test(only_some_may_read_it),
	    cmocka_unit_test(users_are_found),
	    cmocka_unit_test(passwords_fit_their_hash),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
