/* SPDX-License-Identifier: MIT
 * See sim.h.
 */
#include "sim/sim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/descriptors.h"
#include "sim/kernel.h"
#include "sim/switch.h"

#define THREADS_MAX 48
#define RING        4096 /* steps that are remembered */
#define RING_SHOWN  120
#define STEP_NS     50
#define NEVER       SIM_NEVER

/* A thread that turns for so long without waiting has used up its time slice:
 * the kernel is fair, whatever the priorities. */
#define SLICE 4000

enum state { FREE, READY, BLOCKED, ENDED };

struct thread {
	enum state state;
	void *sp, *stack;
	void *(*main)(void *arg);
	void *arg;
	const void *on;    /* blocked: an address, or NULL: asleep */
	uint64_t until_ns; /* blocked: NEVER, or when it gives up waiting */
	bool timed_out;
	int64_t priority; /* PCT */
	const char *name;
	unsigned number;
	const uint32_t *role;
	const char *(*role_name)(uint32_t role);
	const char *function; /* where it is blocked */
	int line;
};

struct step {
	uint64_t ns;
	const char *op, *function;
	int64_t value; /* of a note, else the line */
	uint32_t role;
	uint16_t thread;
	bool note;
};

int64_t sim_budget;

static struct sim_options options;
static struct thread threads[THREADS_MAX];
static unsigned threads_n; /* places that were used in this schedule */
static unsigned current;
static void *outside; /* the stack of whoever called sim_run */
static struct step ring[RING];
static uint64_t steps, now_ns, digest;
static uint64_t granted; /* the budget as it was set */
static enum sim_strategy strategy;
static uint32_t quantum;    /* random: mean steps between switches */
static uint64_t changes[8]; /* PCT: steps at which somebody falls behind */
static unsigned changes_n, changes_next;
static int64_t lowest;   /* PCT: the next priority below all others */
static uint64_t delays;  /* those of the seed that are still to come */
static uint64_t points;  /* since the last one */
static unsigned choices; /* at the last one */
static bool searching;
static bool steps_back;    /* the running thread, for once */
static uint64_t schedules; /* of this process, the present one included */
static bool failing, paused;
static int64_t budget_before; /* the pause */

static bool
by_chance(void)
{
	return !options.single && strategy != SIM_DELAYS;
}

uint64_t
sim_steps(void)
{
	return steps;
}

uint64_t
sim_digest(void)
{
	return digest;
}

uint64_t
sim_now_ns(void)
{
	return now_ns;
}

unsigned
sim_self(void)
{
	return current;
}

static struct thread *
self(void)
{
	return &threads[current];
}

static void
print_step(FILE *out, const struct step *s)
{
	const struct thread *t = &threads[s->thread];
	char name[24];

	snprintf(name, sizeof(name), "%s%u", t->name, t->number);
	fprintf(out, "%10.3f us  %-9s %-10s ", (double)s->ns / 1000, name,
	    t->role_name ? t->role_name(s->role) : "");
	if (s->note)
		fprintf(out, "* %s %" PRId64 "\n", s->op, s->value);
	else
		fprintf(
		    out, "%-6s %s:%" PRId64 "\n", s->op, s->function, s->value);
}

/* Without what every change of the code would change. */
static void
print_note(const struct step *s)
{
	const struct thread *t = &threads[s->thread];

	printf("%s%u %s: %s %" PRId64 "\n", t->name, t->number,
	    t->role_name ? t->role_name(s->role) : "-", s->op, s->value);
}

static struct step *
new_step(void)
{
	struct step *s = &ring[steps++ % RING];

	s->ns = now_ns;
	s->thread = (uint16_t)current;
	s->role = self()->role ? *self()->role : 0;
	return s;
}

void
sim_record(const char *op, const char *function, int line)
{
	struct step *s;

	if (paused)
		return;
	s = new_step();
	now_ns += STEP_NS;
	digest = digest * 31 + (uint64_t)line * THREADS_MAX + current;
	s->op = op;
	s->function = function;
	s->value = line;
	s->note = false;
	if (__builtin_expect(options.trace, 0))
		print_step(stdout, s);
}

