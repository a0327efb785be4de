/* SPDX-License-Identifier: MIT
 * HTTP requests over connections that stay open, at a given rate or as fast as
 * the answers come.
 *
 * Each connection's requests fall due at random times (a Poisson process), and
 * the time of a request counts from when it was due: what a stalled proxy keeps
 * waiting is measured and not left out, as a closed loop would.  Connections
 * whose fastest request took as long as an injected delay are reported apart
 * from the others; where the delay may hit any connection, single requests that
 * took as long are left out of the others and counted.  Prints a line of JSON.
 *
 * With --closed each connection sends its next request when it has its answer.
 * With --marks every connection gets one answer before the clock starts, and
 * lines "warm" and "done" tell when the measured time begins and ends.  With
 * --unanswered a request that has no answer at the end counts as long as it has
 * waited until then; otherwise a proxy that falls behind would look better.
 */
#include <getopt.h>
#include <inttypes.h>
#include <sys/epoll.h>

#include "tools/pace.h"

#define IN_SIZE 4096

struct connection {
	int fd;
	bool asked; /* a request is under way */
	uint64_t due_ns;
	struct pace_times took;
	uint32_t least_us;
	size_t in_len;
	char in[IN_SIZE];
};

struct plan {
	uint64_t connections, rate, ms, warm_ms, slow_us, hit_us;
	bool closed, marks, unanswered;
};

/* The connections whose next request is not sent yet. */
static struct pace_queue due;

static const char request[] = "GET / HTTP/1.1\r\nHost: lab\r\n\r\n";
static uint64_t errors, hits, answers;
static uint64_t warm_until_ns, until_ns;
static size_t unprimed; /* connections without their first answer */
/* The longest time without an answer while one was owed. */
static struct {
	size_t owed;
	uint64_t since_ns, longest_ns;
} silence;

static void
note(struct connection *c, uint64_t took_ns, const struct plan *plan)
{
	uint32_t us = (uint32_t)(took_ns / 1000);

	if (us >= plan->hit_us) {
		hits++;
		return;
	}
	pace_note(&c->took, us);
	if (us < c->least_us)
		c->least_us = us;
}

/* The length of the answer at the start of in, 0 when it is not complete. */
static size_t
answer_length(struct connection *c)
{
	char *end, *length;

	c->in[c->in_len] = '\0';
	end = strstr(c->in, "\r\n\r\n");
	if (!end)
		return 0;
	length = strcasestr(c->in, "\r\nContent-Length:");
	if (strncmp(c->in, "HTTP/1.1 200", 12) != 0 || !length)
		tool_die(TOOL_FAILED, "not the answer expected: %s", c->in);
	return (size_t)(end + 4 - c->in) + strtoul(length + 17, NULL, 10);
}

static void
ask(struct connection *c, uint64_t at_ns)
{
	if (write(c->fd, request, sizeof(request) - 1) !=
	    (ssize_t)sizeof(request) - 1)
		errors++;
	c->asked = true;
	if (silence.owed++ == 0)
		silence.since_ns = at_ns;
}

/* Counts an answer, and the silence before it: all of it if it began before the
 * measured time. */
static void
count_answer(uint64_t at_ns)
{
	silence.owed--;
	if (at_ns >= warm_until_ns && at_ns < until_ns) {
		answers++;
		if (at_ns - silence.since_ns > silence.longest_ns)
			silence.longest_ns = at_ns - silence.since_ns;
	}
	silence.since_ns = at_ns;
}

static void
take_answer(struct connection *c, double mean_ns, const struct plan *plan)
{
	size_t length = answer_length(c);
	uint64_t at_ns = pace_now_ns();

	if (length == 0 || c->in_len < length)
		return;
	if (!c->asked || c->in_len > length)
		tool_die(TOOL_FAILED, "an answer without a request");
	c->asked = false;
	c->in_len = 0;
	if (unprimed > 0) {
		unprimed--;
		silence.owed--;
		return;
	}
	count_answer(at_ns);
	if (c->due_ns >= warm_until_ns)
		note(c, at_ns - c->due_ns, plan);
	c->due_ns = plan->closed ? at_ns : c->due_ns + pace_gap_ns(mean_ns);
	if (c->due_ns <= at_ns)
		ask(c, at_ns);
	else
		pace_push(&due, c->due_ns, c);
}

