/* SPDX-License-Identifier: MIT
 * Faults on purpose: what the variables mean, and what is refused.  The code is
 * that of MODE=fault whatever this program is built for.
 */
#ifndef LFPROXY_FAULTS
#define LFPROXY_FAULTS
#endif
#include "unit.h"

#include <errno.h>

#include "base/clock.h"
#include "base/fault.c"

static bool
load(const char *variable, struct err *err)
{
	char *environment[] = {
	    "HOME=/", (char *)(uintptr_t)variable, "LFPROXY_OTHER=1", NULL};

	return fault_load(environment, err);
}

static unsigned
failures(enum fault_call call, unsigned calls, int error)
{
	unsigned n = 0;

	for (unsigned i = 0; i < calls; i++) {
		errno = 0;
		if (!fault_fails(call))
			continue;
		assert_int_equal(errno, error);
		n++;
	}
	return n;
}

static void
nothing_fails_unless_asked(void **state)
{
	struct err err;

	(void)state;
	assert_true(load("LFPROXY_FAULTY=no", &err));
	for (int i = 0; i < FAULT_CALLS; i++)
		assert_int_equal(failures((enum fault_call)i, 1000, 0), 0);
	assert_false(fault_is_on(FAULT_NO_GUARD));
	assert_false(fault_is_on(FAULT_NO_TAKEOVER));
}

static void
calls_fail_by_share_and_count(void **state)
{
	static const struct {
		const char *variable;
		enum fault_call call;
		int error;
		unsigned least, most; /* of 10000 calls */
	} cases[] = {
	    {"LFPROXY_FAULT_ACCEPT=EMFILE", FAULT_ACCEPT, EMFILE, 10000, 10000},
	    {"LFPROXY_FAULT_SOCKET=ENFILE:10%", FAULT_SOCKET, ENFILE, 850,
	        1150},
	    {"LFPROXY_FAULT_CONNECT=EADDRNOTAVAIL:0.5%", FAULT_CONNECT,
	        EADDRNOTAVAIL, 25, 80},
	    {"LFPROXY_FAULT_EPOLL_CTL=ENOMEM:after=9000", FAULT_EPOLL_CTL,
	        ENOMEM, 1000, 1000},
	    {"LFPROXY_FAULT_SLAB=ENOMEM:after=10:count=3", FAULT_SLAB, ENOMEM,
	        3, 3},
	    {"LFPROXY_FAULT_ACCEPT=ENOBUFS:50%:after=9990:count=100",
	        FAULT_ACCEPT, ENOBUFS, 1, 9},
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < UNIT_N(cases); i++) {
		unsigned n;

		assert_true(load(cases[i].variable, &err));
		n = failures(cases[i].call, 10000, cases[i].error);
		assert_in_range(n, cases[i].least, cases[i].most);
		/* And no other call. */
		assert_int_equal(
		    failures((cases[i].call + 1) % FAULT_CALLS, 100, 0), 0);
	}
}

static void
switches_are_single(void **state)
{
	struct err err;

	(void)state;
	assert_true(load("LFPROXY_FAULT_NO_GUARD=1", &err));
	assert_true(fault_is_on(FAULT_NO_GUARD));
	assert_false(fault_is_on(FAULT_NO_TAKEOVER));
	assert_true(load("LFPROXY_FAULT_NO_TAKEOVER=1", &err));
	assert_false(fault_is_on(FAULT_NO_GUARD));
	assert_true(fault_is_on(FAULT_NO_TAKEOVER));
}

