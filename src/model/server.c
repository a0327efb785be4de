/* SPDX-License-Identifier: MIT
 * See server.h.
 */
#include "model/server.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "model/backend.h"
#include "model/model.h"
#include "model/source_ports.h"
#include "tls/peer.h"

/* Puts a server that was added at run time into maintenance, with its check and
 * its agent paused if it has them. */
static void
keep_back(struct server_state *s, bool checked, bool asked)
{
	override_set(&s->set.admin, SERVER_MAINT, SERVER_READY);
	s->overrides.set = s->set;
	s->overrides.check_paused = checked;
	s->overrides.agent_paused = asked;
	s->alive = false;
}

/* Returns the state of a server that is new, or NULL when memory is short. */
static struct server_state *
server_state_new(unsigned id, const struct backend_spec *backend,
    const struct server_spec *spec)
{
	struct server_state *s = aligned_alloc(CACHE_LINE, sizeof(*s));
	struct check_rules check = check_rules_of(backend, spec);
	bool down = check.on && check.init == CHECK_INIT_DOWN;

	if (!s)
		return NULL;
	*s = (struct server_state){
	    .up = !down,
	    .alive = !down,
	    /* The first check that passes is enough. */
	    .streak = down ? check.rise - 1 : 0,
	    .refs = 1,
	    .id = id,
	    .changed_ms = clock_now_ms(),
	    .counters = counters_new(),
	};
	if (!s->counters) {
		free(s);
		return NULL;
	}
	if (spec->added)
		keep_back(s, check.on, agent_rules_of(backend, spec).on);
	/* The server comes up with its first lineup or check. */
	if (spec->disabled || spec->joined)
		s->alive = false;
	return s;
}

const struct source_spec *
server_source(const struct server *server)
{
	static const struct source_spec none = {.kind = SOURCE_NONE};

	if (server_addr(server)->sa.sa_family == AF_UNIX)
		return &none;
	return server->spec->source.kind != SOURCE_NONE
	           ? &server->spec->source
	           : &server->backend->spec->source;
}

/* Returns whether the configured address is a number or a path, so that the
 * text of the address is the same: that saves making it for each line of the
 * log. */
static bool
is_literal(const char *address)
{
	return address[0] == '[' || strncmp(address, "unix:", 5) == 0 ||
	       strspn(address, "0123456789.:+-") == strlen(address);
}

/* Writes the address without a port, or with the offset that the file has. */
static const char *
map_text(const struct server *server, char out[ADDR_TEXT_SIZE])
{
	const struct addr *addr = server_addr(server);
	bool bracketed = addr->sa.sa_family == AF_INET6;
	int offset = server->spec->port_offset;
	char host[ADDR_TEXT_SIZE], port[16] = "";

	if (offset != 0)
		snprintf(port, sizeof(port), ":%+d", offset);
	snprintf(out, ADDR_TEXT_SIZE, "%s%.64s%s%s", bracketed ? "[" : "",
	    addr_host(addr, host), bracketed ? "]" : "", port);
	return out;
}

const char *
server_address_at(
    const struct server *server, unsigned port, char out[ADDR_TEXT_SIZE])
{
	const struct addr *addr = server_addr(server);
	struct addr at;

	if (port > 0 && server_maps_port(server)) {
		at = *addr;
		addr_set_port(&at, port);
		return addr_text(&at, out);
	}
	if (addr->sa.sa_family == AF_UNSPEC ||
	    (addr == &server->spec->addr && is_literal(server->spec->address)))
		return server->spec->address;
	return server_maps_port(server) ? map_text(server, out)
	                                : addr_text(addr, out);
}

unsigned
server_mapped_port(const struct server *server, unsigned client_port)
{
	int port = (int)client_port + server->spec->port_offset;

	return client_port > 0 && port > 0 && port <= UINT16_MAX
	           ? (unsigned)port
	           : 0;
}

struct sock_way
server_way_to(const struct server *server, const struct addr *addr)
{
	const struct source_spec *source = server_source(server);
	struct sock_way way = {.options = &server->spec->sock};

	if (source->kind == SOURCE_ADDRESS &&
	    source->addr.sa.sa_family == addr->sa.sa_family)
		way.source = &source->addr;
	return way;
}

struct server_state *
server_state_ref(struct server_state *state)
{
	state->refs++;
	return state;
}

void
server_state_unref(struct server_state *state)
{
	if (--state->refs > 0)
		return;
	free(state->counters);
	free(state->addr);
	tls_resume_unref(state->resume);
	pattern_fini(&state->overrides.agent_send);
	free(state);
}

