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
#include <getopt.h>
#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "pace.h"
#include "tls_peer.h"

#define HEAD_SIZE  4096
#define BLOCK_SIZE 65536
#define BATCH      64

enum mode { HANDSHAKES, REQUESTS, STORM, IDLE, BULK, MODES };
static const char *const mode_names[MODES] = {
    "handshakes", "requests", "storm", "idle", "bulk"};

/* CLOSED: nothing is there.  SHAKING: the handshake is under way.  SENDING: the
 * request is.  HEAD, BODY: the answer is awaited.  QUIET: nothing may come but
 * tickets.  ENDING: only the peer's end may come. */
enum phase { CLOSED, SHAKING, SENDING, HEAD, BODY, QUIET, ENDING };

struct client {
	int fd;
	SSL *ssl;
	SSL_SESSION *session; /* to resume */
	enum phase phase;
	uint64_t began_ns, due_ns;
	uint64_t requests_left;
	uint64_t to_send, sent; /* of the request and its body */
	uint64_t body_left;
	size_t in_len;
	char in[HEAD_SIZE];
};

static struct {
	enum mode mode;
	uint64_t connections, storm, rate, ms, warm_ms, count, requests, bytes,
	    errors;
	bool closed, marks, resume, up;
	const char *path;
	struct tls_wishes tls;
} opt = {.connections = 16,
    .storm = 24,
    .rate = 1000,
    .ms = 1000,
    .warm_ms = 200,
    .requests = 1,
    .bytes = 1u << 30,
    .path = "/"};

static struct tool_addr server;
static SSL_CTX *context;
static int epoll_fd;
static struct client *clients;
static struct pace_queue due;
static struct pace_times times;
static uint64_t warm_until_ns, until_ns = UINT64_MAX;
/* Completed handshakes: all, and those that resumed a session. */
static uint64_t handshakes, resumed;
/* Connections whose peer did not announce its end after this one had. */
static uint64_t unclean;
static uint64_t answers, failures, opened, finished, bytes_done;
static char version[16], cipher[64], alpn[64];
static char request[1024], block[BLOCK_SIZE], scratch[BLOCK_SIZE];
static size_t request_len;
static double mean_ns;

/* -- connections -- */

static void
client_open(struct client *c)
{
	struct epoll_event e = {
	    .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
	int one = 1;

	c->fd = socket(
	    server.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		tool_die(TOOL_SYSTEM, "socket: %s", strerror(errno));
	if (server.sa.sa_family != AF_UNIX)
		setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(c->fd, &server.sa, server.len) < 0 && errno != EINPROGRESS)
		tool_die(TOOL_SYSTEM, "connect: %s", strerror(errno));
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &e) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
	c->ssl = tls_open(context, &opt.tls, c->fd, false);
	SSL_set_app_data(c->ssl, c);
	if (c->session && SSL_set_session(c->ssl, c->session) != 1)
		tool_die(TOOL_SYSTEM, "session: %s", tls_reason());
	c->began_ns = pace_now_ns();
	c->requests_left = opt.requests;
	c->in_len = 0;
	c->phase = SHAKING;
	opened++;
}

static void
client_close(struct client *c)
{
	SSL_free(c->ssl);
	c->ssl = NULL;
	close(c->fd);
	c->fd = -1;
	c->phase = CLOSED;
}

/* A new session, whose reference is ours. */
static int
on_session(SSL *ssl, SSL_SESSION *session)
{
	struct client *c = SSL_get_app_data(ssl);

	if (!opt.resume)
		return 0;
	SSL_SESSION_free(c->session);
	c->session = session;
	return 1;
}

static bool
is_over(void)
{
	return !tool_goes_on() || pace_now_ns() >= until_ns ||
	       (opt.count > 0 && opened >= opt.count);
}

static void
client_restart(struct client *c)
{
	client_close(c);
	finished++;
	if (opt.mode == HANDSHAKES && !is_over())
		client_open(c);
}

static void
client_fail(struct client *c, const char *doing)
{
	failures++;
	if (failures > opt.errors)
		tool_die(TOOL_FAILED, "%s: %s", doing, tls_reason());
	client_restart(c);
}

/* Returns whether the call has to be made again later; if not, c has failed. */
static bool
client_waits(struct client *c, int rc, const char *doing)
{
	if (tls_waits(c->ssl, rc))
		return true;
	client_fail(c, doing);
	return false;
}

/* -- requests -- */

