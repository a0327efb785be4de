/* SPDX-License-Identifier: MIT
 * Prints what the kernel has for each TCP socket of another process, a line
 * each: listen or connection, its ends, and its options.
 */
#include <dirent.h>
#include <net/if.h>
#include <sys/syscall.h>

#include "tool.h"

static int
number_of(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) < 0 ? -1 : value;
}

static void
print_number(int fd, const char *what, int level, int name)
{
	printf(" %s=%d", what, number_of(fd, level, name));
}

static void
print_text(int fd, const char *what, int level, int name)
{
	char text[64] = "";
	socklen_t len = sizeof(text) - 1;

	if (getsockopt(fd, level, name, text, &len) < 0)
		text[0] = '\0';
	printf(" %s=%s", what, text[0] ? text : "-");
}

static void
print_end(
    int fd, const char *what, int (*get)(int, struct sockaddr *, socklen_t *))
{
	struct tool_addr a = {.len = sizeof(a.storage)};
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (get(fd, &a.sa, &a.len) < 0 ||
	    getnameinfo(&a.sa, a.len, host, sizeof(host), port, sizeof(port),
	        NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	printf(" %s=%s:%s", what, host, port);
}

static int
local_end(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getsockname(fd, sa, len);
}

static int
peer_end(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getpeername(fd, sa, len);
}

static void
print_socket(int fd)
{
	bool listener = number_of(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1;
	bool v6 = number_of(fd, SOL_SOCKET, SO_DOMAIN) == AF_INET6;
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	printf(listener ? "listen" : "connection");
	print_end(fd, "local", local_end);
	print_end(fd, "peer", peer_end);
	print_number(fd, "keepalive", SOL_SOCKET, SO_KEEPALIVE);
	print_number(fd, "idle", IPPROTO_TCP, TCP_KEEPIDLE);
	print_number(fd, "interval", IPPROTO_TCP, TCP_KEEPINTVL);
	print_number(fd, "count", IPPROTO_TCP, TCP_KEEPCNT);
	print_number(fd, "user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT);
	print_number(fd, "mss", IPPROTO_TCP, TCP_MAXSEG);
	print_number(fd, "sndbuf", SOL_SOCKET, SO_SNDBUF);
	print_number(fd, "rcvbuf", SOL_SOCKET, SO_RCVBUF);
	print_text(fd, "congestion", IPPROTO_TCP, TCP_CONGESTION);
	print_text(fd, "interface", SOL_SOCKET, SO_BINDTODEVICE);
	print_number(fd, "tos", IPPROTO_IP, IP_TOS);
	print_number(fd, "mark", SOL_SOCKET, SO_MARK);
	print_number(fd, "reuseport", SOL_SOCKET, SO_REUSEPORT);
	print_number(fd, "nodelay", IPPROTO_TCP, TCP_NODELAY);
	if (v6) {
		print_number(fd, "tclass", IPPROTO_IPV6, IPV6_TCLASS);
		print_number(fd, "v6only", IPPROTO_IPV6, IPV6_V6ONLY);
		print_number(fd, "transparent", IPPROTO_IPV6, IPV6_TRANSPARENT);
	} else {
		print_number(fd, "transparent", IPPROTO_IP, IP_TRANSPARENT);
	}
	if (listener) {
		print_number(fd, "defer", IPPROTO_TCP, TCP_DEFER_ACCEPT);
		print_number(fd, "tfo", IPPROTO_TCP, TCP_FASTOPEN);
		/* For a listener the kernel puts its backlog there. */
		printf(" backlog=%u", info.tcpi_sacked);
	} else {
		print_number(fd, "tfo", IPPROTO_TCP, TCP_FASTOPEN_CONNECT);
		/* TCPI_OPT_SYN_DATA: the SYN's data was acknowledged. */
		printf(" syn_data=%d", !!(info.tcpi_options & 32));
	}
	putchar('\n');
}

static void
look_at(int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);

	if (fd < 0 && errno != EBADF)
		tool_die(TOOL_SYSTEM, "pidfd_getfd: %s", strerror(errno));
	if (fd < 0)
		return;
	if (number_of(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP)
		print_socket(fd);
	close(fd);
}

int
main(int argc, char **argv)
{
	struct dirent *entry;
	char path[64];
	int pidfd, pid;
	DIR *dir;

	if (argc != 2) {
		fputs("usage: sockopts PID\n", stderr);
		return TOOL_USAGE;
	}
	pid = (int)tool_number(argv[1], INT32_MAX);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (pidfd < 0 || !dir)
		tool_die(TOOL_SYSTEM, "process %d: %s", pid, strerror(errno));
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			look_at(pidfd, atoi(entry->d_name));
	closedir(dir);
	return TOOL_OK;
}
