/* SPDX-License-Identifier: MIT
 * What would become of a client that connected now: the backend, each of its
 * servers with what speaks for and against it, and the choice.
 *
 * It is asked of the very code that chooses (balance_ops.preview), and nobody
 * notices: no turn is taken, nothing is counted.  All is copied, so that it
 * outlasts the model.
 */
#ifndef MODEL_EXPLAIN_H
#define MODEL_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

/* X(identifier, name, what it is): where a server stands. */
#define STANDINGS_TABLE(X)                                                     \
	X(STANDING_ELIGIBLE, "eligible", "it may be chosen")                   \
	X(STANDING_PANIC, "panic", "not usable, but so few are that it may")   \
	X(STANDING_FULL, "full", "at its maxconn")                             \
	X(STANDING_MAINT, "maint", "in maintenance")                           \
	X(STANDING_UNRESOLVED, "unresolved", "its name is not resolved")       \
	X(STANDING_DRAIN, "drain", "it drains")                                \
	X(STANDING_NO_WEIGHT, "no-weight", "its weight is 0")                  \
	X(STANDING_DOWN, "down", "it is down")                                 \
	X(STANDING_STOPPING, "stopping", "its health is set to stopping")      \
	X(STANDING_EJECTED, "ejected", "it failed too often")                  \
	X(STANDING_BACKUP, "backup", "a backup, and others serve")             \
	X(STANDING_OTHERS, "others", "backups serve, as too few others do")

enum standing {
#define X(id, name, text) id,
	STANDINGS_TABLE(X)
#undef X
};

const char *standing_name(enum standing standing);

struct explained_server {
	char *name, *address;
	enum standing standing;
	bool up, backup;
	unsigned weight;            /* as it is set */
	unsigned effective_weight;  /* in a slow start it is a part of that */
	unsigned sessions, maxconn; /* maxconn at the moment; 0: no limit */
	uint32_t place;             /* in the lineup, or PLACE_NONE */
	double score;       /* if it has a place and there is a measure */
	double probability; /* of being chosen */
};

struct explained_route {
	char *backend;
	unsigned weight;
	bool has_servers; /* else its turns go to the others */
};

/* What would have to be known of the client as well. */
enum unknown {
	UNKNOWN_NOTHING,
	UNKNOWN_PORT,        /* hash_key = source-port */
	UNKNOWN_DESTINATION, /* hash_key = destination */
};

#define SERVER_NONE SIZE_MAX

/* Draws that probabilities are the shares of, where the choice is random: as
 * many as fit into EXPLAIN_NS, between these.  Two standard errors of a share
 * are 3 % and 1.6 % at most. */
#define EXPLAIN_DRAWS_MIN 1024u
#define EXPLAIN_DRAWS_MAX 4096u
#define EXPLAIN_NS        (300 * 1000)

/* What the name that the client asks for has to say. */
struct explained_sni {
	bool inspects; /* the frontend looks at hellos at all */
	bool rules;    /* it has some */
	bool hashed;   /* the choice of a server goes by the name */
	char *name;    /* "": none */
	/* The rule's name that it matches, as `*.example.com`, and the place
	 * of that rule; NULL: none does. */
	char *rule, *file;
	unsigned line;
};

struct explanation {
	struct explained_sni sni;
	struct explained_route *routes; /* those of the split */
	size_t routes_n;
	char *backend;      /* NULL: none, so the session is closed */
	size_t turn, turns; /* of the split, turn from 1; 0: there is none */
	const char *balance;
	enum unknown unknown;
	bool keyed; /* the choice goes by the key */
	uint64_t key;
	struct explained_server *servers;
	size_t servers_n;
	size_t
	    chosen; /* SERVER_NONE: it is random, unknown, or there is none */
	const char *measure; /* what the scores are, or NULL */
	bool random;         /* see probability */
	unsigned draws;      /* if so, that were made */
	bool panic;
	enum wait_answer
	    otherwise;    /* without a server it waits, or is closed */
	unsigned waiting; /* before it */
	char why[BALANCE_WHY_SIZE];
};

/* Who asks.  local: where the client has connected to; sni: what its TLS hello
 * asks for, as tls_name_normalize makes it, NULL: no name. */
struct explained_client {
	struct endpoint client, local;
	bool has_port, has_local;
	const char *sni;
};

/* Control thread; NULL when memory is short.  To be freed. */
struct explanation *explanation_new(
    const struct frontend *frontend, const struct explained_client *client);
/* NULL is fine. */
void explanation_free(struct explanation *explanation);

#endif
