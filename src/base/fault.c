/* SPDX-License-Identifier: MIT
 * See fault.h.
 */
#include "base/fault.h"

#ifdef LFPROXY_FAULTS

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/mix.h"
#include "base/text.h"

#define PREFIX        "LFPROXY_FAULT_"
#define WHOLE         1000000u /* shares are in millionths */
#define TIME_MAX      10000u   /* ms */
#define PARTS_MAX     4
#define VALUE_SIZE    64
#define LEAK_SIZE     4096
#define LEAK_FD_EVERY 100

struct slow {
	uint32_t share;
	uint64_t ns;
	bool busy;
	bool declared;
	uint64_t at_once;   /* 0: any number */
	uint64_t under_way; /* atomic; counted if at_once is set */
};

struct failing {
	int error; /* 0: never */
	uint32_t share;
	uint64_t after, count;
	uint64_t calls, failed; /* atomic */
};

static const struct {
	const char *name;
	int number;
} errors[] = {{"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"ENOBUFS", ENOBUFS},
    {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EADDRNOTAVAIL", EADDRNOTAVAIL},
    {"ECONNABORTED", ECONNABORTED}, {"ECONNREFUSED", ECONNREFUSED},
    {"ENETUNREACH", ENETUNREACH}};

/* Set before threads start, then read only, but for the atomic words. */
static struct slow slow_turns, slow_sessions;
static struct failing failing[FAULT_CALLS];
static bool switches[FAULT_SWITCHES];
static uint64_t turns; /* atomic */
static uint64_t leaks; /* atomic */

/* Cuts the value at its colons.  Returns the number of parts, 0 if there are
 * more than fit. */
static size_t
fault_split(char *value, char *ret_parts[PARTS_MAX])
{
	size_t n = 0;

	for (char *part; (part = strsep(&value, ":"));) {
		if (n == PARTS_MAX)
			return 0;
		ret_parts[n++] = part;
	}
	return n;
}

/* Parses a percentage like 1% or 0.05%: 0.0001 to 100. */
static bool
parse_share(const char *s, uint32_t *ret_share)
{
	size_t len = strspn(s, "0123456789.");
	char *end;
	double share = strtod(s, &end) * (WHOLE / 100);

	if (end != s + len || strcmp(end, "%") != 0 || share < 1 ||
	    share > WHOLE)
		return false;
	*ret_share = (uint32_t)(share + 0.5);
	return true;
}

static bool
parse_how(const char *s, struct slow *slow, struct err *err)
{
	if (strncmp(s, "at-once=", 8) == 0)
		return text_parse_number(
		    s + 8, 1, UINT32_MAX, &slow->at_once, err);
	if (strcmp(s, "busy") == 0)
		return slow->busy = true;
	/* A turn that is slow at random cannot say so beforehand. */
	if (strcmp(s, "declared") == 0 && slow == &slow_sessions)
		return slow->declared = true;
	return err_set(err, "'%s' is neither busy nor at-once=N%s", s,
	    slow == &slow_sessions ? " nor declared" : "");
}

static bool
parse_slow(char *value, void *to, struct err *err)
{
	struct slow *slow = to;
	char *parts[PARTS_MAX];
	size_t n = fault_split(value, parts);
	uint64_t ms;

	if (n < 2)
		return err_set(err, "write SHARE:TIME, then busy and at-once=N,"
		                    " as in 1%%:5ms");
	for (size_t i = 2; i < n; i++)
		if (!parse_how(parts[i], slow, err))
			return false;
	if (!parse_share(parts[0], &slow->share))
		return err_set(err,
		    "'%s' is not a share; allowed are 0.0001%% to 100%%",
		    parts[0]);
	if (!text_parse_duration(parts[1], 1, TIME_MAX, &ms, err))
		return false;
	slow->ns = ms * NS_PER_MS;
	return true;
}

static bool
parse_error(const char *s, int *ret_error, struct err *err)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (strcmp(s, errors[i].name) != 0)
			continue;
		*ret_error = errors[i].number;
		return true;
	}
	return err_set(err,
	    "'%s' is not an error to fail with; allowed are EMFILE, ENFILE, "
	    "ENOBUFS, ENOMEM, ENOSPC, EADDRNOTAVAIL, ECONNABORTED, "
	    "ECONNREFUSED, ENETUNREACH",
	    s);
}

