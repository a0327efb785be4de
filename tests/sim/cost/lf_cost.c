/* SPDX-License-Identifier: MIT
 * lf_cost: what the core does with a number of CPUs, by a cost model.
 *
 * The core runs as in lf_sim, on virtual CPUs (cpus.h) in virtual time, on
 * handle sets that behave as epoll's (wires.h), under a closed loop
 * (traffic.h).  What the parts cost is read from a file (costs.h).
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "lf/pool.h"
#include "sim/cost/costs.h"
#include "sim/cost/cpus.h"
#include "sim/cost/traffic.h"
#include "sim/cost/wires.h"
#include "sim/sim.h"

#define GUARD_LIMIT_NS  NS_PER_MS
#define THREADS_ALLOWED 256
#define CONNECTIONS_MAX 65536
/* Takes the place of policy_calibrate in src/lf. */
#define WAKE_LEAST_NS 25000u
#define WAKE_MOST_NS  200000u

static const char usage[] =
    "usage: lf_cost [--costs FILE] [--set NAME=NS|NAME=xFACTOR]...\n"
    "               [--cpus N] [--threads N] [--shards N] [--policy P]\n"
    "               [--connections C] [--requests N] [--local]\n"
    "               [--client-us T] [--server-us T] [--busy-turns "
    "PERMILLE:US]\n"
    "               [--slow-turns PERMILLE:MS] [--ms N] [--warm-ms N] [--seed "
    "N]\n"
    "\n"
    "Predicts throughput, CPU time and latency of a pool under a closed loop,\n"
    "by a cost model, and prints them as a line of JSON.  The same arguments\n"
    "give the same line.\n"
    "\n"
    "  --costs FILE    default tests/sim/cost/costs.txt; --set changes one "
    "cost\n"
    "  --cpus N        1 to 64, default 2\n"
    "  --threads N     default: as many as CPUs\n"
    "  --shards N      default 1\n"
    "  --policy P      adaptive (the default), always, kernel, or reactor:\n"
    "                  adaptive with as many shards as threads\n"
    "  --connections C default 64\n"
    "  --requests N    of a connection, which then ends and is made again;\n"
    "                  default 0: never\n"
    "  --local         clients and server use the same CPUs, as in the lab;\n"
    "                  otherwise they take, and no CPU:\n"
    "  --client-us T   from an answer to the next request; default 100\n"
    "  --server-us T   from a request to its answer; default 100\n"
    "  --busy-turns, --slow-turns\n"
    "                  N of a thousand turns compute, or sleep, for a time\n"
    "  --ms N          measured, in virtual time, after --warm-ms; default "
    "100,\n"
    "                  20\n";

struct arguments {
	const char *costs_path;
	struct costs costs;
	struct traffic_options traffic;
	unsigned cpus, threads, shards;
	enum policy_kind policy;
	bool reactor;
	uint64_t ms, warm_ms, seed;
};

/* CPU time so far, by whose threads. */
static uint64_t control_ns, pool_ns;
static bool guarding = true;

_Noreturn static void
refuse(const char *what, const char *value, const char *allowed)
{
	fprintf(stderr, "lf_cost: %s %s: %s; see lf_cost --help\n", what, value,
	    allowed);
	exit(2);
}

static uint64_t
number(const char *what, const char *text, uint64_t least, uint64_t most)
{
	char allowed[64], *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && errno == 0 && n >= least &&
	    n <= most)
		return n;
	snprintf(allowed, sizeof(allowed),
	    "allowed are %" PRIu64 " to %" PRIu64, least, most);
	refuse(what, text, allowed);
}

static void
share(const char *what, const char *text, unsigned *ret_permille,
    uint32_t *ret_ns, uint32_t unit_ns)
{
	unsigned permille, time;
	int end = 0;

	if (sscanf(text, "%u:%u%n", &permille, &time, &end) != 2 || text[end] ||
	    permille > 1000 || time > 1000000000u / unit_ns)
		refuse(what, text,
		    "turns of a thousand and their time are needed, as in "
		    "100:1000");
	*ret_permille = permille;
	*ret_ns = time * unit_ns;
}

static void
choose_policy(const char *text, struct arguments *a)
{
	a->reactor = strcmp(text, "reactor") == 0;
	if (a->reactor)
		text = policy_name(POLICY_ADAPTIVE);
	for (int p = POLICY_ADAPTIVE; p <= POLICY_KERNEL; p++)
		if (strcmp(text, policy_name((enum policy_kind)p)) == 0) {
			a->policy = (enum policy_kind)p;
			return;
		}
	refuse("--policy", text,
	    "allowed are adaptive, always, kernel and reactor");
}

