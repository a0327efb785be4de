/* SPDX-License-Identifier: MIT
 * See notify.h.
 */
#include "base/notify.h"

#include <errno.h>
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

#define MESSAGE_SIZE 512

/* A stop takes a little longer than its bounds say: threads end, logs are
 * written out. */
#define STOP_SPARE_MS 5000

static struct {
	int fd; /* 0: no manager wants to know */
	struct sockaddr_un addr;
	socklen_t addr_len;
	char unsent[MESSAGE_SIZE]; /* the newest state, "": it was sent */
	bool failed;               /* and that was logged */
} manager;

bool
notify_open(struct err *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
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
	return true;
}

void
notify_close(void)
{
	if (manager.fd > 0)
		close(manager.fd);
	memset(&manager, 0, sizeof(manager));
}

/* False when the message should be sent again later. */
static bool
transmit(const char *message)
{
	if (sendto(manager.fd, message, strlen(message), MSG_NOSIGNAL,
	        (const struct sockaddr *)&manager.addr, manager.addr_len) >= 0)
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

/* A newer state replaces one that could not be sent so far. */
static void
send_state(const char *message)
{
	snprintf(manager.unsent, sizeof(manager.unsent), "%s", message);
	notify_retry();
}

void
notify_retry(void)
{
	if (manager.fd > 0 && manager.unsent[0] && transmit(manager.unsent))
		manager.unsent[0] = '\0';
}

/* Appends STATUS= and the first line of the text. */
static void
append_status(char *message, const char *fmt, va_list values)
{
	size_t len = strlen(message);
	char *status = message + len;

	len += (size_t)snprintf(status, MESSAGE_SIZE - len, "STATUS=");
	vsnprintf(message + len, MESSAGE_SIZE - len, fmt, values);
	status[strcspn(status, "\n")] = '\0';
}

void
notify_ready(const char *fmt, ...)
{
	char message[MESSAGE_SIZE] = "READY=1\n";
	va_list values;

	if (manager.fd == 0)
		return;
	va_start(values, fmt);
	append_status(message, fmt, values);
	va_end(values);
	send_state(message);
}

void
notify_reloading(void)
{
	char message[MESSAGE_SIZE];

	if (manager.fd == 0)
		return;
	snprintf(message, sizeof(message),
	    "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=Reloading",
	    clock_now_ns() / 1000);
	send_state(message);
}

void
notify_stopping(uint64_t most_ms, const char *fmt, ...)
{
	char message[MESSAGE_SIZE];
	va_list values;

	if (manager.fd == 0)
		return;
	snprintf(message, sizeof(message),
	    "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64 "\n",
	    (most_ms + STOP_SPARE_MS) * 1000);
	va_start(values, fmt);
	append_status(message, fmt, values);
	va_end(values);
	send_state(message);
}

void
notify_status(const char *fmt, ...)
{
	char message[MESSAGE_SIZE] = "";
	va_list values;

	if (manager.fd == 0)
		return;
	va_start(values, fmt);
	append_status(message, fmt, values);
	va_end(values);
	if (!manager.unsent[0])
		(void)transmit(message);
}