static bool
parse_when(const char *s, struct failing *f, struct err *err)
{
	if (strncmp(s, "after=", 6) == 0)
		return text_parse_number(s + 6, 0, UINT32_MAX, &f->after, err);
	if (strncmp(s, "count=", 6) == 0)
		return text_parse_number(s + 6, 1, UINT32_MAX, &f->count, err);
	if (parse_share(s, &f->share))
		return true;
	return err_set(err,
	    "'%s' is neither a share, as in 1%%, nor after=N, nor count=N", s);
}

static bool
parse_failing(char *value, void *to, struct err *err)
{
	struct failing *f = to;
	char *parts[PARTS_MAX];
	size_t n = fault_split(value, parts);

	f->share = WHOLE;
	f->count = UINT64_MAX;
	if (n == 0)
		return err_set(
		    err, "write ERROR, then SHARE, after=N and count=N");
	for (size_t i = 1; i < n; i++)
		if (!parse_when(parts[i], f, err))
			return false;
	return parse_error(parts[0], &f->error, err);
}

static bool
parse_fault_switch(char *value, void *to, struct err *err)
{
	if (strcmp(value, "1") != 0)
		return err_set(err, "'%s' is not possible; write 1", value);
	*(bool *)to = true;
	return true;
}

static const struct fault_variable {
	const char *name;
	bool (*parse)(char *value, void *to, struct err *err);
	void *to;
} variables[] = {
    {"SLOW", parse_slow, &slow_turns},
    {"SLOW_SESSIONS", parse_slow, &slow_sessions},
    {"NO_GUARD", parse_fault_switch, &switches[FAULT_NO_GUARD]},
    {"NO_TAKEOVER", parse_fault_switch, &switches[FAULT_NO_TAKEOVER]},
    {"LEAK_MEMORY", parse_fault_switch, &switches[FAULT_LEAK_MEMORY]},
    {"LEAK_FD", parse_fault_switch, &switches[FAULT_LEAK_FD]},
    {"LONG_PAUSE", parse_fault_switch, &switches[FAULT_LONG_PAUSE]},
    {"STOP_LOOP", parse_fault_switch, &switches[FAULT_STOP_LOOP]},
    {"STOP_KEEPER", parse_fault_switch, &switches[FAULT_STOP_KEEPER]},
    {"HANG_FILES", parse_fault_switch, &switches[FAULT_HANG_FILES]},
    {"ACCEPT", parse_failing, &failing[FAULT_ACCEPT]},
    {"SOCKET", parse_failing, &failing[FAULT_SOCKET]},
    {"CONNECT", parse_failing, &failing[FAULT_CONNECT]},
    {"EPOLL_CTL", parse_failing, &failing[FAULT_EPOLL_CTL]},
    {"SLAB", parse_failing, &failing[FAULT_SLAB]},
    {"TLS_MEMORY", parse_failing, &failing[FAULT_TLS_MEMORY]},
    {"PIPE", parse_failing, &failing[FAULT_PIPE]},
    {"ANSWER", parse_failing, &failing[FAULT_ANSWER]},
    {"PREPARE", parse_failing, &failing[FAULT_PREPARE]},
    {"REGISTER", parse_failing, &failing[FAULT_REGISTER]},
    {"HANDOVER", parse_failing, &failing[FAULT_HANDOVER]},
};

#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

_Static_assert(VARIABLES == 2 + FAULT_SWITCHES + FAULT_CALLS,
    "each switch and call has a variable");

