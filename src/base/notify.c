/* SPDX-License-Identifier: MIT
 * See notify.h.
 */
#include "base/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#define MESSAGE_SIZE 512
#define STATE_SIZE   80

/* The time beyond its bounds that a stop may take: threads end, and logs are
 * written out. */
#define STOP_SPARE_MS 5000

static struct {
	int fd; /* 0: no manager waits for a notice */
	struct sockaddr_un addr;
	socklen_t addr_len;
	bool connected;
	char unsent[MESSAGE_SIZE]; /* the newest state, "": it was sent */
	bool failed;               /* and that was logged */
	char ready[MESSAGE_SIZE];  /* the text of the last notify_ready */
	uint64_t alive_ms;         /* see notify_alive_ms */
	uint64_t watchdog_usec;
	/* The socket, as in the environment. */
	char name[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
} manager;

/* Returns the time after which the manager misses a sign of life; 0: never, or
 * it watches another process. */
static uint64_t
take_watchdog_usec(void)
{
	const char *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	uint64_t n = 0, of = 0;
	struct err err;

	if (usec && !text_parse_number(usec, 1, UINT64_MAX, &n, &err))
		n = 0;
	if (pid && (!text_parse_number(pid, 1, INT32_MAX, &of, &err) ||
	               of != (uint64_t)getpid()))
		n = 0;
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return n;
}

bool
notify_open(struct err *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
	uint64_t watchdog_usec = take_watchdog_usec();
	size_t len = name ? strlen(name) : 0;
	struct sockaddr_un *addr = &manager.addr;
	int fd;

	if (len == 0)
		return true;
	if ((name[0] != '/' && name[0] != '@') || len < 2 ||
	    len >= sizeof(addr->sun_path)) {
		err_set(err,
		    "NOTIFY_SOCKET=%s is neither a path nor an abstract socket "
		    "(@NAME); the service manager is not told of the start",
		    name);
		unsetenv("NOTIFY_SOCKET");
		return false;
	}
	addr->sun_family = AF_UNIX;
	memcpy(addr->sun_path, name, len + 1);
	memcpy(manager.name, name, len + 1);
	manager.addr_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	                               len + (name[0] == '/'));
	if (name[0] == '@')
		addr->sun_path[0] = '\0';
	unsetenv("NOTIFY_SOCKET");
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err,
		    "no socket for messages to the service manager: %s",
		    strerror(errno));
	manager.fd = fd;
	manager.watchdog_usec = watchdog_usec;
	manager.alive_ms = watchdog_usec / 2000;
	if (watchdog_usec > 0 && manager.alive_ms == 0)
		manager.alive_ms = 1;
	return true;
}

bool
notify_is_open(void)
{
	return manager.fd > 0;
}

void
notify_connect(void)
{
	if (manager.fd > 0 && !manager.connected)
		manager.connected =
		    connect(manager.fd, (const struct sockaddr *)&manager.addr,
		        manager.addr_len) == 0;
}

bool
notify_can_be_reached(void)
{
	return manager.fd == 0 || manager.name[0] == '@' ||
	       access(manager.name, W_OK) == 0;
}

void
notify_close(void)
{
	if (manager.fd > 0)
		close(manager.fd);
	memset(&manager, 0, sizeof(manager));
}

/* Sends a message.  Returns false if it should be sent again later. */
static bool
notify_transmit(const char *message)
{
	if (sendto(manager.fd, message, strlen(message), MSG_NOSIGNAL,
	        manager.connected ? NULL
	                          : (const struct sockaddr *)&manager.addr,
	        manager.connected ? 0 : manager.addr_len) >= 0)
		return true;
	if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)
		return false;
	if (!manager.failed)
		log_warning("the service manager's socket (NOTIFY_SOCKET) "
		            "takes no messages: %s",
		    strerror(errno));
	manager.failed = true;
	return true;
}

void
notify_retry(void)
{
	if (manager.fd > 0 && manager.unsent[0] &&
	    notify_transmit(manager.unsent))
		manager.unsent[0] = '\0';
}

