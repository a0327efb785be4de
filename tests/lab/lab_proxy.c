/* SPDX-License-Identifier: MIT
 * The laboratory's proxy: lfproxy's layers with one frontend, one backend and
 * one pool, whose knobs are options, and with knobs that lfproxy does not have.
 *
 * It listens on a port of 127.0.0.1 that the kernel chooses and says so on
 * stderr, as lfproxy does.  A line on stdin is answered by one on stdout: what
 * was counted so far, as JSON.  The end of stdin ends it.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "live/control.h"
#include "proxy/keeper.h"
#include "lab.h"

enum knob {
	OPTION_THREADS,
	OPTION_SHARDS,
	OPTION_PROMOTION,
	OPTION_ORDER,
	OPTION_MUTEX,
	OPTION_WAKE_NS,
	OPTION_AWAKE_NS,
	OPTION_SLOW,
	OPTION_SLOW_TURNS,
	OPTION_BUSY_TURNS,
	OPTION_NO_GUARD,
	OPTION_NO_COPY,
};

static const struct option options[] = {
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"shards", required_argument, NULL, OPTION_SHARDS},
    {"promotion", required_argument, NULL, OPTION_PROMOTION},
    {"order", required_argument, NULL, OPTION_ORDER},
    {"mutex", no_argument, NULL, OPTION_MUTEX},
    {"wake-ns", required_argument, NULL, OPTION_WAKE_NS},
    {"awake-ns", required_argument, NULL, OPTION_AWAKE_NS},
    {"slow", required_argument, NULL, OPTION_SLOW},
    {"slow-turns", required_argument, NULL, OPTION_SLOW_TURNS},
    {"busy-turns", required_argument, NULL, OPTION_BUSY_TURNS},
    {"no-guard", no_argument, NULL, OPTION_NO_GUARD},
    {"no-copy", no_argument, NULL, OPTION_NO_COPY},
    {0},
};

struct lab {
	struct control *control;
	unsigned threads, shards;
	enum policy_kind promotion;
	enum promotion_order order;
	bool no_guard;
};

_Noreturn static void
die(const char *text)
{
	fprintf(stderr, "lab_proxy: %s\n", text);
	exit(2);
}

_Noreturn static void
usage(void)
{
	fputs("usage: lab_proxy [--threads N] [--shards N]\n"
	      "    [--promotion adaptive|always|kernel] [--order lifo|fifo]\n"
	      "    [--mutex] [--wake-ns N] [--awake-ns N] [--slow PERCENT:MS]\n"
	      "    [--slow-turns PERMILLE:MS] [--busy-turns PERMILLE:US]\n"
	      "    [--no-guard] [--no-copy] SERVER...\n",
	    stderr);
	exit(2);
}

static unsigned
number(const char *s, unsigned max)
{
	char *end;
	unsigned long n = strtoul(s, &end, 10);

	if (*s < '0' || *s > '9' || *end || n > max)
		usage();
	return (unsigned)n;
}

static unsigned
choice(const char *s, const char *const names[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(s, names[i]) == 0)
			return i;
	usage();
}

static void
set_cost(const char *s, unsigned *ret_share, unsigned *ret_time)
{
	if (sscanf(s, "%u:%u", ret_share, ret_time) != 2)
		usage();
}

static void
set(struct lab *lab, int option)
{
	static const char *const promotions[] = {
	    [POLICY_ADAPTIVE] = "adaptive",
	    [POLICY_ALWAYS] = "always",
	    [POLICY_KERNEL] = "kernel",
	};
	static const char *const orders[] = {
	    [ORDER_LIFO] = "lifo", [ORDER_FIFO] = "fifo"};

	switch (option) {
	case OPTION_THREADS:
		lab->threads = number(optarg, POOL_THREADS_MAX);
		break;
	case OPTION_SHARDS:
		lab->shards = number(optarg, POOL_THREADS_MAX);
		break;
	case OPTION_PROMOTION:
		lab->promotion = choice(optarg, promotions, 3);
		break;
	case OPTION_ORDER:
		lab->order = choice(optarg, orders, 2);
		break;
	case OPTION_MUTEX:
		lab_faults.mutex = true;
		break;
	case OPTION_WAKE_NS:
		lab_faults.wake_ns = number(optarg, 1000000000);
		break;
	case OPTION_AWAKE_NS:
		lab_faults.awake_ns = number(optarg, 1000000000);
		break;
	case OPTION_SLOW:
		set_cost(optarg, &lab_faults.slow_percent, &lab_faults.slow_ms);
		break;
	case OPTION_SLOW_TURNS:
		set_cost(
		    optarg, &lab_faults.slow_permille, &lab_faults.slow_ms);
		break;
	case OPTION_BUSY_TURNS:
		set_cost(
		    optarg, &lab_faults.busy_permille, &lab_faults.busy_us);
		break;
	case OPTION_NO_GUARD:
		lab->no_guard = true;
		break;
	case OPTION_NO_COPY:
		lab_faults.no_copy = true;
		break;
	default:
		usage();
	}
}

/* The configuration is made as that of the command line is, so that every key
 * has its default, whatever keys there are.  No checks: the control thread has
 * nothing to do but guard. */
