/* SPDX-License-Identifier: MIT
 * A small application server to stand behind lfproxy: HTTP/1.1 that answers
 * with its own name.
 */
#include <getopt.h>
#include <strings.h>
#include <sys/epoll.h>

#include "tool.h"

#define IN_SIZE    8192
#define OUT_SIZE   8192
#define BLOCK_SIZE 65536
#define BATCH      128

struct connection {
	int fd;
	uint32_t interest;  /* what epoll was told last */
	bool eof;           /* the client sends no more */
	bool closing;       /* after what is in out and body_left */
	bool waiting;       /* in the delay queue */
	uint64_t skip;      /* bytes of a request body still to be read */
	uint64_t body_left; /* bytes to send after those in out */
	uint64_t due_ms;
	struct connection *next;          /* in the delay queue */
	struct connection *other, **link; /* among all */
	size_t in_len, out_len, out_sent;
	char in[IN_SIZE], out[OUT_SIZE];
};

static struct connection *connections;

struct request {
	char method[16], target[1024];
	uint64_t content_length;
	bool keep_alive;
	bool understood;
};

static const char *name = "app";
static uint64_t delay_ms, body_bytes;
static int epoll_fd;
static uint64_t requests_served, connections_served;
/* Every request waits equally long, so the queue is in order of time. */
static struct connection *delayed, **delayed_end = &delayed;
static char block[BLOCK_SIZE];

static void
usage(FILE *out)
{
	fputs("usage: appserver [--name NAME] --listen ADDRESS [--delay MS]\n"
	      "                 [--body-bytes N] [--deadline SECONDS]\n"
	      "ADDRESS is HOST:PORT (port 0: any) or unix:/path.\n"
	      "  /            NAME, or N bytes\n"
	      "  /healthz     200\n"
	      "  /status/NNN  that status (200 to 599)\n"
	      "  /bytes/N     N bytes\n",
	    out);
}

static const char *
reason(unsigned status)
{
	switch (status) {
	case 200:
		return "OK";
	case 204:
		return "No Content";
	case 304:
		return "Not Modified";
	case 400:
		return "Bad Request";
	case 404:
		return "Not Found";
	case 431:
		return "Request Header Fields Too Large";
	case 501:
		return "Not Implemented";
	case 503:
		return "Service Unavailable";
	default:
		return "Status";
	}
}

/* There is room: see process. */
static void
put_answer(struct connection *c, unsigned status, const char *body,
    uint64_t body_len, bool head_only)
{
	bool bodiless = status == 204 || status == 304;

	c->out_len += (size_t)snprintf(c->out + c->out_len,
	    OUT_SIZE - c->out_len,
	    "HTTP/1.1 %u %s\r\nServer: %.64s\r\nContent-Type: text/plain\r\n",
	    status, reason(status), name);
	if (!bodiless)
		c->out_len += (size_t)snprintf(c->out + c->out_len,
		    OUT_SIZE - c->out_len, "Content-Length: %llu\r\n",
		    (unsigned long long)body_len);
	c->out_len +=
	    (size_t)snprintf(c->out + c->out_len, OUT_SIZE - c->out_len,
	        "%s\r\n", c->closing ? "Connection: close\r\n" : "");
	if (bodiless || head_only)
		return;
	if (body) {
		memcpy(c->out + c->out_len, body, body_len);
		c->out_len += body_len;
	} else {
		c->body_left = body_len;
	}
}

static void
answer(struct connection *c, const struct request *r)
{
	bool head = strcmp(r->method, "HEAD") == 0;
	char text[128];
	unsigned status;
	int end = 0;
	unsigned long long n;

	requests_served++;
	c->closing = c->closing || !r->keep_alive;
	c->skip = r->content_length;
	if (!r->understood) {
		c->closing = true;
		put_answer(c, 501, "not understood\n", 15, head);
	} else if (strcmp(r->target, "/healthz") == 0) {
		put_answer(c, 200, "ok\n", 3, head);
	} else if (sscanf(r->target, "/status/%3u%n", &status, &end) == 1 &&
	           !r->target[end] && status >= 200 && status <= 599) {
		n = (unsigned)snprintf(text, sizeof(text), "%u\n", status);
		put_answer(c, status, text, n, head);
	} else if (sscanf(r->target, "/bytes/%llu%n", &n, &end) == 1 &&
	           !r->target[end]) {
		put_answer(c, 200, NULL, n, head);
	} else if (body_bytes > 0) {
		put_answer(c, 200, NULL, body_bytes, head);
	} else {
		n = (unsigned)snprintf(text, sizeof(text), "%.100s\n", name);
		put_answer(c, 200, text, n, head);
	}
}

