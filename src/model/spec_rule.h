/* SPDX-License-Identifier: MIT
 * The spec of the rules and shares by which a frontend chooses a backend. See
 * spec.h.
 */
#ifndef MODEL_SPEC_RULE_H
#define MODEL_SPEC_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/optional.h"
#include "model/spec_list.h"
#include "model/spec_place.h"
#include "net/cidr.h"
#include "net/sock_options.h"

/* A backend of a frontend, and its share of the sessions. */
struct route_spec {
	struct spec_place place;
	size_t backend; /* index into spec.backends */
	unsigned weight;
	/* Index into spec.backends: the backend for its sessions while
	 * `backend` has no usable server; unset: none. */
	struct optional fallback;
};

#define ROUTES_MAX 64

/* The greatest weight of a backend. */
#define SHARE_MAX 1000000

/* A condition on an address: one of these ranges or lists must have it. */
struct rule_ranges {
	struct cidr *all;
	size_t n;
	struct list_use *lists;
	size_t lists_n;
};

/* Returns whether the rule has such a condition. */
static inline bool
rule_ranges_any(const struct rule_ranges *ranges)
{
	return ranges->n > 0 || ranges->lists_n > 0;
}

/* A condition on a port: one of these ranges, both ends included, must have it.
 */
struct rule_ports {
	struct port_range {
		uint16_t low, high;
	} * all;
	size_t n; /* 0: no condition */
};

/* A rule: sessions for which all of its conditions hold get this backend.  It
 * has one condition at least. */
struct rule_spec {
	struct spec_place place;
	bool is_short;  /* written as `sni = NAMES`, which has names alone */
	size_t backend; /* index into spec.backends */
	/* The names of which a TLS client asks for one: normalized by
	 * tls_name_normalize, wildcards with `*.` in front, separated by
	 * blanks.  NULL: no condition. */
	char *names;
	char *alpn; /* protocols, separated by blanks; NULL: no condition */
	enum sock_switch tls; /* whether the client speaks TLS */
	/* The highest TLS version that the client offers is one of these: bit
	 * n stands for minor version n.  0: no condition. */
	unsigned versions;
	/* The client, and the address and the port that it has connected to.
	 * Behind a PROXY header, the header's addresses count. */
	struct rule_ranges src, dst;
	struct rule_ports ports;
};

/* Different protocols in the rules of a frontend. */
#define RULE_PROTOCOLS_MAX 64

/* Different backends of a frontend, those of its rules included. */
#define FRONTEND_BACKENDS_MAX 65000

/* Returns whether the rule has no condition but names. */
bool rule_spec_has_names_alone(const struct rule_spec *rule);

/* Frees the members, not the struct. */
void rule_spec_clear(struct rule_spec *rule);

#endif