static void
on_readable(struct connection *c, double mean_ns, const struct plan *plan)
{
	ssize_t n = read(c->fd, c->in + c->in_len, IN_SIZE - 1 - c->in_len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		errors++;
		close(c->fd);
		c->fd = -1;
		return;
	}
	c->in_len += (size_t)n;
	take_answer(c, mean_ns, plan);
}

/* Sends what is due; returns when the next one is. */
static uint64_t
ask_due(void)
{
	uint64_t at_ns = pace_now_ns();

	while (due.n > 0 && due.heap[0].at_ns <= at_ns)
		ask(pace_pop(&due), at_ns);
	return due.n > 0 && due.heap[0].at_ns < until_ns ? due.heap[0].at_ns
	                                                 : until_ns;
}

static void
take_events(int epoll_fd, uint64_t then_ns, const struct plan *plan)
{
	double mean_ns =
	    (double)PACE_NS * (double)plan->connections / (double)plan->rate;
	struct timespec left = pace_left(then_ns);
	struct epoll_event events[64];
	int n = epoll_pwait2(epoll_fd, events, 64, &left, NULL);

	for (int i = 0; i < n; i++)
		on_readable(events[i].data.ptr, mean_ns, plan);
}

/* Waits for an answer on each connection, after which the session exists and is
 * connected to its server. */
static void
prime(struct connection *all, const struct plan *plan, int epoll_fd)
{
	uint64_t deadline_ns = pace_now_ns() + 20 * PACE_NS;

	unprimed = plan->connections;
	for (size_t i = 0; i < plan->connections; i++)
		ask(&all[i], 0);
	while (unprimed > 0 && errors == 0) {
		if (pace_now_ns() >= deadline_ns)
			tool_die(TOOL_DEADLINE, "%zu first answers missing",
			    unprimed);
		take_events(epoll_fd, deadline_ns, plan);
	}
}

static void
mark(const char *what, const struct plan *plan)
{
	if (plan->marks) {
		puts(what);
		fflush(stdout);
	}
}

static void
run_until(uint64_t end_ns, const struct plan *plan, int epoll_fd)
{
	while (pace_now_ns() < end_ns) {
		uint64_t next_ns = ask_due();

		take_events(
		    epoll_fd, next_ns < end_ns ? next_ns : end_ns, plan);
	}
}

static void
run(struct connection *all, const struct plan *plan, int epoll_fd)
{
	double mean_ns =
	    (double)PACE_NS * (double)plan->connections / (double)plan->rate;
	uint64_t from_ns = pace_now_ns();

	warm_until_ns = from_ns + plan->warm_ms * 1000000;
	until_ns = warm_until_ns + plan->ms * 1000000;
	for (size_t i = 0; i < plan->connections; i++) {
		all[i].due_ns =
		    from_ns + (plan->closed ? 0 : pace_gap_ns(mean_ns));
		pace_push(&due, all[i].due_ns, &all[i]);
	}
	run_until(warm_until_ns, plan, epoll_fd);
	mark("warm", plan);
	run_until(until_ns, plan, epoll_fd);
	mark("done", plan);
}

/* Notes how long the requests without an answer have waited at the end. */
static void
note_unanswered(struct connection *all, const struct plan *plan)
{
	if (plan->unanswered)
		for (size_t i = 0; i < plan->connections; i++)
			if (all[i].asked && all[i].due_ns < until_ns)
				note(&all[i], until_ns - all[i].due_ns, plan);
	if (silence.owed > 0 && silence.since_ns < until_ns &&
	    until_ns - silence.since_ns > silence.longest_ns)
		silence.longest_ns = until_ns - silence.since_ns;
}

