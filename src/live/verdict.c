/* SPDX-License-Identifier: MIT
 * See verdict.h.
 */
#include "live/verdict.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define VERDICT_NAME "reload"
#define VERDICT_OK   "ok"

/* Sets the address of the socket, in the first of the directories that systemd
 * has set.  Returns false if there is none, or the path is too long. */
static bool
verdict_address(struct sockaddr_un *addr)
{
	const char *directories = getenv("RUNTIME_DIRECTORY");
	int len = directories ? (int)strcspn(directories, ":") : 0;
	int n;

	if (len == 0)
		return false;
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(addr->sun_path, sizeof(addr->sun_path),
	    "%.*s/" VERDICT_NAME, len, directories);
	return n < (int)sizeof(addr->sun_path);
}

static int
verdict_socket(int flags)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | flags, 0);
}

bool
verdict_wanted(void)
{
	struct sockaddr_un addr;
	struct stat st;

	return verdict_address(&addr) && stat(addr.sun_path, &st) == 0 &&
	       S_ISSOCK(st.st_mode);
}

/* Writes the first error, preceded by the number of errors if there are
 * several.  The log has all of them. */
static void
reason(const struct err_list *errors, char *out, size_t size)
{
	const struct err_entry *e = errors->entries;
	char number[64] = "", place[24] = "";

	if (!e) {
		snprintf(out, size, "out of memory");
		return;
	}
	if (errors->n > 1)
		snprintf(number, sizeof(number),
		    "%zu errors (see the log), the first: ", errors->n);
	if (e->line > 0)
		snprintf(place, sizeof(place), ":%u", e->line);
	snprintf(out, size, "%s%s%s%s%s", number, e->file, place,
	    e->file[0] ? ": " : "", e->text);
}

void
verdict_send_text(const char *refusal)
{
	const char *message = refusal ? refusal : VERDICT_OK;
	struct sockaddr_un addr;
	int fd;

	if (!verdict_address(&addr))
		return;
	fd = verdict_socket(SOCK_NONBLOCK);
	if (fd < 0)
		return;
	/* A request that was given up may have left a socket without a
	 * reader. */
	(void)sendto(fd, message, strlen(message), MSG_NOSIGNAL,
	    (const struct sockaddr *)&addr, sizeof(addr));
	close(fd);
}

void
verdict_send(bool ok, const struct reload_result *result)
{
	char text[sizeof(((struct err *)NULL)->text)];

	if (!ok)
		reason(&result->errors, text, sizeof(text));
	verdict_send_text(ok ? NULL : text);
}

static bool
await(int fd, pid_t pid, bool *ret_refused, struct err *err)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	char message[sizeof(err->text)];
	ssize_t n;

	if (kill(pid, SIGHUP) < 0)
		return err_set(err, "cannot signal process %d: %s", (int)pid,
		    strerror(errno));
	if (poll(&readable, 1, VERDICT_WAIT_MS) <= 0)
		return err_set(err,
		    "process %d has not said within %d s whether it has "
		    "reloaded",
		    (int)pid, VERDICT_WAIT_MS / 1000);
	n = recv(fd, message, sizeof(message) - 1, 0);
	if (n < 0)
		return err_set(err, "no verdict of process %d: %s", (int)pid,
		    strerror(errno));
	message[n] = '\0';
	if (strcmp(message, VERDICT_OK) == 0)
		return true;
	*ret_refused = true;
	return err_set(err,
	    "not reloaded, the former configuration stays in "
	    "force: %s",
	    message);
}

bool
verdict_ask(pid_t pid, bool *ret_refused, struct err *err)
{
	struct sockaddr_un addr;
	bool ok;
	int fd;

	*ret_refused = false;
	if (!verdict_address(&addr))
		return err_set(err,
		    "--reload is for ExecReload= of a systemd unit with "
		    "RuntimeDirectory= (RUNTIME_DIRECTORY is not set); use "
		    "lfproxyctl reload elsewhere");
	fd = verdict_socket(0);
	if (fd < 0)
		return err_set(err, "no socket: %s", strerror(errno));
	/* Remove the socket file that a killed request may have left.  systemd
	 * runs one request at a time. */
	(void)unlink(addr.sun_path);
	if (bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
		err_set(
		    err, "cannot make %s: %s", addr.sun_path, strerror(errno));
		close(fd);
		return false;
	}
	ok = await(fd, pid, ret_refused, err);
	(void)unlink(addr.sun_path);
	close(fd);
	return ok;
}
