/* SPDX-License-Identifier: MIT
 * lfproxyctl: sends a command to a running lfproxy and prints the answer.
 *
 * It asks for severities (`set severity-output number`), so that an error is
 * told from data by the server and not guessed from the wording.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

#define SOCKET_DEFAULT "/run/lfproxy/admin.sock"
#define TIMEOUT_MS     10000
#define PREAMBLE       "set severity-output number;"
#define SEVERITY_ERR   3 /* and below; syslog's */

enum exit_code {
	EXIT_FINE = 0,
	EXIT_ANSWER_IS_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_NO_ANSWER = 3,
};

struct bytes {
	char *data;
	size_t n, room;
};

static void
usage(FILE *out)
{
	fputs("usage: lfproxyctl [-S SOCKET] COMMAND...\n"
	      "       lfproxyctl -h | -V\n"
	      "\n"
	      "Sends COMMAND to a running lfproxy and prints its answer, as "
	      "in\n"
	      "  lfproxyctl show stat\n"
	      "  lfproxyctl help\n"
	      "\n"
	      "  -S SOCKET  the admin socket; else $LFPROXY_ADMIN, else\n"
	      "             " SOCKET_DEFAULT "\n"
	      "  -h         this text\n"
	      "  -V         the version\n"
	      "\n"
	      "Exit code: 0 fine, 1 the answer is an error, 2 usage,\n"
	      "3 no answer (no lfproxy there, no permission, no memory).\n",
	    out);
}

/* Makes room for more bytes.  Ends the program when memory is short. */
static void
reserve(struct bytes *bytes, size_t more)
{
	size_t room = bytes->room ? bytes->room : 4096;

	while (room < bytes->n + more)
		room *= 2;
	if (room == bytes->room)
		return;
	bytes->data = realloc(bytes->data, room);
	if (!bytes->data) {
		fputs("lfproxyctl: out of memory\n", stderr);
		exit(EXIT_NO_ANSWER);
	}
	bytes->room = room;
}

static void
append(struct bytes *bytes, const char *data, size_t n)
{
	reserve(bytes, n);
	memcpy(bytes->data + bytes->n, data, n);
	bytes->n += n;
}

/* A `;` or a backslash in a word is meant as it stands; a blank separates
 * words, quoted in the shell or not.  False when a word cannot be sent. */
static bool
append_word(struct bytes *line, const char *word)
{
	for (; *word; word++) {
		if (*word == '\n' || *word == '\r')
			return false;
		if (*word == ';' || *word == '\\')
			append(line, "\\", 1);
		append(line, word, 1);
	}
	return true;
}

static bool
make_line(struct bytes *line, char **words)
{
	append(line, PREAMBLE, strlen(PREAMBLE));
	for (; *words; words++) {
		if (!append_word(line, *words))
			return false;
		append(line, words[1] ? " " : "\n", 1);
	}
	return true;
}

static const char *
what_to_do(int error)
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
	case ENAMETOOLONG:
		return "name a shorter path with -S";
	default:
		return "name the right socket with -S";
	}
}

