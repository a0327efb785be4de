/* SPDX-License-Identifier: MIT
 * See client.h.
 */
#include "ctl/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "net/addr.h"

/* HAProxy refuses the second command and keeps the severities of the first. */
#define PREAMBLE     "set severity-output number;set severity-output status;"
#define SEVERITY_ERR 3 /* of syslog(3); lower ones are errors as well */
#define STATUS_OK    "[status 0]\n"
#define STATUS_ERROR "[status 1]\n"
#define STATUS_SIZE  (sizeof(STATUS_OK) - 1)
#define READ_SIZE    65536

void *
ctl_array(void *old, size_t n, size_t size)
{
	void *array = reallocarray(old, n, size);

	if (!array) {
		fputs("lfproxyctl: out of memory\n", stderr);
		exit(CTL_NO_ANSWER);
	}
	return array;
}

static void
text_reserve(struct ctl_text *text, size_t more)
{
	size_t room = text->room ? text->room : 4096;

	while (room <= text->n + more)
		room *= 2;
	if (room == text->room)
		return;
	text->data = ctl_array(text->data, room, 1);
	text->room = room;
}

void
ctl_text_add(struct ctl_text *text, const char *data, size_t n)
{
	text_reserve(text, n);
	memcpy(text->data + text->n, data, n);
	text->n += n;
	text->data[text->n] = '\0';
}

void
ctl_text_fini(struct ctl_text *text)
{
	free(text->data);
	*text = (struct ctl_text){NULL, 0, 0};
}

bool
ctl_add_command(struct ctl_text *line, const char *const *words)
{
	ctl_text_add(line, "", 0);
	for (; *words; words++) {
		if (line->n)
			ctl_text_add(line, " ", 1);
		for (const char *c = *words; *c; c++) {
			if (*c == '\n' || *c == '\r')
				return false;
			if (*c == ';' || *c == '\\')
				ctl_text_add(line, "\\", 1);
			ctl_text_add(line, c, 1);
		}
	}
	return true;
}

bool
ctl_add_payload(struct ctl_text *line, FILE *in, struct err *err)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t n;
	bool ok = true;

	ctl_text_add(line, " <<\n", 4);
	while (ok && (n = getline(&text, &room, in)) > 0) {
		while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
			n--;
		ok = !memchr(text, '\0', (size_t)n) ||
		     err_set(err,
		         "the standard input is not a text; a payload is "
		         "in PEM form");
		if (!ok || n == 0)
			continue;
		ctl_text_add(line, text, (size_t)n);
		ctl_text_add(line, "\n", 1);
	}
	if (ok && ferror(in))
		ok = err_set(err, "the standard input cannot be read: %s",
		    strerror(errno));
	if (text)
		explicit_bzero(text, room);
	free(text);
	return ok;
}

static const char *
advice_for(int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		return "is lfproxy running, with this `admin` in its "
		       "[global]? Name another socket with -S";
	case EACCES:
	case EPERM:
		return "run lfproxyctl as a user that may use the socket, or "
		       "change its mode in [global]";
	case EDESTADDRREQ:
		return "write an address as HOST:PORT";
	case ENAMETOOLONG:
		return "name a shorter path with -S";
	default:
		return "name the right socket with -S";
	}
}

/* Looks up a host; blocks in the resolver if it is a name.  Returns 0 or
 * -errno. */
static int
resolve_host(const char *where, struct addr *ret_addr)
{
	struct addr_name name;
	struct addr addr;

	if (!addr_parse_name(where, &addr, &name, NULL) ||
	    (name.host[0] && addr_lookup(name.host, AF_UNSPEC, &addr) != 0))
		return -EDESTADDRREQ;
	if (name.host[0])
		addr_set_port(&addr, name.port);
	*ret_addr = addr;
	return 0;
}

/* Parses an address as [global] has it: `/path` and `name` are unix sockets,
 * `127.0.0.1:9999` is TCP.  Returns 0 or -errno. */
static int
resolve_addr(const char *where, struct addr *ret_addr)
{
	const char *path = strncmp(where, "unix:", 5) == 0 ? where + 5 : where;

	if (path == where && path[0] != '/' && strchr(path, ':'))
		return resolve_host(where, ret_addr);
	if (strlen(path) >= sizeof(ret_addr->un.sun_path))
		return -ENAMETOOLONG;
	memset(ret_addr, 0, sizeof(*ret_addr));
	ret_addr->un.sun_family = AF_UNIX;
	strcpy(ret_addr->un.sun_path, path);
	ret_addr->len = sizeof(ret_addr->un);
	return 0;
}