static bool
load_one(const char *variable, struct err *err)
{
	const char *name = variable + sizeof(PREFIX) - 1;
	size_t len = strcspn(name, "="), i = 0;
	char value[VALUE_SIZE];
	struct err why;

	while (i < VARIABLES && (strlen(variables[i].name) != len ||
	                            memcmp(name, variables[i].name, len) != 0))
		i++;
	if (i == VARIABLES)
		return err_set(err,
		    PREFIX "%.*s: unknown fault; allowed are SLOW, "
		           "SLOW_SESSIONS, NO_GUARD, NO_TAKEOVER, "
		           "LEAK_MEMORY, LEAK_FD, LONG_PAUSE, STOP_LOOP, "
		           "STOP_KEEPER, HANG_FILES, ACCEPT, SOCKET, CONNECT, "
		           "EPOLL_CTL, SLAB, "
		           "PIPE, ANSWER, TLS_MEMORY, PREPARE",
		    (int)len, name);
	if (strlen(name + len) > VALUE_SIZE)
		return err_set(err, "%s: too long", variable);
	strcpy(value, name[len] ? name + len + 1 : "");
	return variables[i].parse(value, variables[i].to, &why) ||
	       err_set(err, "%s: %s", variable, why.text);
}

bool
fault_load(char *const *environment, struct err *err)
{
	memset(failing, 0, sizeof(failing));
	memset(switches, 0, sizeof(switches));
	slow_turns = slow_sessions = (struct slow){0};
	for (; *environment; environment++)
		if (strncmp(*environment, PREFIX, sizeof(PREFIX) - 1) == 0 &&
		    !load_one(*environment, err))
			return false;
	return true;
}

/* Returns whether call number n is chosen: always the same calls, but in no
 * pattern that could keep step with the program. */
static bool
chosen(uint64_t n, uint32_t share)
{
	return mix64(n) % WHOLE < share;
}

static void
pass_time(const struct slow *slow)
{
	struct timespec ts = {.tv_sec = (time_t)(slow->ns / NS_PER_S),
	    .tv_nsec = (long)(slow->ns % NS_PER_S)};
	uint64_t end_ns = clock_now_ns() + slow->ns;

	if (!slow->busy)
		while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
			;
	while (slow->busy && clock_now_ns() < end_ns)
		cpu_relax();
}

static void
be_slow(struct slow *slow)
{
	if (slow->at_once == 0) {
		pass_time(slow);
		return;
	}
	if (atomic_add_relaxed(&slow->under_way, 1u) < slow->at_once)
		pass_time(slow);
	atomic_sub_relaxed(&slow->under_way, 1u);
}

/* Returns whether all turns of the session are slow.  Slots are given out one
 * after the other, so of 100 sessions that are open at a time a share of 1% is
 * one. */
static bool
is_slow_session(uint32_t slot, bool session)
{
	return session && slot % 100 * (WHOLE / 100) < slow_sessions.share;
}

bool
fault_declares(uint32_t slot, bool session)
{
	return slow_sessions.declared && is_slow_session(slot, session);
}

void
fault_turn(uint32_t slot, bool session, bool declared)
{
	if (is_slow_session(slot, session) &&
	    (declared || !slow_sessions.declared))
		be_slow(&slow_sessions);
	if (slow_turns.share > 0 &&
	    chosen(atomic_add_relaxed(&turns, 1u), slow_turns.share))
		be_slow(&slow_turns);
}

bool
fault_fails(enum fault_call call)
{
	struct failing *f = &failing[call];
	uint64_t n;

	if (f->error == 0)
		return false;
	n = atomic_add_relaxed(&f->calls, 1u);
	if (n < f->after || !chosen(n, f->share) ||
	    atomic_load_relaxed(&f->failed) >= f->count ||
	    atomic_add_relaxed(&f->failed, 1u) >= f->count)
		return false;
	errno = f->error;
	return true;
}

bool
fault_is_on(enum fault_switch which)
{
	return switches[which];
}

void
fault_leak(void)
{
	if (switches[FAULT_LEAK_MEMORY]) {
		void *lost = malloc(LEAK_SIZE);

		/* Memory that was never written to is not resident, so write to
		 * it.  volatile keeps the compiler from leaving out the write.
		 */
		if (lost)
			*(volatile char *)lost = 1;
	}
	if (switches[FAULT_LEAK_FD] &&
	    atomic_add_relaxed(&leaks, 1u) % LEAK_FD_EVERY == 0)
		(void)!dup(STDERR_FILENO);
}

const char *
fault_hang(const char *path)
{
	char marker[PATH_MAX];
	struct stat st;

	snprintf(marker, sizeof(marker), "%s.hangs", path);
	while (switches[FAULT_HANG_FILES] && stat(marker, &st) == 0)
		usleep(1000);
	return path;
}

#endif
