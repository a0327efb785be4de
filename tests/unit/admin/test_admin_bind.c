/* SPDX-License-Identifier: MIT
 * The file of an admin socket: made, changed, lost, removed.
 */
#include "admin/admin_bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

static char dir[] = "/tmp/lfproxy-bind-XXXXXX";
static struct admin_spec spec;
static struct admin_bound bound;
static struct err err;

static bool swaps;

/* Instead of libc's: what another process may do between bind(2) and
 * listen(2), if it may write the directory. */
int
listen(int fd, int backlog)
{
	char moved[sizeof(spec.addr.un.sun_path) + 8];

	if (swaps) {
		FILE *decoy;

		snprintf(
		    moved, sizeof(moved), "%s.moved", spec.addr.un.sun_path);
		assert_int_equal(rename(spec.addr.un.sun_path, moved), 0);
		decoy = fopen(spec.addr.un.sun_path, "we");
		assert_non_null(decoy);
		fclose(decoy);
	}
	return (int)syscall(SYS_listen, fd, backlog);
}

static int
setup(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	spec = (struct admin_spec){.mode = 0640};
	spec.addr.un.sun_family = AF_UNIX;
	spec.addr.len = sizeof(spec.addr.un);
	snprintf(
	    spec.addr.un.sun_path, sizeof(spec.addr.un.sun_path), "%s/a", dir);
	return admin_bind(&spec, &bound, &err) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	(void)admin_unbind(&bound, &spec);
	(void)unlink(spec.addr.un.sun_path);
	return rmdir(dir);
}

static mode_t
mode_of_file(void)
{
	struct stat st;

	assert_int_equal(lstat(spec.addr.un.sun_path, &st), 0);
	return st.st_mode & 0777;
}

static void
a_change_is_kept_or_put_back(void **state)
{
	struct admin_spec to = spec;
	struct admin_file_change change;

	(void)state;
	to.mode = 0606;
	assert_true(admin_file_change(&bound, &spec, &to, &change, &err));
	assert_int_equal(mode_of_file(), 0606);
	admin_file_put_back(&change);
	assert_int_equal(mode_of_file(), 0640);
	assert_true(admin_file_change(&bound, &spec, &to, &change, &err));
	admin_file_keep(&change);
	assert_int_equal(mode_of_file(), 0606);
}

static void
what_does_not_differ_is_left_as_somebody_has_made_it(void **state)
{
	struct admin_spec to = spec;
	struct admin_file_change change;

	(void)state;
	assert_int_equal(chmod(spec.addr.un.sun_path, 0600), 0);
	to.timeout_ms = 7;
	assert_true(admin_file_change(&bound, &spec, &to, &change, &err));
	assert_int_equal(change.fd, -1);
	assert_int_equal(mode_of_file(), 0600);
}

static void
an_owner_who_is_not_there_changes_nothing(void **state)
{
	struct admin_spec to = spec;
	struct admin_file_change change;
	char nobody[] = "no-such-group";

	(void)state;
	to.mode = 0600;
	to.group = nobody;
	assert_false(admin_file_change(&bound, &spec, &to, &change, &err));
	assert_non_null(strstr(err.text, "is gone from this host"));
	assert_int_equal(change.fd, -1);
	assert_int_equal(mode_of_file(), 0640);
}

/* A link to another file, at whose place ours was. */
static void
what_is_not_our_file_is_not_touched(void **state)
{
	struct admin_spec to = spec;
	struct admin_file_change change;
	const char *path = spec.addr.un.sun_path;
	char other[sizeof(spec.addr.un.sun_path)];
	struct stat st;

	(void)state;
	assert_false(admin_bound_lost(&bound, &spec));
	snprintf(other, sizeof(other), "%s/b", dir);
	fclose(fopen(other, "w"));
	assert_int_equal(chmod(other, 0600), 0);
	assert_int_equal(unlink(path), 0);
	assert_true(admin_bound_lost(&bound, &spec));
	assert_int_equal(symlink(other, path), 0);
	assert_true(admin_bound_lost(&bound, &spec));
	to.mode = 0666;
	assert_false(admin_file_change(&bound, &spec, &to, &change, &err));
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(admin_unbind(&bound, &spec), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(unlink(other), 0);
}

static void
another_way_to_write_the_path_is_the_same_file(void **state)
{
	char path[200];

	(void)state;
	snprintf(path, sizeof(path), "%s/./a", dir);
	assert_true(admin_bound_is_at(&bound, path));
	snprintf(path, sizeof(path), "%s/b", dir);
	assert_false(admin_bound_is_at(&bound, path));
}

static void
a_live_socket_is_nobody_elses(void **state)
{
	struct admin_bound second;

	(void)state;
	assert_false(admin_bind(&spec, &second, &err));
	assert_non_null(strstr(err.text, "another lfproxy serves"));
	/* One that nobody listens on any more is. */
	close(bound.fd);
	assert_true(admin_bind(&spec, &second, &err));
	assert_true(admin_bound_is_at(&second, spec.addr.un.sun_path));
	bound = second;
}

/* Symptom: the file was given away by its path, so one that was put in the
 * socket's place was given away instead. */
static void
file_in_the_place_of_the_socket_is_not_given_away(void **state)
{
	char moved[sizeof(spec.addr.un.sun_path) + 8], nobody[] = "nobody";
	struct admin_bound another = {.fd = -1};
	struct stat st;
	bool ok;

	(void)state;
	(void)admin_unbind(&bound, &spec);
	if (geteuid() == 0)
		spec.user = nobody;
	swaps = true;
	ok = admin_bind(&spec, &another, &err);
	swaps = false;
	assert_int_equal(stat(spec.addr.un.sun_path, &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	/* Without CAP_NET_ADMIN the kernel does not tell which file is the
	 * socket's, and the socket is refused. */
	if (ok) {
		assert_false(another.file.st_ino == st.st_ino);
		assert_true(admin_bound_lost(&another, &spec));
		(void)admin_unbind(&another, &spec);
	}
	snprintf(moved, sizeof(moved), "%s.moved", spec.addr.un.sun_path);
	assert_int_equal(unlink(moved), 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_change_is_kept_or_put_back),
	    TEST(what_does_not_differ_is_left_as_somebody_has_made_it),
	    TEST(an_owner_who_is_not_there_changes_nothing),
	    TEST(what_is_not_our_file_is_not_touched),
	    TEST(another_way_to_write_the_path_is_the_same_file),
	    TEST(a_live_socket_is_nobody_elses),
	    TEST(file_in_the_place_of_the_socket_is_not_given_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