/* The arguments of --set: they need the file that another option may name. */
static const char *sets[32];
static unsigned sets_n;

static void
set_option(int option, struct arguments *a)
{
	struct traffic_options *t = &a->traffic;

	switch (option) {
	case 'f':
		a->costs_path = optarg;
		break;
	case 'x':
		if (sets_n == sizeof(sets) / sizeof(sets[0]))
			refuse("--set", optarg, "too many");
		sets[sets_n++] = optarg;
		break;
	case 'n':
		a->cpus = (unsigned)number("--cpus", optarg, 1, CPUS_MAX);
		break;
	case 't':
		a->threads =
		    (unsigned)number("--threads", optarg, 1, THREADS_ALLOWED);
		break;
	case 's':
		a->shards =
		    (unsigned)number("--shards", optarg, 1, THREADS_ALLOWED);
		break;
	case 'p':
		choose_policy(optarg, a);
		break;
	case 'c':
		t->connections = (unsigned)number(
		    "--connections", optarg, 1, CONNECTIONS_MAX);
		break;
	case 'r':
		t->requests =
		    (unsigned)number("--requests", optarg, 0, UINT32_MAX);
		break;
	case 'l':
		t->local = true;
		break;
	case 'C':
		t->client_ns =
		    (uint32_t)number("--client-us", optarg, 1, 1000000) * 1000;
		break;
	case 'S':
		t->server_ns =
		    (uint32_t)number("--server-us", optarg, 1, 1000000) * 1000;
		break;
	case 'b':
		share("--busy-turns", optarg, &t->busy_permille, &t->busy_ns,
		    1000);
		break;
	case 'w':
		share("--slow-turns", optarg, &t->slow_permille, &t->slow_ns,
		    1000000);
		break;
	case 'm':
		a->ms = number("--ms", optarg, 1, 100000);
		break;
	case 'W':
		a->warm_ms = number("--warm-ms", optarg, 0, 100000);
		break;
	case 'e':
		a->seed = number("--seed", optarg, 0, UINT64_MAX);
		break;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default:
		fputs(usage, stderr);
		exit(2);
	}
}

static void
parse(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
	    {"costs", required_argument, NULL, 'f'},
	    {"set", required_argument, NULL, 'x'},
	    {"cpus", required_argument, NULL, 'n'},
	    {"threads", required_argument, NULL, 't'},
	    {"shards", required_argument, NULL, 's'},
	    {"policy", required_argument, NULL, 'p'},
	    {"connections", required_argument, NULL, 'c'},
	    {"requests", required_argument, NULL, 'r'},
	    {"local", no_argument, NULL, 'l'},
	    {"client-us", required_argument, NULL, 'C'},
	    {"server-us", required_argument, NULL, 'S'},
	    {"busy-turns", required_argument, NULL, 'b'},
	    {"slow-turns", required_argument, NULL, 'w'},
	    {"ms", required_argument, NULL, 'm'},
	    {"warm-ms", required_argument, NULL, 'W'},
	    {"seed", required_argument, NULL, 'e'},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		set_option(c, a);
	if (optind < argc)
		refuse("argument", argv[optind], "there are only options");
	if (a->threads == 0)
		a->threads = a->cpus;
	if (a->reactor)
		a->shards = a->threads;
	if (a->shards > a->threads)
		refuse("--shards", "", "more than threads");
	if (!costs_read(a->costs_path, &a->costs))
		exit(2);
	for (unsigned i = 0; i < sets_n; i++)
		if (!costs_set(&a->costs, sets[i]))
			refuse("--set", sets[i],
			    "a cost's name and what it is, as in turn=5000 or "
			    "turn=x2");
	if (a->costs.turn_serial_ns > a->costs.turn_ns)
		refuse("turn_serial", "", "more than turn");
}

/* -- the control thread -- */

static bool
begin_thread(struct pool_thread *self, void *arg)
{
	(void)self;
	(void)arg;
	cpus_account(&pool_ns);
	return true;
}

static void
call_guard(void *arg)
{
	(void)arg;
	guarding = true;
}