void
sim_note(const char *what, int64_t value)
{
	struct step *s = new_step();

	s->op = what;
	s->value = value;
	s->note = true;
	if (__builtin_expect(options.single, 0))
		print_note(s);
	else if (__builtin_expect(options.trace, 0))
		print_step(stdout, s);
}

static void
print_threads(void)
{
	for (unsigned i = 0; i < threads_n; i++) {
		const struct thread *t = &threads[i];

		if (t->state != READY && t->state != BLOCKED)
			continue;
		fprintf(stderr, "  %s%u %s %s", t->name, t->number,
		    t->role_name ? t->role_name(*t->role) : "",
		    t->state == READY ? "runnable" : "blocked");
		if (t->state == BLOCKED)
			fprintf(stderr, " in %s:%d%s", t->function, t->line,
			    t->until_ns == NEVER ? "" : " for a time");
		fputc('\n', stderr);
	}
}

/* The strategy is drawn from the seed, too, unless it was given. */
static void
print_replay(void)
{
	static const char *const given[] = {
	    [SIM_MIXED] = "",
	    [SIM_RANDOM] = " --strategy random",
	    [SIM_PCT] = " --strategy pct",
	    [SIM_DELAYS] = "",
	};

	fprintf(stderr,
	    "The whole of it: lf_sim %s %s%s --seed %" PRIu64 " --trace\n",
	    options.plan ? "--plan" : "--schedules",
	    options.plan ? options.plan : "1", given[options.strategy],
	    options.seed);
}

void
sim_fail(const char *fmt, ...)
{
	uint64_t first = steps > RING_SHOWN ? steps - RING_SHOWN : 0;
	va_list args;

	fflush(stdout);
	fprintf(stderr,
	    "lf_sim: schedule %" PRIu64 ", seed %" PRIu64 ", step %" PRIu64
	    ": ",
	    schedules, options.seed, steps);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\nThe last steps:\n");
	for (uint64_t i = first; i < steps && !failing; i++)
		print_step(stderr, &ring[i % RING]);
	fprintf(stderr, "Threads:\n");
	print_threads();
	print_replay();
	if (options.describe && !failing) {
		failing = true;
		sim_pause(true);
		options.describe();
	}
	exit(1);
}

static bool
wake_sleepers(uint64_t *ret_next)
{
	uint64_t next = NEVER;
	bool any = false;

	for (unsigned i = 0; i < threads_n; i++) {
		struct thread *t = &threads[i];

		if (t->state != BLOCKED)
			continue;
		if (t->until_ns <= now_ns) {
			t->timed_out = true;
			t->state = READY;
			any = true;
		} else if (t->until_ns < next) {
			next = t->until_ns;
		}
	}
	*ret_next = next;
	return any;
}

/* How many of n runnable threads are passed over here. */
static unsigned
delay_here(unsigned n)
{
	unsigned passed = delays & 7;

	if (!searching || delays == 0 || n < 2 ||
	    points++ != (delays & 0xffff) >> 3)
		return 0;
	delays >>= 16;
	points = 0;
	choices = n;
	return passed;
}

/* The running thread, unless it steps back, then the ones after it. */
static unsigned
choose_next(const unsigned ready[], unsigned n)
{
	unsigned i = 0;

	while (i < n && ready[i] < current + steps_back)
		i++;
	steps_back = false;
	return ready[(i + delay_here(n)) % n];
}

/* One of the runnable threads; THREADS_MAX if there is none. */
static unsigned
choose(void)
{
	unsigned ready[THREADS_MAX], n = 0, best = THREADS_MAX;

	for (unsigned i = 0; i < threads_n; i++) {
		if (threads[i].state != READY)
			continue;
		ready[n++] = i;
		if (best == THREADS_MAX ||
		    threads[i].priority > threads[best].priority)
			best = i;
	}
	if (n == 0 || strategy == SIM_PCT || options.single)
		return best;
	if (strategy == SIM_DELAYS)
		return choose_next(ready, n);
	return ready[sim_random(n)];
}

