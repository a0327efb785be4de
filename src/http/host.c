/* SPDX-License-Identifier: MIT
 * See host.h.
 */
#include "http/host.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "net/addr.h"

#define HOST_MAX 256

/* Copies the host of `HOST`, `HOST:PORT` or `[V6]:PORT` without a final dot.
 * Returns false if it is longer than any name. */
static bool
cut_port(const char *header, char host[HOST_MAX])
{
	bool bracket = *header == '[';
	const char *from = header + bracket;
	size_t len = strcspn(from, bracket ? "]" : ":");

	if (len >= HOST_MAX)
		return false;
	if (len > 1 && from[len - 1] == '.')
		len--;
	memcpy(host, from, len);
	host[len] = '\0';
	return true;
}

/* Compares with the host name, with and without its domain. */
static bool
is_this_host(const char *host)
{
	char name[HOST_MAX];

	if (gethostname(name, sizeof(name)) < 0)
		return false;
	name[sizeof(name) - 1] = '\0';
	if (strcasecmp(host, name) == 0)
		return true;
	name[strcspn(name, ".")] = '\0';
	return name[0] && strcasecmp(host, name) == 0;
}

static bool
is_listed(const char *host, const char *hosts)
{
	size_t len = strlen(host);

	while (*hosts) {
		size_t n = strcspn(hosts, ",");

		if ((n == 1 && *hosts == '*') ||
		    (n == len && strncasecmp(hosts, host, n) == 0))
			return true;
		hosts += n;
		hosts += *hosts == ',';
	}
	return false;
}

bool
http_host_is_known(const char *header, const char *hosts, bool loopback)
{
	char host[HOST_MAX];
	struct addr addr;

	if (!header || !*header || (!hosts && !loopback))
		return true;
	if (!cut_port(header, host))
		return false;
	return addr_parse_ip(host, &addr) ||
	       strcasecmp(host, "localhost") == 0 || is_this_host(host) ||
	       (hosts && is_listed(host, hosts));
}
