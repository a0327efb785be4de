/* SPDX-License-Identifier: MIT
 * TLS clients as a load: handshakes, requests over established sessions, both
 * beside each other, idle sessions, and bulk.  Prints one JSON object.
 *
 *	handshakes  connections one after the other, N at a time, each with a
 *	            handshake, requests, and an end that is announced
 *	requests    requests over sessions that stay open, at a rate, or with
 *	            --closed as fast as the answers come
 *	storm       requests, while another process makes handshakes: the
 *	            sessions wait for the proxy and not for this program's own
 *	            computations
 *	idle        opens sessions, one request each, and holds them until
 *	            SIGTERM
 *	bulk        a download, or with --up an upload, of so many bytes on each
 *	            connection; each byte of a download is checked
 *
 * Requests at a rate fall due at random times (a Poisson process), and the time
 * of a request counts from when it was due: see pace.h.  Connections are
 * edge-triggered, so a call is repeated until it has to wait.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tools/tlsload/client.h"

#define BATCH 64

static const char *const mode_names[MODES] = {
    "handshakes", "requests", "storm", "idle", "bulk"};

static struct client *clients;

static void
take_events(uint64_t then_ns, const sigset_t *mask)
{
	struct epoll_event events[BATCH];
	struct timespec left = pace_left(then_ns);
	bool forever = then_ns == UINT64_MAX;
	int n =
	    epoll_pwait2(epoll_fd, events, BATCH, forever ? NULL : &left, mask);

	/* Linux before 5.11, and some emulators. */
	if (n < 0 && errno == ENOSYS)
		n = epoll_pwait(epoll_fd, events, BATCH,
		    forever ? -1
		            : (int)(left.tv_sec * 1000 +
		                    (left.tv_nsec + 999999) / 1000000),
		    mask);
	for (int i = 0; i < n; i++)
		client_advance(events[i].data.ptr);
}

static void
make_clients(size_t n)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	clients = calloc(n, sizeof(*clients));
	due.heap = calloc(n, sizeof(*due.heap));
	if (!clients || !due.heap || epoll_fd < 0)
		tool_die(TOOL_SYSTEM, "no memory");
}

static void
set_request(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/bytes/%" PRIu64, opt.bytes);
	if (opt.mode == BULK && opt.up)
		request_len = (size_t)snprintf(request, sizeof(request),
		    "POST / HTTP/1.1\r\nHost: tlsload\r\n"
		    "Content-Length: %" PRIu64 "\r\n\r\n",
		    opt.bytes);
	else
		request_len = (size_t)snprintf(request, sizeof(request),
		    "GET %.900s HTTP/1.1\r\nHost: tlsload\r\n\r\n",
		    opt.mode == BULK ? path : opt.path);
}

static void
mark(const char *what)
{
	if (opt.marks) {
		puts(what);
		fflush(stdout);
	}
}

static void
print_facts(void)
{
	printf("\"handshakes\": %" PRIu64 ", \"resumed\": %" PRIu64
	       ", \"unclean\": %" PRIu64 ", \"errors\": %" PRIu64
	       ", \"version\": \"%s\", "
	       "\"cipher\": \"%s\", \"group\": \"%s\", "
	       "\"alpn\": \"%s\"",
	    sum.handshakes, sum.resumed, sum.unclean, sum.failures,
	    facts.version, facts.cipher, facts.group, facts.alpn);
}

static double
seconds_since(uint64_t began_ns)
{
	return (double)(pace_now_ns() - began_ns) / (double)PACE_NS;
}

/* Runs until all connections that were begun are over; none begins after the
 * time.
 */
static void
run_handshakes(const sigset_t *mask)
{
	uint64_t began_ns = pace_now_ns(), late_ns;
	double seconds;

	if (opt.ms > 0 && opt.count == 0)
		until_ns = began_ns + opt.ms * 1000000;
	late_ns = until_ns < UINT64_MAX ? until_ns + 20 * PACE_NS : UINT64_MAX;
	for (size_t i = 0; i < opt.connections && !clients_are_over(); i++)
		client_open(&clients[i]);
	while (sum.finished < sum.opened) {
		take_events(late_ns, mask);
		if (pace_now_ns() > late_ns)
			tool_die(TOOL_DEADLINE, "%" PRIu64 " have no end",
			    sum.opened - sum.finished);
	}
	seconds = seconds_since(began_ns);
	printf("{\"per_s\": %.1f, \"seconds\": %.3f, ",
	    (double)sum.handshakes / seconds, seconds);
	print_facts();
	printf(", ");
	pace_print(&times);
	puts("}");
	fflush(stdout);
}

/* Opens all sessions, a few at a time, and waits for a first answer on each. */
static void
open_sessions(const sigset_t *mask)
{
	uint64_t late_ns =
	    pace_now_ns() + (20 + opt.connections / 100) * PACE_NS;
	size_t next = 0;

	while (sum.answers < opt.connections && !tool_told_to_stop) {
		while (next < opt.connections && next < sum.answers + 16)
			client_open(&clients[next++]);
		take_events(late_ns, mask);
		if (pace_now_ns() > late_ns)
			tool_die(TOOL_DEADLINE,
			    "%" PRIu64 " sessions without an answer",
			    opt.connections - sum.answers);
	}
}

