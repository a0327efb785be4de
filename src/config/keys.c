/* SPDX-License-Identifier: MIT
 * See keys.h.
 */
#include "config/keys.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "config/pool_text.h"
#include "config/values.h"
#include "model/spec.h"

#define SECOND_MS   1000u
#define DAY_MS      (86400u * SECOND_MS)
#define TIMEOUT_MIN 10u
#define TIMEOUT_MAX (30ull * DAY_MS)

/* In the order of their enums in model/spec.h. */
static const char *const log_targets[] = {"stderr", "off", NULL};
static const char *const promotions[] = {"adaptive", "always", "kernel", NULL};
static const char *const orders[] = {"lifo", "fifo", "priority", NULL};
static const char *const associations[] = {"unbound", "bound", NULL};
static const char *const balances[] = {"roundrobin", NULL};

static const char *const methods[] = {"GET", "HEAD", "OPTIONS", NULL};

static const struct key admin_options[] = {
    {.name = "mode",
        .type = &type_mode,
        .offset = offsetof(struct global_spec, admin_mode),
        .allowed = "an octal file mode",
        .default_text = "0660",
        .help = "file mode of the socket"},
    {.name = NULL}};

static const struct key global_keys[] = {
    {.name = "admin",
        .type = &type_admin,
        .offset = offsetof(struct global_spec, admin),
        .allowed = "a path",
        .default_note = "none",
        .options = admin_options,
        .help = "path of the admin socket, for lfproxyctl"},
    {.name = "log",
        .type = &type_choice,
        .offset = offsetof(struct global_spec, log),
        .choices = log_targets,
        .default_text = "stderr",
        .help = "where the access log goes, a line for each session"},
    {.name = "user",
        .type = &type_user,
        .offset = offsetof(struct global_spec, user),
        .allowed = "a user of this host",
        .default_note = "whoever started lfproxy",
        .help = "user to become once all sockets are bound"},
    {.name = "group",
        .type = &type_group,
        .offset = offsetof(struct global_spec, group),
        .allowed = "a group of this host",
        .default_note = "the user's",
        .help = "group to become once all sockets are bound"},
    {.name = "node",
        .type = &type_node,
        .offset = offsetof(struct global_spec, node),
        .max = 64,
        .allowed = "up to 64 " NAME_ALLOWED,
        .default_note = "the host's name",
        .help = "name of this lfproxy in `show info`"},
    {.name = "drain_timeout",
        .type = &type_duration,
        .offset = offsetof(struct global_spec, drain_timeout_ms),
        .min = TIMEOUT_MIN,
        .max = TIMEOUT_MAX,
        .default_text = "30s",
        .help = "how long sessions may go on after SIGTERM"},
    {.name = NULL}};

static const struct key pool_keys[] = {
    {.name = "threads",
        .type = &type_threads,
        .allowed = THREADS_ALLOWED,
        .default_text = "auto",
        .help = "threads of the pool; auto: one for each usable CPU"},
    {.name = "shards",
        .type = &type_shards,
        .allowed = "auto, or 1 to the number of threads",
        .default_text = "auto",
        .help = "handle sets with a leader each; auto: one for four threads"},
    {.name = "promotion",
        .type = &type_choice,
        .offset = offsetof(struct pool_spec, promotion),
        .choices = promotions,
        .default_text = "adaptive",
        .help = "when the leader passes leadership on"},
    {.name = "order",
        .type = &type_choice,
        .offset = offsetof(struct pool_spec, order),
        .choices = orders,
        .default_text = "lifo",
        .help = "which of the waiting threads is promoted"},
    {.name = "cpus",
        .type = &type_cpus,
        .allowed = "all, or numbers and ranges as in 0-3,5",
        .default_text = "all",
        .help = "CPUs that the threads run on"},
    {.name = NULL}};

static const struct key listen_options[] = {
    {.name = "mode",
        .type = &type_mode,
        .offset = offsetof(struct listen_spec, mode),
        .flags = KEY_UNIX_ONLY,
        .allowed = "an octal file mode",
        .default_text = "0666",
        .help = "file mode of a unix socket"},
    {.name = NULL}};

