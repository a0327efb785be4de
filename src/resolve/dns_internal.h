/* SPDX-License-Identifier: MIT
 * State that dns.c and dns_lookup.c share.  Included by them only.
 */
#ifndef RESOLVE_DNS_INTERNAL_H
#define RESOLVE_DNS_INTERNAL_H

#include "base/list.h"
#include "resolve/dns.h"
#include "resolve/dns_system.h"
#include "resolve/hosts_file.h"

struct dns {
	struct ev_loop *loop; /* or NULL */
	ev_timer work, tick;  /* work to do; time-outs */
	struct dns_server **servers;
	size_t servers_n;
	size_t first;     /* the server that is asked first */
	bool rotate;      /* the next question begins with the next server */
	bool replacing;   /* servers are being freed */
	struct addr *own; /* servers that the settings name */
	size_t own_n;
	uint64_t own_timeout_ms;     /* as in the settings */
	struct optional own_retries; /* likewise */
	uint64_t timeout_ms;         /* in force */
	unsigned retries;            /* likewise */
	char *resolv_conf;
	struct dns_system system;
	uint64_t system_checked_ms;
	struct hosts_file *hosts;
	/* Each look-up is in one of these lists: asked, with questions; ended,
	 * with an answer that its owner has not got yet. */
	struct list asked, ended;
	size_t pending;       /* in both, except cancelled ones */
	struct list unasked;  /* questions to be sent */
	unsigned window;      /* how many questions may be under way */
	uint64_t narrowed_ms; /* when the window was last halved */
	bool silent;          /* the name servers send nothing */
};

/* A question of a look-up, to one name server after another. */
struct dns_query {
	struct list node; /* in dns.unasked, or in none */
	struct dns_question question;
	struct dns_lookup *lookup;
	int type;
	bool under_way;           /* question is a server's */
	size_t first;             /* the server it was sent to first */
	uint64_t sent_ms;         /* when it was last sent */
	unsigned tries, failures; /* failures: answers with an error */
	enum dns_error error;
};

struct dns_lookup {
	struct list node;
	struct dns *dns;
	dns_done *done;
	void *arg;
	struct dns_answer answer;
	struct dns_query queries[2];
	unsigned queries_n;
	unsigned open; /* queries without an answer */
	bool cancelled;
	int family;           /* or DNS_SERVICE */
	size_t candidate;     /* number of the next whole name to be tried */
	enum dns_error worst; /* error of the names tried */
	char whole[2 * ADDR_HOST_SIZE]; /* the name that is asked for */
	char host[];
};

/* Reads resolv.conf again if it has changed; looks at it at most once in a
 * second. */
void dns_follow_system(struct dns *dns);

/* Makes the loop do the work that is there, soon. */
void dns_wake(struct dns *dns);

/* Adapts the number of questions that may be under way to the end of one, which
 * was sent at sent_ms. */
void dns_adapt(struct dns *dns, enum dns_error error, uint64_t sent_ms);

/* Sends a query that was taken off dns.unasked. */
void dns_query_send(struct dns_query *query);
/* Calls done, unless the look-up was cancelled, and frees it. */
void dns_lookup_end(struct dns_lookup *lookup);
/* Frees the look-ups of the list. */
void dns_lookups_drop(struct list *lookups);

#endif
