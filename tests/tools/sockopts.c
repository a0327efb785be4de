/* SPDX-License-Identifier: MIT
 * Prints what the kernel has for each TCP socket and each listening unix socket
 * of another process, a line each: listen, connection or unix, its ends, and
 * its options.  Options that traffic changes by itself are left out.
 */
#include <dirent.h>
#include <net/if.h>
#include <sys/syscall.h>

#include "tool.h"

/* Kinds of sockets that have an option. */
enum { IS_TCP = 1, IS_IPV4 = 2, IS_IPV6 = 4, IS_UNIX = 8, IS_LISTENER = 16 };
#define IS_ANY (IS_TCP | IS_UNIX)

/* Options that are numbers. */
static const struct {
	const char *name;
	int level, option;
	unsigned kinds; /* any of them */
} options[] = {
    {"keepalive", SOL_SOCKET, SO_KEEPALIVE, IS_ANY},
    {"sndbuf", SOL_SOCKET, SO_SNDBUF, IS_ANY},
    {"rcvbuf", SOL_SOCKET, SO_RCVBUF, IS_ANY},
    {"mark", SOL_SOCKET, SO_MARK, IS_ANY},
    {"reuseport", SOL_SOCKET, SO_REUSEPORT, IS_ANY},
    {"reuseaddr", SOL_SOCKET, SO_REUSEADDR, IS_ANY},
    {"linger", SOL_SOCKET, SO_LINGER, IS_ANY},
    {"oobinline", SOL_SOCKET, SO_OOBINLINE, IS_ANY},
    {"priority", SOL_SOCKET, SO_PRIORITY, IS_ANY},
    {"rcvlowat", SOL_SOCKET, SO_RCVLOWAT, IS_ANY},
    {"rcvtimeo", SOL_SOCKET, SO_RCVTIMEO, IS_ANY},
    {"sndtimeo", SOL_SOCKET, SO_SNDTIMEO, IS_ANY},
    {"passcred", SOL_SOCKET, SO_PASSCRED, IS_ANY},
    {"timestamp", SOL_SOCKET, SO_TIMESTAMP, IS_ANY},
    {"dontroute", SOL_SOCKET, SO_DONTROUTE, IS_ANY},
    {"busy_poll", SOL_SOCKET, SO_BUSY_POLL, IS_ANY},
    {"lock_filter", SOL_SOCKET, SO_LOCK_FILTER, IS_ANY},
    {"zerocopy", SOL_SOCKET, SO_ZEROCOPY, IS_ANY},
    {"pacing", SOL_SOCKET, SO_MAX_PACING_RATE, IS_TCP},
    {"idle", IPPROTO_TCP, TCP_KEEPIDLE, IS_TCP},
    {"interval", IPPROTO_TCP, TCP_KEEPINTVL, IS_TCP},
    {"count", IPPROTO_TCP, TCP_KEEPCNT, IS_TCP},
    {"user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT, IS_TCP},
    {"mss", IPPROTO_TCP, TCP_MAXSEG, IS_TCP},
    {"nodelay", IPPROTO_TCP, TCP_NODELAY, IS_TCP},
    {"cork", IPPROTO_TCP, TCP_CORK, IS_TCP},
    {"syncnt", IPPROTO_TCP, TCP_SYNCNT, IS_TCP},
    {"linger2", IPPROTO_TCP, TCP_LINGER2, IS_TCP},
    {"notsent_lowat", IPPROTO_TCP, TCP_NOTSENT_LOWAT, IS_TCP},
    {"save_syn", IPPROTO_TCP, TCP_SAVE_SYN, IS_TCP},
    {"inq", IPPROTO_TCP, TCP_INQ, IS_TCP},
    {"tos", IPPROTO_IP, IP_TOS, IS_TCP},
    {"ttl", IPPROTO_IP, IP_TTL, IS_TCP},
    {"pmtu", IPPROTO_IP, IP_MTU_DISCOVER, IS_TCP},
    {"freebind", IPPROTO_IP, IP_FREEBIND, IS_TCP},
    {"late_port", IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, IS_TCP},
    {"transparent", IPPROTO_IP, IP_TRANSPARENT, IS_IPV4},
    {"transparent", IPPROTO_IPV6, IPV6_TRANSPARENT, IS_IPV6},
    {"tclass", IPPROTO_IPV6, IPV6_TCLASS, IS_IPV6},
    {"v6only", IPPROTO_IPV6, IPV6_V6ONLY, IS_IPV6},
    {"defer", IPPROTO_TCP, TCP_DEFER_ACCEPT, IS_LISTENER},
    {"window", IPPROTO_TCP, TCP_WINDOW_CLAMP, IS_LISTENER},
};

static int
number_of(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) < 0 ? -1 : value;
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
print_options(int fd, unsigned kinds)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].kinds & kinds)
			printf(" %s=%d", options[i].name,
			    number_of(fd, options[i].level, options[i].option));
}

static void
print_tcp(int fd, bool listener)
{
	bool v6 = number_of(fd, SOL_SOCKET, SO_DOMAIN) == AF_INET6;
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	printf(listener ? "listen" : "connection");
	print_end(fd, "local", local_end);
	print_end(fd, "peer", peer_end);
	print_options(fd,
	    IS_TCP | (v6 ? IS_IPV6 : IS_IPV4) | (listener ? IS_LISTENER : 0));
	print_text(fd, "congestion", IPPROTO_TCP, TCP_CONGESTION);
	print_text(fd, "interface", SOL_SOCKET, SO_BINDTODEVICE);
	printf(" tfo=%d", number_of(fd, IPPROTO_TCP,
	                      listener ? TCP_FASTOPEN : TCP_FASTOPEN_CONNECT));
	/* For a listener the kernel puts its backlog there.
	 * TCPI_OPT_SYN_DATA: the SYN's data was acknowledged. */
	if (listener)
		printf(" backlog=%u\n", info.tcpi_sacked);
	else
		printf(" syn_data=%d\n", !!(info.tcpi_options & 32));
}

static void
print_unix(int fd)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(sun) - 1;

	getsockname(fd, (struct sockaddr *)&sun, &len);
	printf("unix path=%s", sun.sun_path);
	print_options(fd, IS_UNIX);
	putchar('\n');
}

static void
look_at(int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	bool listener;

	if (fd < 0 && errno != EBADF)
		tool_die(TOOL_SYSTEM, "pidfd_getfd: %s", strerror(errno));
	if (fd < 0)
		return;
	listener = number_of(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1;
	if (number_of(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP)
		print_tcp(fd, listener);
	else if (number_of(fd, SOL_SOCKET, SO_DOMAIN) == AF_UNIX && listener)
		print_unix(fd);
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
