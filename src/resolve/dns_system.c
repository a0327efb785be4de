/* SPDX-License-Identifier: MIT
 * See dns_system.h.
 */
#include "resolve/dns_system.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

#define BLANKS   " \t\r\n,"
#define DNS_PORT 53

/* The limits of resolv.conf(5). */
#define NDOTS_MAX    15
#define TIMEOUT_MAX  30
#define ATTEMPTS_MAX 5

static struct timespec
file_changed(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mtim : (struct timespec){0, 0};
}

bool
dns_system_is_old(const struct dns_system *system, const char *path)
{
	struct timespec now = file_changed(path);

	return now.tv_sec != system->changed.tv_sec ||
	       now.tv_nsec != system->changed.tv_nsec;
}

/* -- name servers -- */

/* Parses the address of a name server: an IP address, with a scope or a port
 * if there is one.  Returns false for any other text. */
static bool
parse_name_server(char *word, struct addr *ret_addr)
{
	char *scope = strchr(word, '%');
	struct err err;

	if (scope)
		*scope++ = '\0';
	if (addr_parse_ip(word, ret_addr))
		addr_set_port(ret_addr, DNS_PORT);
	else if (!addr_parse(word, ADDR_CONNECT, ret_addr, &err) ||
	         ret_addr->sa.sa_family == AF_UNIX)
		return false;
	if (scope && ret_addr->sa.sa_family == AF_INET6)
		ret_addr->in6.sin6_scope_id = if_nametoindex(scope);
	return true;
}

static bool
add_name_server(struct dns_system *system, const struct addr *addr)
{
	void *room = grow(system->servers, system->servers_n,
	    &system->servers_room, sizeof(*system->servers));

	if (!room)
		return false;
	system->servers = room;
	system->servers[system->servers_n++] = *addr;
	return true;
}

static bool
add_name_servers(struct dns_system *system, char *words)
{
	struct addr addr;
	char *rest, *word;

	for (word = strtok_r(words, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest))
		if (parse_name_server(word, &addr) &&
		    !add_name_server(system, &addr))
			return false;
	return true;
}

/* -- domains -- */

static void
free_domains(struct dns_system *system)
{
	for (size_t i = 0; i < system->domains_n; i++)
		free(system->domains[i]);
	system->domains_n = 0;
}

/* Adds the domain without its last dot.  The root, `.`, is not a domain to be
 * added to a name. */
static bool
add_domain(struct dns_system *system, const char *domain)
{
	size_t len = strlen(domain);
	char **domains;

	while (len > 0 && domain[len - 1] == '.')
		len--;
	if (len == 0)
		return true;
	domains = grow(system->domains, system->domains_n,
	    &system->domains_room, sizeof(*domains));
	if (!domains)
		return false;
	system->domains = domains;
	domains[system->domains_n] = strndup(domain, len);
	return domains[system->domains_n] && ++system->domains_n;
}

/* Replaces the domains by the words, max of them at most. */
static bool
set_domains(struct dns_system *system, char *words, size_t max)
{
	char *rest, *word;

	free_domains(system);
	for (word = strtok_r(words, BLANKS, &rest); word && max > 0;
	     word = strtok_r(NULL, BLANKS, &rest), max--)
		if (!add_domain(system, word))
			return false;
	return true;
}

/* Adds the domain of the machine's own name, which any line with domains
 * replaces. */
static bool
add_own_domain(struct dns_system *system)
{
	char name[HOST_NAME_MAX + 1];
	const char *dot;

	if (gethostname(name, sizeof(name)) < 0)
		return true;
	dot = strchr(name, '.');
	return !dot || add_domain(system, dot + 1);
}

/* -- lines -- */

/* Sets *ret_number if the word is the option with a number, which is moved into
 * the range. */
static void
take_option(const char *word, const char *option, unsigned min, unsigned max,
    unsigned *ret_number)
{
	size_t len = strlen(option);
	unsigned long number;

	if (strncmp(word, option, len) != 0 || word[len] < '0' ||
	    word[len] > '9')
		return;
	number = strtoul(word + len, NULL, 10);
	*ret_number = number < min   ? min
	              : number < max ? (unsigned)number
	                             : max;
}

static void
take_options(struct dns_system *system, char *words)
{
	char *rest, *word;

	for (word = strtok_r(words, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		take_option(word, "ndots:", 0, NDOTS_MAX, &system->ndots);
		take_option(
		    word, "timeout:", 1, TIMEOUT_MAX, &system->timeout_s);
		take_option(
		    word, "attempts:", 1, ATTEMPTS_MAX, &system->attempts);
		system->rotate |= strcmp(word, "rotate") == 0;
	}
}

static bool
take_resolv_line(struct dns_system *system, char *line)
{
	char *rest, *word;

	line[strcspn(line, "#;")] = '\0';
	word = strtok_r(line, BLANKS, &rest);
	if (!word)
		return true;
	if (strcmp(word, "nameserver") == 0)
		return add_name_servers(system, rest);
	if (strcmp(word, "search") == 0)
		return set_domains(system, rest, SIZE_MAX);
	if (strcmp(word, "domain") == 0)
		return set_domains(system, rest, 1);
	if (strcmp(word, "options") == 0)
		take_options(system, rest);
	return true;
}

/* Takes the variable of the environment as a line with that keyword. */
static bool
take_resolv_variable(
    struct dns_system *system, const char *keyword, const char *variable)
{
	const char *value = getenv(variable);
	char *line;
	bool ok;

	if (!value)
		return true;
	if (asprintf(&line, "%s %s", keyword, value) < 0)
		return false;
	ok = take_resolv_line(system, line);
	free(line);
	return ok;
}

static bool
take_resolv_file(struct dns_system *system, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	bool ok = true;

	if (!f)
		return errno == ENOENT;
	while (ok && getline(&line, &room, f) >= 0)
		ok = take_resolv_line(system, line);
	free(line);
	ok = ok && !ferror(f);
	(void)fclose(f);
	return ok;
}

bool
dns_system_read(struct dns_system *system, const char *path)
{
	char local[] = "127.0.0.1";

	*system =
	    (struct dns_system){.ndots = 1, .changed = file_changed(path)};
	if (add_own_domain(system) && take_resolv_file(system, path) &&
	    take_resolv_variable(system, "options", "RES_OPTIONS") &&
	    take_resolv_variable(system, "search", "LOCALDOMAIN") &&
	    (system->servers_n > 0 || add_name_servers(system, local)))
		return true;
	dns_system_fini(system);
	return false;
}

void
dns_system_fini(struct dns_system *system)
{
	free_domains(system);
	free(system->domains);
	free(system->servers);
	*system = (struct dns_system){.servers = NULL};
}
