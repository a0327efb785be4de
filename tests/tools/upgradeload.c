/* SPDX-License-Identifier: MIT
 * Many sessions of all kinds, through an lfproxy whose process changes.
 */
#include <getopt.h>

#include "tools/upgradeload/client.h"
#include "tools/upgradeload/loop.h"
#include "tools/upgradeload/server.h"

struct load_options opt = {.sessions = 1000, .period_ms = 200};
struct load_sums sum;
struct pace_times answers, beginnings, directs;
bool counting, ending;

uint64_t
load_random(uint64_t n)
{
	static uint64_t state = 1;

	return tool_mix(state++) % n;
}

static void
print_times(const char *name, struct pace_times *t)
{
	size_t n = t->n;

	printf("%s {\"n\": %zu, ", name, n);
	pace_print(t);
	printf("}\n");
}

static void
print_sums(void)
{
	printf("ok=%llu wrong=%llu cut=%llu refused=%llu made=%llu up=%llu "
	       "down=%llu queue_max=%llu once_max=%llu\n",
	    (unsigned long long)sum.ok, (unsigned long long)sum.wrong,
	    (unsigned long long)sum.cut, (unsigned long long)sum.refused,
	    (unsigned long long)sum.made, (unsigned long long)sum.up,
	    (unsigned long long)sum.down, (unsigned long long)sum.queue_max,
	    (unsigned long long)sum.once_max);
	for (int i = 0; i < KINDS; i++)
		printf("%s%s=%llu/%llu", i > 0 ? " " : "", kind_names[i],
		    (unsigned long long)sum.failed_kind[i],
		    (unsigned long long)sum.by_kind[i]);
	printf("\n");
	if (!opt.server) {
		print_times("answers", &answers);
		print_times("beginnings", &beginnings);
		print_times("directs", &directs);
	}
	fflush(stdout);
}

static int
usage(FILE *out)
{
	fputs(
	    "usage: upgradeload server [--cuts] [--deadline SECONDS]\n"
	    "       upgradeload client ADDRESS QUEUE LATE HEADER [--sessions "
	    "N]\n"
	    "           [--rate N] [--period MS] [--direct ADDRESS] [--cuts]\n"
	    "           [--deadline SECONDS]\n"
	    "The server prints `queue ADDRESS`, of servers that take few\n"
	    "sessions at a time, `late ADDRESS`, where a SYN gets no answer\n"
	    "before SIGUSR1, and `listening on ADDRESS` for the others.\n"
	    "The client prints `established N`, then makes N sessions a "
	    "second\n"
	    "besides those.  HEADER expects a PROXY header, whose second half\n"
	    "comes late.  --direct: some sessions go to the server's own\n"
	    "address, and their times are printed beside the others'.\n"
	    "SIGUSR1 lets all sessions end.  --cuts: sessions\n"
	    "may be cut, and others take their places.\n",
	    out);
	return out == stdout ? TOOL_OK : TOOL_USAGE;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"sessions", required_argument, NULL, 's'},
	    {"rate", required_argument, NULL, 'r'},
	    {"period", required_argument, NULL, 'p'},
	    {"direct", required_argument, NULL, 'd'},
	    {"cuts", no_argument, NULL, 'c'},
	    {"deadline", required_argument, NULL, 't'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	double pace = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 's')
			opt.sessions = tool_number(optarg, 1000000);
		else if (option == 'r')
			opt.rate = tool_number(optarg, 1000000);
		else if (option == 'p')
			opt.period_ms = tool_number(optarg, 100000);
		else if (option == 'd')
			opt.direct = tool_addr(optarg);
		else if (option == 'c')
			opt.cuts = true;
		else if (option == 't')
			tool_set_deadline(tool_number(optarg, 100000));
		else
			return usage(option == 'h' ? stdout : stderr);
	}
	tool_raise_descriptors();
	loop_init();
	opt.server = argc - optind == 1 && strcmp(argv[optind], "server") == 0;
	if (!opt.server) {
		if (argc - optind != 5 || strcmp(argv[optind], "client") != 0)
			return usage(stderr);
		opt.to = tool_addr(argv[optind + 1]);
		opt.queue = tool_addr(argv[optind + 2]);
		opt.late = tool_addr(argv[optind + 3]);
		opt.inspected = tool_addr(argv[optind + 4]);
	}
	if (opt.server)
		server_run();
	else
		pace = client_run();
	printf("open=%llu ", (unsigned long long)sum.open);
	if (!opt.server)
		printf("pace=%.0f ", pace);
	print_sums();
	return sum.wrong + sum.refused + (opt.cuts ? 0 : sum.cut) > 0
	           ? TOOL_FAILED
	           : TOOL_OK;
}