/* Sends what is due; returns when the next one is. */
static uint64_t
ask_due(uint64_t end_ns)
{
	while (due.n > 0 && due.heap[0].at_ns <= pace_now_ns()) {
		struct client *c = pace_pop(&due);

		if (c->phase != QUIET)
			continue;
		client_ask(c);
		client_advance(c);
	}
	return due.n > 0 && due.heap[0].at_ns < end_ns ? due.heap[0].at_ns
	                                               : end_ns;
}

static void
run_until(uint64_t end_ns, const sigset_t *mask)
{
	while (pace_now_ns() < end_ns && !tool_told_to_stop)
		take_events(ask_due(end_ns), mask);
}

/* A request without an answer counts as long as it has waited until the end. */
static void
note_unanswered(void)
{
	for (size_t i = 0; i < opt.connections; i++) {
		struct client *c = &clients[i];

		if (c->phase >= SENDING && c->phase <= BODY &&
		    c->due_ns >= warm_until_ns && c->due_ns < until_ns)
			pace_note(
			    &times, (uint32_t)((until_ns - c->due_ns) / 1000));
	}
}

/* The measured time.  Prints members of the result. */
static void
run_requests(const sigset_t *mask)
{
	uint64_t from_ns = pace_now_ns(), before;

	mean_ns = (double)PACE_NS * (double)opt.connections / (double)opt.rate;
	warm_until_ns = from_ns + opt.warm_ms * 1000000;
	until_ns = warm_until_ns + opt.ms * 1000000;
	for (size_t i = 0; i < opt.connections; i++) {
		clients[i].due_ns =
		    from_ns + (opt.closed ? 0 : pace_gap_ns(mean_ns));
		pace_push(&due, clients[i].due_ns, &clients[i]);
	}
	run_until(warm_until_ns, mask);
	mark("warm");
	before = sum.answers;
	run_until(until_ns, mask);
	mark("done");
	before = sum.answers - before;
	note_unanswered();
	printf("{\"requests\": %" PRIu64 ", \"per_s\": %.1f, ", before,
	    (double)before * 1000 / (double)opt.ms);
	print_facts();
	printf(", ");
	pace_print(&times);
}

struct storm {
	pid_t pid;
	int go, result;
};

