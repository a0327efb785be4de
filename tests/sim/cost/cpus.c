/* SPDX-License-Identifier: MIT
 * See cpus.h.
 *
 * One heap holds what is to happen, by time.  A thread that spends time goes on
 * without a look at the others if nothing happens before it is through; else
 * its continuation becomes an event, too.  So while an event is handled, every
 * thread on a CPU has its continuation in the heap.
 */
#include "sim/cost/cpus.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/kernel.h"
#include "sim/sim.h"
#include "sim/switch.h"

#define THREADS_MAX 320
#define NO_THREAD   UINT32_MAX
#define NO_CPU      UINT32_MAX

enum state { FREE, WAITING /* for a CPU */, RUNNING, BLOCKED, ENDED };

struct thread {
	enum state state;
	void *sp, *stack;
	void *(*main)(void *arg);
	void *arg;
	const void *on; /* blocked: an address, or NULL: asleep */
	uint64_t block; /* number of this block, for its time-out */
	bool timed_out;
	unsigned cpu;        /* the present one, or the last */
	uint64_t left_ns;    /* to spend before it goes on */
	uint64_t virtual_ns; /* CPU time, for a fair choice */
	uint64_t *account;
};

struct cpu {
	uint32_t thread;
	uint64_t since_ns; /* when the thread's present spending began; may be
	                      in the future: it is being woken */
	uint64_t slice_end_ns;
	uint64_t number;  /* of the continuation that is valid */
	unsigned waiting; /* threads that wait for this CPU */
};

enum kind { CONTINUE, SLICE, BALANCE, TIME_OUT, CALL };

struct event {
	uint64_t at_ns;
	uint64_t order; /* of events of the same time */
	enum kind kind;
	uint32_t which;  /* a CPU or a thread */
	uint64_t number; /* of the continuation or the block */
	void (*call)(void *arg);
	void *arg;
};

int64_t sim_budget;

static struct cpus_options options;
static struct thread threads[THREADS_MAX];
static struct cpu cpus[CPUS_MAX];
static unsigned threads_n;
static uint32_t current;
static bool calling; /* an event's call runs, and no thread */
static uint64_t time_ns, used_ns, orders, blocks;
static uint64_t served_ns; /* the least virtual_ns of who got a CPU last */
static struct event *heap;
static size_t heap_n, heap_room;
static void *outside;

const struct costs *
cpus_costs(void)
{
	return options.costs;
}

uint64_t
cpus_now_ns(void)
{
	return time_ns;
}

static struct thread *
this_thread(void)
{
	return &threads[current];
}

unsigned
cpus_here(void)
{
	return this_thread()->cpu;
}

uint64_t
cpus_idle_ns(void)
{
	return time_ns * options.cpus - used_ns;
}

void
cpus_account(uint64_t *ns)
{
	this_thread()->account = ns;
}

