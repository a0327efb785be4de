/* SPDX-License-Identifier: MIT
 * See server.h.
 */
#include "tools/upgradeload/server.h"

#include "tools/upgradeload/conn.h"
#include "tools/upgradeload/loop.h"

static struct conn at_main, at_queue, at_late;

static void
accept_all(struct conn *listener)
{
	bool queue = listener == &at_queue;
	int fd;

	while ((fd = accept4(listener->fd, NULL, NULL,
	            SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct conn *c = conn_new(fd);

		conn_set_options(fd, false);
		c->connected = true;
		c->in_queue = queue;
		if (queue && ++sum.queue_open > sum.queue_max)
			sum.queue_max = sum.queue_open;
		loop_add(c);
	}
	if (errno != EAGAIN && errno != ECONNABORTED)
		tool_die(TOOL_SYSTEM, "accept: %s", strerror(errno));
}

static int
open_listener(const char *address, int backlog, const char *what)
{
	struct tool_addr a = {.len = sizeof(a.storage)};
	int fd = tool_bind(address);

	if (listen(fd, backlog) < 0 || getsockname(fd, &a.sa, &a.len) < 0)
		tool_die(TOOL_SYSTEM, "listen: %s", strerror(errno));
	printf("%s 127.0.0.1:%u\n", what,
	    ntohs(((struct sockaddr_in *)(void *)&a.storage)->sin_port));
	fflush(stdout);
	return fd;
}

static int fillers[64];
static size_t fillers_n;

/* Connects to the listener until a connection is not answered any more. */
static void
fill_backlog(int listener)
{
	struct tool_addr a = {.len = sizeof(a.storage)};
	struct timespec wait = {.tv_nsec = 100 * 1000 * 1000};

	getsockname(listener, &a.sa, &a.len);
	while (fillers_n < sizeof(fillers) / sizeof(fillers[0])) {
		int fd = socket(
		    AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		struct tcp_info info;
		socklen_t len = sizeof(info);

		if (fd < 0 ||
		    (connect(fd, &a.sa, a.len) < 0 && errno != EINPROGRESS))
			tool_die(TOOL_SYSTEM, "connect: %s", strerror(errno));
		nanosleep(&wait, NULL);
		getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
		if (info.tcpi_state == TCP_SYN_SENT) {
			close(fd);
			return;
		}
		fillers[fillers_n++] = fd;
	}
	tool_die(TOOL_SYSTEM, "the backlog does not fill");
}

/* Accepts on fd from now on. */
static void
watch_listener(int fd, struct conn *at)
{
	at->fd = fd;
	at->accept = accept_all;
	loop_listen(at);
}

void
server_run(void)
{
	sigset_t mask = tool_catch_stop();
	int late;

	watch_listener(open_listener("127.0.0.1:0", 4096, "queue"), &at_queue);
	late = open_listener("127.0.0.1:0", 0, "late");
	fill_backlog(late);
	watch_listener(tool_listen("0.0.0.0:0", 4096), &at_main);
	while (tool_goes_on()) {
		loop_serve_events(&mask, loop_run_timers());
		if (ending || !loop_is_to_end())
			continue;
		loop_end_all();
		if (listen(late, 4096) < 0)
			tool_die(TOOL_SYSTEM, "listen: %s", strerror(errno));
		watch_listener(late, &at_late);
		while (fillers_n > 0)
			close(fillers[--fillers_n]);
	}
}
