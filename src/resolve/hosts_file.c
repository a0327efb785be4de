/* SPDX-License-Identifier: MIT
 * See hosts_file.h.
 */
#include "resolve/hosts_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/grow.h"

#define BLANKS " \t\r\n"

struct host {
	char *name;
	struct addr addr;
	size_t place; /* in the file */
};

struct hosts_file {
	struct stat stamp;  /* of the file as read; all 0: it was missing */
	struct host *hosts; /* by name, then by place */
	size_t n, room;
	char path[];
};

static int
host_compare(const void *a, const void *b)
{
	const struct host *x = a, *y = b;
	int order = strcasecmp(x->name, y->name);

	if (order != 0)
		return order;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void
hosts_file_clear(struct hosts_file *hosts)
{
	for (size_t i = 0; i < hosts->n; i++)
		free(hosts->hosts[i].name);
	hosts->n = 0;
}

struct hosts_file *
hosts_file_new(const char *path)
{
	struct hosts_file *hosts = calloc(1, sizeof(*hosts) + strlen(path) + 1);

	if (hosts)
		strcpy(hosts->path, path);
	return hosts;
}

void
hosts_file_free(struct hosts_file *hosts)
{
	if (!hosts)
		return;
	hosts_file_clear(hosts);
	free(hosts->hosts);
	free(hosts);
}

/* Adds a name.  When memory is short the name is left out: a name server may
 * know it. */
static void
hosts_file_add(
    struct hosts_file *hosts, const char *name, const struct addr *addr)
{
	struct host host = {.addr = *addr, .place = hosts->n};
	void *room =
	    grow(hosts->hosts, hosts->n, &hosts->room, sizeof(*hosts->hosts));

	if (!room)
		return;
	hosts->hosts = room;
	host.name = strdup(name);
	if (host.name)
		hosts->hosts[hosts->n++] = host;
}

static void
hosts_file_read_line(struct hosts_file *hosts, char *line)
{
	char *rest, *word;
	struct addr addr;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANKS, &rest);
	if (!word || !addr_parse_ip(word, &addr))
		return;
	while ((word = strtok_r(NULL, BLANKS, &rest)))
		hosts_file_add(hosts, word, &addr);
}

static bool
is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void
hosts_file_follow(struct hosts_file *hosts)
{
	struct stat now = {.st_ino = 0};
	char *line = NULL;
	size_t room = 0;
	FILE *f;

	if (stat(hosts->path, &now) < 0)
		now = (struct stat){.st_ino = 0};
	if (is_same_file(&now, &hosts->stamp))
		return;
	hosts->stamp = now;
	hosts_file_clear(hosts);
	f = fopen(hosts->path, "re");
	if (!f)
		return;
	while (getline(&line, &room, f) >= 0)
		hosts_file_read_line(hosts, line);
	free(line);
	(void)fclose(f);
	if (hosts->n > 0)
		qsort(hosts->hosts, hosts->n, sizeof(*hosts->hosts),
		    host_compare);
}

/* Returns the index of the first host that is not before the name. */
static size_t
first_host(const struct hosts_file *hosts, const char *name)
{
	size_t low = 0, high = hosts->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcasecmp(hosts->hosts[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
is_localhost(const char *name)
{
	static const char local[] = "localhost";
	size_t len = strlen(name), n = sizeof(local) - 1;

	return len >= n && strcasecmp(name + len - n, local) == 0 &&
	       (len == n || name[len - n - 1] == '.');
}

static void
add_host(struct dns_answer *answer, int family, const struct addr *addr)
{
	if (family == AF_UNSPEC || family == addr->sa.sa_family)
		(void)dns_answer_add(answer, addr);
}

bool
hosts_file_find(struct hosts_file *hosts, const char *name, int family,
    struct dns_answer *answer)
{
	static const char *const loopback[] = {"127.0.0.1", "::1"};
	char host[ADDR_HOST_SIZE];
	struct addr addr;
	size_t len;

	snprintf(host, sizeof(host), "%s", name);
	len = strlen(host);
	if (len > 0 && host[len - 1] == '.')
		host[len - 1] = '\0';
	hosts_file_follow(hosts);
	for (size_t i = first_host(hosts, host);
	     i < hosts->n && strcasecmp(hosts->hosts[i].name, host) == 0; i++)
		add_host(answer, family, &hosts->hosts[i].addr);
	for (size_t i = 0; answer->addrs_n == 0 && is_localhost(host) && i < 2;
	     i++)
		if (addr_parse_ip(loopback[i], &addr))
			add_host(answer, family, &addr);
	return answer->addrs_n > 0;
}