static uint64_t
wake_cost_ns(const struct costs *costs)
{
	uint64_t ns = costs->wake_call_ns + costs->wake_delay_ns;

	if (ns < WAKE_LEAST_NS)
		return WAKE_LEAST_NS;
	return ns > WAKE_MOST_NS ? WAKE_MOST_NS : ns;
}

static struct pool *
start_pool(const struct arguments *a)
{
	cpu_set_t cpus;
	struct pool *pool;
	struct pool_options options = {
	    .name = "cost",
	    .classes = {{.threads = a->threads}},
	    .classes_n = 1,
	    .shards = a->shards,
	    .policy = a->policy,
	    .cpus = &cpus,
	    .wake_ns = wake_cost_ns(&a->costs),
	    .awake_ns = POLICY_AWAKE_NS,
	    .grace = grace_new(),
	    .new_set = wires_new_set,
	    .thread_init = begin_thread,
	    .call_guard = call_guard,
	};

	CPU_ZERO(&cpus);
	for (unsigned c = 0; c < a->cpus; c++)
		CPU_SET(c, &cpus);
	ENSURE(options.grace && pool_new(&options, &pool) == 0);
	return pool;
}

static void
guard_for(struct pool *pool, uint64_t ms)
{
	for (uint64_t i = 0; i < ms; i++) {
		sim_sleep(NS_PER_MS);
		if (!guarding)
			continue;
		cpus_spend(cpus_costs()->guard_ns);
		guarding = pool_guard(pool, clock_now_ns(), GUARD_LIMIT_NS);
	}
}

struct mark {
	uint64_t now_ns, idle_ns, cpu_ns;
	struct pool_status status;
};

static void
set_mark(struct pool *pool, struct mark *ret)
{
	ret->now_ns = cpus_now_ns();
	ret->idle_ns = cpus_idle_ns();
	ret->cpu_ns = control_ns + pool_ns;
	pool_status(pool, &ret->status);
}

static void
print_figures(
    const struct arguments *a, const struct mark *from, const struct mark *to)
{
	struct traffic_figures f = traffic_figures();
	const struct thread_stats *was = &from->status.sum;
	const struct thread_stats *is = &to->status.sum;
	/* Time that threads have begun to spend at a mark is not counted there.
	 */
	double idle = (double)(int64_t)(to->idle_ns - from->idle_ns);
	double ns = (double)(to->now_ns - from->now_ns);
	double n = f.answers > 0 ? (double)f.answers : 1;

	printf("{\"throughput\": %.0f, \"cpu_us\": %.3f, \"p50_us\": %.1f, "
	       "\"p99_us\": %.1f, \"idle\": %.3f, \"wakes\": %.4f, "
	       "\"events_per_wait\": %.2f, \"taken_over\": %.4f, "
	       "\"guarded\": %" PRIu64 "}\n",
	    (double)f.answers * 1e9 / ns,
	    (double)(to->cpu_ns - from->cpu_ns) / 1e3 / n,
	    (double)f.p50_ns / 1e3, (double)f.p99_ns / 1e3, idle / ns / a->cpus,
	    (double)(is->wakes - was->wakes) / n,
	    (double)(is->fetched - was->fetched) /
	        (double)(is->waits > was->waits ? is->waits - was->waits : 1),
	    (double)(to->status.taken_over - from->status.taken_over) / n,
	    to->status.guarded - from->status.guarded);
}

static void *
control_main(void *arg)
{
	const struct arguments *a = arg;
	static struct mark from, to;
	struct pool *pool;

	cpus_account(&control_ns);
	wires_open(traffic_wires(&a->traffic));
	pool = start_pool(a);
	traffic_start(&a->traffic, pool);
	guard_for(pool, a->warm_ms);
	set_mark(pool, &from);
	traffic_measure();
	guard_for(pool, a->ms);
	set_mark(pool, &to);
	print_figures(a, &from, &to);
	exit(0);
}

int
main(int argc, char **argv)
{
	struct arguments a = {
	    .costs_path = "tests/sim/cost/costs.txt",
	    .traffic = {.connections = 64,
	        .client_ns = 100000,
	        .server_ns = 100000},
	    .cpus = 2,
	    .shards = 1,
	    .ms = 100,
	    .warm_ms = 20,
	    .seed = 1,
	};
	struct cpus_options options = {.costs = &a.costs};

	parse(argc, argv, &a);
	options.cpus = a.cpus;
	options.seed = a.seed;
	cpus_run(&options, control_main, &a);
}
