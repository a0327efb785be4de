/* SPDX-License-Identifier: MIT
 * See client_room.h.
 */
#include "admin/client_room.h"

/* Whoever gives and takes nothing for so long makes room, if need be. */
#define STALLED_S 0.5

static bool
is_any(const struct client *client, pid_t pid)
{
	(void)client;
	(void)pid;
	return true;
}

static bool
is_idle(const struct client *client, pid_t pid)
{
	(void)pid;
	return client_is_idle(client);
}

static bool
is_of(const struct client *client, pid_t pid)
{
	return client->mode.peer.pid == pid;
}

/* The one that has done nothing for longest, and at least so many seconds, of
 * those that are meant.  The oldest among equals. */
static struct client *
most_stalled(const struct list *clients,
    bool (*is_meant)(const struct client *client, pid_t pid), pid_t pid,
    ev_tstamp least)
{
	struct client *most = NULL;

	list_for_each (node, clients) {
		struct client *client = container_of(node, struct client, node);
		ev_tstamp stalled = client_stalled_for(client);

		if (!is_meant(client, pid))
			continue;
		if (most ? stalled > least : stalled >= least) {
			least = stalled;
			most = client;
		}
	}
	return most;
}

static unsigned
count_of(const struct list *clients, pid_t pid)
{
	unsigned n = 0;

	list_for_each (node, clients)
		n += is_of(container_of(node, struct client, node), pid);
	return n;
}

/* Of the process with the most connections, this one if none has more; NULL
 * when it has but one. */
static struct client *
most_stalled_of_greediest(const struct list *clients, pid_t pid)
{
	unsigned most = count_of(clients, pid);

	list_for_each (node, clients) {
		const struct client *client =
		    container_of(node, struct client, node);
		unsigned n = count_of(clients, client->mode.peer.pid);

		if (n <= most)
			continue;
		most = n;
		pid = client->mode.peer.pid;
	}
	return most > 1 ? most_stalled(clients, is_of, pid, 0.) : NULL;
}

struct client *
client_to_go(const struct list *clients, pid_t pid)
{
	struct client *client;

	client = most_stalled(clients, is_idle, pid, STALLED_S);
	if (!client)
		client = most_stalled(clients, is_any, pid, STALLED_S);
	if (!client)
		client = most_stalled_of_greediest(clients, pid);
	if (!client)
		client = most_stalled(clients, is_idle, pid, 0.);
	return client;
}