/* Time-outs but for those of commands that take longer. */
static int usual_timeout_ms = 10000;

int
ctl_timeout_ms(void)
{
	return usual_timeout_ms;
}

bool
ctl_set_timeout(const char *text, struct err *err)
{
	const uint64_t day_ms = 24u * 3600 * 1000;
	uint64_t ms;

	if (!text_parse_duration(text, 1, day_ms, &ms, err))
		return false;
	usual_timeout_ms = (int)ms;
	return true;
}

/* Sets SO_SNDTIMEO or SO_RCVTIMEO. */
static void
set_socket_timeout(int fd, int option, int timeout_ms)
{
	const struct timeval limit = {
	    .tv_sec = timeout_ms / 1000,
	    .tv_usec = timeout_ms % 1000 * 1000,
	};

	(void)setsockopt(fd, SOL_SOCKET, option, &limit, sizeof(limit));
}

/* Connects.  Returns the socket, or -errno.  With a full backlog connect(2)
 * blocks, at most for ctl_timeout_ms(): the time-out of the answer may be
 * longer. */
static int
connect_to(const char *where, int timeout_ms)
{
	struct addr addr;
	int fd, rc = resolve_addr(where, &addr);

	if (rc < 0)
		return rc;
	fd = socket(addr.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	set_socket_timeout(fd, SO_SNDTIMEO,
	    timeout_ms < usual_timeout_ms ? timeout_ms : usual_timeout_ms);
	do
		rc = connect(fd, &addr.sa, addr.len);
	while (rc < 0 && errno == EINTR);
	if (rc < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	set_socket_timeout(fd, SO_SNDTIMEO, timeout_ms);
	set_socket_timeout(fd, SO_RCVTIMEO, timeout_ms);
	return fd;
}

/* Sends the line.  The server may close the connection before it has read
 * everything, because of a line that is too long for instance.  Its answer has
 * the reason, so EPIPE is not an error here. */
static bool
send_all(int fd, const struct ctl_text *line)
{
	for (size_t sent = 0; sent < line->n;) {
		ssize_t n =
		    send(fd, line->data + sent, line->n - sent, MSG_NOSIGNAL);

		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return true;
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			sent += (size_t)n;
	}
	return shutdown(fd, SHUT_WR) == 0 || errno == ENOTCONN;
}

static bool
receive_all(int fd, struct ctl_text *answer)
{
	for (;;) {
		ssize_t n;

		text_reserve(answer, READ_SIZE);
		n = recv(fd, answer->data + answer->n, READ_SIZE, 0);
		if (n > 0)
			answer->n += (size_t)n;
		answer->data[answer->n] = '\0';
		if (n == 0 || (n < 0 && errno == ECONNRESET && answer->n))
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

bool
ctl_ask(const char *where, const char *line, int timeout_ms,
    struct ctl_text *ret_answer, struct err *err)
{
	struct ctl_text all = {NULL, 0, 0}, answer = {NULL, 0, 0};
	int fd = connect_to(where, timeout_ms);
	bool ok;

	if (fd < 0)
		return err_set(
		    err, "%s: %s; %s", where, strerror(-fd), advice_for(-fd));
	ctl_text_add(&all, PREAMBLE, strlen(PREAMBLE));
	ctl_text_add(&all, line, strlen(line));
	ctl_text_add(&all, "\n", 1);
	ok = send_all(fd, &all) && receive_all(fd, &answer);
	if (!ok)
		err_set(err,
		    "%s: no answer: %s; try again, or see lfproxy's log", where,
		    strerror(errno == EAGAIN ? ETIMEDOUT : errno));
	else if (answer.n == 0)
		ok = err_set(err,
		    "%s: closed without an answer; is it an admin socket of "
		    "lfproxy?",
		    where);
	close(fd);
	ctl_text_fini(&all);
	if (ok)
		*ret_answer = answer;
	else
		ctl_text_fini(&answer);
	return ok;
}

/* Skips the text if the rest begins with it. */
static bool
skip_text(struct ctl_reader *reader, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(reader->end - reader->at) < n ||
	    memcmp(reader->at, text, n) != 0)
		return false;
	reader->at += n;
	return true;
}

/* Skips the answers to the preamble: an empty line, and a status line with an
 * empty line.  HAProxy answers the second command with an error. */
void
ctl_reader_init(struct ctl_reader *reader, const struct ctl_text *answer)
{
	struct ctl_reply refusal;

	reader->at = answer->data;
	reader->end = answer->data + answer->n;
	reader->has_status = false;
	reader->accepted = skip_text(reader, "\n");
	if (!reader->accepted)
		return;
	reader->has_status = skip_text(reader, STATUS_OK "\n");
	if (!reader->has_status && reader->end - reader->at > 5 &&
	    memcmp(reader->at, "[3]: ", 5) == 0)
		(void)ctl_reader_next(reader, &refusal);
}

/* Cuts off the severity with which HAProxy begins an answer, for instance
 * `[3]: `. */
static void
cut_severity(struct ctl_reply *reply)
{
	const char *p = reply->text;

	if (reply->n < 5 || p[0] != '[' || p[1] < '0' || p[1] > '7' ||
	    memcmp(p + 2, "]: ", 3) != 0)
		return;
	reply->is_error |= p[1] - '0' <= SEVERITY_ERR;
	reply->text += 5;
	reply->n -= 5;
}

/* Cuts off the status, which is the last line.  An answer without one is the
 * reason why lfproxy closed the connection. */
static void
cut_status(struct ctl_reply *reply)
{
	const char *status = reply->text + reply->n - STATUS_SIZE;
	bool is_ok;

	if (reply->n < STATUS_SIZE ||
	    (reply->n > STATUS_SIZE && status[-1] != '\n')) {
		reply->is_error = true;
		return;
	}
	is_ok = memcmp(status, STATUS_OK, STATUS_SIZE) == 0;
	reply->is_error |= !is_ok;
	if (is_ok || memcmp(status, STATUS_ERROR, STATUS_SIZE) == 0)
		reply->n -= STATUS_SIZE;
}

static void
make_reply(
    struct ctl_reader *reader, const char *end, struct ctl_reply *ret_reply)
{
	ret_reply->is_error = !reader->accepted;
	ret_reply->text = reader->at;
	ret_reply->n = (size_t)(end - reader->at);
	if (reader->has_status)
		cut_status(ret_reply);
	else
		cut_severity(ret_reply);
}

bool
ctl_reader_next(struct ctl_reader *reader, struct ctl_reply *ret_reply)
{
	const char *p = reader->at;

	if (p == reader->end)
		return false;
	/* The answer ends at an empty line. */
	while (p < reader->end && *p != '\n') {
		p = memchr(p, '\n', (size_t)(reader->end - p));
		p = p ? p + 1 : reader->end;
	}
	make_reply(reader, p, ret_reply);
	reader->at = p < reader->end ? p + 1 : p;
	return true;
}

/* Reads all that is left as the answer to a single command, which may contain
 * empty lines. */
static void
read_rest(struct ctl_reader *reader, struct ctl_reply *ret_reply)
{
	const char *end = reader->end;
	size_t n = (size_t)(end - reader->at);

	if (n >= 3 && memcmp(end - 3, "\n> ", 3) == 0)
		end -= 3;
	else if (n > 0 && end[-1] == '\n')
		end--;
	make_reply(reader, end, ret_reply);
	/* `quit` has no answer. */
	if (n == 0)
		ret_reply->is_error = !reader->accepted;
}

static bool
text_ends_with(const struct ctl_text *text, const char *end)
{
	size_t n = strlen(end);

	return text->n >= n && memcmp(text->data + text->n - n, end, n) == 0;
}

bool
ctl_ask_one(const char *where, const char *command, int timeout_ms,
    struct ctl_answer *ret_answer, struct err *err)
{
	struct ctl_text all = {NULL, 0, 0};
	struct ctl_reader reader;
	struct ctl_reply reply;
	bool is_whole;

	if (!ctl_ask(where, command, timeout_ms, &all, err))
		return false;
	is_whole = text_ends_with(&all, "\n\n") || text_ends_with(&all, "\n> ");
	ctl_reader_init(&reader, &all);
	read_rest(&reader, &reply);
	memmove(all.data, reply.text, reply.n);
	all.n = reply.n;
	all.data[all.n] = '\0';
	*ret_answer = (struct ctl_answer){all, reply.is_error, is_whole};
	return true;
}