/* Starts the process that makes handshakes; it waits for a byte. */
static struct storm
storm_fork(const sigset_t *mask)
{
	int go[2], result[2];
	struct storm s;
	char byte;

	if (pipe(go) < 0 || pipe(result) < 0 || (s.pid = fork()) < 0)
		tool_die(TOOL_SYSTEM, "fork: %s", strerror(errno));
	if (s.pid > 0) {
		close(go[0]);
		close(result[1]);
		s.go = go[1];
		s.result = result[0];
		return s;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		exit(TOOL_FAILED);
	dup2(result[1], STDOUT_FILENO);
	opt.mode = HANDSHAKES;
	opt.connections = opt.storm;
	opt.ms = 0;
	make_clients(opt.connections);
	run_handshakes(mask);
	exit(TOOL_OK);
}

static void
storm_end(const struct storm *s)
{
	static char text[BLOCK_SIZE];
	size_t len = 0;
	ssize_t n;
	int status;

	kill(s->pid, SIGTERM);
	while ((n = read(s->result, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (waitpid(s->pid, &status, 0) != s->pid || status != 0)
		tool_die(TOOL_FAILED, "the storm has failed");
	printf(", \"storm\": %s", text);
}

static void
run_storm(const sigset_t *mask)
{
	struct storm storm = storm_fork(mask);

	make_clients(opt.connections);
	open_sessions(mask);
	if (write(storm.go, "", 1) != 1)
		tool_die(TOOL_FAILED, "the storm has ended");
	run_requests(mask);
	storm_end(&storm);
	puts("}");
}

static void
run_idle(const sigset_t *mask)
{
	open_sessions(mask);
	printf("established %" PRIu64 "\n", opt.connections);
	fflush(stdout);
	while (!tool_told_to_stop)
		take_events(UINT64_MAX, mask);
	printf("{\"sessions\": %" PRIu64 ", ", opt.connections);
	print_facts();
	puts("}");
	for (size_t i = 0; i < opt.connections; i++) {
		SSL_shutdown(clients[i].ssl);
		client_close(&clients[i]);
	}
}

static void
run_bulk(const sigset_t *mask)
{
	uint64_t began_ns = pace_now_ns();

	for (size_t i = 0; i < opt.connections; i++)
		client_open(&clients[i]);
	while (sum.finished < sum.opened && !tool_told_to_stop)
		take_events(UINT64_MAX, mask);
	printf("{\"bytes\": %" PRIu64 ", \"ns\": %" PRIu64 ", ", sum.bytes,
	    pace_now_ns() - began_ns);
	print_facts();
	puts("}");
}

static void
run(void)
{
	sigset_t mask = tool_catch_stop();

	if (opt.mode == STORM) {
		run_storm(&mask);
		return;
	}
	make_clients(opt.connections);
	switch (opt.mode) {
	case HANDSHAKES:
		run_handshakes(&mask);
		break;
	case REQUESTS:
		open_sessions(&mask);
		run_requests(&mask);
		puts("}");
		break;
	case IDLE:
		run_idle(&mask);
		break;
	default:
		run_bulk(&mask);
	}
}

_Noreturn static void
usage(FILE *out)
{
	fputs(
	    "usage: tlsload handshakes|requests|storm|idle|bulk [OPTION...] "
	    "HOST:PORT\n"
	    "  --connections N    at a time; of storm: established ones (16)\n"
	    "  --storm N          that make handshakes (24)\n"
	    "  --ms N, --warm-ms N\n"
	    "                     the measured time, and the time before it;\n"
	    "                     handshakes --ms 0: until SIGTERM\n"
	    "  --count N          so many handshakes, however long that takes\n"
	    "  --requests N       on each connection, 0: none (1)\n"
	    "  --path P           of the requests\n"
	    "  --rate N           requests per second on all connections\n"
	    "  --closed           the next request when the answer is there\n"
	    "  --marks            lines warm and done as the measured time\n"
	    "                     begins and ends\n"
	    "  --resume           the session of the connection before\n"
	    "  --bytes N, --up    of bulk: on each connection; an upload\n"
	    "  --errors N         failed connections to put up with (0)\n"
	    "  --deadline SECONDS\n" TLS_USAGE,
	    out);
	exit(out == stdout ? TOOL_OK : TOOL_USAGE);
}

static void
set_option(int option)
{
	static const char letters[] = "csdwnqrbe";
	uint64_t *numbers[] = {&opt.connections, &opt.storm, &opt.ms,
	    &opt.warm_ms, &opt.count, &opt.requests, &opt.rate, &opt.bytes,
	    &opt.errors};
	const char *letter = option < 0x100 ? strchr(letters, option) : NULL;

	if (letter)
		*numbers[letter - letters] =
		    tool_number(optarg, UINT32_MAX * 64ull);
	else if (option == 'C')
		opt.closed = true;
	else if (option == 'm')
		opt.marks = true;
	else if (option == 'R')
		opt.resume = true;
	else if (option == 'u')
		opt.up = true;
	else if (option == 'p')
		opt.path = optarg;
	else if (option == 't')
		tool_set_deadline(tool_number(optarg, 86400));
	else if (!tls_option(&opt.tls, option, optarg))
		usage(option == 'h' ? stdout : stderr);
}

static void
parse(int argc, char **argv)
{
	static const struct option options[] = {
	    {"connections", required_argument, NULL, 'c'},
	    {"storm", required_argument, NULL, 's'},
	    {"ms", required_argument, NULL, 'd'},
	    {"warm-ms", required_argument, NULL, 'w'},
	    {"count", required_argument, NULL, 'n'},
	    {"requests", required_argument, NULL, 'q'},
	    {"rate", required_argument, NULL, 'r'},
	    {"bytes", required_argument, NULL, 'b'},
	    {"errors", required_argument, NULL, 'e'},
	    {"closed", no_argument, NULL, 'C'},
	    {"marks", no_argument, NULL, 'm'},
	    {"resume", no_argument, NULL, 'R'},
	    {"up", no_argument, NULL, 'u'},
	    {"path", required_argument, NULL, 'p'},
	    {"deadline", required_argument, NULL, 't'},
	    {"help", no_argument, NULL, 'h'},
	    TLS_OPTIONS,
	    {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		set_option(option);
	if (optind != argc - 2 || opt.connections == 0 || opt.rate == 0)
		usage(stderr);
	while (
	    opt.mode < MODES && strcmp(mode_names[opt.mode], argv[optind]) != 0)
		opt.mode++;
	if (opt.mode == MODES)
		usage(stderr);
	if (opt.mode != HANDSHAKES && opt.requests == 0)
		tool_die(TOOL_USAGE, "--requests 0 is for handshakes");
	server = tool_addr(argv[optind + 1]);
}

int
main(int argc, char **argv)
{
	parse(argc, argv);
	tool_raise_descriptors();
	memset(block, 'x', sizeof(block));
	set_request();
	context = tls_make_context(&opt.tls, false);
	SSL_CTX_set_session_cache_mode(
	    context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(context, client_on_session);
	SSL_CTX_set_read_ahead(context, opt.mode == BULK);
	if (opt.mode == BULK)
		SSL_CTX_set_default_read_buffer_len(context, BLOCK_SIZE);
	run();
	return sum.failures > 0 ? TOOL_FAILED : TOOL_OK;
}