static int
next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static void
descriptors_are_lost_only_if_asked(void **state)
{
	int before = next_fd();
	struct err err;

	(void)state;
	assert_true(load("LFPROXY_FAULT_LEAK_MEMORY=1", &err));
	assert_true(fault_is_on(FAULT_LEAK_MEMORY));
	assert_true(load("LFPROXY_FAULTY=no", &err));
	for (int i = 0; i < 2 * LEAK_FD_EVERY; i++)
		fault_leak();
	assert_int_equal(next_fd(), before);
	assert_true(load("LFPROXY_FAULT_LEAK_FD=1", &err));
	for (int i = 0; i < 2 * LEAK_FD_EVERY; i++)
		fault_leak();
	assert_int_equal(next_fd(), before + 2);
	close(before);
	close(before + 1);
}

static uint64_t
took_ms(uint32_t slot, bool session)
{
	uint64_t from_ns = clock_now_ns();

	fault_turn(slot, session, false);
	return (clock_now_ns() - from_ns) / NS_PER_MS;
}

/* The quickest of some. */
static uint64_t
best_ms(uint32_t slot, bool session)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 1000 && best >= 3; i++) {
		uint64_t ms = took_ms(slot, session);

		best = ms < best ? ms : best;
	}
	return best;
}

static void
slow_turns_are_a_share(void **state)
{
	struct err err;
	unsigned n = 0;

	(void)state;
	assert_true(load("LFPROXY_FAULT_SLOW=2.5%:2ms", &err));
	for (uint32_t i = 0; i < 2000; i++)
		n += took_ms(i, i % 2 == 0) >= 2;
	assert_true(n >= 25);
	/* Others' work makes more of them slow. */
	unit_skip_unless_time_is_judged();
	assert_true(n <= 85);
}

static void
slow_sessions_are_slow_each_time(void **state)
{
	struct err err;

	(void)state;
	assert_true(load("LFPROXY_FAULT_SLOW_SESSIONS=2%:3ms:busy", &err));
	for (int i = 0; i < 3; i++) {
		assert_true(took_ms(101, true) >= 3);
		/* A listener is none, and most sessions are not slow.  Others'
		 * work may stop this thread, though not each time. */
		assert_true(best_ms(101, false) < 3);
		assert_true(best_ms(102, true) < 3);
	}
}

static void
turns_of_slow_sessions_are_declared_if_asked(void **state)
{
	struct err err;
	uint64_t from_ns;

	(void)state;
	assert_true(load("LFPROXY_FAULT_SLOW_SESSIONS=2%:3ms", &err));
	assert_false(fault_declares(101, true));
	assert_true(
	    load("LFPROXY_FAULT_SLOW_SESSIONS=2%:3ms:busy:declared", &err));
	assert_true(fault_declares(101, true));
	assert_false(fault_declares(101, false));
	assert_false(fault_declares(102, true));
	assert_true(best_ms(101, true) < 3);
	from_ns = clock_now_ns();
	fault_turn(101, true, true);
	assert_true(clock_now_ns() - from_ns >= 3 * NS_PER_MS);
}

static void *
take_a_turn(void *arg)
{
	(void)arg;
	fault_turn(0, true, false);
	return NULL;
}

static void
no_more_turns_are_slow_at_once_than_asked(void **state)
{
	struct unit_threads other;
	struct err err;

	(void)state;
	assert_true(load("LFPROXY_FAULT_SLOW=100%:1s:at-once=1", &err));
	unit_threads_start(&other, 1, take_a_turn, NULL);
	assert_true(unit_wait(atomic_load_relaxed(&slow_turns.under_way) == 1));
	fault_turn(0, true, false);
	/* This turn has ended first. */
	assert_int_equal(atomic_load_relaxed(&slow_turns.under_way), 1);
	unit_threads_join(&other);
	assert_true(took_ms(0, true) >= 1000);
}

