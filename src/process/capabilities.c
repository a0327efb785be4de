/* SPDX-License-Identifier: MIT
 * See capabilities.h.
 */
#include "process/capabilities.h"

#include <cap-ng.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "model/model.h"
#include "net/sock_options.h"

#define BIT(capability) (UINT64_C(1) << (capability))

/* Ports below this number are privileged if the kernel does not tell
 * (net.ipv4.ip_unprivileged_port_start). */
#define UNPRIVILEGED_PORT 1024u

/* The capabilities that a process that stays root may need: for files and
 * sockets of other users, larger limits, priorities, and an upgrade whose file
 * has a `user`. */
#define OF_ROOT                                                                \
	(BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) |            \
	    BIT(CAP_KILL) | BIT(CAP_SETGID) | BIT(CAP_SETUID) |                \
	    BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_NET_RAW) |                     \
	    BIT(CAP_SYS_RESOURCE) | BIT(CAP_SYS_NICE))

static char kept_text[400] = "none";

/* -- what options need -- */

static unsigned
unprivileged_port(void)
{
	FILE *file =
	    fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "re");
	unsigned port = UNPRIVILEGED_PORT;

	if (file && fscanf(file, "%u", &port) != 1)
		port = UNPRIVILEGED_PORT;
	if (file)
		fclose(file);
	return port;
}

/* Returns what the options of a socket need: SO_MARK; IP_TRANSPARENT, and
 * SO_BINDTODEVICE when a reload changes it; a congestion control that not every
 * user may choose. */
static uint64_t
needed_by_options(const struct sock_options *o)
{
	uint64_t needed = 0;

	if (o->mark > 0 || o->interface[0] || o->transparent == SWITCH_ON)
		needed |= BIT(CAP_NET_RAW);
	if (o->congestion[0] && !sock_congestion_for_all(o->congestion))
		needed |= BIT(CAP_NET_ADMIN);
	return needed;
}

/* Returns what the options of connections to the server need, which each socket
 * sets itself.  SO_BINDTODEVICE on a socket that is not bound to a device yet
 * needs no capability (Linux 5.7). */
static uint64_t
needed_by_server(const struct server_spec *s, enum capability_holder holder)
{
	struct sock_options o = s->sock;

	if (holder == HOLDER_LEAVES_ROOT)
		o.interface[0] = '\0';
	return needed_by_options(&o) |
	       (s->source.kind == SOURCE_CLIENT ? BIT(CAP_NET_RAW) : 0);
}

/* Returns what the listen needs.  Connections inherit the options of the
 * listening socket, which is bound already, so capabilities for its options
 * only serve reloads. */
static uint64_t
needed_by_listen(const struct listen_spec *l, enum capability_holder holder,
    unsigned port_start)
{
	unsigned port = addr_port(&l->addr);
	uint64_t needed = 0;

	if (port > 0 && port < port_start)
		needed |= BIT(CAP_NET_BIND_SERVICE);
	if (holder != HOLDER_LEAVES_ROOT)
		needed |= needed_by_options(&l->sock);
	return needed;
}

/* Returns whether the frontend drops clients without a packet, which is done by
 * TCP_REPAIR. */
static bool
drops_clients(const struct frontend_spec *f)
{
	bool drops = f->on_deny.action == GATE_DROP;

	for (size_t i = 0; i < f->limits_n; i++)
		drops |= f->limits[i].action.action == GATE_DROP;
	return drops;
}

/* Returns what connections to servers need.  The source of a backend also
 * applies to servers that come later. */
static uint64_t
needed_by_servers(const struct spec *spec, enum capability_holder holder)
{
	uint64_t needed = 0;

	for (size_t i = 0; i < spec->backends_n; i++)
		if (spec->backends[i].source.kind == SOURCE_CLIENT)
			needed |= BIT(CAP_NET_RAW);
	spec_for_each_server (b, s, spec)
		needed |= needed_by_server(s, holder);
	return needed;
}

static uint64_t
needed_by_pools(const struct spec *spec)
{
	for (size_t i = 0; i < spec->pools_n; i++)
		for (unsigned j = 0; j < spec->pools[i].classes_n; j++)
			if (spec->pools[i].classes[j].nice < 0)
				return BIT(CAP_SYS_NICE);
	return 0;
}

static uint64_t
needed_by_addresses(const struct spec *spec, enum capability_holder holder)
{
	unsigned start = unprivileged_port();
	const struct global_spec *g = &spec->global;
	uint64_t needed = 0;

	for (size_t i = 0; i < spec->frontends_n; i++)
		for (size_t j = 0; j < spec->frontends[i].listens_n; j++)
			needed |= needed_by_listen(
			    &spec->frontends[i].listens[j], holder, start);
	if (g->http.at.text)
		needed |= needed_by_listen(&g->http.at, holder, start);
	for (size_t i = 0; i < g->admin.n; i++) {
		const struct listen_spec l = {.addr = g->admin.all[i].addr};

		needed |= needed_by_listen(&l, holder, start);
	}
	return needed;
}

