/* SPDX-License-Identifier: MIT
 * The audit: what is kept of changes, and who made them.
 */
#include "commands/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "commands/audit.h"

static struct audit audit;
static const struct peer nobody;

static int
setup(void **state)
{
	(void)state;
	audit_init(&audit);
	return 0;
}

static void
equal_values_are_no_change(void **state)
{
	(void)state;
	audit_note(&audit, &nobody, "server app/a weight", "5", "5");
	assert_int_equal(audit_count(&audit), 0);
	audit_note(&audit, &nobody, "server app/a weight", "5", "6");
	audit_note(&audit, &nobody, "sessions shut down", NULL, NULL);
	assert_int_equal(audit_count(&audit), 2);
	assert_string_equal(audit_at(&audit, 0)->after, "6");
	assert_string_equal(audit_at(&audit, 1)->before, "");
}

static void
ring_keeps_the_last(void **state)
{
	(void)state;
	for (int i = 1; i <= AUDIT_KEPT + 3; i++)
		audit_note(&audit, &nobody, "x", NULL, NULL);
	assert_int_equal(audit_count(&audit), AUDIT_KEPT);
	assert_int_equal(audit_at(&audit, 0)->id, 4);
	assert_int_equal(audit_at(&audit, AUDIT_KEPT - 1)->id, AUDIT_KEPT + 3);
}

/* Writes what audit has and reads it into *to. */
static void
hand_over(struct audit *to)
{
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	audit_write(&audit, out);
	fclose(out);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			audit_read(to, line);
	free(text);
}

static void
changes_of_another_process_keep_ids_and_come_first(void **state)
{
	static struct audit next;
	char value[16];

	(void)state;
	audit_init(&next);
	for (int i = 1; i <= AUDIT_KEPT + 3; i++) {
		snprintf(value, sizeof(value), "%d", i);
		audit_note(&audit, &nobody, "x", "", value);
	}
	hand_over(&next);
	assert_int_equal(audit_count(&next), AUDIT_KEPT);
	assert_memory_equal(
	    next.changes, audit.changes + 3, sizeof(audit.changes[0]));
	/* The other process has recorded two changes already. */
	audit_init(&next);
	audit_note(&next, &nobody, "first", NULL, NULL);
	audit_note(&next, &nobody, "second", NULL, NULL);
	hand_over(&next);
	assert_int_equal(audit_count(&next), AUDIT_KEPT);
	for (size_t i = 0; i < AUDIT_KEPT; i++)
		assert_int_equal(audit_at(&next, i)->id, i + 6);
	assert_string_equal(audit_at(&next, 0)->after, "6");
	assert_string_equal(audit_at(&next, AUDIT_KEPT - 2)->what, "first");
	assert_string_equal(audit_at(&next, AUDIT_KEPT - 1)->what, "second");
}

static void
long_and_strange_texts_are_cut_and_cleaned(void **state)
{
	char text[1000];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[1] = '\n';
	text[2] = '\033';
	audit_note(&audit, &nobody, text, text, "after");
	assert_memory_equal(audit_at(&audit, 0)->what, "a??aa", 5);
	assert_int_equal(strlen(audit_at(&audit, 0)->before),
	    sizeof(audit.changes[0].before) - 1);
}

static void
peer_of_a_unix_socket_is_known(void **state)
{
	char text[PEER_TEXT_SIZE], end[64];
	struct peer peer;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	peer_learn(pair[0], &peer);
	assert_true(peer.known);
	assert_int_equal(peer.uid, getuid());
	assert_int_equal(peer.pid, getpid());
	snprintf(end, sizeof(end), "uid %u, pid %d", (unsigned)getuid(),
	    (int)getpid());
	assert_non_null(strstr(peer_text(&peer, text), end));
	peer.uid = 4000000000u;
	assert_memory_equal(peer_text(&peer, text), "uid 4000000000, pid ", 20);
	close(pair[0]);
	close(pair[1]);
}

static void
peer_without_credentials_is_unknown(void **state)
{
	char text[PEER_TEXT_SIZE];
	struct peer peer;
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	peer_learn(pipes[0], &peer);
	assert_string_equal(peer_text(&peer, text), "unknown");
	close(pipes[0]);
	close(pipes[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(equal_values_are_no_change, setup),
	    cmocka_unit_test_setup(ring_keeps_the_last, setup),
	    cmocka_unit_test_setup(
	        changes_of_another_process_keep_ids_and_come_first, setup),
	    cmocka_unit_test_setup(
	        long_and_strange_texts_are_cut_and_cleaned, setup),
	    cmocka_unit_test(peer_of_a_unix_socket_is_known),
	    cmocka_unit_test(peer_without_credentials_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
