/* SPDX-License-Identifier: MIT
 * See http.h.
 */
#include "http/http.h"

#include <errno.h>
#include <ev.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/command_run.h"
#include "http/connections.h"
#include "http/request.h"
#include "http/tls_front.h"
#include "base/log.h"
#include "net/sock.h"

#define TIMEOUT_S    10
#define MEMORY_LIMIT (16u * 1024) /* per connection, for request headers */

#define ACCEPTS_AT_ONCE 8
#define PAUSE_S         0.1 /* after an error of accept4(2) */

struct http {
	struct list node; /* in the list of http_drain, or alone */
	struct http_site site;
	struct tls_fronts fronts;
	struct http_origin adding; /* of the connection that is being added */
	struct addr addr;          /* as configured */
	bool both_families;
	struct ev_loop *loop;
	struct MHD_Daemon *daemon;
	int fd;        /* listening; -1: drained, or another process has it */
	bool draining; /* to be freed when its last connection has ended */
	ev_io accept, io;
	ev_timer timer, pause;
};

/* Returns the TLS context of the configuration in force, NULL: plain HTTP. */
static struct tls_context *
tls_of_http(const struct http *http)
{
	const struct spec *spec = http->site.env->instance->model->spec;
	const struct optional *tls = &spec->global.http.at.tls;

	return tls->is_set ? spec->tls[tls->value].context[TLS_ACCEPTS] : NULL;
}

/* Sets the timer for libmicrohttpd, which may want to run without an event. */
static void
set_mhd_timer(struct http *http)
{
	MHD_UNSIGNED_LONG_LONG ms;

	ev_timer_stop(http->loop, &http->timer);
	if (MHD_get_timeout(http->daemon, &ms) != MHD_YES)
		return;
	ev_timer_set(&http->timer, (double)ms / 1000., 0.);
	ev_timer_start(http->loop, &http->timer);
}

static bool
has_connections(const struct http *http)
{
	return http->fronts.n > 0 || MHD_get_daemon_info(http->daemon,
	                                 MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
	                                     ->num_connections > 0;
}

/* Runs libmicrohttpd.  Frees http if it drains and its last connection ended.
 */
static void
run_mhd(struct http *http)
{
	(void)MHD_run(http->daemon);
	if (http->draining && !has_connections(http))
		http_close(http);
	else
		set_mhd_timer(http);
}

/* Runs libmicrohttpd in the next turn of the loop, after connections were
 * resumed: not within its own callbacks, and http may be freed by it. */
static void
on_resumed(void *arg)
{
	struct http *http = arg;

	ev_timer_stop(http->loop, &http->timer);
	ev_timer_set(&http->timer, 0., 0.);
	ev_timer_start(http->loop, &http->timer);
}

static void
on_mhd_events(struct ev_loop *loop, ev_io *io, int events)
{
	(void)loop;
	(void)events;
	run_mhd(io->data);
}

static void
on_mhd_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	run_mhd(timer->data);
}

/* Stops accepting for PAUSE_S: the connection stays in the backlog, so the loop
 * would call again at once.  EINVAL: the socket does not listen, because during
 * an upgrade the successor, which has it as well, has shut it down.  No
 * client is kept waiting. */
static void
pause_http_accept(struct http *http, int error)
{
	static struct log_limit limit;

	if (error != EINVAL)
		log_limited(&limit, LOG_LEVEL_WARNING,
		    "cannot accept an HTTP connection: %s%s", strerror(error),
		    error == EMFILE || error == ENFILE
		        ? "; raise the limit on open files (LimitNOFILE= in "
		          "the unit)"
		        : "");
	ev_io_stop(http->loop, &http->accept);
	ev_timer_set(&http->pause, PAUSE_S, 0.);
	ev_timer_start(http->loop, &http->pause);
}

static void
resume_http_accept(struct ev_loop *loop, ev_timer *pause, int events)
{
	struct http *http = pause->data;

	(void)events;
	ev_io_start(loop, &http->accept);
}

