/* SPDX-License-Identifier: MIT
 * What the tools that play both of lfproxy's peers share: an lfproxy of their
 * own, bytes that can be recognised, and sockets that are driven by polling.
 */
#ifndef TOOLS_PEERS_H
#define TOOLS_PEERS_H

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tool.h"

/* -- bytes -- */

static inline uint8_t
peers_byte(uint64_t seed, uint64_t at)
{
	uint64_t n = (at / 8 + seed) * 0x9e3779b97f4a7c15ull;

	return (uint8_t)(n >> (at % 8 * 8));
}

static inline void
peers_fill(uint8_t *data, size_t size, uint64_t seed, uint64_t at)
{
	for (size_t i = 0; i < size; i++)
		data[i] = peers_byte(seed, at + i);
}

static inline bool
peers_match(const uint8_t *data, size_t size, uint64_t seed, uint64_t at)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] != peers_byte(seed, at + i))
			return false;
	return true;
}

/* -- sockets -- */

static inline int
peers_unacknowledged(int fd)
{
	int n = 0;

	return ioctl(fd, SIOCOUTQ, &n) < 0 ? 0 : n;
}

/* Listening on a port that the kernel chose, which is returned. */
static inline int
peers_listen(unsigned *ret_port)
{
	struct tool_addr a = tool_addr("127.0.0.1:0");
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, &a.sa, a.len) < 0 || listen(fd, 64) < 0 ||
	    getsockname(fd, &a.sa, &a.len) < 0)
		tool_die(TOOL_SYSTEM, "cannot listen: %s", strerror(errno));
	*ret_port = ntohs(((struct sockaddr_in *)(void *)&a.storage)->sin_port);
	return fd;
}

static inline int
peers_connect(unsigned port)
{
	char text[32];
	struct tool_addr a;

	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	a = tool_addr(text);
	return tool_connect(&a);
}

/* -- an lfproxy -- */

struct peers_proxy {
	pid_t pid;
	char dir[64];
	char config[96], log[96], admin[96];
};

/* The configuration file, to be written to; its folder is made. */
static inline FILE *
peers_proxy_config(struct peers_proxy *p)
{
	const char *tmp = getenv("TMPDIR");
	FILE *f;

	snprintf(p->dir, sizeof(p->dir), "%s/lfproxy-XXXXXX",
	    tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	if (!mkdtemp(p->dir))
		tool_die(TOOL_SYSTEM, "%s: %s", p->dir, strerror(errno));
	snprintf(p->config, sizeof(p->config), "%s/lfproxy.ini", p->dir);
	snprintf(p->log, sizeof(p->log), "%s/log", p->dir);
	snprintf(p->admin, sizeof(p->admin), "%s/admin", p->dir);
	f = fopen(p->config, "w");
	if (!f)
		tool_die(TOOL_SYSTEM, "%s: %s", p->config, strerror(errno));
	fprintf(f, "[global]\nlog = stderr\nadmin = %s\n", p->admin);
	return f;
}

/* Everything it has said so far; to be freed. */
static inline char *
peers_proxy_log(const struct peers_proxy *p)
{
	FILE *f = fopen(p->log, "r");
	struct stat st;
	char *text;
	size_t n;

	if (!f || fstat(fileno(f), &st) < 0)
		tool_die(TOOL_SYSTEM, "%s: %s", p->log, strerror(errno));
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		tool_die(TOOL_SYSTEM, "out of memory");
	n = fread(text, 1, (size_t)st.st_size, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static inline bool
peers_proxy_says(const struct peers_proxy *p, const char *what)
{
	char *text = peers_proxy_log(p);
	bool found = strstr(text, what) != NULL;

	free(text);
	return found;
}

static inline void
peers_nap(void)
{
	struct timespec ts = {.tv_nsec = 5000000};

	nanosleep(&ts, NULL);
}

static inline void
peers_proxy_start(struct peers_proxy *p, const char *program)
{
	uint64_t end_ms = tool_now_ms() + 30000;

	p->pid = fork();
	if (p->pid == 0) {
		int fd = open(p->log, O_WRONLY | O_CREAT | O_APPEND, 0600);

		if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
			_exit(TOOL_SYSTEM);
		execl(program, program, "-c", p->config, (char *)NULL);
		_exit(TOOL_SYSTEM);
	}
	if (p->pid < 0)
		tool_die(TOOL_SYSTEM, "fork: %s", strerror(errno));
	while (access(p->log, R_OK) < 0 || !peers_proxy_says(p, "ready\n")) {
		if (waitpid(p->pid, NULL, WNOHANG) != 0 ||
		    tool_now_ms() > end_ms)
			tool_die(TOOL_SYSTEM, "%s does not start: see %s",
			    program, p->log);
		peers_nap();
	}
}

/* The port that a frontend listens on. */
static inline unsigned
peers_proxy_port(const struct peers_proxy *p, const char *frontend)
{
	char *text = peers_proxy_log(p), what[96], *at;
	unsigned port = 0;

	snprintf(what, sizeof(what), " (frontend %s)", frontend);
	at = strstr(text, what);
	while (at && at > text && at[-1] != ':')
		at--;
	if (at)
		port = (unsigned)strtoul(at, NULL, 10);
	free(text);
	if (port == 0)
		tool_die(TOOL_SYSTEM, "no frontend %s", frontend);
	return port;
}

/* Its answer to a command, cut to size. */
static inline void
peers_proxy_ask(
    const struct peers_proxy *p, const char *command, char *out, size_t size)
{
	char text[128];
	struct tool_addr a;
	size_t len = 0;
	ssize_t n;
	int fd;

	snprintf(text, sizeof(text), "unix:%s", p->admin);
	a = tool_addr(text);
	fd = tool_connect(&a);
	fcntl(fd, F_SETFL, 0);
	n = send(fd, command, strlen(command), MSG_NOSIGNAL);
	while (n > 0 && len + 1 < size) {
		n = recv(fd, out + len, size - len - 1, 0);
		len += n > 0 ? (size_t)n : 0;
	}
	out[len] = '\0';
	close(fd);
}

/* Ends it; true if it stopped cleanly.  What it wrote goes unless it has to be
 * looked at. */
static inline bool
peers_proxy_stop(struct peers_proxy *p, bool keep)
{
	int status = 0;
	bool ok;

	kill(p->pid, SIGTERM);
	ok = waitpid(p->pid, &status, 0) == p->pid && status == 0;
	if (WIFSIGNALED(status)) /* scripts/tap.awk knows this line */
		printf("# lfproxy was killed by signal %d\n", WTERMSIG(status));
	if (keep || !ok) {
		printf("# lfproxy: %s, %s; exit status %d\n", p->config, p->log,
		    status);
		return ok;
	}
	unlink(p->config);
	unlink(p->log);
	unlink(p->admin);
	rmdir(p->dir);
	return ok;
}

#endif
