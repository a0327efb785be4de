/* SPDX-License-Identifier: MIT
 * Conditions of HAProxy's rules, and their conversion to allow and deny,
 * limits, and routes.  For the files haproxy*.c only.
 */
#ifndef IMPORT_HAPROXY_RULES_H
#define IMPORT_HAPROXY_RULES_H

#include "import/haproxy.h"

enum test_kind {
	TEST_TRUE,
	TEST_FALSE,
	TEST_SRC,      /* values: ranges, and list:NAME */
	TEST_DST,      /* values: ranges, and list:NAME */
	TEST_PORT,     /* values: ports and ranges */
	TEST_SNI,      /* values: names and *.names */
	TEST_ALPN,     /* values: protocols */
	TEST_TLS,      /* values: yes or no */
	TEST_SESSIONS, /* more than `number` sessions of the source */
	TEST_RATE,     /* more than `number` in a time of the source's */
	TEST_NBSRV,    /* values: a backend without a usable server */
	TEST_OTHER,    /* has no counterpart; why says the reason */
};

struct hap_test {
	enum test_kind kind;
	bool negated;
	bool of_hello; /* of the hello itself (req.ssl_sni), not of TLS here */
	struct words values;
	uint64_t number;
	const char *why;
};

/* A term holds if all of its tests do. */
struct hap_term {
	struct hap_test *tests;
	size_t n;
};

/* A condition holds if one of its terms does.  A condition that is always true
 * has an empty term. */
struct hap_condition {
	struct hap_term *terms;
	size_t n;
};

struct hap_acl {
	struct hap_acl *next;
	const char *name;
	struct hap_test test;
	const struct hap_line *line;
	bool used;
};

enum rule_kind {
	RULE_CONNECTION_ACCEPT,
	RULE_CONNECTION_REJECT,
	RULE_CONTENT_ACCEPT,
	RULE_CONTENT_REJECT,
	RULE_BACKEND,
};

struct hap_rule {
	struct hap_rule *next;
	enum rule_kind kind;
	const struct hap_line *line;
	const char *target;   /* of RULE_BACKEND, as HAProxy calls it */
	const char *comments; /* before the line, or NULL */
	bool drops;           /* silent-drop */
	bool written, lost;   /* as allow, deny or limit; reported */
	struct hap_condition condition;
};

/* haproxy_acl.c: reads `CRITERION [FLAGS] VALUES`, in words of the line. */
struct hap_test hap_read_test(struct hap_proxy *proxy,
    const struct hap_line *line, const struct words *words, size_t first,
    size_t end);
/* Returns whether the value is `list:NAME`, a file of ranges. */
bool hap_is_list(const char *value);
/* Remembers the line `acl NAME CRITERION ...`. */
void hap_acl(struct hap_proxy *proxy, const struct hap_line *line);

/* haproxy_condition.c: reads `if|unless CONDITION` at words[first], or the
 * condition that is always true if there is none.  Returns false if an ACL is
 * not known. */
bool hap_read_condition(struct hap_proxy *proxy, const struct hap_line *line,
    size_t first, struct hap_condition *ret_condition) MUST_CHECK;
/* Adds a test to the term.  Returns false if both together cannot hold. */
bool hap_term_add(struct arena *arena, struct hap_term *term,
    const struct hap_test *test) MUST_CHECK;
/* Returns a copy of the term. */
struct hap_term hap_term_copy(struct arena *arena, const struct hap_term *term);
/* Returns why a term has no counterpart among routes, or NULL. */
const char *hap_term_reason(const struct hap_term *term);
/* Returns whether the name is the other one, or covers it: `*.x` covers all
 * below x. */
bool hap_name_covers(const char *name, const char *other);

/* Returns the rule about contents for which HAProxy waits until the client has
 * sent something, or NULL. */
const struct hap_line *hap_waits(const struct hap_proxy *proxy);

/* haproxy_access.c: writes allow, deny and limit for the rules about
 * connections. */
void hap_write_access(struct hap_proxy *proxy);
/* haproxy_dynamic.c: adds rules with names behind a rule whose backend is an
 * expression.  Returns true if the rule itself is to be removed. */
bool hap_dynamic_backend(struct hap_proxy *proxy, struct hap_rule *rule);
/* haproxy_route.c: writes routes for the rules about contents and
 * use_backend. */
void hap_write_routes(struct hap_proxy *proxy);

#endif
