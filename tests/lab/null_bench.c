/* SPDX-License-Identifier: MIT
 * The promotion's ceiling: a pool on handle sets that always have events, with
 * handlers that do nothing, or keep the CPU busy for a given time.
 *
 * What is left is the core itself: fetch, claim, promote, join.  Prints one
 * line of JSON.  promotion_futex is compiled into it once more, counting the
 * compare-and-swaps that had to be repeated.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "counted_cas.h"
#include "lf/pool.h"
#include "lf/promotion_mutex.h"

/* Of each shard: enough that a handler is seldom still owned when its next
 * event comes. */
#define HANDLERS 1024

struct plan {
	unsigned threads, shards, ms;
	uint64_t busy_ns;
	enum policy_kind policy;
	bool mutex;
};

struct null_set {
	struct handle_set set;
	uint64_t next CACHE_LINE_ALIGNED; /* under POLICY_KERNEL all wait */
	struct event_handler handlers[HANDLERS];
};

static uint32_t running;
static uint64_t busy_ns;

static enum turn
null_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	uint64_t end_ns;

	(void)handler;
	(void)pending;
	(void)self;
	if (busy_ns == 0)
		return TURN_DONE;
	end_ns = clock_now_ns() + busy_ns;
	while (clock_now_ns() < end_ns)
		;
	return TURN_DONE;
}

static const struct event_handler_ops null_handler_ops = {.turn = null_turn};

static struct null_set *
self_of(struct handle_set *set)
{
	return (struct null_set *)(void *)set;
}

static int
null_wait(struct handle_set *set, struct handle_event *events, int max,
    int timeout_ms)
{
	struct null_set *s = self_of(set);
	uint64_t first;

	(void)timeout_ms;
	if (!atomic_load_acquire(&running)) {
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
		return 0;
	}
	first = atomic_add_relaxed(&s->next, (uint64_t)max);
	for (int i = 0; i < max; i++) {
		struct event_handler *h =
		    &s->handlers[(first + (unsigned)i) % HANDLERS];

		events[i].handle = event_handler_handle(h, HANDLE_CLIENT);
		events[i].ready = HANDLE_READABLE;
	}
	return max;
}

/* A wait never lasts. */
static void
null_wake(struct handle_set *set)
{
	(void)set;
}

/* Handlers are for ever: their slots are. */
static void
null_free(struct handle_set *set)
{
	(void)set;
}

static const struct handle_set_ops null_ops = {
    .wait = null_wait,
    .wake = null_wake,
    .free = null_free,
};

static int
new_set(void *arg, struct handle_set **ret_set)
{
	struct null_set *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	(void)arg;
	if (!s)
		abort();
	memset(s, 0, sizeof(*s));
	s->set.ops = &null_ops;
	for (unsigned i = 0; i < HANDLERS; i++)
		if (!event_handler_init(
		        &s->handlers[i], &null_handler_ops, HANDLE_CLIENT))
			abort();
	*ret_set = &s->set;
	return 0;
}

static void
enter_handlers(struct shard *shard)
{
	struct null_set *s = self_of(shard->set);

	for (unsigned i = 0; i < HANDLERS; i++)
		shard_enter(shard, &s->handlers[i]);
}

static struct pool *
start(const struct plan *plan)
{
	struct pool_options options = {
	    .name = "null",
	    .classes = {{.threads = plan->threads}},
	    .classes_n = 1,
	    .shards = plan->shards,
	    .policy = plan->policy,
	    .promotion = plan->mutex ? &promotion_mutex : &promotion_futex,
	    .wake_ns = policy_calibrate(),
	    .awake_ns = POLICY_AWAKE_NS,
	    .grace = grace_new(),
	    .new_set = new_set,
	};
	struct pool *pool;

	if (!options.grace || pool_new(&options, &pool) < 0)
		abort();
	for (unsigned i = 0; i < pool_shards(pool); i++)
		enter_handlers(pool_shard(pool, i));
	return pool;
}

struct reading {
	uint64_t now_ns, cpu_us, failures;
	struct pool_status status;
};

static void
read_all(struct pool *pool, struct reading *r)
{
	struct rusage u;

	r->now_ns = clock_now_ns();
	getrusage(RUSAGE_SELF, &u);
	r->cpu_us =
	    (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	    (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	r->failures = lab_cas_failures();
	pool_status(pool, &r->status);
}

static void
print(const struct reading *a, const struct reading *b)
{
	const struct thread_stats *x = &a->status.sum, *y = &b->status.sum;

	printf("{\"ns\": %" PRIu64 ", \"cpu_us\": %" PRIu64
	       ", \"turns\": %" PRIu64 ", \"merged\": %" PRIu64
	       ", \"promotions\": %" PRIu64 ", \"wakes\": %" PRIu64
	       ", \"taken_over\": %" PRIu64 ", \"cas_failures\": %" PRIu64
	       ", \"wake_ns\": %" PRIu64 "}\n",
	    b->now_ns - a->now_ns, b->cpu_us - a->cpu_us, y->turns - x->turns,
	    y->merged - x->merged, y->promotions - x->promotions,
	    y->wakes - x->wakes, b->status.taken_over - a->status.taken_over,
	    b->failures - a->failures, b->status.wake_ns);
}

/* A first part to warm up, then what counts. */
static void
run(const struct plan *plan)
{
	static struct reading before, after;
	struct pool *pool = start(plan);
	struct timespec part = {.tv_nsec = 50 * 1000000L};

	busy_ns = plan->busy_ns;
	atomic_store_release(&running, 1u);
	nanosleep(&part, NULL);
	read_all(pool, &before);
	part = (struct timespec){
	    .tv_sec = plan->ms / 1000, .tv_nsec = plan->ms % 1000 * 1000000L};
	nanosleep(&part, NULL);
	read_all(pool, &after);
	print(&before, &after);
	fflush(stdout);
	pool_free(pool);
}

_Noreturn static void
usage(void)
{
	fputs("usage: null_bench [--threads N] [--shards N] [--ms N]\n"
	      "    [--policy adaptive|always|kernel] [--mutex] [--busy-ns N]\n",
	    stderr);
	exit(2);
}

static unsigned
number(const char *s)
{
	char *end;
	unsigned long n = strtoul(s, &end, 10);

	if (*s < '0' || *s > '9' || *end || n > 1000000000)
		usage();
	return (unsigned)n;
}

static enum policy_kind
policy(const char *s)
{
	for (enum policy_kind k = POLICY_ADAPTIVE; k <= POLICY_KERNEL; k++)
		if (strcmp(s, policy_name(k)) == 0)
			return k;
	usage();
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"threads", required_argument, NULL, 't'},
	    {"shards", required_argument, NULL, 's'},
	    {"ms", required_argument, NULL, 'd'},
	    {"policy", required_argument, NULL, 'p'},
	    {"busy-ns", required_argument, NULL, 'b'},
	    {"mutex", no_argument, NULL, 'm'},
	    {0},
	};
	struct plan plan = {.threads = 1, .shards = 1, .ms = 250};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't':
			plan.threads = number(optarg);
			break;
		case 's':
			plan.shards = number(optarg);
			break;
		case 'd':
			plan.ms = number(optarg);
			break;
		case 'p':
			plan.policy = policy(optarg);
			break;
		case 'b':
			plan.busy_ns = number(optarg);
			break;
		case 'm':
			plan.mutex = true;
			break;
		default:
			usage();
		}
	}
	if (optind != argc || plan.threads < 1 || plan.shards < 1 ||
	    plan.shards > plan.threads || plan.threads > POOL_THREADS_MAX)
		usage();
	run(&plan);
	return 0;
}
