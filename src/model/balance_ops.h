/* SPDX-License-Identifier: MIT
 * The interface of a balancing algorithm, and the properties of a session that
 * it may use.
 *
 * The algorithms are in src/balance, above this layer.  The configuration
 * resolves a name to one of them, and a backend's spec points to it.
 */
#ifndef MODEL_BALANCE_OPS_H
#define MODEL_BALANCE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/source_key.h"

struct lineup;
struct server;

/* The properties of a session that the choice of its server depends on. */
struct choice {
	/* The serials of servers that are passed over as long as another one
	 * has room. */
	const uint32_t *tried;
	unsigned tried_n;
	uint64_t key;    /* well mixed; equal keys want the same server */
	uint64_t random; /* 64 fresh bits */
	struct source_key sticky; /* with STICKY_STAY: backend_sticky_key */
};

/* The source of choice.key. */
enum balance_key {
	BALANCE_KEY_NONE,       /* the algorithm ignores the key */
	BALANCE_KEY_CLIENT,     /* the client's address */
	BALANCE_KEY_CONFIGURED, /* the property that hash_key names */
};

/* Size of the sentence that explains a choice. */
#define BALANCE_WHY_SIZE 192

/* A balancing algorithm. */
struct balance_ops {
	const char *name; /* in the configuration and `show stat` */
	enum balance_key key;
	bool connect_times;  /* sessions report how long connects take */
	bool in_order;       /* fills servers in turn, without a fair share */
	bool random;         /* other random bits may choose another server */
	const char *measure; /* the unit of the scores; NULL: no scores */

	/* Completes a lineup of at least one server with a plan.  former, the
	 * lineup that it will replace, may be NULL or of another algorithm.
	 * Runs on the control thread.  Returns 0 or -ENOMEM.
	 * NULL: the algorithm has no plan. */
	int (*prepare)(struct lineup *lineup, const struct lineup *former);
	/* Carry over the progress of the former lineup's plan, right before
	 * (begin) and right after (settle) lineup replaces it.  former may be
	 * NULL or of another algorithm.  Run on the control thread.  NULL:
	 * the plan has no progress. */
	void (*begin)(struct lineup *lineup, const struct lineup *former);
	void (*settle)(struct lineup *lineup, const struct lineup *former);
	/* Releases the plan, on the control thread.  NULL: free() does. */
	void (*release)(void *plan);

	/* Returns the place of a server of the lineup; of one that is passed
	 * over (lineup_passes_over) only if there is no other.  Runs on data
	 * threads.  Never blocks. */
	uint32_t (*choose)(
	    const struct lineup *lineup, const struct choice *choice);
	/* Returns the place that choose would return for a session that has
	 * tried no server, and changes nothing.  Any thread. */
	uint32_t (*preview)(
	    const struct lineup *lineup, const struct choice *choice);
	/* Notes that the session count of the server at this place has changed.
	 * Any thread.  NULL: the algorithm does not track session counts. */
	void (*load_changed)(const struct lineup *lineup, uint32_t place);

	/* Writes the score of each place.  Runs on the control thread.  Set if
	 * and only if measure is. */
	void (*score)(const struct lineup *lineup, double *ret_scores);
	/* The sentence that explains a choice, if one sentence fits every
	 * choice.  NULL: explain writes the sentence, on the control thread. */
	const char *why;
	void (*explain)(const struct lineup *lineup,
	    const struct choice *choice, uint32_t place,
	    char ret_why[BALANCE_WHY_SIZE]);
};

#endif
