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
#include <math.h>
#include <sys/epoll.h>

#include "tools/tool.h"

#define IN_SIZE 4096
#define NS      1000000000ull

struct connection {
	int fd;
	bool asked; /* a request is under way */
	uint64_t due_ns;
	uint32_t *took_us;
	size_t n, room;
	uint32_t least_us;
	size_t in_len;
	char in[IN_SIZE];
};

struct plan {
	uint64_t connections, rate, ms, warm_ms, slow_us, hit_us;
	bool closed, marks, unanswered;
};

/* A heap of the connections whose next request is not sent yet, the earliest
 * first.  A search through all connections would cost more than the requests
 * where there are hundreds. */
struct due {
	uint64_t at_ns;
	struct connection *connection;
};
static struct due *due_heap;
static size_t due_n;

static const char request[] = "GET / HTTP/1.1\r\nHost: lab\r\n\r\n";
static uint64_t errors, hits, answers, seed = 88172645463325252u;
static uint64_t warm_until_ns, until_ns;
static size_t unprimed; /* connections without their first answer */
/* The longest time without an answer while one was owed. */
static struct {
	size_t owed;
	uint64_t since_ns, longest_ns;
} silence;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

/* xorshift64; the next arrival of a Poisson process after that. */
static uint64_t
gap_ns(double mean_ns)
{
	double u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	u = (double)(seed >> 11) / 9007199254740992.0;
	return (uint64_t)(-log(1.0 - u) * mean_ns);
}

static void
due_push(struct connection *c)
{
	size_t i = due_n++;

	for (; i > 0 && due_heap[(i - 1) / 2].at_ns > c->due_ns;
	     i = (i - 1) / 2)
		due_heap[i] = due_heap[(i - 1) / 2];
	due_heap[i] = (struct due){.at_ns = c->due_ns, .connection = c};
}

static struct connection *
due_pop(void)
{
	struct connection *first = due_heap[0].connection;
	struct due last = due_heap[--due_n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < due_n) {
		if (child + 1 < due_n &&
		    due_heap[child + 1].at_ns < due_heap[child].at_ns)
			child++;
		if (due_heap[child].at_ns >= last.at_ns)
			break;
		due_heap[i] = due_heap[child];
		i = child;
	}
	due_heap[i] = last;
	return first;
}

static void
note(struct connection *c, uint64_t took_ns, const struct plan *plan)
{
	uint32_t us = (uint32_t)(took_ns / 1000);

	if (us >= plan->hit_us) {
		hits++;
		return;
	}

	if (c->n == c->room) {
		c->room = c->room > 0 ? c->room * 2 : 1024;
		c->took_us = realloc(c->took_us, c->room * sizeof(*c->took_us));
		if (!c->took_us)
			tool_die(TOOL_SYSTEM, "no memory");
	}
	c->took_us[c->n++] = us;
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
	uint64_t at_ns = now_ns();

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
	c->due_ns = plan->closed ? at_ns : c->due_ns + gap_ns(mean_ns);
	if (c->due_ns <= at_ns)
		ask(c, at_ns);
	else
		due_push(c);
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
	uint64_t at_ns = now_ns();

	while (due_n > 0 && due_heap[0].at_ns <= at_ns)
		ask(due_pop(), at_ns);
	return due_n > 0 && due_heap[0].at_ns < until_ns ? due_heap[0].at_ns
	                                                 : until_ns;
}

static struct timespec
time_left(uint64_t then_ns)
{
	uint64_t at_ns = now_ns();
	uint64_t left_ns = then_ns > at_ns ? then_ns - at_ns : 0;

	return (struct timespec){
	    .tv_sec = (time_t)(left_ns / NS), .tv_nsec = (long)(left_ns % NS)};
}

static void
take_events(int epoll_fd, uint64_t then_ns, const struct plan *plan)
{
	double mean_ns =
	    (double)NS * (double)plan->connections / (double)plan->rate;
	struct timespec left = time_left(then_ns);
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
	uint64_t deadline_ns = now_ns() + 20 * NS;

	unprimed = plan->connections;
	for (size_t i = 0; i < plan->connections; i++)
		ask(&all[i], 0);
	while (unprimed > 0 && errors == 0) {
		if (now_ns() >= deadline_ns)
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
	while (now_ns() < end_ns) {
		uint64_t next_ns = ask_due();

		take_events(
		    epoll_fd, next_ns < end_ns ? next_ns : end_ns, plan);
	}
}

static void
run(struct connection *all, const struct plan *plan, int epoll_fd)
{
	double mean_ns =
	    (double)NS * (double)plan->connections / (double)plan->rate;
	uint64_t from_ns = now_ns();

	warm_until_ns = from_ns + plan->warm_ms * 1000000;
	until_ns = warm_until_ns + plan->ms * 1000000;
	for (size_t i = 0; i < plan->connections; i++) {
		all[i].due_ns = from_ns + (plan->closed ? 0 : gap_ns(mean_ns));
		due_push(&all[i]);
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

	due_heap = calloc(n, sizeof(*due_heap));
	if (!all || !due_heap)
		tool_die(TOOL_SYSTEM, "no memory");
	for (size_t i = 0; i < n; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.ptr = &all[i]};

		all[i].fd = tool_connect(&to);
		all[i].least_us = UINT32_MAX;
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, all[i].fd, &e);
	}
	return all;
}

static int
compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of the connections that are slow, or of those that are not. */
static void
report(const char *name, const struct connection *all, const struct plan *plan,
    bool slow)
{
	uint32_t *times;
	size_t n = 0, connections = 0;

	for (size_t i = 0; i < plan->connections; i++)
		n += all[i].n;
	times = calloc(n + 1, sizeof(*times));
	if (!times)
		tool_die(TOOL_SYSTEM, "no memory");
	n = 0;
	for (size_t i = 0; i < plan->connections; i++) {
		const struct connection *c = &all[i];

		if (c->n == 0 || (c->least_us >= plan->slow_us) != slow)
			continue;
		connections++;
		memcpy(times + n, c->took_us, c->n * sizeof(*times));
		n += c->n;
	}
	qsort(times, n, sizeof(*times), compare);
	printf(", \"%s\": {\"connections\": %zu, \"requests\": %zu, "
	       "\"p50_us\": %u, \"p99_us\": %u, \"p999_us\": %u, "
	       "\"max_us\": %u}",
	    name, connections, n, times[n / 2], times[n - n / 100 - (n > 0)],
	    times[n - n / 1000 - (n > 0)], times[n - (n > 0)]);
	free(times);
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
