/* SPDX-License-Identifier: MIT
 * Explains to which server a client that connected now would be sent: the
 * backend, the standing of each of its servers, and the choice.
 *
 * The answer comes from the code that chooses (balance_ops.preview), which
 * takes no step and counts nothing.  The explanation is a copy, which may
 * outlast the model.
 */
#ifndef MODEL_EXPLAIN_H
#define MODEL_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

/* X(identifier, name, meaning): whether a server may be chosen, and why not. */
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

extern const char *const standing_names[];

struct explained_server {
	char *name, *address;
	char *set; /* prefix of the set that it is a member of, or NULL */
	enum standing standing;
	bool up, backup;
	bool tls;                   /* sessions with it are over TLS */
	bool starttls;              /* the server is asked for TLS first */
	unsigned weight;            /* as set */
	unsigned effective_weight;  /* what slow start and fade leave of it */
	unsigned sessions, maxconn; /* maxconn at the moment; 0: no limit */
	uint64_t bandwidth[BAND_DIRECTIONS]; /* of its sessions, 0: no limit */
	uint32_t place;                      /* in the lineup, or PLACE_NONE */
	double score;       /* if it has a place and there is a measure */
	double probability; /* of being chosen */
};

struct explained_route {
	char *backend;
	unsigned weight;
	bool has_servers; /* if not, the others get its turns */
};

/* The property of the client that is missing for an answer. */
enum unknown {
	UNKNOWN_NOTHING,
	UNKNOWN_PORT,        /* hash_key = source-port */
	UNKNOWN_DESTINATION, /* hash_key = destination */
	UNKNOWN_RULE,        /* a rule asks where the client connects to */
};

#define SERVER_NONE SIZE_MAX

/* The number of draws from which probabilities are estimated where the choice
 * is random: as many as fit into EXPLAIN_NS, between these bounds.  Two
 * standard errors of a share are at most 3 % with the least and 1.6 % with the
 * most draws. */
#define EXPLAIN_DRAWS_MIN 1024u
#define EXPLAIN_DRAWS_MAX 4096u
#define EXPLAIN_NS        (300 * 1000)

/* The longest entry of a rule's list that has the address, as `10.0.0.0/8`, and
 * the file that the entry comes from.  file NULL: a command has added the
 * entry.  range NULL: the rule has no list, or a range in the rule itself
 * decides. */
struct explained_entry {
	char *range, *file;
	unsigned line; /* 0: unknown */
};

/* The part of the TLS server name and of the rules in the choice. */
struct explained_sni {
	bool inspects; /* the frontend looks at hellos at all */
	bool rules;    /* it has some */
	bool hashed;   /* the choice of a server goes by the name */
	char *name;    /* "": none */
	bool matches;  /* a rule does */
	size_t index;  /* if so: the index of the rule in the spec */
	/* The name in the rule that matches, as `*.example.com`, or NULL if no
	 * name does; and the rule's place. */
	char *rule, *file;
	unsigned line;
	/* The entry of a list in src that has the client, and the one of a list
	 * in dst that has the address that the client connects to. */
	struct explained_entry entry, dst_entry;
};

/* The part of allow and deny. */
struct explained_access {
	bool rules; /* the frontend has some */
	bool denied;
	/* The rule that decides, as `deny 10.0.0.0/8`, and its place; NULL: no
	 * rule matches. */
	char *rule, *file;
	unsigned line;
	struct explained_entry entry;
	struct gate_reply reply; /* if denied */
};

/* What the limits by source contribute. */
struct explained_limit {
	bool limits; /* the frontend has some, and they are asked */
	/* The limit that refuses the client, as `sessions=2 per=client`, the
	 * name of its table, and its place; NULL: none does. */
	char *limit, *table, *file;
	unsigned line;
	const char *what;        /* if refused, for what: limit_what */
	struct gate_reply reply; /* if refused */
	uint32_t wait_ms;        /* how long it is delayed */
};

/* Limits in bytes per second; 0: none.  They are those of each session, of all
 * sessions of the client's source, and of all sessions of the frontend and of
 * the backend. */
struct explained_bandwidth {
	uint64_t session[BAND_DIRECTIONS];
	uint64_t source[BAND_DIRECTIONS];
	uint64_t frontend[BAND_DIRECTIONS];
	uint64_t backend[BAND_DIRECTIONS];
	uint64_t backend_source[BAND_DIRECTIONS];
};

struct explanation {
	struct explained_access access; /* if denied, there is no backend */
	struct explained_limit limit;   /* the same */
	struct explained_sni sni;
	struct explained_route *routes; /* the backends of the split */
	size_t routes_n;
	struct explained_bandwidth bandwidth;
	char *backend; /* NULL: none, so the session is closed */
	/* The backend without a usable server that `backend` stands in for;
	 * NULL: `backend` does not serve as a fallback. */
	char *fallback_of;
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
	unsigned draws;      /* draws that were made, if random */
	bool panic;
	enum wait_answer
	    otherwise;    /* without a server it waits, or is closed */
	unsigned waiting; /* sessions in the queue */
	char why[BALANCE_WHY_SIZE];
};

/* The client to explain.  local: the address that it has connected to, of which
 * the port may be known without has_local.  sni: its TLS server name as
 * tls_name_normalize makes it, or NULL.  tls: it speaks TLS, which a name or
 * protocols imply.  alpn: the protocols that it offers, each behind a byte with
 * its length. */
struct explained_client {
	struct endpoint client, local;
	bool has_port, has_local, tls;
	const char *sni;
	const uint8_t *alpn;
	size_t alpn_size;
	unsigned versions; /* the bit of its TLS version; 0: no TLS, or 1.3 */
};

/* Explains the choice for the client.  Runs on the control thread.  Returns
 * NULL when memory is short.  The caller frees it with explanation_free. */
struct explanation *explanation_new(
    const struct frontend *frontend, const struct explained_client *client);
/* NULL is allowed. */
void explanation_free(struct explanation *explanation);

#endif