static void
read_header(struct request *r, const char *line)
{
	if (strncasecmp(line, "content-length:", 15) == 0)
		r->content_length = strtoull(line + 15, NULL, 10);
	else if (strncasecmp(line, "transfer-encoding:", 18) == 0)
		r->understood = false;
	else if (strncasecmp(line, "connection:", 11) == 0 &&
	         strcasestr(line, "close"))
		r->keep_alive = false;
	else if (strncasecmp(line, "connection:", 11) == 0 &&
	         strcasestr(line, "keep-alive"))
		r->keep_alive = true;
}

/* head is a string: the request line and the header lines. */
static struct request
read_request(char *head)
{
	struct request r = {.understood = true};
	int minor = 0;
	char *line, *rest;

	line = strtok_r(head, "\r\n", &rest);
	r.understood = line && sscanf(line, "%15s %1023s HTTP/1.%d", r.method,
	                           r.target, &minor) == 3;
	r.keep_alive = minor >= 1;
	while ((line = strtok_r(NULL, "\r\n", &rest)))
		read_header(&r, line);
	return r;
}

static void
consume(struct connection *c, size_t n)
{
	c->in_len -= n;
	memmove(c->in, c->in + n, c->in_len);
}

static void
skip_body(struct connection *c)
{
	size_t n = c->skip < c->in_len ? (size_t)c->skip : c->in_len;

	consume(c, n);
	c->skip -= n;
}

static void
delay(struct connection *c)
{
	c->waiting = true;
	c->due_ms = tool_now_ms() + delay_ms;
	c->next = NULL;
	*delayed_end = c;
	delayed_end = &c->next;
}

/* Answers the requests that are complete, as far as out has room. */
static void
process(struct connection *c, bool delay_is_over)
{
	struct request r;
	char *end;

	while (!c->closing && c->body_left == 0 && !c->waiting) {
		skip_body(c);
		if (c->skip > 0 || OUT_SIZE - c->out_len < 1024)
			return;
		end = memmem(c->in, c->in_len, "\r\n\r\n", 4);
		if (!end && c->in_len == IN_SIZE) {
			c->closing = true;
			put_answer(c, 431, "too long\n", 9, false);
			return;
		}
		if (!end)
			return;
		if (delay_ms > 0 && !delay_is_over) {
			delay(c);
			return;
		}
		delay_is_over = false;
		*end = '\0';
		r = read_request(c->in);
		answer(c, &r);
		consume(c, (size_t)(end + 4 - c->in));
	}
}

static void
drop(struct connection *c)
{
	if (c->waiting) {
		struct connection **p = &delayed;

		while (*p != c)
			p = &(*p)->next;
		*p = c->next;
		if (delayed_end == &c->next)
			delayed_end = p;
	}
	*c->link = c->other;
	if (c->other)
		c->other->link = c->link;
	close(c->fd);
	free(c);
}

/* False when the connection broke.  *ret_blocked: the client does not read. */
static bool
send_out(struct connection *c, bool *ret_blocked)
{
	const char *from;
	size_t len;
	ssize_t n;

	*ret_blocked = false;
	while (c->out_sent < c->out_len || c->body_left > 0) {
		bool head = c->out_sent < c->out_len;

		from = head ? c->out + c->out_sent : block;
		len = head ? c->out_len - c->out_sent : BLOCK_SIZE;
		if (!head && len > c->body_left)
			len = (size_t)c->body_left;
		n = send(c->fd, from, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN) {
			*ret_blocked = true;
			return true;
		}
		if (n < 0)
			return false;
		if (head)
			c->out_sent += (size_t)n;
		else
			c->body_left -= (size_t)n;
	}
	c->out_len = c->out_sent = 0;
	return true;
}

