/* SPDX-License-Identifier: MIT
 * Explains to which server a client that connected now would be sent: the
 * backend, the standing of each of its servers, and the choice.
 *
 * The answer comes from the code that chooses (balance_ops.preview), which
 * takes no step and counts nothing.
 */
#ifndef ORDERS_EXPLAIN_H
#define ORDERS_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/access.h"
#include "model/limit.h"
#include "model/model.h"
#include "model/rules.h"

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

/* Pointers are borrowed from the model, and valid until the control thread
 * changes it; servers and measure outlast the model. */
struct explanation {
	const struct frontend *frontend;
	size_t access; /* the allow or deny that decides, or ACCESS_NO_RULE */
	bool denied;   /* by it: then there is no backend */
	struct limit_answer limit; /* with a limit in `by` there is none */
	enum rules_answer answer;
	struct rule_found rule;        /* for RULES_MATCH */
	const struct backend *backend; /* NULL: the session is closed */
	/* The backend without a usable server that `backend` stands in for;
	 * NULL: `backend` does not serve as a fallback. */
	const struct backend *fallback_of;
	size_t turn, turns; /* of the split, turn from 1; 0: there is none */
	enum unknown unknown;
	bool sni_hashed; /* the choice of a server goes by the name */
	uint64_t key;
	struct explained_server *servers;
	size_t servers_n;
	size_t
	    chosen; /* SERVER_NONE: it is random, unknown, or there is none */
	const char *measure; /* what the scores are, or NULL */
	bool random;         /* see probability */
	unsigned draws;      /* draws that were made, if random */
	enum wait_answer
	    otherwise; /* without a server it waits, or is closed */
	char why[BALANCE_WHY_SIZE];
};

/* Explains the choice for the client.  Runs on the control thread.  Returns
 * false when memory is short.  The caller frees it with explanation_fini, also
 * then. */
bool explanation_make(const struct frontend *frontend,
    const struct explained_client *client, struct explanation *ret_explanation);
/* An explanation of all zeros is allowed. */
void explanation_fini(struct explanation *explanation);

#endif