/* Sends the lines of the state, and STATUS= with the first line of the text.  A
 * newer state replaces one that could not be sent so far. */
static void
notify_send(const char *state, const char *status)
{
	char message[MESSAGE_SIZE];

	if (manager.fd == 0)
		return;
	snprintf(message, sizeof(message), "%sSTATUS=%.*s", state,
	    (int)strcspn(status, "\n"), status);
	if (*state) {
		strcpy(manager.unsent, message);
		notify_retry();
	} else if (!manager.unsent[0]) {
		(void)notify_transmit(message);
	}
}

void
notify_ready(const char *fmt, ...)
{
	char status[MESSAGE_SIZE];
	va_list values;

	va_start(values, fmt);
	vsnprintf(status, sizeof(status), fmt, values);
	va_end(values);
	strcpy(manager.ready, status);
	notify_send("READY=1\n", status);
}

void
notify_reloading(void)
{
	char state[STATE_SIZE];

	snprintf(state, sizeof(state),
	    "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n", clock_now_ns() / 1000);
	notify_send(state, "Reloading");
}

void
notify_stopping(uint64_t most_ms, const char *status)
{
	char state[STATE_SIZE];

	snprintf(state, sizeof(state),
	    "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64 "\n",
	    (most_ms + STOP_SPARE_MS) * 1000);
	notify_send(state, status);
}

bool
notify_variables(
    char *socket, size_t socket_size, char *watchdog, size_t watchdog_size)
{
	if (manager.fd == 0)
		return false;
	snprintf(socket, socket_size, "NOTIFY_SOCKET=%s", manager.name);
	*watchdog = '\0';
	if (manager.watchdog_usec > 0)
		snprintf(watchdog, watchdog_size, "WATCHDOG_USEC=%" PRIu64,
		    manager.watchdog_usec);
	return true;
}

/* Sends a text with a descriptor.  Returns 0 or -errno. */
static int
send_descriptor(char *text, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {text, strlen(text)};
	struct msghdr message = {
	    .msg_name = manager.connected ? NULL : &manager.addr,
	    .msg_namelen = manager.connected ? 0 : manager.addr_len,
	    .msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control)};

	memset(&control, 0, sizeof(control));
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.align), &fd, sizeof(int));
	return sendmsg(manager.fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int
notify_successor(pid_t pid)
{
	char message[STATE_SIZE], barrier[] = "BARRIER=1";
	int ends[2], rc = -EAGAIN;

	if (manager.fd == 0)
		return -ENOENT;
	snprintf(message, sizeof(message), "MAINPID=%d", (int)pid);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -EAGAIN;
	if (notify_transmit(message))
		rc = send_descriptor(barrier, ends[1]);
	close(ends[1]);
	if (rc == 0)
		return ends[0];
	close(ends[0]);
	return rc == -ENOBUFS || rc == -ENOMEM ? -EAGAIN : rc;
}

uint64_t
notify_alive_ms(void)
{
	return manager.alive_ms;
}

/* A message that the manager does not take is not repeated, because others
 * follow. */
void
notify_alive(void)
{
	if (manager.fd > 0)
		(void)notify_transmit("WATCHDOG=1");
}

/* A failure is ignored: without the store, a restart refuses clients for a
 * while. */
void
notify_store(int fd, const char *name)
{
	char text[MESSAGE_SIZE];

	snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", name);
	if (manager.fd > 0)
		(void)send_descriptor(text, fd);
}

void
notify_forget(const char *name)
{
	char text[MESSAGE_SIZE];

	snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	if (manager.fd > 0)
		(void)notify_transmit(text);
}

void
notify_figures(const char *figures)
{
	char status[MESSAGE_SIZE];

	snprintf(status, sizeof(status), "%.*s: %s",
	    (int)strcspn(manager.ready, "\n"), manager.ready, figures);
	notify_send("", status);
}

void
notify_status(const char *status)
{
	notify_send("", status);
}