static const struct key frontend_keys[] = {
    {.name = "listen",
        .type = &type_listen,
        .flags = KEY_REPEATABLE | KEY_REQUIRED,
        .allowed = "IP:PORT, [V6]:PORT, :PORT or unix:/path",
        .default_note = "required",
        .options = listen_options,
        .help = "address to accept connections on"},
    {.name = "backend",
        .type = &type_backend,
        .offset = offsetof(struct frontend_spec, backend),
        .flags = KEY_REQUIRED,
        .allowed = "the name of a [backend NAME]",
        .default_note = "required",
        .help = "backend whose servers get the connections"},
    {.name = "pool",
        .type = &type_pool,
        .offset = offsetof(struct frontend_spec, pool),
        .allowed = "the name of a [pool NAME]",
        .default_note = "the first pool",
        .help = "pool of threads that does the work"},
    {.name = "association",
        .type = &type_association,
        .choices = associations,
        .default_text = "unbound",
        .help = "whether sessions stay with the thread that accepted them"},
    {.name = "timeout_client",
        .type = &type_duration,
        .offset = offsetof(struct frontend_spec, timeout_client_ms),
        .flags = KEY_IN_DEFAULTS,
        .min = TIMEOUT_MIN,
        .max = TIMEOUT_MAX,
        .default_text = "5m",
        .help = "longest silence of a client"},
    {.name = "timeout_client_fin",
        .type = &type_duration,
        .offset = offsetof(struct frontend_spec, timeout_client_fin_ms),
        .flags = KEY_IN_DEFAULTS,
        .min = TIMEOUT_MIN,
        .max = TIMEOUT_MAX,
        .default_text = "30s",
        .help = "longest silence of a client once one side has ended"},
    {.name = NULL}};

static const struct key check_options[] = {
    {.name = "path",
        .type = &type_url_path,
        .offset = offsetof(struct check_spec, path),
        .flags = KEY_HTTP_ONLY,
        .allowed = "a path that starts with /",
        .default_text = "/",
        .help = "what to ask the server for"},
    {.name = "host",
        .type = &type_http_host,
        .offset = offsetof(struct check_spec, host),
        .flags = KEY_HTTP_ONLY,
        .allowed = "a host name, with or without a port",
        .default_note = "the server's address",
        .help = "the Host header"},
    {.name = "method",
        .type = &type_choice_text,
        .offset = offsetof(struct check_spec, method),
        .flags = KEY_HTTP_ONLY,
        .choices = methods,
        .default_text = "GET",
        .help = "the HTTP method"},
    {.name = "status",
        .type = &type_status,
        .offset = offsetof(struct check_spec, status_min),
        .flags = KEY_HTTP_ONLY,
        .min = 100,
        .max = 599,
        .allowed = "a status or a range of them, 100 to 599",
        .default_text = "200-399",
        .help = "which answers mean healthy"},
    {.name = "interval",
        .type = &type_duration,
        .offset = offsetof(struct check_spec, interval_ms),
        .min = TIMEOUT_MIN,
        .max = DAY_MS,
        .default_text = "2s",
        .help = "time from check to check"},
    {.name = "timeout",
        .type = &type_duration,
        .offset = offsetof(struct check_spec, timeout_ms),
        .min = TIMEOUT_MIN,
        .max = DAY_MS,
        .default_text = "2s",
        .help = "how long a check may take"},
    {.name = "fall",
        .type = &type_number,
        .offset = offsetof(struct check_spec, fall),
        .min = 1,
        .max = 1000,
        .default_text = "3",
        .help = "failures in a row until the server is down"},
    {.name = "rise",
        .type = &type_number,
        .offset = offsetof(struct check_spec, rise),
        .min = 1,
        .max = 1000,
        .default_text = "2",
        .help = "successes in a row until the server is up"},
    {.name = NULL}};

static const struct key server_options[] = {
    {.name = "weight",
        .type = &type_number,
        .offset = offsetof(struct server_spec, weight),
        .min = 0,
        .max = WEIGHT_MAX,
        .default_text = "100",
        .help = "share of the sessions; 0: no new ones"},
    {.name = NULL}};

