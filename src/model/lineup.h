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

struct backend;
struct lineup;
struct server;
struct server_state;

#define PLACE_NONE UINT32_MAX

/* What a session brings along for the choice of its server. */
struct choice {
	struct server *const *tried; /* passed over while there is another */
	unsigned tried_n;
	uint64_t key;    /* well mixed; equal keys want the same server */
	uint64_t random; /* 64 fresh bits */
};

/* What people may want to know of a choice. */
#define REASON_SIZE 192
struct reasons {
	/* What the algorithm goes by, as a number for each place; measure says
	 * which, NULL: there are none.  The caller has the room. */
	const char *measure;
	double *scores;
	bool random; /* other random bits may make another choice */
	char why[REASON_SIZE];
};

/* A balancing algorithm. */
struct balance_ops {
	const char *name; /* as the configuration and `show stat` call it */
	/* Control thread: completes a lineup of at least one server with a
	 * plan.  0 or -ENOMEM.  former, the lineup that it is to follow, may be
	 * NULL, or of another algorithm. */
	int (*prepare)(struct lineup *lineup, const struct lineup *former);
	/* Control thread, right before and right after the lineup takes the
	 * place of the former, of any algorithm or NULL: carries over what the
	 * plan of the former has come to.  NULL: there is nothing. */
	void (*begin)(struct lineup *lineup, const struct lineup *former);
	void (*settle)(struct lineup *lineup, const struct lineup *former);
	/* Control thread: lets go of the plan.  NULL: it is freed. */
	void (*release)(void *plan);
	/* Data threads: the place of one of the lineup's servers, not of one
	 * to be passed over if there is another.  Does not wait. */
	uint32_t (*choose)(const struct backend *backend,
	    const struct lineup *lineup, const struct choice *choice);
	/* The same by the same code for one that has tried none, but nobody
	 * notices: the next such one to choose, if it brings the same along,
	 * gets what this returns.  The control thread as well. */
	uint32_t (*peek)(const struct backend *backend,
	    const struct lineup *lineup, const struct choice *choice);
	/* Control thread: why it is the place that peek has returned. */
	void (*tell)(const struct backend *backend, const struct lineup *lineup,
	    const struct choice *choice, uint32_t place,
	    struct reasons *ret_reasons);
	/* Any thread: the sessions of the server at this place have changed.
	 * NULL: the algorithm does not mind. */
	void (*load_changed)(const struct lineup *lineup, uint32_t place);
};

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

extern const struct balance_ops balance_roundrobin, balance_leastconn,
    balance_random, balance_source, balance_hash, balance_first, balance_ewma;

/* The algorithm of a spec's kind (enum balance_kind). */
const struct balance_ops *balance_ops_of(int kind);

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

/* What is compared there, as scores. */
#define LINEUP_LOAD "sessions, the new one included, for weight"
void lineup_tell_loads(const struct lineup *lineup, struct reasons *reasons);

/* How many could be chosen by one who has tried none: they have room. */
unsigned lineup_open_n(const struct lineup *lineup);

/* A place at random, by weight: needs the plan of lineup_draw_prepare. */
int lineup_draw_prepare(struct lineup *lineup, const struct lineup *former);
uint32_t lineup_draw(const struct lineup *lineup, uint64_t random);

/* The next number of a sequence that begins anywhere: splitmix64 (Steele, Lea,
 * Flood, "Fast splittable pseudorandom number generators", 2014). */
static inline uint64_t
mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

#endif
