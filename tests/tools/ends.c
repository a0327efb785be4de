/* SPDX-License-Identifier: MIT
 * How sessions end, every way of it: one side ends, and what the other one gets
 * and what the log says is compared with what it has to be.
 *
 *   ends [--patience N] LFPROXY     TAP, one test for each cell
 *
 * A cell is {client, server} x {FIN, RST, FIN then RST, silence until the
 * timer} x {idle, in mid-stream, everything full, unread bytes} x {copy,
 * splice} x {always, adaptive}.  With TLS on the client's side, the server's or
 * both, there are no splicing and one policy, and where X speaks TLS three more
 * ends: a FIN that close_notify does not announce, a fatal alert, and a record
 * that is none.  Every cell has a frontend and a backend of its own in one
 * lfproxy, and is played by a process of its own, all at the same time.
 *
 * X is the side that ends, Y the other one.  A FIN of a side with TLS stands
 * for close_notify and a FIN.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/mman.h>

#include "own_cert.h"
#include "peers.h"

enum side { CLIENT, SERVER };
enum action { FIN, RST, FIN_RST, SILENCE, CUT, ALERT, GARBAGE, ACTIONS };
#define TCP_ACTIONS CUT /* the first that only TLS has */
enum context { IDLE, MID_STREAM, FULL, UNREAD, CONTEXTS };

static const char *const side_names[] = {"client", "server"};
static const char *const action_names[] = {
    "FIN", "RST", "FIN-RST", "silence", "cut", "alert", "garbage"};
static const char *const context_names[] = {"idle", "mid", "full", "unread"};
static const char *const mode_names[] = {"copy", "splice"};
static const char *const policy_names[] = {"always", "adaptive"};
/* Instead of a mode: bit 0 for the client's side, bit 1 for the server's. */
static const char *const tls_names[] = {"", "tls-c", "tls-s", "tls-cs"};

#define AT_ONCE   48
#define CELLS_MAX 512
#define WARM      (384u * 1024)
#define STREAM    (3u * 1024 * 1024)
#define SOME      60000u
#define SILENT_MS 3000
#define LIMIT_MS  40000
#define RECORD    (16u * 1024 + 512) /* no record is longer */

struct cell {
	enum side x;
	enum action action;
	enum context context;
	unsigned mode, policy;
	unsigned tls; /* see tls_names */
	char name[64];
	int listener;
	pid_t pid;
	unsigned port;   /* of the listener, then of the frontend */
	char wrong[160]; /* empty: all is well; written by the cell's process */
};

static struct cell *cells; /* shared with the processes that play them */
static unsigned cells_n;
static struct cell *me;
static char certificate[96]; /* file, with its key */
static uint64_t limit_ms;
static unsigned patience = 1;

