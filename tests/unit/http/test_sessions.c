/* SPDX-License-Identifier: MIT
 * Who is signed in, and for how long.
 */
#include "http/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static const struct user alice = {.name = "alice", .level = LEVEL_ADMIN};

struct place {
	char path[32];
	struct http_sessions sessions;
};

static void
write_users(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static int
begin(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	int fd;

	assert_non_null(p);
	strcpy(p->path, "/tmp/lfproxy-users-XXXXXX");
	fd = mkstemp(p->path);
	assert_true(fd >= 0);
	close(fd);
	write_users(p->path, "one");
	assert_true(http_sessions_init(&p->sessions));
	*state = p;
	return 0;
}

static int
end(void **state)
{
	struct place *p = *state;

	http_sessions_fini(&p->sessions);
	unlink(p->path);
	free(p);
	return 0;
}

static struct http_session *
sign_in(struct place *p, const char *token)
{
	struct users_stamp stamp = users_stamp_read(p->path);
	struct http_session *s =
	    http_session_begin(&p->sessions, token, false, &alice, &stamp);

	assert_non_null(s);
	return s;
}

static struct http_session *
find(struct place *p, const char *token)
{
	return http_session_find(&p->sessions, token, false, p->path);
}

static void
a_token_is_a_session(void **state)
{
	struct place *p = *state;
	char token[SESSION_TOKEN_SIZE], other[SESSION_TOKEN_SIZE];
	struct http_session *s;

	assert_true(session_token_make(token));
	assert_true(session_token_make(other));
	assert_string_not_equal(token, other);
	s = sign_in(p, token);
	assert_ptr_equal(find(p, token), s);
	assert_string_equal(s->name, "alice");
	assert_int_equal(s->level, LEVEL_ADMIN);
	assert_null(find(p, other));
	assert_null(find(p, ""));
	/* A cookie is no Authorization header. */
	assert_null(http_session_find(&p->sessions, token, true, p->path));
	http_session_end(&p->sessions, s);
	assert_null(find(p, token));
}

static void
a_session_ends_with_the_file(void **state)
{
	struct place *p = *state;

	(void)sign_in(p, "t");
	write_users(p->path, "another");
	assert_null(find(p, "t"));
	(void)sign_in(p, "t");
	assert_non_null(find(p, "t"));
	unlink(p->path);
	assert_null(find(p, "t"));
	write_users(p->path, "one");
	(void)sign_in(p, "t");
	assert_null(http_session_find(&p->sessions, "t", false, NULL));
}

static void
a_session_ends_with_its_time(void **state)
{
	struct place *p = *state;
	struct http_session *s = sign_in(p, "t");

	s->used_ms -= SESSION_IDLE_MS - 60000;
	assert_ptr_equal(find(p, "t"), s);
	s->used_ms -= SESSION_IDLE_MS + 1;
	assert_null(find(p, "t"));
	s = sign_in(p, "t");
	s->begun_ms -= SESSION_AGE_MS + 1;
	assert_null(find(p, "t"));
}

static void
the_least_used_makes_room(void **state)
{
	struct place *p = *state;
	char token[16];

	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		snprintf(token, sizeof(token), "t%u", i);
		(void)sign_in(p, token);
	}
	assert_non_null(find(p, "t0"));
	(void)sign_in(p, "new");
	assert_int_equal(p->sessions.n, SESSIONS_MAX);
	assert_non_null(find(p, "t0"));
	assert_null(find(p, "t1"));
	assert_non_null(find(p, "new"));
}

static void
csrf_tokens_differ(void **state)
{
	struct place *p = *state;
	struct http_sessions other;
	char a[SESSION_TOKEN_SIZE], b[SESSION_TOKEN_SIZE];

	assert_true(http_sessions_init(&other));
	http_csrf_token(&p->sessions, "t", a);
	http_csrf_token(&p->sessions, "t", b);
	assert_string_equal(a, b);
	http_csrf_token(&p->sessions, "u", b);
	assert_string_not_equal(a, b);
	http_csrf_token(&other, "t", b);
	assert_string_not_equal(a, b);
	http_sessions_fini(&other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_token_is_a_session, begin, end),
	    cmocka_unit_test_setup_teardown(
	        a_session_ends_with_the_file, begin, end),
	    cmocka_unit_test_setup_teardown(
	        a_session_ends_with_its_time, begin, end),
	    cmocka_unit_test_setup_teardown(
	        the_least_used_makes_room, begin, end),
	    cmocka_unit_test_setup_teardown(csrf_tokens_differ, begin, end),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