static void
grant(uint64_t next_ns)
{
	uint64_t budget = SLICE;

	if (!options.single && strategy == SIM_RANDOM)
		budget = 1 + sim_random(2 * quantum);
	if (strategy == SIM_PCT && changes_next < changes_n &&
	    changes[changes_next] - steps < budget)
		budget = changes[changes_next] - steps;
	if (searching && delays != 0)
		budget = 1;
	if (next_ns != NEVER && (next_ns - now_ns) / STEP_NS + 1 < budget)
		budget = (next_ns - now_ns) / STEP_NS + 1;
	granted = budget;
	sim_budget = (int64_t)budget;
}

/* Whoever is to go on does; returns when the caller is. */
static void
reschedule(void)
{
	unsigned was = current, next;
	uint64_t next_ns;

	(void)wake_sleepers(&next_ns);
	while ((next = choose()) == THREADS_MAX) {
		if (options.idle) {
			sim_pause(true);
			options.idle();
			sim_pause(false);
		}
		if (next_ns == NEVER)
			sim_fail("no thread can run: a deadlock");
		now_ns = next_ns;
		(void)wake_sleepers(&next_ns);
	}
	grant(next_ns);
	if (next == was)
		return;
	current = next;
	switch_stack(&threads[was].sp, threads[next].sp);
}

static void
fall_behind(void)
{
	self()->priority = --lowest;
	steps_back = true;
}

void
sim_point_slow(void)
{
	if (failing) {
		sim_budget = INT64_MAX;
		return;
	}
	if (steps > options.steps_max)
		sim_fail("%" PRIu64 " steps and no end", steps);
	if (strategy == SIM_PCT) {
		while (changes_next < changes_n &&
		       changes[changes_next] <= steps) {
			fall_behind();
			changes_next++;
		}
	}
	if (granted == SLICE)
		fall_behind();
	reschedule();
}

bool
sim_block(const void *on, uint64_t until_ns, const char *function, int line)
{
	struct thread *t = self();

	if (failing) /* and a lock is held: no more can be described */
		exit(1);
	t->state = BLOCKED;
	t->on = on;
	t->until_ns = until_ns;
	t->timed_out = false;
	t->function = function;
	t->line = line;
	reschedule();
	return !t->timed_out;
}

static void
unblock(struct thread *t)
{
	t->state = READY;
	/* It may have to go on at once. */
	if (strategy == SIM_PCT && sim_budget > 1) {
		granted = 1;
		sim_budget = 1;
	}
}

void
sim_unblock_all(const void *on)
{
	for (unsigned i = 0; i < threads_n; i++) {
		if (threads[i].state != BLOCKED || threads[i].on != on)
			continue;
		unblock(&threads[i]);
	}
}

unsigned
sim_blocked_on(const void *address)
{
	unsigned n = 0;

	for (unsigned i = 0; i < threads_n; i++)
		n += threads[i].state == BLOCKED && threads[i].on == address;
	return n;
}

/* Any of them: the kernel promises no order. */
void
sim_unblock_one(const void *on)
{
	unsigned n = sim_blocked_on(on), which;

	if (n == 0)
		return;
	which = by_chance() ? sim_random(n) : 0;
	for (unsigned i = 0; i < threads_n; i++) {
		if (threads[i].state != BLOCKED || threads[i].on != on)
			continue;
		if (which-- == 0) {
			unblock(&threads[i]);
			return;
		}
	}
}

static void
run_thread(void)
{
	struct thread *t = self();

	t->main(t->arg);
	t->state = ENDED;
	sim_unblock_all(t);
	if (current == 0) {
		for (unsigned i = 1; i < threads_n; i++)
			if (threads[i].state != FREE &&
			    threads[i].state != ENDED)
				sim_fail("a thread is left over");
		switch_stack(&t->sp, outside);
	}
	reschedule();
	abort();
}