static struct spec *
make_spec(const struct lab *lab, char **servers, size_t servers_n)
{
	const char *listen = "127.0.0.1:0";
	const char **names = calloc(servers_n, sizeof(*names));
	const struct config_options given = {
	    .listens = &listen,
	    .listens_n = 1,
	    .servers = names,
	    .servers_n = servers_n,
	    .check = "off",
	};
	struct err_list errors;
	struct spec *spec;
	struct pool_spec *pool;

	if (!names)
		die("no memory");
	for (size_t i = 0; i < servers_n; i++)
		names[i] = servers[i];
	err_list_init(&errors);
	if (!config_from_options(&given, &spec, &errors)) {
		err_list_print(&errors, "", stderr);
		die("the configuration is not valid");
	}
	err_list_fini(&errors);
	free(names);
	log_list_clear(&spec->global.log);
	spec->global.drain_timeout_ms = 1;
	pool = &spec->pools[0];
	pool->threads_auto = 0;
	pool->classes[0].threads = lab->threads;
	pool->shards_auto = false;
	pool->shards = lab->shards;
	pool->promotion = lab->promotion;
	pool->order = lab->order;
	return spec;
}

static struct pool *
pool_of(const struct lab *lab)
{
	return pools_at(lab->control->pools, 0);
}

static void
on_stdin(struct ev_loop *loop, ev_io *io, int events)
{
	const struct lab *lab = io->data;
	char text[256];
	ssize_t n = read(STDIN_FILENO, text, sizeof(text));

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		ev_io_stop(loop, io);
		kill(getpid(), SIGTERM);
		return;
	}
	for (ssize_t i = 0; i < n; i++)
		if (text[i] == '\n')
			lab_status_print(stdout, pool_of(lab));
}

static void
run(struct lab *lab)
{
	struct ev_loop *loop = lab->control->instance.loop;
	ev_io io;

	if (lab->no_guard)
		keeper_set_guarding(lab->control->instance.proxy.keeper, false);
	ev_io_init(&io, on_stdin, STDIN_FILENO, EV_READ);
	io.data = lab;
	ev_io_start(loop, &io);
	control_run(lab->control);
	ev_io_stop(loop, &io);
}

int
main(int argc, char **argv)
{
	struct lab lab = {.threads = 2, .shards = 1};
	struct err err;
	int option;

	lab_allocations_exempt();
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		set(&lab, option);
	if (optind == argc || lab.threads == 0 || lab.shards == 0 ||
	    lab.shards > lab.threads)
		usage();
	lab.control =
	    control_new(make_spec(&lab, argv + optind, (size_t)(argc - optind)),
	        NULL, 0, &err);
	if (!lab.control || !control_start(lab.control, &err))
		die(err.text);
	run(&lab);
	control_free(lab.control);
	return 0;
}
