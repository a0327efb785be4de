/* SPDX-License-Identifier: MIT
 * HTTP requests at a given rate over connections that stay open.
 *
 * Each connection's requests fall due at random times (a Poisson process), and
 * the time of a request counts from when it was due: what a stalled proxy keeps
 * waiting is measured and not left out, as a closed loop would.  Connections
 * whose fastest request took as long as an injected delay are reported apart
 * from the others; where the delay may hit any connection, single requests that
 * took as long are left out of the others and counted.  Prints a line of JSON.
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
static uint64_t errors, hits, warm_until_ns, seed = 88172645463325252u;

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
take_answer(struct connection *c, double mean_ns, const struct plan *plan)
{
	size_t length = answer_length(c);
	uint64_t at_ns = now_ns();

	if (length == 0 || c->in_len < length)
		return;
	if (!c->asked || c->in_len > length)
		tool_die(TOOL_FAILED, "an answer without a request");
	if (c->due_ns >= warm_until_ns)
		note(c, at_ns - c->due_ns, plan);
	c->asked = false;
	c->in_len = 0;
	c->due_ns += gap_ns(mean_ns);
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

static void
ask(struct connection *c)
{
	if (write(c->fd, request, sizeof(request) - 1) !=
	    (ssize_t)sizeof(request) - 1)
		errors++;
	c->asked = true;
}

/* Sends what is due; returns when the next one is. */
static uint64_t
ask_due(uint64_t until_ns)
{
	uint64_t at_ns = now_ns();

	while (due_n > 0 && due_heap[0].at_ns <= at_ns)
		ask(due_pop());
	return due_n > 0 && due_heap[0].at_ns < until_ns ? due_heap[0].at_ns
	                                                 : until_ns;
}

static struct timespec
time_left(uint64_t until_ns)
{
	uint64_t at_ns = now_ns();
	uint64_t left_ns = until_ns > at_ns ? until_ns - at_ns : 0;

	return (struct timespec){
	    .tv_sec = (time_t)(left_ns / NS), .tv_nsec = (long)(left_ns % NS)};
}

static void
run(struct connection *all, const struct plan *plan, int epoll_fd)
{
	double mean_ns =
	    (double)NS * (double)plan->connections / (double)plan->rate;
	uint64_t from_ns = now_ns(), until_ns;
	struct epoll_event events[64];

	warm_until_ns = from_ns + plan->warm_ms * 1000000;
	until_ns = warm_until_ns + plan->ms * 1000000;
	for (size_t i = 0; i < plan->connections; i++) {
		all[i].due_ns = from_ns + gap_ns(mean_ns);
		due_push(&all[i]);
	}
	while (now_ns() < until_ns) {
		struct timespec left = time_left(ask_due(until_ns));
		int n = epoll_pwait2(epoll_fd, events, 64, &left, NULL);

		for (int i = 0; i < n; i++)
			on_readable(events[i].data.ptr, mean_ns, plan);
	}
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
	       "\"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u}",
	    name, connections, n, times[n / 2], times[n - n / 100 - (n > 0)],
	    times[n - (n > 0)]);
	free(times);
}

_Noreturn static void
usage(void)
{
	fputs("usage: lab_load [--connections N] [--rate REQUESTS/S] [--ms N]\n"
	      "    [--warm-ms N] [--slow-us N] [--hit-us N] HOST:PORT\n",
	    stderr);
	exit(TOOL_USAGE);
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"connections", required_argument, NULL, 'c'},
	    {"rate", required_argument, NULL, 'r'},
	    {"ms", required_argument, NULL, 'd'},
	    {"warm-ms", required_argument, NULL, 'w'},
	    {"slow-us", required_argument, NULL, 's'},
	    {"hit-us", required_argument, NULL, 'h'},
	    {0},
	};
	struct plan plan = {.connections = 64,
	    .rate = 5000,
	    .ms = 1000,
	    .warm_ms = 200,
	    .slow_us = UINT32_MAX,
	    .hit_us = UINT64_MAX};
	int option, epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct connection *all;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t *to = option == 'c'   ? &plan.connections
		               : option == 'r' ? &plan.rate
		               : option == 'd' ? &plan.ms
		               : option == 'w' ? &plan.warm_ms
		               : option == 's' ? &plan.slow_us
		               : option == 'h' ? &plan.hit_us
		                               : NULL;

		if (!to)
			usage();
		*to = tool_number(optarg, UINT32_MAX);
	}
	if (optind != argc - 1 || plan.connections == 0 || plan.rate == 0)
		usage();
	signal(SIGPIPE, SIG_IGN);
	tool_raise_descriptors();
	all = open_all(argv[optind], plan.connections, epoll_fd);
	run(all, &plan, epoll_fd);
	printf("{\"errors\": %" PRIu64 ", \"hits\": %" PRIu64, errors, hits);
	report("others", all, &plan, false);
	report("slow", all, &plan, true);
	puts("}");
	return errors > 0 ? TOOL_FAILED : TOOL_OK;
}