static void
client_ask(struct client *c)
{
	c->to_send = request_len + (opt.mode == BULK && opt.up ? opt.bytes : 0);
	c->sent = 0;
	c->in_len = 0;
	c->phase = SENDING;
}

/* Announces the end, then waits for the peer's: what it still sends, such as
 * tickets, would otherwise be answered by a reset. */
static void
client_end(struct client *c)
{
	if (SSL_shutdown(c->ssl) < 0)
		ERR_clear_error();
	shutdown(c->fd, SHUT_WR);
	c->phase = ENDING;
}

static void
note_facts(SSL *ssl)
{
	const unsigned char *name;
	unsigned n;

	snprintf(version, sizeof(version), "%s", SSL_get_version(ssl));
	snprintf(cipher, sizeof(cipher), "%s", SSL_get_cipher_name(ssl));
	SSL_get0_alpn_selected(ssl, &name, &n);
	snprintf(alpn, sizeof(alpn), "%.*s", (int)n, (const char *)name);
}

static void
step_shaking(struct client *c)
{
	int rc = SSL_do_handshake(c->ssl);

	if (rc != 1) {
		client_waits(c, rc, "handshake");
		return;
	}
	if (handshakes == 0)
		note_facts(c->ssl);
	handshakes++;
	resumed += (unsigned)SSL_session_reused(c->ssl);
	if (opt.mode == HANDSHAKES)
		pace_note(
		    &times, (uint32_t)((pace_now_ns() - c->began_ns) / 1000));
	if (c->requests_left > 0)
		client_ask(c);
	else
		client_end(c);
}

static void
step_sending(struct client *c)
{
	while (c->sent < c->to_send) {
		bool head = c->sent < request_len;
		const char *from = head ? request + c->sent : block;
		uint64_t n =
		    head ? request_len - c->sent : c->to_send - c->sent;
		int rc = SSL_write(
		    c->ssl, from, (int)(n < BLOCK_SIZE ? n : BLOCK_SIZE));

		if (rc <= 0) {
			client_waits(c, rc, "request");
			return;
		}
		c->sent += (unsigned)rc;
	}
	c->phase = HEAD;
}

static void
note_answer(struct client *c)
{
	uint64_t at_ns = pace_now_ns();

	answers++;
	if (c->due_ns >= warm_until_ns && c->due_ns < until_ns)
		pace_note(&times, (uint32_t)((at_ns - c->due_ns) / 1000));
	c->due_ns = opt.closed ? at_ns : c->due_ns + pace_gap_ns(mean_ns);
	if (c->due_ns <= at_ns)
		client_ask(c);
	else
		pace_push(&due, c->due_ns, c);
}

/* The answer is complete. */
static void
client_answered(struct client *c)
{
	if (opt.mode == BULK)
		bytes_done += opt.bytes;
	c->phase = QUIET;
	if (opt.mode == HANDSHAKES || opt.mode == BULK) {
		if (--c->requests_left > 0)
			client_ask(c);
		else
			client_end(c);
	} else if (warm_until_ns > 0) {
		note_answer(c);
	} else {
		answers++; /* the first one */
	}
}

/* Bytes of an answer's body. */
static void
client_take(struct client *c, const char *bytes, size_t n)
{
	if (n > c->body_left)
		tool_die(TOOL_FAILED, "more than the answer");
	if (opt.mode == BULK && !opt.up && memcmp(bytes, block, n) != 0)
		tool_die(TOOL_FAILED,
		    "a wrong byte among the last %zu before "
		    "%" PRIu64 " more",
		    n, c->body_left - n);
	c->body_left -= n;
	c->phase = BODY;
	if (c->body_left == 0)
		client_answered(c);
}

static void
step_head(struct client *c)
{
	char *end, *length;
	size_t head;
	int rc = SSL_read(
	    c->ssl, c->in + c->in_len, (int)(HEAD_SIZE - 1 - c->in_len));

	if (rc <= 0) {
		client_waits(c, rc, "answer");
		return;
	}
	c->in_len += (unsigned)rc;
	c->in[c->in_len] = '\0';
	end = strstr(c->in, "\r\n\r\n");
	if (!end) {
		if (c->in_len == HEAD_SIZE - 1)
			tool_die(TOOL_FAILED, "an answer without an end");
		step_head(c);
		return;
	}
	length = strcasestr(c->in, "\r\nContent-Length:");
	if (strncmp(c->in, "HTTP/1.1 200", 12) != 0 || !length)
		tool_die(TOOL_FAILED, "not the answer expected: %s", c->in);
	c->body_left = strtoull(length + 17, NULL, 10);
	head = (size_t)(end + 4 - c->in);
	client_take(c, end + 4, c->in_len - head);
}

