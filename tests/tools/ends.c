/* SPDX-License-Identifier: MIT
 * How sessions end, every way of it: one side ends, and what the other one gets
 * and what the log says is compared with what it has to be.
 *
 *   ends [--patience N] LFPROXY     TAP, one test for each cell
 *
 * A cell is {client, server} x {FIN, RST, FIN then RST, silence until the
 * timer} x {idle, in mid-stream, everything full, unread bytes} x {copy,
 * splice} x {always, adaptive}.  Every cell has a frontend and a backend of its
 * own in one lfproxy, and is played by a process of its own, all at the same
 * time.
 *
 * X is the side that ends, Y the other one.
 */
#include <sys/mman.h>

#include "peers.h"

enum side { CLIENT, SERVER };
enum action { FIN, RST, FIN_RST, SILENCE, ACTIONS };
enum context { IDLE, MID_STREAM, FULL, UNREAD, CONTEXTS };

static const char *const side_names[] = {"client", "server"};
static const char *const action_names[] = {"FIN", "RST", "FIN-RST", "silence"};
static const char *const context_names[] = {"idle", "mid", "full", "unread"};
static const char *const mode_names[] = {"copy", "splice"};
static const char *const policy_names[] = {"always", "adaptive"};

#define AT_ONCE   48
#define CELLS     (2 * ACTIONS * CONTEXTS * 2 * 2)
#define WARM      (384u * 1024)
#define STREAM    (3u * 1024 * 1024)
#define SOME      60000u
#define SILENT_MS 3000
#define LIMIT_MS  25000

struct cell {
	enum side x;
	enum action action;
	enum context context;
	unsigned mode, policy;
	char name[64];
	int listener;
	pid_t pid;
	unsigned port;   /* of the listener, then of the frontend */
	char wrong[160]; /* empty: all is well; written by the cell's process */
};

static struct cell *cells; /* shared with the processes that play them */
static struct cell *me;
static uint64_t limit_ms;
static unsigned patience = 1;

/* One end of the session. */
struct peer {
	int fd;
	uint64_t seed;           /* of the bytes it sends */
	uint64_t sent, received; /* bytes */
	uint64_t sent_ms;        /* when it last sent one */
	bool eof;
	int error; /* that a recv or a poll has shown */
};

_Noreturn static void __attribute__((format(printf, 1, 2)))
wrong(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(me->wrong, sizeof(me->wrong), fmt, args);
	va_end(args);
	_exit(TOOL_FAILED);
}

static void
in_time(const char *what)
{
	if (tool_now_ms() > limit_ms)
		wrong("too slow: %s", what);
}

static void
wait_ready(const struct peer *p, short events)
{
	struct pollfd pfd = {.fd = p->fd, .events = events};

	(void)poll(&pfd, 1, 20);
}