unsigned
sim_start(void *(*main)(void *arg), void *arg)
{
	struct thread *t;
	unsigned i = 0;

	while (i < threads_n && threads[i].state != FREE)
		i++;
	if (i == THREADS_MAX)
		sim_fail("too many threads");
	if (i == threads_n)
		threads_n++;
	t = &threads[i];
	if (!t->stack)
		t->stack = switch_stack_new();
	t->state = READY;
	t->main = main;
	t->arg = arg;
	t->priority = options.single ? -(int64_t)i : sim_random(1u << 30);
	t->name = "thread-";
	t->number = i;
	t->role = NULL;
	t->role_name = NULL;
	t->sp = switch_prepare(t->stack, run_thread);
	return i;
}

void
sim_call_me(const char *name, unsigned number, const uint32_t *role,
    const char *(*role_name)(uint32_t role))
{
	struct thread *t = self();

	t->name = name;
	t->number = number;
	t->role = role;
	t->role_name = role_name;
}

const char *
sim_role(void)
{
	const struct thread *t = self();

	return t->role_name ? t->role_name(*t->role) : NULL;
}

static void
choose_strategy(void)
{
	static const uint16_t quanta[] = {1, 2, 4, 10, 30, 100, 300};
	static const uint16_t lengths[] = {300, 1000, 3000, 10000};
	uint32_t length;

	searching = false;
	steps_back = false;
	points = 0;
	choices = 0;
	strategy = options.strategy;
	delays = strategy == SIM_DELAYS ? options.seed : 0;
	if (strategy == SIM_MIXED)
		strategy = sim_random(2) ? SIM_RANDOM : SIM_PCT;
	quantum = quanta[sim_random(7)];
	length = lengths[sim_random(4)];
	changes_n = 1 + sim_random(8);
	changes_next = 0;
	for (unsigned i = 0; i < changes_n; i++) {
		unsigned j = i;
		uint64_t at = sim_random(length);

		for (; j > 0 && changes[j - 1] > at; j--)
			changes[j] = changes[j - 1];
		changes[j] = at;
	}
}

void
sim_run(const struct sim_options *opts, void *(*main)(void *arg), void *arg)
{
	options = *opts;
	/* The world must not depend on the delays. */
	sim_seed(options.strategy == SIM_DELAYS ? 0 : options.seed);
	schedules++;
	steps = 0;
	now_ns = 1000000000u;
	lowest = -1000;
	for (unsigned i = 0; i < threads_n; i++)
		threads[i].state = FREE;
	threads_n = 0;
	sim_forget_nice();
	sim_close_all();
	choose_strategy();
	current = sim_start(main, arg);
	sim_call_me("control", 0, NULL, NULL);
	grant(NEVER);
	switch_stack(&outside, threads[current].sp);
}

void
sim_search(bool on)
{
	searching = on;
	if (on && delays != 0) {
		granted = 1;
		sim_budget = 1;
	}
}

unsigned
sim_choices(void)
{
	return delays == 0 ? choices : 0;
}

void
sim_sleep(uint64_t ns)
{
	(void)sim_block(NULL, now_ns + ns, "sleep", 0);
}

void
sim_pause(bool on)
{
	if (on) {
		budget_before = sim_budget;
		sim_budget = INT64_MAX;
	} else {
		sim_budget = budget_before;
	}
	paused = on;
}

bool
sim_by_chance(uint32_t n)
{
	return by_chance() && sim_random(n) == 0;
}

void
sim_step_back(void)
{
	fall_behind();
	reschedule();
}

const void *
sim_end_of(unsigned thread)
{
	return &threads[thread];
}

bool
sim_forget(unsigned thread)
{
	if (threads[thread].state != ENDED)
		return false;
	threads[thread].state = FREE;
	return true;
}