static bool
earlier(const struct event *a, const struct event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void
push(struct event e)
{
	size_t i = heap_n++;

	if (heap_n > heap_room) {
		heap_room = heap_room > 0 ? 2 * heap_room : 1024;
		heap = realloc(heap, heap_room * sizeof(*heap));
		if (!heap)
			abort();
	}
	e.order = orders++;
	for (; i > 0 && earlier(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

static struct event
pop(void)
{
	struct event first, last;
	size_t i = 0, child;

	if (heap_n == 0)
		sim_fail("no thread can run: a deadlock");
	first = heap[0];
	last = heap[--heap_n];
	while ((child = 2 * i + 1) < heap_n) {
		if (child + 1 < heap_n &&
		    earlier(&heap[child + 1], &heap[child]))
			child++;
		if (!earlier(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

void
cpus_at(uint64_t at_ns, void (*call)(void *arg), void *arg)
{
	push((struct event){
	    .at_ns = at_ns, .kind = CALL, .call = call, .arg = arg});
}

static void
charge(struct thread *t, uint64_t ns)
{
	t->virtual_ns += ns;
	used_ns += ns;
	if (t->account)
		*t->account += ns;
}

static void
limit_slice(uint32_t c)
{
	uint64_t at_ns = cpus[c].slice_end_ns;

	push((struct event){.at_ns = at_ns > time_ns ? at_ns : time_ns,
	    .kind = SLICE,
	    .which = c,
	    .number = at_ns});
}

uint64_t
cpus_about(uint64_t ns)
{
	return ns / 2 + sim_random((uint32_t)ns + 1);
}

/* The thread goes on when it has spent what is left. */
static void
begin_spending(uint32_t c, uint64_t from_ns)
{
	struct cpu *cpu = &cpus[c];

	cpu->since_ns = from_ns;
	cpu->number = ++orders;
	push((struct event){.at_ns = from_ns + threads[cpu->thread].left_ns,
	    .kind = CONTINUE,
	    .which = c,
	    .number = cpu->number});
}

/* Puts the thread on the CPU, which is free. */
static void
occupy(uint32_t c, uint32_t thread, uint64_t delay_ns)
{
	struct thread *t = &threads[thread];

	t->state = RUNNING;
	t->cpu = c;
	t->left_ns += options.costs->thread_switch_ns;
	if (t->virtual_ns > served_ns)
		served_ns = t->virtual_ns;
	cpus[c].thread = thread;
	cpus[c].slice_end_ns = time_ns + delay_ns + options.costs->slice_ns;
	begin_spending(c, time_ns + delay_ns);
	if (cpus[c].waiting > 0)
		limit_slice(c);
}

/* The thread that waits for the CPU, or for any if that is NO_CPU, and has had
 * the least of them. */
static uint32_t
choose_waiting(uint32_t c)
{
	uint32_t best = NO_THREAD;

	for (uint32_t i = 0; i < threads_n; i++) {
		const struct thread *t = &threads[i];

		if (t->state == WAITING && (c == NO_CPU || t->cpu == c) &&
		    (best == NO_THREAD ||
		        t->virtual_ns < threads[best].virtual_ns))
			best = i;
	}
	return best;
}

static void
await_cpu(uint32_t thread, uint32_t c)
{
	threads[thread].state = WAITING;
	threads[thread].cpu = c;
	if (cpus[c].waiting++ == 0)
		limit_slice(c);
}

/* The thread has left the CPU. */
static void
put_to_use(uint32_t c)
{
	cpus[c].thread = NO_THREAD;
	cpus[c].number = ++orders;
	if (cpus[c].waiting == 0) {
		push(
		    (struct event){.at_ns = time_ns + options.costs->balance_ns,
		        .kind = BALANCE,
		        .which = c,
		        .number = cpus[c].number});
		return;
	}
	cpus[c].waiting--;
	occupy(c, choose_waiting(c), 0);
}

/* A CPU that has been idle for long takes what waits for others. */
static void
balance(uint32_t c, uint64_t number)
{
	uint32_t thread;

	if (cpus[c].number != number)
		return;
	thread = choose_waiting(NO_CPU);
	if (thread == NO_THREAD) {
		push(
		    (struct event){.at_ns = time_ns + options.costs->balance_ns,
		        .kind = BALANCE,
		        .which = c,
		        .number = number});
		return;
	}
	cpus[threads[thread].cpu].waiting--;
	occupy(c, thread, 0);
}

static uint32_t
idle_cpu(uint32_t last)
{
	if (cpus[last].thread == NO_THREAD)
		return last;
	for (uint32_t c = 0; c < options.cpus; c++)
		if (cpus[c].thread == NO_THREAD)
			return c;
	return NO_THREAD;
}

static void
make_ready(uint32_t thread)
{
	struct thread *t = &threads[thread];
	uint32_t c = idle_cpu(t->cpu);
	uint64_t least_ns = served_ns > options.costs->slice_ns
	                        ? served_ns - options.costs->slice_ns
	                        : 0;

	/* Having slept gives no claim to all that was missed. */
	if (t->virtual_ns < least_ns)
		t->virtual_ns = least_ns;
	if (c == NO_THREAD) {
		await_cpu(thread, t->cpu);
		return;
	}
	occupy(c, thread, cpus_about(options.costs->wake_delay_ns));
}

/* Takes the time that the CPU has run its thread off the thread's work. */
static void
settle(uint32_t c)
{
	struct cpu *cpu = &cpus[c];
	struct thread *t = &threads[cpu->thread];
	uint64_t ns = time_ns > cpu->since_ns ? time_ns - cpu->since_ns : 0;

	if (ns > t->left_ns)
		ns = t->left_ns;
	charge(t, ns);
	t->left_ns -= ns;
	cpu->since_ns = time_ns;
}

static void
end_slice(uint32_t c, uint64_t slice_end_ns)
{
	uint32_t thread = cpus[c].thread;

	if (thread == NO_THREAD || cpus[c].waiting == 0 ||
	    cpus[c].slice_end_ns != slice_end_ns || cpus[c].since_ns > time_ns)
		return;
	settle(c);
	/* The least served thread goes on, which may be this one. */
	if (threads[choose_waiting(c)].virtual_ns >=
	    threads[thread].virtual_ns) {
		cpus[c].slice_end_ns = time_ns + options.costs->slice_ns;
		begin_spending(c, time_ns);
		limit_slice(c);
		return;
	}
	put_to_use(c);
	await_cpu(thread, c);
}

static void
end_block(uint32_t thread, uint64_t block)
{
	struct thread *t = &threads[thread];

	if (t->state != BLOCKED || t->block != block)
		return;
	t->timed_out = true;
	make_ready(thread);
}

/* Lets time pass until a thread goes on, which is the caller when this
 * returns. */
static void
run_on(void)
{
	uint32_t was = current;

	for (;;) {
		struct event e = pop();

		time_ns = e.at_ns;
		switch (e.kind) {
		case CONTINUE:
			if (cpus[e.which].number != e.number)
				break;
			settle(e.which);
			current = cpus[e.which].thread;
			if (current != was)
				switch_stack(
				    &threads[was].sp, threads[current].sp);
			return;
		case SLICE:
			end_slice(e.which, e.number);
			break;
		case BALANCE:
			balance(e.which, e.number);
			break;
		case TIME_OUT:
			end_block(e.which, e.number);
			break;
		case CALL:
			calling = true;
			e.call(e.arg);
			calling = false;
			break;
		}
	}
}

void
cpus_spend(uint64_t ns)
{
	struct thread *t = this_thread();

	if (calling)
		return;
	if (heap_n == 0 || heap[0].at_ns > time_ns + ns) {
		time_ns += ns;
		charge(t, ns);
		return;
	}
	t->left_ns = ns;
	begin_spending(t->cpu, time_ns);
	run_on();
}

/* -- sim.h and kernel.h, as far as the core and kernel.c need them -- */

/* The price of what has no address: see hooks.h and kernel.c. */
void
sim_record(const char *op, const char *function, int line)
{
	(void)function;
	(void)line;
	switch (op[0]) {
	case 'r': /* relax */
		cpus_spend(options.costs->relax_ns);
		break;
	case 'w': /* wait, wake: futex(2) */
	case 'y': /* yield */
		cpus_spend(options.costs->system_call_ns);
		break;
	case 'l': /* lock */
		cpus_spend(options.costs->write_ns);
		break;
	default:
		sim_fail("an operation without a price: %s", op);
	}
}

void
sim_point_slow(void)
{
	sim_budget = INT64_MAX;
}

uint64_t
sim_now_ns(void)
{
	cpus_spend(options.costs->clock_ns);
	return time_ns;
}

unsigned
sim_self(void)
{
	return current;
}

void
sim_note(const char *what, int64_t value)
{
	(void)what;
	(void)value;
}

/* A wait ends early only for a reason. */
bool
sim_by_chance(uint32_t n)
{
	(void)n;
	return false;
}

bool
sim_block(const void *on, uint64_t until_ns, const char *function, int line)
{
	struct thread *t = this_thread();

	(void)function;
	(void)line;
	t->state = BLOCKED;
	t->on = on;
	t->block = ++blocks;
	t->timed_out = false;
	t->left_ns = 0;
	if (until_ns != SIM_NEVER)
		push((struct event){
		    .at_ns = until_ns > time_ns ? until_ns : time_ns,
		    .kind = TIME_OUT,
		    .which = current,
		    .number = t->block});
	put_to_use(t->cpu);
	run_on();
	return !t->timed_out;
}

/* The waker pays; a call of cpus_at is the kernel on no CPU that is simulated,
 * and leaves the bill to the thread. */
static void
wake_thread(uint32_t thread)
{
	struct thread *t = &threads[thread];
	uint64_t ns = idle_cpu(t->cpu) != NO_THREAD
	                  ? options.costs->wake_call_ns
	                  : options.costs->wake_queued_ns;

	if (calling)
		t->left_ns += ns;
	make_ready(thread);
	cpus_spend(ns);
}

void
sim_unblock_one(const void *on)
{
	for (uint32_t i = 0; i < threads_n; i++)
		if (threads[i].state == BLOCKED && threads[i].on == on) {
			wake_thread(i);
			return;
		}
}

void
sim_unblock_all(const void *on)
{
	for (uint32_t i = 0; i < threads_n; i++)
		if (threads[i].state == BLOCKED && threads[i].on == on)
			wake_thread(i);
}

void
sim_step_back(void)
{
	struct thread *t = this_thread();
	uint32_t c = t->cpu;

	if (cpus[c].waiting == 0)
		return;
	t->virtual_ns = served_ns + 1;
	t->left_ns = 0;
	put_to_use(c);
	await_cpu(current, c);
	run_on();
}

static void
thread_main(void)
{
	struct thread *t = this_thread();

	t->main(t->arg);
	t->state = ENDED;
	sim_unblock_all(t);
	put_to_use(t->cpu);
	run_on();
	abort();
}

unsigned
sim_start(void *(*main)(void *arg), void *arg)
{
	uint32_t i = threads_n++;
	struct thread *t = &threads[i];

	if (i == THREADS_MAX)
		sim_fail("too many threads");
	t->stack = switch_stack_new();
	t->main = main;
	t->arg = arg;
	t->cpu = i % options.cpus;
	t->sp = switch_prepare(t->stack, thread_main);
	make_ready(i);
	return i;
}

const void *
sim_end_of(unsigned thread)
{
	return &threads[thread];
}

bool
sim_forget(unsigned thread)
{
	return threads[thread].state == ENDED;
}

void
sim_sleep(uint64_t ns)
{
	(void)sim_block(NULL, time_ns + ns, "sleep", 0);
}

_Noreturn void
sim_fail(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "lf_cost: at %" PRIu64 " ns: ", time_ns);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void
cpus_run(const struct cpus_options *opts, void *(*main)(void *arg), void *arg)
{
	options = *opts;
	sim_seed(options.seed);
	sim_budget = INT64_MAX;
	for (unsigned c = 0; c < options.cpus; c++)
		cpus[c].thread = NO_THREAD;
	current = sim_start(main, arg);
	/* The main thread begins at once: its first continuation is taken here.
	 */
	(void)pop();
	time_ns = cpus[0].since_ns;
	threads[current].left_ns = 0;
	switch_stack(&outside, threads[current].sp);
	abort();
}