static const struct key backend_keys[] = {
    {.name = "balance",
        .type = &type_choice,
        .offset = offsetof(struct backend_spec, balance),
        .choices = balances,
        .default_text = "roundrobin",
        .help = "how a server is chosen"},
    {.name = "server",
        .type = &type_server,
        .flags = KEY_REPEATABLE | KEY_REQUIRED,
        .allowed = "NAME and HOST:PORT, [V6]:PORT or unix:/path",
        .default_note = "required",
        .options = server_options,
        .help = "a server of this backend"},
    {.name = "check",
        .type = &type_check,
        .offset = offsetof(struct backend_spec, check),
        .flags = KEY_IN_DEFAULTS,
        .allowed = "connect, http or off",
        .default_text = "connect",
        .options = check_options,
        .help = "health check of the servers"},
    {.name = "retries",
        .type = &type_number,
        .offset = offsetof(struct backend_spec, retries),
        .flags = KEY_IN_DEFAULTS,
        .min = 0,
        .max = 10,
        .default_text = "3",
        .help = "further attempts, on other servers, to connect a session"},
    {.name = "timeout_connect",
        .type = &type_duration,
        .offset = offsetof(struct backend_spec, timeout_connect_ms),
        .flags = KEY_IN_DEFAULTS,
        .min = TIMEOUT_MIN,
        .max = TIMEOUT_MAX,
        .default_text = "5s",
        .help = "how long an attempt to connect may take"},
    {.name = "timeout_server",
        .type = &type_duration,
        .offset = offsetof(struct backend_spec, timeout_server_ms),
        .flags = KEY_IN_DEFAULTS,
        .min = TIMEOUT_MIN,
        .max = TIMEOUT_MAX,
        .default_text = "5m",
        .help = "longest silence of a server"},
    {.name = "timeout_server_fin",
        .type = &type_duration,
        .offset = offsetof(struct backend_spec, timeout_server_fin_ms),
        .flags = KEY_IN_DEFAULTS,
        .min = TIMEOUT_MIN,
        .max = TIMEOUT_MAX,
        .default_text = "5m",
        .help = "longest silence of a server once one side has ended"},
    {.name = NULL}};

const struct section sections[SECTION_KINDS] = {
    [SECTION_GLOBAL] = {"global", "[global]", false, global_keys},
    [SECTION_POOL] = {"pool", "[pool NAME]", true, pool_keys},
    [SECTION_DEFAULTS] = {"defaults", "[defaults]", false, NULL},
    [SECTION_FRONTEND] = {"frontend", "[frontend NAME]", true, frontend_keys},
    [SECTION_BACKEND] = {"backend", "[backend NAME]", true, backend_keys},
};

/* The position counts through the keys of all sections one after the other,
 * so that [defaults] can pick from each. */
const struct key *
key_next(enum section_kind kind, size_t *position, enum section_kind *ret_home)
{
	size_t at = 0;

	for (enum section_kind s = 0; s < SECTION_KINDS; s++) {
		const struct key *k = sections[s].keys;

		for (; k && k->name; k++, at++) {
			if (at < *position ||
			    (kind == SECTION_DEFAULTS
			            ? !(k->flags & KEY_IN_DEFAULTS)
			            : s != kind))
				continue;
			*position = at + 1;
			*ret_home = s;
			return k;
		}
	}
	return NULL;
}

const struct key *
key_find(enum section_kind kind, const char *name, enum section_kind *ret_home)
{
	const struct key *k;
	size_t position = 0;
	enum section_kind home;

	while ((k = key_next(kind, &position, &home))) {
		if (strcmp(k->name, name) == 0) {
			*ret_home = home;
			return k;
		}
	}
	return NULL;
}

const char *
key_allowed(const struct key *key, char out[KEY_ALLOWED_SIZE])
{
	char low[TEXT_DURATION_SIZE], high[TEXT_DURATION_SIZE];
	size_t len = 0;

	out[0] = '\0';
	if (key->allowed) {
		snprintf(out, KEY_ALLOWED_SIZE, "%s", key->allowed);
	} else if (key->choices) {
		for (size_t i = 0; key->choices[i]; i++)
			len +=
			    (size_t)snprintf(out + len, KEY_ALLOWED_SIZE - len,
			        "%s%s", i ? ", " : "", key->choices[i]);
	} else if (key->type == &type_duration) {
		snprintf(out, KEY_ALLOWED_SIZE, "%s to %s",
		    text_duration(key->min, low),
		    text_duration(key->max, high));
	} else {
		snprintf(out, KEY_ALLOWED_SIZE, "%" PRIu64 " to %" PRIu64,
		    key->min, key->max);
	}
	return out;
}

static void
list_key(FILE *out, const char *section, const struct key *within,
    const struct key *key)
{
	char allowed[KEY_ALLOWED_SIZE];

	fprintf(out, "%s\t%s%s%s\t%s\t%s\t%s\n", section,
	    within ? within->name : "", within ? ":" : "", key->name,
	    key->default_text ? key->default_text : key->default_note,
	    key_allowed(key, allowed), key->help);
}

void
keys_list(FILE *out)
{
	for (enum section_kind s = 0; s < SECTION_KINDS; s++) {
		const struct key *k;
		size_t position = 0;
		enum section_kind home;

		while ((k = key_next(s, &position, &home))) {
			const struct key *o = k->options;

			list_key(out, sections[s].name, NULL, k);
			for (; o && o->name; o++)
				list_key(out, sections[s].name, k, o);
		}
	}
}