/* Sends what goes without waiting, up to that total. */
static bool
push(struct peer *p, uint64_t total)
{
	uint8_t data[65536];
	bool any = false;

	while (p->sent < total) {
		size_t size = total - p->sent < sizeof(data)
		                  ? (size_t)(total - p->sent)
		                  : sizeof(data);
		uint64_t now_ms = tool_now_ms();
		ssize_t n;

		peers_fill(data, size, p->seed, p->sent);
		n = send(p->fd, data, size, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			p->error = errno;
		if (n <= 0)
			break;
		p->sent += (uint64_t)n;
		p->sent_ms = now_ms;
		any = true;
	}
	return any;
}

/* Receives what is there; false when there is nothing. */
static bool
pull(struct peer *p, const struct peer *from)
{
	uint8_t data[65536];
	ssize_t n = recv(p->fd, data, sizeof(data), MSG_DONTWAIT);

	if (n > 0) {
		if (!peers_match(data, (size_t)n, from->seed, p->received))
			wrong("wrong bytes after %llu",
			    (unsigned long long)p->received);
		p->received += (uint64_t)n;
	} else if (n == 0) {
		p->eof = true;
	} else if (errno != EAGAIN) {
		p->error = errno;
	}
	return n > 0;
}

/* Moves so many bytes from one to the other. */
static void
transfer(struct peer *from, struct peer *to, uint64_t bytes)
{
	uint64_t sent = from->sent + bytes, received = to->received + bytes;

	while (to->received < received) {
		bool moved = push(from, sent);

		if (!pull(to, from) && !moved)
			wait_ready(to, POLLIN);
		if (to->eof || to->error)
			wrong(
			    "an early end while %llu of %llu bytes were there",
			    (unsigned long long)to->received,
			    (unsigned long long)received);
		in_time("moving bytes");
	}
}

/* Writes until nothing has gone for a while: every buffer is full. */
static void
fill_up(struct peer *from)
{
	uint64_t still_ms = tool_now_ms() + 300 * patience;

	while (tool_now_ms() < still_ms) {
		if (push(from, UINT64_MAX))
			still_ms = tool_now_ms() + 300 * patience;
		peers_nap();
		in_time("filling the buffers");
	}
}

static void
send_all(struct peer *p, uint64_t bytes)
{
	uint64_t total = p->sent + bytes;

	while (p->sent < total) {
		if (!push(p, total))
			wait_ready(p, POLLOUT);
		in_time("sending");
	}
}

static void
until_acknowledged(const struct peer *p)
{
	while (peers_unacknowledged(p->fd) > 0) {
		peers_nap();
		in_time("waiting for acknowledgements");
	}
}

static void
read_to_end(struct peer *p, const struct peer *from, const char *what)
{
	while (!p->eof && !p->error) {
		if (!pull(p, from))
			wait_ready(p, POLLIN);
		in_time(what);
	}
}

/* A reset that follows a FIN shows as an error of the socket. */
static void
until_error(struct peer *p)
{
	while (!p->error) {
		struct pollfd pfd = {.fd = p->fd};
		socklen_t len = sizeof(p->error);

		(void)poll(&pfd, 1, 20);
		if (pfd.revents & POLLERR)
			(void)getsockopt(
			    p->fd, SOL_SOCKET, SO_ERROR, &p->error, &len);
		in_time("waiting for the reset after the FIN");
	}
}

static void
expect_fin(const struct peer *p, const char *who)
{
	if (p->error)
		wrong("%s: expected a FIN, got %s", who, strerror(p->error));
}

static void
expect_rst(const struct peer *p, const char *who)
{
	if (p->error != ECONNRESET && p->error != EPIPE)
		wrong("%s: expected a reset, got %s", who,
		    p->error ? strerror(p->error) : "a FIN");
}

static void
expect_received(const struct peer *p, uint64_t bytes, const char *who)
{
	if (p->received != bytes)
		wrong("%s: %llu bytes of %llu arrived", who,
		    (unsigned long long)p->received, (unsigned long long)bytes);
}

/* The other direction still works after the FIN, and then ends in its turn. */
static void
play_fin(struct peer *x, struct peer *y)
{
	shutdown(x->fd, SHUT_WR);
	read_to_end(y, x, "Y waits for X's FIN");
	expect_fin(y, "Y");
	expect_received(y, x->sent, "Y");
	send_all(y, SOME);
	shutdown(y->fd, SHUT_WR);
	read_to_end(x, y, "X waits for Y's FIN");
	expect_fin(x, "X");
	expect_received(x, y->sent, "X");
}

/* What lfproxy's kernel has acknowledged has to arrive, then the reset. */
static void
play_rst(struct peer *x, struct peer *y)
{
	uint64_t least;

	if (me->action == FIN_RST) {
		shutdown(x->fd, SHUT_WR);
		if (me->context == IDLE || me->context == UNREAD) {
			read_to_end(y, x, "Y waits for X's FIN");
			expect_fin(y, "Y");
		}
	}
	if (me->context != FULL)
		until_acknowledged(x);
	least =
	    x->sent -
	    (me->context == FULL ? (uint64_t)peers_unacknowledged(x->fd) : 0);
	tool_reset(x->fd);
	read_to_end(y, x, "Y waits for the end");
	if (me->action == FIN_RST && y->eof)
		until_error(y);
	expect_rst(y, "Y");
	if (y->received < least)
		wrong("Y: %llu bytes arrived, %llu were acknowledged",
		    (unsigned long long)y->received, (unsigned long long)least);
}

/* In FULL it is X that takes nothing, and Y whose bytes are lost: both must be
 * able to tell. */
static void
play_silence(struct peer *x, struct peer *y)
{
	uint64_t took_ms;

	/* Buffers may still grow: they are kept full. */
	while (me->context == FULL && !y->eof && !y->error) {
		push(y, UINT64_MAX);
		pull(y, x);
		peers_nap();
		in_time("Y waits for the timer");
	}
	read_to_end(y, x, "Y waits for the timer");
	took_ms = tool_now_ms() - x->sent_ms;
	read_to_end(x, y, "X waits for the timer");
	if (me->context == FULL) {
		expect_rst(y, "Y");
		expect_rst(x, "X");
		return;
	}
	expect_fin(y, "Y");
	expect_fin(x, "X");
	expect_received(y, x->sent, "Y");
	expect_received(x, y->sent, "X");
	if (took_ms < SILENT_MS * patience)
		wrong("the timer came after %llu ms",
		    (unsigned long long)took_ms);
}

static void
prepare(struct peer *x, struct peer *y)
{
	switch (me->context) {
	case MID_STREAM:
		/* Y has got some of it, the rest is under way. */
		if (me->action == SILENCE) {
			transfer(x, y, STREAM);
			break;
		}
		transfer(x, y, STREAM / 2);
		push(x, x->sent + STREAM / 8);
		break;
	case FULL:
		fill_up(me->action == SILENCE ? y : x);
		break;
	case UNREAD:
		send_all(y, SOME);
		until_acknowledged(y);
		break;
	default:
		break;
	}
}

static void
play(struct peer *client, struct peer *server)
{
	struct peer *x = me->x == CLIENT ? client : server;
	struct peer *y = me->x == CLIENT ? server : client;

	/* Both directions have shown that they carry much. */
	transfer(client, server, WARM);
	transfer(server, client, WARM);
	prepare(x, y);
	switch (me->action) {
	case FIN:
		play_fin(x, y);
		break;
	case SILENCE:
		play_silence(x, y);
		break;
	default:
		play_rst(x, y);
		break;
	}
}

_Noreturn static void
run_cell(struct cell *cell)
{
	struct peer client = {.seed = 1}, server = {.seed = 2};

	me = cell;
	limit_ms = tool_now_ms() + LIMIT_MS * patience;
	signal(SIGPIPE, SIG_IGN);
	client.fd = peers_connect(cell->port);
	server.fd = accept4(cell->listener, NULL, NULL, SOCK_NONBLOCK);
	if (server.fd < 0)
		wrong("accept: %s", strerror(errno));
	play(&client, &server);
	_exit(TOOL_OK);
}

static void
make_cells(void)
{
	struct cell *c;

	cells = mmap(NULL, CELLS * sizeof(*cells), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cells == MAP_FAILED)
		tool_die(TOOL_SYSTEM, "mmap: %s", strerror(errno));
	for (unsigned i = 0; i < CELLS; i++) {
		c = &cells[i];
		c->x = (enum side)(i % 2);
		c->action = (enum action)(i / 2 % ACTIONS);
		c->context = (enum context)(i / 2 / ACTIONS % CONTEXTS);
		c->mode = i / 2 / ACTIONS / CONTEXTS % 2;
		c->policy = i / 2 / ACTIONS / CONTEXTS / 2;
		snprintf(c->name, sizeof(c->name), "%s.%s.%s.%s.%s",
		    side_names[c->x], action_names[c->action],
		    context_names[c->context], mode_names[c->mode],
		    policy_names[c->policy]);
		c->listener = peers_listen(&c->port);
	}
}

static void
write_cell(FILE *f, unsigned i)
{
	const struct cell *c = &cells[i];
	unsigned short_ms = SILENT_MS * patience, long_ms = 600000;
	bool timer = c->action == SILENCE;

	fprintf(f,
	    "[frontend %s]\nlisten = 127.0.0.1:0\nbackend = b%u\npool = %s\n"
	    "splice = %s\ntimeout_client = %ums\n"
	    "[backend b%u]\nserver = s 127.0.0.1:%u\ncheck = off\n"
	    "timeout_server = %ums\n",
	    c->name, i, policy_names[c->policy], c->mode ? "auto" : "off",
	    timer && c->x == CLIENT ? short_ms : long_ms, i, c->port,
	    timer && c->x == SERVER ? short_ms : long_ms);
}

static void
start_proxy(struct peers_proxy *proxy, const char *program)
{
	FILE *f = peers_proxy_config(proxy);

	for (unsigned i = 0; i < 2; i++)
		fprintf(f, "[pool %s]\nthreads = 2\npromotion = %s\n",
		    policy_names[i], policy_names[i]);
	for (unsigned i = 0; i < CELLS; i++)
		write_cell(f, i);
	fclose(f);
	peers_proxy_start(proxy, program);
	for (unsigned i = 0; i < CELLS; i++)
		cells[i].port = peers_proxy_port(proxy, cells[i].name);
}

static unsigned
descriptors(const struct peers_proxy *proxy)
{
	char path[64];
	unsigned n = 0;

	for (int fd = 0; fd < 4096; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", proxy->pid, fd);
		n += faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	return n;
}

static void
cell_ended(pid_t pid, int status)
{
	for (unsigned i = 0; i < CELLS; i++) {
		struct cell *c = &cells[i];

		if (c->pid == pid && status != 0 && !c->wrong[0])
			snprintf(c->wrong, sizeof(c->wrong),
			    "ended with status %d", status);
	}
}

static void
play_all(pid_t proxy_pid)
{
	unsigned begun = 0, running = 0;

	while (begun < CELLS || running > 0) {
		int status;
		pid_t pid;

		if (begun < CELLS && running < AT_ONCE) {
			pid = fork();
			if (pid == 0)
				run_cell(&cells[begun]);
			if (pid < 0)
				tool_die(
				    TOOL_SYSTEM, "fork: %s", strerror(errno));
			cells[begun++].pid = pid;
			running++;
			continue;
		}
		pid = waitpid(-1, &status, 0);
		if (pid == proxy_pid)
			tool_die(TOOL_FAILED,
			    "lfproxy has ended with status %d", status);
		cell_ended(pid, status);
		running--;
	}
}

static const char *
code_of(const struct cell *c)
{
	if (c->action == FIN)
		return "--";
	if (c->action == SILENCE)
		return c->x == CLIENT ? "cD" : "sD";
	return c->x == CLIENT ? "CD" : "SD";
}

/* The one line of the cell's frontend in the log, by the time it has ended. */
static void
judge_log(const struct peers_proxy *proxy, struct cell *c)
{
	uint64_t end_ms = tool_now_ms() + 5000 * patience;
	char *text, *at, what[96], code[3] = "";

	snprintf(what, sizeof(what), "] %s ", c->name);
	for (;;) {
		text = peers_proxy_log(proxy);
		at = strstr(text, what);
		if (at || tool_now_ms() > end_ms)
			break;
		free(text);
		peers_nap();
	}
	if (!at)
		snprintf(c->wrong, sizeof(c->wrong), "no line in the log");
	else if (strstr(at + 1, what))
		snprintf(c->wrong, sizeof(c->wrong), "two lines in the log");
	else if (sscanf(at, "] %*s %*s %*s %*s %2s", code) != 1 ||
	         strcmp(code, code_of(c)) != 0)
		snprintf(c->wrong, sizeof(c->wrong),
		    "the log says %s and not %s", code, code_of(c));
	free(text);
}

static unsigned failures;

static void
result(unsigned number, const char *name, const char *why)
{
	printf("%sok %u ends: %s\n", why[0] ? "not " : "", number, name);
	if (why[0]) {
		printf("# %s\n", why);
		failures++;
	}
}

/* Sessions and, once nobody needs them, pipes. */
static const char *
judge_descriptors(const struct peers_proxy *proxy, unsigned before)
{
	uint64_t end_ms = tool_now_ms() + 10000 * patience;

	while (descriptors(proxy) > before) {
		if (tool_now_ms() > end_ms)
			return "there are more than before the first session";
		peers_nap();
	}
	return "";
}

static const char *
judge_pipes(const struct peers_proxy *proxy)
{
	char info[8192];
	static const char key[] = "PipesCreated: ";
	const char *at;

	peers_proxy_ask(proxy, "show info\n", info, sizeof(info));
	at = strstr(info, key);
	return at && strtoul(at + strlen(key), NULL, 10) > 0
	           ? ""
	           : "no pipe was created";
}

int
main(int argc, char **argv)
{
	struct peers_proxy proxy = {0};
	unsigned before;

	if (argc == 4 && strcmp(argv[1], "--patience") == 0)
		patience = (unsigned)tool_number(argv[2], 100);
	else if (argc != 2) {
		fprintf(stderr, "usage: ends [--patience N] LFPROXY\n");
		return TOOL_USAGE;
	}
	tool_set_deadline(120 * patience);
	tool_raise_descriptors();
	make_cells();
	start_proxy(&proxy, argv[argc - 1]);
	before = descriptors(&proxy);
	printf("1..%d\n", CELLS + 3);
	fflush(stdout);
	play_all(proxy.pid);
	for (unsigned i = 0; i < CELLS; i++) {
		if (!cells[i].wrong[0])
			judge_log(&proxy, &cells[i]);
		result(i + 1, cells[i].name, cells[i].wrong);
	}
	result(CELLS + 1, "splicing took place", judge_pipes(&proxy));
	result(CELLS + 2, "descriptors are back",
	    judge_descriptors(&proxy, before));
	result(CELLS + 3, "lfproxy stops cleanly",
	    peers_proxy_stop(&proxy, failures > 0) ? "" : "it did not");
	return failures ? TOOL_FAILED : TOOL_OK;
}