static struct connection *
open_all(const char *address, size_t n, int epoll_fd)
{
	struct tool_addr to = tool_addr(address);
	struct connection *all = calloc(n, sizeof(*all));

	due.heap = calloc(n, sizeof(*due.heap));
	if (!all || !due.heap)
		tool_die(TOOL_SYSTEM, "no memory");
	for (size_t i = 0; i < n; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.ptr = &all[i]};

		all[i].fd = tool_connect(&to);
		all[i].least_us = UINT32_MAX;
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, all[i].fd, &e);
	}
	return all;
}

/* Prints the times of the connections that are slow, or of the others. */
static void
report(const char *name, const struct connection *all, const struct plan *plan,
    bool slow)
{
	struct pace_times times = {.us = NULL};
	size_t connections = 0;

	for (size_t i = 0; i < plan->connections; i++) {
		const struct connection *c = &all[i];

		if (c->took.n == 0 || (c->least_us >= plan->slow_us) != slow)
			continue;
		connections++;
		for (size_t k = 0; k < c->took.n; k++)
			pace_note(&times, c->took.us[k]);
	}
	printf(", \"%s\": {\"connections\": %zu, \"requests\": %zu, ", name,
	    connections, times.n);
	pace_print(&times);
	putchar('}');
	free(times.us);
}

_Noreturn static void
usage(void)
{
	fputs("usage: lab_load [--connections N] [--rate REQUESTS/S] [--ms N]\n"
	      "    [--warm-ms N] [--slow-us N] [--hit-us N] [--closed]\n"
	      "    [--marks] [--unanswered] HOST:PORT\n",
	    stderr);
	exit(TOOL_USAGE);
}

static struct plan
parse(int argc, char **argv)
{
	static const struct option options[] = {
	    {"connections", required_argument, NULL, 'c'},
	    {"rate", required_argument, NULL, 'r'},
	    {"ms", required_argument, NULL, 'd'},
	    {"warm-ms", required_argument, NULL, 'w'},
	    {"slow-us", required_argument, NULL, 's'},
	    {"hit-us", required_argument, NULL, 'h'},
	    {"closed", no_argument, NULL, 'C'},
	    {"marks", no_argument, NULL, 'm'},
	    {"unanswered", no_argument, NULL, 'u'},
	    {0},
	};
	struct plan plan = {.connections = 64,
	    .rate = 5000,
	    .ms = 1000,
	    .warm_ms = 200,
	    .slow_us = UINT32_MAX,
	    .hit_us = UINT64_MAX};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t *to = option == 'c'   ? &plan.connections
		               : option == 'r' ? &plan.rate
		               : option == 'd' ? &plan.ms
		               : option == 'w' ? &plan.warm_ms
		               : option == 's' ? &plan.slow_us
		               : option == 'h' ? &plan.hit_us
		                               : NULL;
		bool *flag = option == 'C'   ? &plan.closed
		             : option == 'm' ? &plan.marks
		             : option == 'u' ? &plan.unanswered
		                             : NULL;

		if (to)
			*to = tool_number(optarg, UINT32_MAX);
		else if (flag)
			*flag = true;
		else
			usage();
	}
	if (optind != argc - 1 || plan.connections == 0 || plan.rate == 0)
		usage();
	return plan;
}

int
main(int argc, char **argv)
{
	struct plan plan = parse(argc, argv);
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct connection *all;

	signal(SIGPIPE, SIG_IGN);
	tool_raise_descriptors();
	all = open_all(argv[optind], plan.connections, epoll_fd);
	if (plan.marks)
		prime(all, &plan, epoll_fd);
	run(all, &plan, epoll_fd);
	note_unanswered(all, &plan);
	printf("{\"errors\": %" PRIu64 ", \"hits\": %" PRIu64
	       ", \"answers\": %" PRIu64 ", \"silence_us\": %" PRIu64,
	    errors, hits, answers, silence.longest_ns / 1000);
	report("others", all, &plan, false);
	report("slow", all, &plan, true);
	puts("}");
	return errors > 0 ? TOOL_FAILED : TOOL_OK;
}
