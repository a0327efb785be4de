/* SPDX-License-Identifier: MIT
 * The spec of an address that a frontend or the HTTP port listens on. See
 * spec.h.
 */
#ifndef MODEL_SPEC_LISTEN_H
#define MODEL_SPEC_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/optional.h"
#include "model/spec_place.h"
#include "net/addr.h"
#include "net/sock_options.h"
#include "net/starttls.h"

struct listen_spec {
	char *text; /* as written */
	struct spec_place place;
	/* `0.0.0.0:8000-8099` makes a listen for each port, one after another.
	 * text is the range in the first of them and HOST:PORT in the others.
	 */
	unsigned range; /* ports of the range that begins here; 0: none does */
	bool in_range;  /* the range begins at a listen before this one */
	struct addr addr;
	bool both_families;  /* `:80` and `*:80`: IPv4 as well as IPv6 */
	uint32_t mode;       /* of a unix socket's file */
	char *user, *group;  /* its owner; NULL: the process's */
	bool accept_proxy;   /* clients send a PROXY header: proxy_from */
	struct optional tls; /* index into spec.tls; unset: plain TCP */
	/* enum starttls: clients ask for TLS in their protocol; unset: off. */
	struct optional starttls;
	struct sock_options sock;
};

#define LISTEN_TEXT_SIZE (ADDR_TEXT_SIZE + 2)

/* Writes the address of a listen so that equal texts are the same socket: [::]
 * alone differs from [::] for both families.  Returns out. */
const char *listen_text(
    const struct addr *addr, bool both_families, char out[LISTEN_TEXT_SIZE]);

/* Frees the members, not the struct. */
void listen_spec_clear(struct listen_spec *listen);

#endif
