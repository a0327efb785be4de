/* SPDX-License-Identifier: MIT
 * See dns_system.h.
 */
#include "resolve/dns_system.h"

#include <ares.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DNS_PORT 53

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

static struct addr
node_addr(const struct ares_addr_port_node *node)
{
	struct addr a = {.len = 0};

	if (node->family == AF_INET) {
		a.in.sin_family = AF_INET;
		a.in.sin_addr = node->addr.addr4;
		a.len = sizeof(a.in);
	} else {
		a.in6.sin6_family = AF_INET6;
		memcpy(&a.in6.sin6_addr, &node->addr.addr6,
		    sizeof(a.in6.sin6_addr));
		a.len = sizeof(a.in6);
	}
	addr_set_port(&a, node->udp_port ? (unsigned)node->udp_port : DNS_PORT);
	return a;
}

static bool
take_servers(struct dns_system *system, ares_channel channel)
{
	struct ares_addr_port_node *nodes = NULL;
	size_t n = 0;

	if (ares_get_servers_ports(channel, &nodes) != ARES_SUCCESS || !nodes)
		return false;
	for (struct ares_addr_port_node *o = nodes; o; o = o->next)
		n++;
	system->servers = calloc(n, sizeof(*system->servers));
	for (struct ares_addr_port_node *o = nodes; system->servers && o;
	     o = o->next)
		system->servers[system->servers_n++] = node_addr(o);
	ares_free_data(nodes);
	return system->servers != NULL;
}

static bool
take_domains(struct dns_system *system, ares_channel channel)
{
	struct ares_options options;
	bool ok;
	int mask;

	if (ares_save_options(channel, &options, &mask) != ARES_SUCCESS)
		return false;
	system->ndots = options.ndots >= 0 ? (unsigned)options.ndots : 1;
	system->domains =
	    calloc((size_t)options.ndomains + 1, sizeof(*system->domains));
	ok = system->domains != NULL;
	for (int i = 0; ok && i < options.ndomains; i++) {
		char *copy = strdup(options.domains[i]);

		ok = copy != NULL;
		if (ok)
			system->domains[system->domains_n++] = copy;
	}
	ares_destroy_options(&options);
	return ok;
}

bool
dns_system_read(struct dns_system *system, const char *path)
{
	struct ares_options options = {.flags = 0};
	ares_channel channel;
	bool ok;

	*system = (struct dns_system){.changed = file_changed(path)};
	options.resolvconf_path = strdup(path);
	if (!options.resolvconf_path)
		return false;
	ok = ares_init_options(&channel, &options, ARES_OPT_RESOLVCONF) ==
	     ARES_SUCCESS;
	free(options.resolvconf_path);
	if (!ok)
		return false;
	ok = take_servers(system, channel) && take_domains(system, channel);
	ares_destroy(channel);
	if (!ok)
		dns_system_fini(system);
	return ok;
}

void
dns_system_fini(struct dns_system *system)
{
	for (size_t i = 0; i < system->domains_n; i++)
		free(system->domains[i]);
	free(system->domains);
	free(system->servers);
	*system = (struct dns_system){.servers = NULL};
}
