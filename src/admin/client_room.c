/* SPDX-License-Identifier: MIT
 * See client_room.h.
 */
#include "admin/client_room.h"

#include <unistd.h>

/* A client that completes nothing for STALLED_S may be closed for another. */
#define STALLED_S 0.5

#define RANK_TRUSTED ((int)LEVEL_ADMIN + 1)

/* The conditions for a client to be chosen. */
struct wanted {
	int most_rank;
	const struct peer *party;   /* NULL: any */
	const struct peer *process; /* NULL: any */
	bool idle;
};

static int
rank_of(const struct command_mode *mode)
{
	const struct peer *peer = &mode->peer;

	if (peer->known && (peer->uid == 0 || peer->uid == geteuid()))
		return RANK_TRUSTED;
	return (int)mode->level;
}

static bool
same_party(const struct peer *a, const struct peer *b)
{
	return a->known == b->known && (!a->known || a->uid == b->uid);
}

static bool
same_process(const struct peer *a, const struct peer *b)
{
	return a->pid == b->pid;
}

static bool
is_wanted(const struct client *client, const struct wanted *wanted)
{
	const struct peer *peer = &client->mode.peer;

	if (rank_of(&client->mode) > wanted->most_rank)
		return false;
	if (wanted->party && !same_party(peer, wanted->party))
		return false;
	if (wanted->process && !same_process(peer, wanted->process))
		return false;
	return !wanted->idle || client_is_idle(client);
}

/* Returns the wanted client that has completed nothing for longest, and for at
 * least that many seconds; the oldest among equals. */
static struct client *
most_stalled(
    const struct list *clients, const struct wanted *wanted, ev_tstamp least)
{
	struct client *most = NULL;

	list_for_each (node, clients) {
		struct client *client = container_of(node, struct client, node);
		ev_tstamp stalled = client_stalled_for(client);

		if (!is_wanted(client, wanted))
			continue;
		if (most ? stalled > least : stalled >= least) {
			least = stalled;
			most = client;
		}
	}
	return most;
}

static struct client *
stalled_long(const struct list *clients, struct wanted wanted)
{
	struct client *client;

	wanted.idle = true;
	client = most_stalled(clients, &wanted, STALLED_S);
	wanted.idle = false;
	return client ? client : most_stalled(clients, &wanted, STALLED_S);
}

/* The wanted clients of one party or process. */
struct tally {
	const struct client *of; /* one with the lowest rank */
	unsigned n;
};

/* Counts the wanted clients by party or by process, as `same` tells them apart.
 * Returns the number of tallies.  Clients beyond ADMIN_CLIENTS_MAX tallies are
 * left out. */
static size_t
tally_all(const struct list *clients, const struct wanted *wanted,
    bool (*same)(const struct peer *a, const struct peer *b),
    struct tally tallies[ADMIN_CLIENTS_MAX])
{
	size_t n = 0;

	list_for_each (node, clients) {
		const struct client *client =
		    container_of(node, struct client, node);
		size_t i = 0;

		if (!is_wanted(client, wanted))
			continue;
		while (i < n &&
		       !same(&tallies[i].of->mode.peer, &client->mode.peer))
			i++;
		if (i == ADMIN_CLIENTS_MAX)
			continue;
		if (i == n)
			tallies[n++] = (struct tally){.of = client};
		tallies[i].n++;
		if (rank_of(&client->mode) < rank_of(&tallies[i].of->mode))
			tallies[i].of = client;
	}
	return n;
}

/* Returns whether a gives way rather than b, which comes earlier in the
 * list. */
static bool
gives_way(const struct tally *a, const struct tally *b, bool a_is_newcomers)
{
	int a_rank = rank_of(&a->of->mode), b_rank = rank_of(&b->of->mode);

	if (a->n != b->n)
		return a->n > b->n;
	if (a_rank != b_rank)
		return a_rank < b_rank;
	return a_is_newcomers;
}

/* Returns the party or process that is to give way; n is 0 when there is
 * none. */
static struct tally
greediest(const struct list *clients, const struct wanted *wanted,
    bool (*same)(const struct peer *a, const struct peer *b),
    const struct command_mode *newcomer)
{
	struct tally tallies[ADMIN_CLIENTS_MAX], most = {.n = 0};
	size_t n = tally_all(clients, wanted, same, tallies);

	for (size_t i = 0; i < n; i++)
		if (!most.of ||
		    gives_way(&tallies[i], &most,
		        same(&tallies[i].of->mode.peer, &newcomer->peer)))
			most = tallies[i];
	return most;
}

/* Chooses a client when no party has more than one connection of that rank or
 * below. */
static struct client *
one_of_singles(const struct list *clients, int rank)
{
	struct wanted wanted = {.most_rank = rank};
	struct client *client = stalled_long(clients, wanted);

	if (client)
		return client;
	wanted.idle = true;
	return most_stalled(clients, &wanted, 0.);
}

struct client *
client_to_close(const struct list *clients, const struct command_mode *newcomer)
{
	struct wanted wanted = {.most_rank = rank_of(newcomer)};
	struct tally party = greediest(clients, &wanted, same_party, newcomer);
	struct client *stalled;

	if (party.n == 0) {
		/* All have a higher rank; an idle one loses nothing. */
		wanted = (struct wanted){RANK_TRUSTED, .idle = true};
		return most_stalled(clients, &wanted, STALLED_S);
	}
	if (party.n == 1 && rank_of(&party.of->mode) == wanted.most_rank)
		return one_of_singles(clients, wanted.most_rank);
	wanted.party = &party.of->mode.peer;
	stalled = stalled_long(clients, wanted);
	if (stalled)
		return stalled;
	wanted.process =
	    &greediest(clients, &wanted, same_process, newcomer).of->mode.peer;
	return most_stalled(clients, &wanted, 0.);
}