static void
step_body(struct client *c)
{
	while (c->phase == BODY) {
		int rc = SSL_read(c->ssl, scratch, sizeof(scratch));

		if (rc <= 0) {
			client_waits(c, rc, "answer");
			return;
		}
		client_take(c, scratch, (size_t)rc);
	}
}

static void
step_quiet(struct client *c)
{
	int rc = SSL_read(c->ssl, scratch, sizeof(scratch));

	if (rc > 0)
		tool_die(TOOL_FAILED, "an answer without a request");
	client_waits(c, rc, "waiting");
}

static void
step_ending(struct client *c)
{
	int rc = SSL_read(c->ssl, scratch, sizeof(scratch));

	if (rc > 0)
		tool_die(TOOL_FAILED, "bytes after the answer");
	if (tls_waits(c->ssl, rc))
		return;
	if (SSL_get_error(c->ssl, rc) != SSL_ERROR_ZERO_RETURN)
		unclean++;
	client_restart(c);
}

static void
client_step(struct client *c)
{
	errno = 0;
	ERR_clear_error();
	switch (c->phase) {
	case CLOSED:
		break;
	case SHAKING:
		step_shaking(c);
		break;
	case SENDING:
		step_sending(c);
		break;
	case HEAD:
		step_head(c);
		break;
	case BODY:
		step_body(c);
		break;
	case QUIET:
		step_quiet(c);
		break;
	case ENDING:
		step_ending(c);
		break;
	}
}

/* Goes on until the connection has to wait, or another one has begun. */
static void
client_advance(struct client *c)
{
	enum phase before;

	do {
		before = c->phase;
		client_step(c);
	} while (c->phase != before && c->phase != SHAKING);
}

/* -- the loops -- */

static void
take_events(uint64_t then_ns, const sigset_t *mask)
{
	struct epoll_event events[BATCH];
	struct timespec left = pace_left(then_ns);
	int n = epoll_pwait2(epoll_fd, events, BATCH,
	    then_ns == UINT64_MAX ? NULL : &left, mask);

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
	       "\"cipher\": \"%s\", \"alpn\": \"%s\"",
	    handshakes, resumed, unclean, failures, version, cipher, alpn);
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
	for (size_t i = 0; i < opt.connections && !is_over(); i++)
		client_open(&clients[i]);
	while (finished < opened) {
		take_events(late_ns, mask);
		if (pace_now_ns() > late_ns)
			tool_die(TOOL_DEADLINE, "%" PRIu64 " have no end",
			    opened - finished);
	}
	seconds = seconds_since(began_ns);
	printf("{\"per_s\": %.1f, \"seconds\": %.3f, ",
	    (double)handshakes / seconds, seconds);
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

	while (answers < opt.connections && !tool_told_to_stop) {
		while (next < opt.connections && next < answers + 16)
			client_open(&clients[next++]);
		take_events(late_ns, mask);
		if (pace_now_ns() > late_ns)
			tool_die(TOOL_DEADLINE,
			    "%" PRIu64 " sessions without an answer",
			    opt.connections - answers);
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
	before = answers;
	run_until(until_ns, mask);
	mark("done");
	before = answers - before;
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
	size_t len = 0;
	ssize_t n;
	int status;

	kill(s->pid, SIGTERM);
	while (
	    (n = read(s->result, scratch + len, sizeof(scratch) - 1 - len)) > 0)
		len += (size_t)n;
	scratch[len] = '\0';
	scratch[strcspn(scratch, "\n")] = '\0';
	if (waitpid(s->pid, &status, 0) != s->pid || status != 0)
		tool_die(TOOL_FAILED, "the storm has failed");
	printf(", \"storm\": %s", scratch);
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
	while (finished < opened && !tool_told_to_stop)
		take_events(UINT64_MAX, mask);
	printf("{\"bytes\": %" PRIu64 ", \"ns\": %" PRIu64 ", ", bytes_done,
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
	SSL_CTX_sess_set_new_cb(context, on_session);
	SSL_CTX_set_read_ahead(context, opt.mode == BULK);
	if (opt.mode == BULK)
		SSL_CTX_set_default_read_buffer_len(context, BLOCK_SIZE);
	run();
	return failures > 0 ? TOOL_FAILED : TOOL_OK;
}