/* One end of the session. */
struct peer {
	int fd;
	SSL *ssl;                /* NULL: without TLS */
	size_t again;            /* a write has to be repeated with this size */
	uint64_t seed;           /* of the bytes it sends */
	uint64_t sent, received; /* bytes */
	uint64_t sent_ms;        /* when it last sent one */
	bool eof;
	bool cut;  /* TLS: a FIN that was not announced */
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

/* A call of OpenSSL has returned n <= 0: notes what that means. */
static void
note_tls(struct peer *p, int n)
{
	int error = errno, what = SSL_get_error(p->ssl, n);

	/* The first error says what has happened. */
	switch (p->error ? SSL_ERROR_NONE : what) {
	case SSL_ERROR_NONE:
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		break;
	case SSL_ERROR_ZERO_RETURN:
		p->eof = true;
		break;
	case SSL_ERROR_SYSCALL:
		p->error = error ? error : EIO;
		break;
	default:
		p->cut = ERR_GET_REASON(ERR_peek_error()) ==
		         SSL_R_UNEXPECTED_EOF_WHILE_READING;
		p->error = EPROTO;
		break;
	}
	ERR_clear_error();
}

/* Sends as send does; -1 when nothing was sent. */
static ssize_t
send_some(struct peer *p, const uint8_t *data, size_t size)
{
	ssize_t n;

	if (!p->ssl) {
		n = send(p->fd, data, size, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			p->error = errno;
		return n;
	}
	errno = 0;
	n = SSL_write(p->ssl, data, (int)size);
	p->again = n <= 0 ? size : 0;
	if (n <= 0)
		note_tls(p, (int)n);
	return n;
}

/* Sends what goes without waiting, up to that total, or what was to be sent
 * before. */
static bool
push(struct peer *p, uint64_t total)
{
	uint8_t data[65536];
	bool any = false;

	while (!p->error && (p->sent < total || p->again > 0)) {
		size_t size = p->sent < total && total - p->sent < sizeof(data)
		                  ? (size_t)(total - p->sent)
		                  : sizeof(data);
		uint64_t now_ms = tool_now_ms();
		ssize_t n;

		size = p->again > 0 ? p->again : size;
		peers_fill(data, size, p->seed, p->sent);
		n = send_some(p, data, size);
		if (n <= 0)
			break;
		p->sent += (uint64_t)n;
		p->sent_ms = now_ms;
		any = true;
	}
	return any;
}

/* Receives as recv does; notes ends. */
static ssize_t
receive_some(struct peer *p, uint8_t *data, size_t size)
{
	ssize_t n;

	if (p->ssl) {
		errno = 0;
		n = SSL_read(p->ssl, data, (int)size);
		if (n <= 0)
			note_tls(p, (int)n);
		return n;
	}
	n = recv(p->fd, data, size, MSG_DONTWAIT);
	if (n == 0)
		p->eof = true;
	else if (n < 0 && errno != EAGAIN)
		p->error = errno;
	return n;
}

/* Receives what is there; false when there is nothing. */
static bool
pull(struct peer *p, const struct peer *from)
{
	uint8_t data[65536];
	ssize_t n = receive_some(p, data, sizeof(data));

	if (n > 0) {
		if (!peers_match(data, (size_t)n, from->seed, p->received))
			wrong("wrong bytes after %llu",
			    (unsigned long long)p->received);
		p->received += (uint64_t)n;
	}
	return n > 0;
}

/* X's last record has gone as a whole. */
static void
settle(struct peer *x, struct peer *y)
{
	while (x->again > 0) {
		push(x, x->sent);
		if (!pull(y, x))
			wait_ready(y, POLLIN);
		in_time("completing a record");
	}
}

/* Sends X's FIN, which TLS announces, while Y makes room for that. */
static void
send_fin(struct peer *x, struct peer *y)
{
	settle(x, y);
	while (x->ssl && SSL_shutdown(x->ssl) < 0) {
		if (!pull(y, x))
			wait_ready(x, POLLOUT);
		in_time("announcing the end");
	}
	shutdown(x->fd, SHUT_WR);
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
	char byte;
	ssize_t n = -1;

	if (p->error)
		wrong("%s: expected a FIN, got %s", who,
		    p->cut ? "one that was not announced" : strerror(p->error));
	/* Behind the announcement. */
	while (p->ssl && n != 0) {
		n = recv(p->fd, &byte, 1, MSG_DONTWAIT);
		if (n > 0 || (n < 0 && errno != EAGAIN))
			wrong("%s: expected a FIN behind close_notify", who);
		if (n < 0)
			wait_ready(p, POLLIN);
		in_time("waiting for the FIN behind close_notify");
	}
}

/* A timer has ended the session: that is no end of the other side's data, and
 * TLS does not announce it. */
static void
expect_fin_of_timer(const struct peer *p, const char *who)
{
	if (!p->ssl)
		expect_fin(p, who);
	else if (!p->cut)
		wrong("%s: expected a FIN that is not announced", who);
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
	send_fin(x, y);
	read_to_end(y, x, "Y waits for X's FIN");
	expect_fin(y, "Y");
	expect_received(y, x->sent, "Y");
	send_all(y, SOME);
	send_fin(y, x);
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
		/* Announced if there is room for that. */
		if (x->ssl)
			(void)SSL_shutdown(x->ssl);
		ERR_clear_error();
		shutdown(x->fd, SHUT_WR);
		if (me->context == IDLE || me->context == UNREAD) {
			read_to_end(y, x, "Y waits for X's FIN");
			expect_fin(y, "Y");
		}
	}
	if (me->context != FULL)
		until_acknowledged(x);
	least = x->sent - (me->context == FULL
	                          ? (uint64_t)peers_unacknowledged(x->fd) +
	                                (x->ssl ? RECORD : 0)
	                          : 0);
	tool_reset(x->fd);
	read_to_end(y, x, "Y waits for the end");
	if (me->action == FIN_RST && y->eof)
		until_error(y);
	expect_rst(y, "Y");
	if (y->received < least)
		wrong("Y: %llu bytes arrived, %llu were acknowledged",
		    (unsigned long long)y->received, (unsigned long long)least);
}

/* OpenSSL sends a fatal alert when it reads what is no record. */
static void
send_alert(struct peer *x)
{
	static const uint8_t record[40] = {23, 3, 3, 0, 35};
	BIO *bio = BIO_new(BIO_s_mem());
	char byte;

	if (!bio || BIO_write(bio, record, sizeof(record)) != sizeof(record))
		wrong("out of memory");
	SSL_set0_rbio(x->ssl, bio);
	while (SSL_read(x->ssl, &byte, 1) > 0)
		;
	ERR_clear_error();
}

/* All that X has sent arrives, then a reset. */
static void
play_broken(struct peer *x, struct peer *y)
{
	static const uint8_t garbage[45] = {23, 3, 3, 0, 40};

	settle(x, y);
	if (me->action == CUT)
		shutdown(x->fd, SHUT_WR);
	else if (me->action == ALERT)
		send_alert(x);
	else if (send(x->fd, garbage, sizeof(garbage), MSG_NOSIGNAL) < 0)
		wrong("sending what is no record: %s", strerror(errno));
	read_to_end(y, x, "Y waits for the reset");
	expect_rst(y, "Y");
	expect_received(y, x->sent, "Y");
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
	expect_fin_of_timer(y, "Y");
	expect_fin_of_timer(x, "X");
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
		if (me->action == SILENCE || me->action == ALERT) {
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
	case CUT:
	case ALERT:
	case GARBAGE:
		play_broken(x, y);
		break;
	default:
		play_rst(x, y);
		break;
	}
}

static SSL_CTX *
make_context(bool server, int version)
{
	SSL_CTX *ctx =
	    SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());

