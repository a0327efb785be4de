/* SPDX-License-Identifier: MIT
 * A lineup: the servers that a backend may choose from, and the plan that makes
 * the choice among them quick.
 *
 * The control thread makes a lineup and publishes it as a whole; servers,
 * weights and places never change afterwards.  The plan belongs to the
 * algorithm, and either is immutable, too, or consists of atomic words.
 */
#ifndef MODEL_LINEUP_H
#define MODEL_LINEUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/balance_ops.h"

struct backend;
struct server_state;
struct source_table;

#define PLACE_NONE UINT32_MAX

struct lineup {
	const struct balance_ops *ops;
	/* These arrays are in one block with the lineup. */
	struct server **servers;
	struct server_state **states;
	uint32_t *weights; /* of each, > 0: only their proportions count */
	uint32_t *limits;  /* maxconn of each at the moment, 0: none */
	bool limited;      /* one of them has a limit */
	unsigned servers_n;
	/* With STICKY_STAY: servers behind the first servers_n, which serve
	 * only sources that have chosen them before: backups, servers that
	 * drain.  Their weight may be 0. */
	unsigned reserves_n;
	struct source_table *choices; /* borrowed; NULL: STICKY_OFF */
	uint64_t weight_sum;
	uint32_t *places; /* by server id - 1: index into servers, or NONE */
	unsigned places_n;
	/* From 1, in the order in which the lineups of all backends were
	 * published.  Set by backend_publish, before the lineup is. */
	uint64_t number;
	/* Also set by backend_publish.  For each place, the number of the
	 * lineup with which the server joined, or got another address: a
	 * session that failed there before may try again.  0: the server joined
	 * because the time of its ejection was over, which is not a reason to
	 * try again. */
	uint64_t *since;
	uint64_t joined;    /* the last one with which any server joined */
	uint64_t refreshed; /* the greatest of since */
	void *plan;         /* from malloc, unless ops has release */
	/* If the plan is that of a former lineup: by place there, the place
	 * here, or PLACE_NONE.  NULL: the places are the same. */
	uint32_t *moved;
	unsigned active_n, backup_n; /* usable servers of the backend */

	/* Control thread only. */
	bool panic;
	uint64_t made_ms;
	/* When the next lineup is due, for a slow start or to make the plan
	 * again; 0: none is. */
	uint64_t next_step_ms;
};

/* Makes a lineup of the servers to choose from.
 *
 * The lineup has the usable servers that are not backups.  If there are none,
 * it has the usable backup that is first in the configuration, or all usable
 * backups (all_backups).  If no backup is usable, and fewer than panic_percent
 * of the other servers are, the lineup has all other servers that are wanted,
 * up or not.  A server in its slow start has a part of its weight and maxconn.
 * Runs on the control thread.  Returns NULL when memory is short. */
struct lineup *lineup_new(const struct backend *backend, uint64_t now_ms);

/* Frees a lineup that no thread reads any more.  NULL is allowed. */
void lineup_free(void *lineup);

/* Notes, while the lineup is made, that the next one is due at this time at the
 * latest.  at_ms 0 notes nothing. */
void lineup_note_step(struct lineup *lineup, uint64_t at_ms);

/* Returns the place of the server, or PLACE_NONE if it is not in the lineup.
 * The place may have another server with the same id. */
uint32_t lineup_place_of(
    const struct lineup *lineup, const struct server *server);

/* Takes a slot, within maxconn, of the server that the source has chosen last
 * (sticky.h) or that the algorithm chooses, or of another server if that one is
 * full.  The server's session count includes the
 * session from then on.  Returns NULL if no server has room; *ret_number is the
 * lineup's number.  Data threads, in a grace section. */
struct server *lineup_take_slot(const struct lineup *lineup,
    const struct choice *choice, uint64_t *ret_number);

/* Returns the place of the server that lineup_take_slot would choose, or
 * PLACE_NONE.  Changes nothing. */
uint32_t lineup_preview_slot(
    const struct lineup *lineup, const struct choice *choice);

/* Tells the present lineup of the server's backend that the session count of
 * the server has changed.  Any thread, in a grace section, after it has written
 * the count [P16]. */
void lineup_note_load(const struct server *server);

/* Returns whether the session has tried the server. */
bool choice_tried(const struct choice *choice, const struct server *server);

/* Sets the number of a lineup that is about to be published, and since, joined
 * and refreshed, which depend on the lineup that it replaces.  former: that
 * lineup, or NULL. */
void lineup_number(
    struct lineup *lineup, const struct lineup *former, uint64_t number);

/* Removes from tried, from index kept on, the servers that a session may try
 * again.  seen: the number of the lineup from which the session chose last.
 * Returns how many servers are left in tried.  Data threads, in a grace
 * section. */
unsigned lineup_forgive(const struct lineup *lineup, uint64_t seen,
    uint32_t *tried, unsigned tried_n, unsigned kept);

/* Returns whether the server at this place has room for a session within its
 * maxconn. */
bool lineup_has_room(const struct lineup *lineup, uint32_t place);

/* Returns whether the server at this place was tried, or has no room. */
bool lineup_passes_over(
    const struct lineup *lineup, const struct choice *choice, uint32_t place);

/* Returns the first place from `from` on, all the way round, whose server is
 * not passed over, or PLACE_NONE. */
uint32_t lineup_next_open(
    const struct lineup *lineup, const struct choice *choice, uint32_t from);

/* Returns whether the server at place a is less loaded than the one at place b:
 * a server with room is less loaded than one without; otherwise sessions in
 * proportion to weight decide. */
bool lineup_less_loaded(const struct lineup *lineup, uint32_t a, uint32_t b);

/* Describes the scores of lineup_score_loads to people. */
#define LINEUP_LOAD "sessions for weight"

/* Writes the score of each place, which is what lineup_less_loaded compares. */
void lineup_score_loads(const struct lineup *lineup, double *ret_scores);

/* Returns the number of servers with room. */
unsigned lineup_open_n(const struct lineup *lineup);

#endif