/* Adds the connection, and takes ownership of fd. */
static void
add_connection(struct http *http, int fd, const struct addr *from)
{
	struct tls_context *tls = tls_of_http(http);

	if (tls)
		fd = tls_front_new(&http->fronts, tls, fd);
	if (fd < 0)
		return;
	http->adding.secure = tls != NULL;
	endpoint_set(&http->adding.from, &from->sa, from->len);
	/* Closes the descriptor if it fails.  libmicrohttpd 1.0 only queues the
	 * connection: it has to be run before http->adding is used again, and
	 * before the connections are counted. */
	(void)MHD_add_connection(http->daemon, fd, &from->sa, from->len);
	(void)MHD_run(http->daemon);
}

/* Accepts a connection.  Returns 0, or -errno of accept4(2). */
static int
accept_http(struct http *http)
{
	struct addr from = {.len = sizeof(from.un)};
	int fd = accept4(
	    http->fd, &from.sa, &from.len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return -errno;
	http_connections_make_room(&http->site.connections);
	add_connection(http, fd, &from);
	return 0;
}

/* Accepts connections in place of libmicrohttpd, which at its limit would leave
 * further ones in the backlog instead of evicting others. */
static void
on_http_accept(struct ev_loop *loop, ev_io *io, int events)
{
	struct http *http = io->data;

	(void)loop;
	(void)events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int rc = accept_http(http);

		if (rc == -EAGAIN)
			break;
		if (rc < 0 && rc != -EINTR && rc != -ECONNABORTED) {
			pause_http_accept(http, -rc);
			break;
		}
	}
	run_mhd(http);
}

static void
on_mhd_connection(void *arg, struct MHD_Connection *mhd, void **connection,
    enum MHD_ConnectionNotificationCode code)
{
	struct http *http = arg;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		http_connection_free(&http->site.connections, *connection);
		return;
	}
	*connection = http_connection_new(&http->site.connections, mhd,
	    MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)
	        ->connect_fd,
	    &http->adding);
}

/* Logs a message, rate-limited: most are about clients that disconnect, which
 * any client can cause. */
static void
on_mhd_message(void *arg, const char *fmt, va_list ap)
{
	const struct http *http = arg;
	static struct log_limit limit;
	char text[256];

	vsnprintf(text, sizeof(text), fmt, ap);
	/* Behind TLS there is a socket pair, which has no options of TCP. */
	if (tls_of_http(http) && (strncmp(text, "Setting TCP_", 12) == 0 ||
	                             strstr(text, "Failed to push the data")))
		return;
	text[strcspn(text, "\n")] = '\0';
	log_limited(&limit, LOG_LEVEL_WARNING, "http: %s", text);
}

/* Resolves the escapes of a path or an argument but those of NUL, `/` and `%`,
 * which words of the API may contain (see api_add_word). */
static size_t
unescape_most(void *arg, struct MHD_Connection *mhd, char *text)
{
	char *to = text;

	(void)arg;
	(void)mhd;
	for (const char *at = text; *at;) {
		char code[4] = "";

		snprintf(code, sizeof(code), "%.3s", at);
		if (*at == '%' && !strcasestr("%00 %25 %2f", code) &&
		    MHD_http_unescape(code) == 1) {
			*to++ = *code;
			at += 3;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}

static bool
start_daemon(struct http *http, struct err *err)
{
	http->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG |
	                                    MHD_USE_NO_LISTEN_SOCKET |
	                                    MHD_ALLOW_SUSPEND_RESUME,
	    0, NULL, NULL, http_on_request, &http->site,
	    MHD_OPTION_EXTERNAL_LOGGER, on_mhd_message, http,
	    MHD_OPTION_NOTIFY_CONNECTION, on_mhd_connection, http,
	    MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, NULL,
	    MHD_OPTION_UNESCAPE_CALLBACK, unescape_most, NULL,
	    MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned)(HTTP_CONNECTIONS_MAX + ACCEPTS_AT_ONCE),
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_LIMIT,
	    MHD_OPTION_END);
	if (!http->daemon)
		return err_set(err,
		    "cannot serve the HTTP port: libmicrohttpd does not start");
	if (!http_auth_start(&http->site.auth, http->loop)) {
		MHD_stop_daemon(http->daemon);
		return err_set(err,
		    "cannot serve the HTTP port: the system has no random "
		    "bytes");
	}
	ev_io_init(&http->io, on_mhd_events,
	    MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)
	        ->epoll_fd,
	    EV_READ);
	return true;
}