/* -errno, or the socket. */
static int
connect_to(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd, rc;

	if (strlen(path) >= sizeof(un.sun_path))
		return -ENAMETOOLONG;
	strcpy(un.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* A full backlog makes it wait: not for longer than the rest may. */
	struct timeval limit = {.tv_sec = TIMEOUT_MS / 1000};
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	do
		rc = connect(fd, (struct sockaddr *)&un, sizeof(un));
	while (rc < 0 && errno == EINTR);
	if (rc == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* Waits until the socket is ready; false (errno) after TIMEOUT_MS. */
static bool
wait_ready(int fd, short events)
{
	uint64_t deadline = clock_now_ms() + TIMEOUT_MS;
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		uint64_t now = clock_now_ms();
		int n = now < deadline ? poll(&p, 1, (int)(deadline - now)) : 0;

		if (n > 0)
			return true;
		if (n == 0)
			errno = ETIMEDOUT;
		if (n == 0 || errno != EINTR)
			return false;
	}
}

/* The server may end the conversation before it has read everything (a line
 * that is too long): its answer says why, so EPIPE is not the end here. */
static bool
send_all(int fd, const struct bytes *line)
{
	size_t sent = 0;

	while (sent < line->n) {
		ssize_t n;

		if (!wait_ready(fd, POLLOUT))
			return false;
		n = send(fd, line->data + sent, line->n - sent,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return true;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (n > 0)
			sent += (size_t)n;
	}
	return shutdown(fd, SHUT_WR) == 0 || errno == ENOTCONN;
}

static bool
receive_all(int fd, struct bytes *answer)
{
	for (;;) {
		ssize_t n;

		if (!wait_ready(fd, POLLIN))
			return false;
		reserve(answer, 65536);
		n = recv(fd, answer->data + answer->n, 65536, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno == ECONNRESET && answer->n))
			return true;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (n > 0)
			answer->n += (size_t)n;
	}
}

/* `[3]: ` at the start: its number, and it is skipped; else -1. */
static int
take_severity(const char **text, const char *end)
{
	const char *p = *text;

	if (end - p < 5 || p[0] != '[' || p[1] < '0' || p[1] > '7' ||
	    memcmp(p + 2, "]: ", 3) != 0)
		return -1;
	*text += 5;
	return p[1] - '0';
}

/* An answer ends with an empty line; the first one, to the preamble, is
 * nothing but that.  Without it lfproxy refused the connection or the line
 * before it looked at any command. */
static enum exit_code
print_answer(const struct bytes *answer)
{
	const char *text = answer->data;
	const char *end = text + answer->n;
	bool heard = answer->n && *text == '\n';
	int severity = -1;
	FILE *out = stdout;

	if (heard) {
		text++;
		severity = take_severity(&text, end);
	}
	if (!heard || (severity >= 0 && severity <= SEVERITY_ERR))
		out = stderr;
	if (end > text && end[-1] == '\n')
		end--;
	fwrite(text, 1, (size_t)(end - text), out);
	if (fflush(out) != 0) {
		fprintf(stderr, "lfproxyctl: the answer was not written: %s\n",
		    strerror(errno));
		return EXIT_NO_ANSWER;
	}
	return out == stderr ? EXIT_ANSWER_IS_ERROR : EXIT_FINE;
}

static enum exit_code
talk(const char *path, const struct bytes *line)
{
	struct bytes answer = {NULL, 0, 0};
	enum exit_code code = EXIT_NO_ANSWER;
	int fd = connect_to(path);

	if (fd < 0) {
		fprintf(stderr, "lfproxyctl: %s: %s; %s\n", path, strerror(-fd),
		    what_to_do(-fd));
		return EXIT_NO_ANSWER;
	}
	if (!send_all(fd, line) || !receive_all(fd, &answer))
		fprintf(stderr,
		    "lfproxyctl: %s: no answer: %s; try again, and look at "
		    "lfproxy's log if it stays so\n",
		    path, strerror(errno));
	else if (answer.n == 0)
		fprintf(stderr,
		    "lfproxyctl: %s: closed without an answer; is that "
		    "lfproxy's admin socket?\n",
		    path);
	else
		code = print_answer(&answer);
	free(answer.data);
	close(fd);
	return code;
}

int
main(int argc, char **argv)
{
	const char *path = getenv("LFPROXY_ADMIN");
	struct bytes line = {NULL, 0, 0};
	enum exit_code code;
	int c;

	if (!path || !path[0])
		path = SOCKET_DEFAULT;
	/* `+`: what follows the command's first word is the command's. */
	while ((c = getopt(argc, argv, "+S:hV")) != -1) {
		switch (c) {
		case 'S':
			path = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_FINE;
		case 'V':
			puts("lfproxyctl " LFPROXY_VERSION);
			return EXIT_FINE;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (make_line(&line, argv + optind)) {
		code = talk(path, &line);
	} else {
		fputs("lfproxyctl: a command is one line; leave the line end "
		      "out\n",
		    stderr);
		code = EXIT_USAGE;
	}
	free(line.data);
	return code;
}