/* Control thread. */
static uint32_t last_serial;

/* Gives the server its source ports and the TLS session to resume, as far as it
 * needs them.  Returns false when memory is short. */
static bool
server_equip(struct server *server)
{
	const struct source_spec *source = server_source(server);

	if (source->port_low > 0) {
		server->ports =
		    source_ports_new(source->port_low, source->port_high);
		if (!server->ports)
			return false;
	}
	if (server->tls) {
		if (!server->state->resume)
			server->state->resume = tls_resume_new();
		server->resume = tls_resume_ref(server->state->resume);
		return server->resume != NULL;
	}
	return true;
}

static uint64_t
hash_of_name(const struct server_spec *spec)
{
	const char *name = server_spec_hash_name(spec);

	return XXH64(name, strlen(name), 0) | 1;
}

struct server *
server_new(const struct server_spec *spec, struct backend *backend,
    struct server_state *state, unsigned id)
{
	struct server *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (!s)
		return NULL;
	state = state ? server_state_ref(state)
	              : server_state_new(id, backend->spec, spec);
	if (!state) {
		free(s);
		return NULL;
	}
	*s = (struct server){
	    .spec = spec,
	    .backend = backend,
	    .id = state->id,
	    .serial = ++last_serial,
	    .name_hash = hash_of_name(spec),
	    .state = state,
	    .counters = state->counters,
	    .sessions = &state->sessions,
	    .send_proxy = server_spec_send_proxy(backend->spec, spec),
	    .starttls = server_spec_starttls(backend->spec, spec),
	    .tls = server_spec_tls(backend->model->spec, backend->spec, spec),
	};
	server_set_rules(s);
	if (server_equip(s))
		return s;
	server_free(s);
	return NULL;
}

void
server_free(struct server *server)
{
	if (!server)
		return;
	source_ports_free(server->ports);
	tls_resume_unref(server->resume);
	server_state_unref(server->state);
	free(server);
}

static void
override_addr(struct addr *addr, const struct place_override *o)
{
	unsigned before = addr_port(addr);

	if (o->has_addr.is_set)
		*addr = o->addr;
	addr_set_port(addr, o->port.is_set ? o->port.value : before);
}

void
server_set_rules(struct server *server)
{
	const struct server_overrides *o = &server->state->overrides;
	const struct backend_spec *backend = server->backend->spec;
	const struct addr *addr = server_addr(server);

	server->check = check_rules_at(backend, server->spec, addr);
	server->agent = agent_rules_at(backend, server->spec, addr);
	if (o->has_agent_send.is_set)
		server->agent.send = &o->agent_send;
	override_addr(&server->check.addr, &o->check);
	override_addr(&server->agent.addr, &o->agent);
}

/* Returns the average in the word, decayed since it was written.  The upper
 * half of the word is microseconds, the lower half the time of writing in
 * milliseconds, modulo 2^32; both change at once. */
static uint32_t
decayed_us(uint64_t word, uint64_t now_ms)
{
	uint32_t age_ms = (uint32_t)now_ms - (uint32_t)word;

	/* The clocks of two turns may differ by a little. */
	if (age_ms > INT32_MAX)
		age_ms = 0;
	return (uint32_t)((double)(word >> 32) *
	                  exp(-(double)age_ms / CONNECT_TIME_MEMORY_MS));
}

void
server_note_connect(
    struct server_state *server, uint32_t took_us, uint64_t now_ms)
{
	uint64_t word = atomic_load_relaxed(&server->connect_time), next;
	uint32_t us;

	do {
		uint32_t average = (uint32_t)(word >> 32);
		double kept = average == 0
		                  ? 0
		                  : (double)decayed_us(word, now_ms) / average;

		us = took_us >= average
		         ? took_us
		         : (uint32_t)(average * kept + took_us * (1 - kept));
		next = (uint64_t)(us > 0 ? us : 1) << 32 | (uint32_t)now_ms;
	} while (!atomic_cas_relaxed(&server->connect_time, &word, next));
}

uint32_t
server_connect_us(const struct server_state *server, uint64_t now_ms)
{
	return decayed_us(atomic_load_relaxed(&server->connect_time), now_ms);
}

uint64_t
server_since_change_s(const struct server *server)
{
	return (clock_now_ms() - server->state->changed_ms) / 1000;
}

uint64_t
server_downtime_s(const struct server *server)
{
	uint64_t ms = server->state->down_ms;

	if (!server_is_up(server))
		ms += clock_now_ms() - server->state->changed_ms;
	return ms / 1000;
}
