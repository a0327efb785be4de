/* SPDX-License-Identifier: MIT
 * A lineup: the servers a backend may choose from, and whatever lets the
 * choice among them be quick.
 *
 * Made by the control thread and published whole; servers, weights and places
 * never change afterwards.  The plan is the algorithm's own: immutable, too, or
 * made of atomic words.
 */
#ifndef MODEL_LINEUP_H
#define MODEL_LINEUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/balance_ops.h"

struct server_state;

#define PLACE_NONE UINT32_MAX

struct lineup {
	const struct balance_ops *ops;
	struct server **servers;
	struct server_state **states;
	uint32_t *weights; /* of each, > 0: only their proportions count */
	uint32_t *limits;  /* maxconn of each at the moment, 0: none */
	bool limited;      /* one of them has a limit */
	unsigned servers_n;
	uint64_t weight_sum;
	uint32_t *places; /* by server id - 1: index into servers, or NONE */
	unsigned places_n;
	/* From 1, in the order in which the lineups of all backends were
	 * published.  Set by backend_publish, before the lineup is. */
	uint64_t number;
	/* Also set by backend_publish.  For each place, the number of the
	 * lineup with which the server joined, or got another address: it is
	 * worth another try of a session that failed there before.  0: it only
	 * joined as the time of an ejection was over, which says nothing. */
	uint64_t *since;
	uint64_t joined;    /* the last one with which any server joined */
	uint64_t refreshed; /* the greatest of since */
	void *plan;         /* from malloc, unless ops has release */
	/* By place in a former lineup, whose plan this is: the present one, or
	 * NONE.  NULL: the places are the same. */
	uint32_t *moved;

	/* What the control thread wants to know of the choice of servers. */
	unsigned active_n, backup_n; /* of the backend's that are usable */
	bool panic;
	uint64_t made_ms;
	/* The next one is due, when a slow start goes on or the plan is to be
	 * made anew; 0: none is. */
	uint64_t next_step_ms;
};

/* Control thread: the servers to choose from.
 *
 * These are the usable ones that are no backups; or else usable backups, the
 * first of the configuration or all of them (all_backups).  When no backup is
 * usable, and of the others fewer than panic_percent are, it is all the others
 * that operators want to serve, up or not.  Those in their slow start have a
 * part of their weight and maxconn.  NULL when memory is short. */
struct lineup *lineup_new(const struct backend *backend, uint64_t now_ms);

void lineup_free(void *lineup);

/* While it is made: the next one is due at this time, at the latest. */
void lineup_note_step(struct lineup *lineup, uint64_t at_ms);

/* Returns the place of the server, PLACE_NONE if it is not in the lineup.  The
 * server may be another one of the same id. */
uint32_t lineup_place_of(
    const struct lineup *lineup, const struct server *server);

/* Takes a slot, within its maxconn, of the server that the algorithm chooses,
 * or of another one if that is full.  The server's session count includes the
 * session from then on.  Returns NULL if no server has room; *ret_number is the
 * lineup's number.  Data threads, in a grace section. */
struct server *lineup_take_slot(const struct lineup *lineup,
    const struct choice *choice, uint64_t *ret_number);

/* Returns the place of the server that lineup_take_slot would choose,
 * PLACE_NONE for none, and changes nothing. */
uint32_t lineup_preview_slot(
    const struct lineup *lineup, const struct choice *choice);

/* Tells the present lineup of the server's backend that the session count of
 * the server has changed.  Any thread, in a grace section, after it has written
 * the count [P16]. */
void lineup_note_load(const struct server *server);

bool choice_tried(const struct choice *choice, const struct server *server);

/* Before it is published: numbers it, and sets what follows from the one that
 * it replaces, NULL: none. */
void lineup_number(
    struct lineup *lineup, const struct lineup *former, uint64_t number);

/* Data threads, in a grace section: takes out of tried, from index kept on, the
 * servers that are worth another try of a session that chose last from the
 * lineup with the number seen.  How many are left. */
unsigned lineup_forgive(const struct lineup *lineup, uint64_t seen,
    struct server **tried, unsigned tried_n, unsigned kept);

/* Has the server at this place room for another session, within its maxconn? */
bool lineup_has_room(const struct lineup *lineup, uint32_t place);

/* One that was tried, or has no room. */
bool lineup_passes_over(
    const struct lineup *lineup, const struct choice *choice, uint32_t place);

/* One with room before one without, then by sessions in proportion to weight,
 * this one included: has a, at its place, less to do than b? */
bool lineup_less_loaded(const struct lineup *lineup, uint32_t a, uint32_t b);

/* Writes what lineup_less_loaded compares: the score of each place. */
#define LINEUP_LOAD "sessions, the new one included, for weight"
void lineup_score_loads(const struct lineup *lineup, double *ret_scores);

/* How many could be chosen by one who has tried none: they have room. */
unsigned lineup_open_n(const struct lineup *lineup);

#endif
