/* SPDX-License-Identifier: MIT
 * lf_sim: the core under millions of schedules, each of which follows from its
 * seed.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/plan.h"
#include "sim/sim.h"
#include "sim/world.h"

#define STEPS_MAX 5000000u
#define SCHEDULES 100000u

static const char usage[] =
    "usage: lf_sim [--schedules N] [--seed N] [--strategy S] [--trace]\n"
    "       lf_sim --plan NAME [--delays N | --seed N] [--trace]\n"
    "       lf_sim --golden NAME\n"
    "\n"
    "Runs the Leader/Followers core under schedules that are drawn from "
    "seeds,\n"
    "and checks what must hold.  The first schedule that breaks it is "
    "printed,\n"
    "and the exit status is 1.\n"
    "\n"
    "  --schedules N  how many; default 100000\n"
    "  --seed N       of the first one, the next one has the next; default 1\n"
    "  --strategy S   random: any thread may go on at any step; pct: by\n"
    "                 priorities that change a few times; mixed (the "
    "default):\n"
    "                 each schedule one of the two\n"
    "  --trace        print every step\n"
    "  --plan NAME    a small pool in one situation, under every schedule "
    "that\n"
    "                 follows from a number of delays, or under that of a "
    "seed:\n"
    "                 %s\n"
    "  --delays N     how many at most, 1 to 4; default 1\n"
    "  --golden NAME  print what a pool of one thread does in a fixed script:\n"
    "                 %s\n";

struct arguments {
	struct sim_options sim;
	uint64_t schedules;
	struct golden *golden;
	struct situation *situation;
	unsigned delays;
	bool replay; /* the schedule of a seed only */
};

static uint64_t schedules_run, steps_run;

static const char *
list_names(const char *(*name)(unsigned i), char ret[256])
{
	size_t len = 0;

	for (unsigned i = 0; name(i); i++)
		len += (size_t)snprintf(
		    ret + len, 256 - len, "%s%s", i > 0 ? ", " : "", name(i));
	return ret;
}

static void
print_usage(FILE *out)
{
	char situations[256], goldens[256];

	fprintf(out, usage, list_names(situation_name, situations),
	    list_names(golden_name, goldens));
}

_Noreturn static void
refuse(const char *what, const char *value, const char *allowed)
{
	fprintf(stderr, "lf_sim: %s %s: %s; see lf_sim --help\n", what, value,
	    allowed);
	exit(2);
}

static uint64_t
number(const char *what, const char *text)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end || strchr(text, '-'))
		refuse(what, text, "a number is needed");
	return n;
}

static enum sim_strategy
strategy(const char *text)
{
	if (strcmp(text, "mixed") == 0)
		return SIM_MIXED;
	if (strcmp(text, "random") == 0)
		return SIM_RANDOM;
	if (strcmp(text, "pct") == 0)
		return SIM_PCT;
	refuse("--strategy", text, "allowed are mixed, random and pct");
}

static void
parse(int argc, char **argv, struct arguments *ret)
{
	static const struct option options[] = {
	    {"delays", required_argument, NULL, 'd'},
	    {"golden", required_argument, NULL, 'g'},
	    {"plan", required_argument, NULL, 'p'},
	    {"help", no_argument, NULL, 'h'},
	    {"schedules", required_argument, NULL, 'n'},
	    {"seed", required_argument, NULL, 's'},
	    {"strategy", required_argument, NULL, 'y'},
	    {"trace", no_argument, NULL, 't'},
	    {0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			ret->delays = (unsigned)number("--delays", optarg);
			if (ret->delays < 1 || ret->delays > SIM_DELAYS_MAX)
				refuse(
				    "--delays", optarg, "allowed are 1 to 4");
			break;
		case 'p':
			ret->situation = situation_find(optarg);
			if (!ret->situation)
				refuse("--plan", optarg, "unknown name");
			ret->sim.plan = optarg;
			break;
		case 'g':
			ret->golden = golden_find(optarg);
			if (!ret->golden)
				refuse("--golden", optarg, "unknown name");
			break;
		case 'h':
			print_usage(stdout);
			exit(0);
		case 'n':
			ret->schedules = number("--schedules", optarg);
			break;
		case 's':
			ret->sim.seed = number("--seed", optarg);
			ret->replay = true;
			break;
		case 'y':
			ret->sim.strategy = strategy(optarg);
			break;
		case 't':
			ret->sim.trace = true;
			break;
		default:
			print_usage(stderr);
			exit(2);
		}
	}
	if (optind < argc)
		refuse("argument", argv[optind], "there are only options");
	if (ret->situation)
		ret->sim.strategy = SIM_DELAYS;
	else if (ret->delays > 0)
		refuse("--delays", "without --plan", "needs a situation");
}

static double
now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
run_one(struct arguments *a, uint64_t seed, void *(*plan)(void *arg))
{
	a->sim.seed = seed;
	sim_run(&a->sim, plan, a->situation);
	schedules_run++;
	steps_run += sim_steps();
}

static void
run_random(struct arguments *a)
{
	uint64_t seed = a->sim.seed;

	for (uint64_t i = 0; i < a->schedules; i++)
		run_one(a, seed + i, plan_random);
}

/* All schedules with the delays before and `more` further ones.  A schedule
 * with one further delay says how far the next ones can go. */
static void
run_delays(struct arguments *a, uint64_t before, unsigned place, unsigned more)
{
	for (uint64_t point = 0;; point++) {
		unsigned threads = 1, choices;

		do {
			uint64_t seed =
			    before | sim_delay(place, point, threads);

			run_one(a, seed, plan_situation);
			choices = sim_choices();
			if (choices == 0)
				return;
			if (more > 1)
				run_delays(a, seed, place + 1, more - 1);
		} while (++threads < choices);
	}
}

/* Few delays first: most bugs need no more. */
static void
run_situation(struct arguments *a)
{
	if (a->replay) {
		run_one(a, a->sim.seed, plan_situation);
		return;
	}
	run_one(a, 0, plan_situation);
	for (unsigned n = 1; n <= (a->delays > 0 ? a->delays : 1); n++)
		run_delays(a, 0, 0, n);
}

static void
run_many(struct arguments *a)
{
	double began_s = now_s(), took_s;

	if (a->situation)
		run_situation(a);
	else
		run_random(a);
	took_s = now_s() - began_s;
	printf("%" PRIu64 " schedules, %" PRIu64 " steps, digest %016" PRIx64
	       ", %.1f s, %.0f schedules/s\n",
	    schedules_run, steps_run, sim_digest(), took_s,
	    (double)schedules_run / took_s);
}

/* With the schedule that led there; the simulated threads' stacks are as good
 * as any for a handler. */
static void
on_bad_address(int signal)
{
	(void)signal;
	sim_fail("an address that is not there is used");
}

int
main(int argc, char **argv)
{
	struct arguments a = {
	    .sim = {.seed = 1,
	        .steps_max = STEPS_MAX,
	        .idle = world_idle,
	        .describe = world_describe},
	    .schedules = SCHEDULES,
	};

	parse(argc, argv, &a);
	signal(SIGSEGV, on_bad_address);
	if (a.golden) {
		a.sim.single = true;
		sim_run(&a.sim, plan_golden, a.golden);
	} else {
		run_many(&a);
	}
	return 0;
}