struct http *
http_bind(const struct command_env *env, const struct listen_spec *at,
    struct err *err)
{
	struct http *http = calloc(1, sizeof(*http));
	struct addr local;

	if (!http) {
		err_set(err, "out of memory for the HTTP port");
		return NULL;
	}
	list_init(&http->node);
	http->site.env = env;
	http->site.loopback = addr_is_loopback(&at->addr);
	http->addr = at->addr;
	http->both_families = at->both_families;
	http->loop = env->instance->loop;
	http_connections_init(&http->site.connections);
	list_init(&http->site.live.viewers);
	list_init(&http->site.commands);
	http->site.run = on_resumed;
	http->site.run_arg = http;
	tls_fronts_init(&http->fronts, http->loop, on_resumed, http);
	http->fd = sock_listen(&at->addr, at->both_families, 0, err);
	if (http->fd < 0 || !start_daemon(http, err)) {
		if (http->fd >= 0)
			close(http->fd);
		free(http);
		return NULL;
	}
	snprintf(http->site.cookie, sizeof(http->site.cookie), "lfproxy_%u",
	    sock_local_addr(http->fd, &local) ? addr_port(&local) : 0);
	http->io.data = http->timer.data = http->accept.data =
	    http->pause.data = http;
	ev_init(&http->timer, on_mhd_timer);
	ev_init(&http->pause, resume_http_accept);
	ev_io_init(&http->accept, on_http_accept, http->fd, EV_READ);
	return http;
}

void
http_serve(struct http *http)
{
	char text[ADDR_TEXT_SIZE];
	struct addr addr;

	/* The kernel may have chosen the port. */
	if (sock_local_addr(http->fd, &addr))
		log_info("monitoring at %s://%s/",
		    tls_of_http(http) ? "https" : "http",
		    addr_text(&addr, text));
	ev_io_start(http->loop, &http->accept);
	ev_io_start(http->loop, &http->io);
	live_start(&http->site.live, http->site.env, on_resumed, http);
	set_mhd_timer(http);
}

void
http_hold(struct http *http)
{
	ev_io_stop(http->loop, &http->accept);
}

void
http_resume(struct http *http)
{
	ev_io_start(http->loop, &http->accept);
}

bool
http_serves(const struct http *http, const struct listen_spec *at)
{
	return http->both_families == at->both_families &&
	       addr_equal(&http->addr, &at->addr);
}

static void
stop_http_accept(struct http *http)
{
	ev_io_stop(http->loop, &http->accept);
	ev_timer_stop(http->loop, &http->pause);
	if (http->fd >= 0)
		close(http->fd);
	http->fd = -1;
}

int
http_fd(const struct http *http, struct addr *ret_asked)
{
	*ret_asked = http->addr;
	return http->fd;
}

void
http_hand_over(struct http *http)
{
	stop_http_accept(http);
	http_connections_drain(&http->site.connections);
	/* libmicrohttpd has other times to wait for. */
	set_mhd_timer(http);
}

void
http_drain(struct http *http, struct list *draining)
{
	while (http->site.connections.n < HTTP_CONNECTIONS_MAX &&
	       accept_http(http) == 0)
		;
	stop_http_accept(http);
	/* Requests that have arrived begin now and are answered. */
	(void)MHD_run(http->daemon);
	http_connections_drain(&http->site.connections);
	http->draining = true;
	list_append(draining, &http->node);
	run_mhd(http);
}

void
http_close_all(struct list *draining)
{
	list_for_each_safe (node, draining)
		http_close(container_of(node, struct http, node));
}

void
http_close(struct http *http)
{
	if (!http)
		return;
	list_remove(&http->node);
	stop_http_accept(http);
	ev_io_stop(http->loop, &http->io);
	ev_timer_stop(http->loop, &http->timer);
	live_stop(&http->site.live);
	http_auth_stop(&http->site.auth);
	command_runs_stop(&http->site);
	ev_timer_stop(http->loop, &http->timer);
	MHD_stop_daemon(http->daemon);
	tls_fronts_close(&http->fronts);
	free(http);
}