static void
set_interest(struct connection *c, bool blocked)
{
	uint32_t want = blocked ? EPOLLOUT : 0;
	struct epoll_event ev = {.data.ptr = c};

	if (!blocked && !c->eof && c->in_len < IN_SIZE)
		want |= EPOLLIN;
	if (want == c->interest)
		return;
	ev.events = c->interest = want;
	epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &ev);
}

/* Works off what is there; frees the connection when it is through. */
static void
serve(struct connection *c, bool delay_is_over)
{
	bool blocked = false;
	size_t before;

	do {
		before = c->in_len;
		process(c, delay_is_over);
		delay_is_over = false;
		if (!send_out(c, &blocked)) {
			drop(c);
			return;
		}
	} while (!blocked && !c->closing && c->in_len != before);
	if (!blocked && (c->closing || (c->eof && !c->waiting)))
		drop(c);
	else
		set_interest(c, blocked);
}

static void
on_event(struct connection *c, uint32_t events)
{
	ssize_t n;

	if (events & EPOLLIN) {
		n = recv(c->fd, c->in + c->in_len, IN_SIZE - c->in_len, 0);
		if (n < 0 && errno != EAGAIN) {
			drop(c);
			return;
		}
		if (n == 0)
			c->eof = true;
		if (n > 0)
			c->in_len += (size_t)n;
	} else if (events & (EPOLLERR | EPOLLHUP)) {
		drop(c);
		return;
	}
	serve(c, false);
}

static void
accept_all(int listener)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct connection *c;
	int one = 1, fd;

	while ((fd = accept4(
	            listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		c = malloc(sizeof(*c));
		if (!c)
			tool_die(TOOL_SYSTEM, "out of memory");
		memset(c, 0, offsetof(struct connection, in));
		c->fd = fd;
		c->interest = EPOLLIN;
		c->other = connections;
		c->link = &connections;
		if (c->other)
			c->other->link = &c->other;
		connections = c;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		ev.data.ptr = c;
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
			tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
		connections_served++;
	}
	if (errno == EMFILE || errno == ENFILE)
		tool_die(TOOL_SYSTEM, "out of descriptors; raise ulimit -n");
}

/* Answers what has waited long enough; returns epoll's timeout. */
static int
run_delayed(void)
{
	uint64_t now = tool_now_ms();
	struct connection *c;

	while ((c = delayed) && c->due_ms <= now) {
		delayed = c->next;
		if (!delayed)
			delayed_end = &delayed;
		c->waiting = false;
		serve(c, true);
	}
	return c ? (int)(c->due_ms - now) : -1;
}

static void
run(int listener)
{
	struct epoll_event ev = {.events = EPOLLIN}, events[BATCH];
	sigset_t mask = tool_catch_stop();
	int n;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll: %s", strerror(errno));
	while (!tool_told_to_stop) {
		n = epoll_pwait(epoll_fd, events, BATCH, run_delayed(), &mask);
		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				on_event(events[i].data.ptr, events[i].events);
			else
				accept_all(listener);
		}
	}
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"name", required_argument, NULL, 'n'},
	    {"listen", required_argument, NULL, 'l'},
	    {"delay", required_argument, NULL, 'd'},
	    {"body-bytes", required_argument, NULL, 'b'},
	    {"deadline", required_argument, NULL, 't'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	const char *address = NULL;
	uint64_t deadline = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'n')
			name = optarg;
		else if (option == 'l')
			address = optarg;
		else if (option == 'd')
			delay_ms = tool_number(optarg, 3600000);
		else if (option == 'b')
			body_bytes = tool_number(optarg, UINT64_MAX / 2);
		else if (option == 't')
			deadline = tool_number(optarg, 86400);
		else {
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? TOOL_OK : TOOL_USAGE;
		}
	}
	if (!address || optind < argc) {
		usage(stderr);
		return TOOL_USAGE;
	}
	memset(block, 'x', sizeof(block));
	tool_raise_descriptors();
	tool_set_deadline(deadline);
	run(tool_listen(address, 4096));
	while (connections)
		drop(connections);
	printf("connections=%llu requests=%llu\n",
	    (unsigned long long)connections_served,
	    (unsigned long long)requests_served);
	if (strncmp(address, "unix:", 5) == 0)
		unlink(address + 5);
	return TOOL_OK;
}