static void
malformed_is_refused_with_reason(void **state)
{
	static const struct {
		const char *variable, *reason;
	} bad[] = {
	    {"LFPROXY_FAULT_SLOW=", "write SHARE:TIME"},
	    {"LFPROXY_FAULT_SLOW", "write SHARE:TIME"},
	    {"LFPROXY_FAULT_SLOW=1%", "write SHARE:TIME"},
	    {"LFPROXY_FAULT_SLOW=1%:5ms:idle", "'idle' is neither busy nor"},
	    {"LFPROXY_FAULT_SLOW=1%:5ms:at-once=0", "0"},
	    {"LFPROXY_FAULT_SLOW=1%:5ms:busy:x:y", "write SHARE:TIME"},
	    {"LFPROXY_FAULT_SLOW=1%:5ms:declared",
	        "'declared' is neither busy nor at-once=N"},
	    {"LFPROXY_FAULT_SLOW_SESSIONS=1%:5ms:idle",
	        "'idle' is neither busy nor at-once=N nor declared"},
	    {"LFPROXY_FAULT_SLOW=1:5ms", "'1' is not a share"},
	    {"LFPROXY_FAULT_SLOW=0%:5ms", "'0%' is not a share"},
	    {"LFPROXY_FAULT_SLOW=101%:5ms", "'101%' is not a share"},
	    {"LFPROXY_FAULT_SLOW=99999999999%:5ms", "is not a share"},
	    {"LFPROXY_FAULT_SLOW=0.00001%:5ms", "is not a share"},
	    {"LFPROXY_FAULT_SLOW=1.2.3%:5ms", "is not a share"},
	    {"LFPROXY_FAULT_SLOW=%:5ms", "'%' is not a share"},
	    {"LFPROXY_FAULT_SLOW=1%:5", "'5' has no unit"},
	    {"LFPROXY_FAULT_SLOW=1%:0ms", "allowed is 1ms to 10s"},
	    {"LFPROXY_FAULT_SLOW_SESSIONS=1%:1h", "allowed is 1ms to 10s"},
	    {"LFPROXY_FAULT_NO_GUARD=yes", "'yes' is not possible; write 1"},
	    {"LFPROXY_FAULT_NO_TAKEOVER=", "'' is not possible; write 1"},
	    {"LFPROXY_FAULT_ACCEPT=", "'' is not an error to fail with"},
	    {"LFPROXY_FAULT_ACCEPT=EPERM",
	        "'EPERM' is not an error to fail with"},
	    {"LFPROXY_FAULT_ACCEPT=EMFILE:1", "'1' is neither a share"},
	    {"LFPROXY_FAULT_ACCEPT=EMFILE:after=x",
	        "'x' is not a whole number"},
	    {"LFPROXY_FAULT_ACCEPT=EMFILE:count=0", "0"},
	    {"LFPROXY_FAULT_ACCEPT=EMFILE:1%:after=1:count=1:2%",
	        "write ERROR"},
	    {"LFPROXY_FAULT_READ=EMFILE", "READ: unknown fault"},
	    {"LFPROXY_FAULT_=1", "unknown fault; allowed are SLOW"},
	    {"LFPROXY_FAULT_SLOW=11111111111111111111111111111111111111111111"
	     "1111111111111111111111111111111111111111111111111111111111111%",
	        "too long"},
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < UNIT_N(bad); i++) {
		if (load(bad[i].variable, &err))
			fail_msg("accepted: %s", bad[i].variable);
		if (!strstr(err.text, bad[i].reason))
			fail_msg("%s: %s", bad[i].variable, err.text);
		/* It says where. */
		assert_non_null(strstr(err.text, "LFPROXY_FAULT_"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_fails_unless_asked),
	    cmocka_unit_test(calls_fail_by_share_and_count),
	    cmocka_unit_test(switches_are_single),
	    cmocka_unit_test(descriptors_are_lost_only_if_asked),
	    cmocka_unit_test(slow_turns_are_a_share),
	    cmocka_unit_test(slow_sessions_are_slow_each_time),
	    cmocka_unit_test(turns_of_slow_sessions_are_declared_if_asked),
	    cmocka_unit_test(no_more_turns_are_slow_at_once_than_asked),
	    cmocka_unit_test(malformed_is_refused_with_reason),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