/* A process that leaves root drops clients by a reset instead, since
 * CAP_NET_ADMIN would be too much for that. */
uint64_t
capabilities_needed(const struct spec *spec, enum capability_holder holder)
{
	uint64_t needed = needed_by_addresses(spec, holder) |
	                  needed_by_servers(spec, holder) |
	                  needed_by_pools(spec);

	for (size_t i = 0; i < spec->frontends_n; i++)
		if (holder != HOLDER_LEAVES_ROOT &&
		    drops_clients(&spec->frontends[i]))
			needed |= BIT(CAP_NET_ADMIN);
	if (holder == HOLDER_ROOT)
		needed |= OF_ROOT;
	/* The service manager has given this so that a reload may bind any
	 * port. */
	if (holder == HOLDER_OTHER)
		needed |= BIT(CAP_NET_BIND_SERVICE);
	return needed;
}

/* -- giving up the others -- */

/* Selects the kept ones in the set of libcap-ng, which is empty before. */
static void
select_kept(uint64_t kept, capng_type_t type)
{
	for (unsigned cap = 0; cap <= (unsigned)CAP_LAST_CAP; cap++)
		if (kept & BIT(cap))
			(void)capng_update(CAPNG_ADD, type, cap);
}

/* Returns whether the process may change its bounding set.  If libcap-ng tried
 * in vain, it would write to standard error. */
static bool
may_bound(void)
{
	capng_clear(CAPNG_SELECT_ALL);
	return capng_get_caps_process() == 0 &&
	       capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);
}

bool
capabilities_bound(uint64_t kept, struct err *err)
{
	if (!may_bound())
		return true;
	capng_clear(CAPNG_SELECT_BOUNDS);
	select_kept(kept, CAPNG_BOUNDING_SET);
	return capng_apply(CAPNG_SELECT_BOUNDS) == 0 ||
	       err_set(err,
	           "capabilities cannot be removed from the bounding set: %s",
	           strerror(errno));
}

static uint64_t
permitted(void)
{
	uint64_t all = 0;

	capng_clear(CAPNG_SELECT_ALL);
	if (capng_get_caps_process() < 0)
		return 0;
	for (unsigned cap = 0; cap <= (unsigned)CAP_LAST_CAP; cap++)
		if (capng_have_capability(CAPNG_PERMITTED, cap))
			all |= BIT(cap);
	return all;
}

static void
note_kept(uint64_t kept)
{
	size_t used = 0;

	for (unsigned cap = 0; cap <= (unsigned)CAP_LAST_CAP; cap++) {
		const char *name = capng_capability_to_name(cap);

		if (!(kept & BIT(cap)) || !name ||
		    used + strlen(name) + sizeof(",cap_") > sizeof(kept_text))
			continue;
		used += (size_t)sprintf(
		    kept_text + used, "%scap_%s", used > 0 ? "," : "", name);
	}
	if (used == 0)
		strcpy(kept_text, "none");
}

/* Makes the kept capabilities, which are selected, ambient.  A container may
 * refuse that. */
static void
make_ambient(void)
{
	if (capng_apply(CAPNG_SELECT_AMBIENT) != 0)
		log_warning("the kept capabilities (%s) cannot be made "
		            "ambient: %s; after an upgrade lfproxy would not "
		            "have them, so restart it instead",
		    kept_text, strerror(errno));
}

bool
capabilities_keep(uint64_t kept, struct err *err)
{
	uint64_t own = permitted();
	bool bounded;

	/* For most of these options CAP_NET_ADMIN suffices, too. */
	if ((kept & BIT(CAP_NET_RAW)) && !(own & BIT(CAP_NET_RAW)))
		kept |= BIT(CAP_NET_ADMIN);
	kept &= own;
	bounded = capabilities_bound(kept, err);
	capng_clear(CAPNG_SELECT_ALL);
	select_kept(kept, CAPNG_EFFECTIVE | CAPNG_PERMITTED |
	                      CAPNG_INHERITABLE | CAPNG_AMBIENT);
	if (capng_apply(CAPNG_SELECT_CAPS) < 0) {
		note_kept(own);
		return err_set(err, "capabilities cannot be given up");
	}
	note_kept(kept);
	make_ambient();
	return bounded;
}

const char *
capabilities_text(void)
{
	return kept_text;
}