	if (!ctx || SSL_CTX_set_max_proto_version(ctx, version) != 1 ||
	    (server && (SSL_CTX_use_certificate_file(
	                    ctx, certificate, SSL_FILETYPE_PEM) != 1 ||
	                   SSL_CTX_use_PrivateKey_file(
	                       ctx, certificate, SSL_FILETYPE_PEM) != 1)))
		wrong("no TLS context");
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
	                          SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return ctx;
}

/* Makes the handshake, with TLS 1.3 under the one policy and 1.2 under the
 * other. */
static void
secure(struct peer *p, bool server)
{
	int n;

	p->ssl = SSL_new(
	    make_context(server, me->policy ? TLS1_2_VERSION : TLS1_3_VERSION));
	if (!p->ssl || SSL_set_fd(p->ssl, p->fd) != 1)
		wrong("no TLS connection");
	if (server)
		SSL_set_accept_state(p->ssl);
	else
		SSL_set_connect_state(p->ssl);
	while ((n = SSL_do_handshake(p->ssl)) != 1) {
		note_tls(p, n);
		if (p->error || p->eof)
			wrong("the TLS handshake fails");
		wait_ready(p, SSL_want_write(p->ssl) ? POLLOUT : POLLIN);
		in_time("the TLS handshake");
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
	if (cell->tls & 1)
		secure(&client, false);
	server.fd = accept4(cell->listener, NULL, NULL, SOCK_NONBLOCK);
	if (server.fd < 0)
		wrong("accept: %s", strerror(errno));
	if (cell->tls & 2)
		secure(&server, true);
	play(&client, &server);
	_exit(TOOL_OK);
}

static bool
is_played(const struct cell *c)
{
	if (c->tls == 0)
		return c->action < TCP_ACTIONS;
	return c->mode == 0 &&
	       c->policy == (c->x + c->context + c->action) % 2 &&
	       (c->action < TCP_ACTIONS || c->tls & 1u << c->x);
}

/* Adds the cell of that number, if it is to be played. */
static void
make_cell(unsigned i)
{
	struct cell *c = &cells[cells_n];

	c->x = (enum side)(i % 2);
	c->action = (enum action)(i / 2 % ACTIONS);
	c->context = (enum context)(i / 2 / ACTIONS % CONTEXTS);
	c->mode = i / 2 / ACTIONS / CONTEXTS % 2;
	c->policy = i / 2 / ACTIONS / CONTEXTS / 2 % 2;
	c->tls = i / 2 / ACTIONS / CONTEXTS / 2 / 2;
	if (!is_played(c))
		return;
	snprintf(c->name, sizeof(c->name), "%s.%s.%s.%s.%s", side_names[c->x],
	    action_names[c->action], context_names[c->context],
	    c->tls ? tls_names[c->tls] : mode_names[c->mode],
	    policy_names[c->policy]);
	c->listener = peers_listen(&c->port);
	cells_n++;
}

static void
make_cells(void)
{
	cells = mmap(NULL, CELLS_MAX * sizeof(*cells), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cells == MAP_FAILED)
		tool_die(TOOL_SYSTEM, "mmap: %s", strerror(errno));
	for (unsigned i = 0; i < 2 * ACTIONS * CONTEXTS * 2 * 2 * 4; i++)
		make_cell(i);
}

static void
write_cell(FILE *f, unsigned i)
{
	const struct cell *c = &cells[i];
	unsigned short_ms = SILENT_MS * patience, long_ms = 600000;
	bool timer = c->action == SILENCE;

	fprintf(f,
	    "[frontend %s]\nlisten = 127.0.0.1:0%s\nbackend = b%u\npool = %s\n"
	    "splice = %s\ntimeout_client = %ums\ntimeout_handshake = %ums\n"
	    "[backend b%u]\nserver = s 127.0.0.1:%u%s\ncheck = off\n"
	    "timeout_server = %ums\ntimeout_connect = %ums\n",
	    c->name, c->tls & 1 ? " tls=near" : "", i, policy_names[c->policy],
	    c->mode ? "auto" : "off",
	    timer && c->x == CLIENT ? short_ms : long_ms, long_ms, i, c->port,
	    c->tls & 2 ? " tls=far" : "",
	    timer && c->x == SERVER ? short_ms : long_ms, long_ms);
}

static void
start_proxy(struct peers_proxy *proxy, const char *program)
{
	FILE *f = peers_proxy_config(proxy);

	snprintf(
	    certificate, sizeof(certificate), "%s/certificate", proxy->dir);
	if (!own_cert_write(certificate))
		tool_die(TOOL_SYSTEM, "%s: %s", certificate, strerror(errno));
	fprintf(f,
	    "[tls near]\ncert = %s\n[tls far]\nca = %s\nname = localhost\n",
	    certificate, certificate);
	for (unsigned i = 0; i < 2; i++)
		fprintf(f, "[pool %s]\nthreads = 2\npromotion = %s\n",
		    policy_names[i], policy_names[i]);
	for (unsigned i = 0; i < cells_n; i++)
		write_cell(f, i);
	fclose(f);
	peers_proxy_start(proxy, program);
	for (unsigned i = 0; i < cells_n; i++)
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
	for (unsigned i = 0; i < cells_n; i++) {
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

	while (begun < cells_n || running > 0) {
		int status;
		pid_t pid;

		if (begun < cells_n && running < AT_ONCE) {
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
	tool_set_deadline(240 * patience);
	tool_raise_descriptors();
	make_cells();
	start_proxy(&proxy, argv[argc - 1]);
	before = descriptors(&proxy);
	printf("1..%u\n", cells_n + 3);
	fflush(stdout);
	play_all(proxy.pid);
	for (unsigned i = 0; i < cells_n; i++) {
		if (!cells[i].wrong[0])
			judge_log(&proxy, &cells[i]);
		result(i + 1, cells[i].name, cells[i].wrong);
	}
	result(cells_n + 1, "splicing took place", judge_pipes(&proxy));
	result(cells_n + 2, "descriptors are back",
	    judge_descriptors(&proxy, before));
	unlink(certificate);
	result(cells_n + 3, "lfproxy stops cleanly",
	    peers_proxy_stop(&proxy, failures > 0) ? "" : "it did not");
	return failures ? TOOL_FAILED : TOOL_OK;
}
