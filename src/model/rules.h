/* SPDX-License-Identifier: MIT
 * A frontend's rules (`route =` and `sni =`), ready to be tried.  They choose
 * the backend of a client by its address, by the address and port that it has
 * connected to, and by its TLS hello.
 *
 * Rules are tried in the order of the file, and the first one that matches
 * decides.  Neighbouring rules that have nothing but names are tried at once,
 * in a map (model/sni_map.h): the most specific name that matches decides, at a
 * cost that does not depend on the number of names.
 *
 * A rule can be tried before everything about the client is known.  A condition
 * that is known not to hold excludes its rule, whatever the others are, so most
 * answers by addresses need no hello.
 */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/spec.h"

struct model;

/* Facts about a client that may be unknown, a set of bits. */
#define FACT_DESTINATION 1u /* destination's address */
#define FACT_PORT        2u /* destination's port */
#define FACT_HELLO       4u /* the members below */

struct rule_facts {
	unsigned known; /* FACT_ bits */
	const struct endpoint *client;
	/* The address that the client has connected to; family 0: it has none,
	 * so no condition on it holds. */
	const struct endpoint *destination;
	bool tls; /* the client speaks TLS */
	/* The SNI in the form of tls_name_normalize; name_len 0: the client
	 * sends none. */
	const char *name;
	size_t name_len;
	uint64_t protocols; /* see rules_protocols */
	unsigned versions;  /* the bit of its TLS version; 0: no TLS */
};

enum rules_answer {
	RULES_NONE,    /* no rule matches */
	RULES_MATCH,   /* a rule matches */
	RULES_UNKNOWN, /* the answer depends on facts that are not known */
};

struct rule_found {
	size_t rule;    /* RULES_MATCH: index of the spec's rules */
	uint16_t route; /* RULES_MATCH: index of the frontend's backends */
	/* RULES_MATCH: the name that has matched, or NULL. */
	const struct sni_entry *name;
	unsigned missing; /* RULES_UNKNOWN: FACT_ bits, maybe not all */
};

struct rules;

/* Makes the rules of a frontend.  routes has, for each rule, the index of its
 * backend among the frontend's.  model: for the lists that rules name; may be
 * NULL if they name none.  Borrows the spec and the lists.  Returns NULL when
 * memory is short.  Control thread. */
struct rules *rules_new(const struct frontend_spec *spec,
    const struct model *model, const uint16_t *routes);

/* NULL is allowed. */
void rules_free(struct rules *rules);

/* Finds the rule for a client.  Any thread, in a grace section. */
enum rules_answer rules_find(const struct rules *rules,
    const struct rule_facts *facts, struct rule_found *ret_found);

/* Returns the FACT_ bits that some rule asks for. */
unsigned rules_facts(const struct rules *rules);

/* Returns which of the rules' protocols are in a list, as a set of bits for
 * rule_facts.  The list has a byte with the length before each name, as in ALPN
 * (RFC 7301 3.1); a name whose length goes beyond the end of the list is
 * ignored.  Any thread. */
uint64_t rules_protocols(
    const struct rules *rules, const uint8_t *list, size_t size);

#endif
