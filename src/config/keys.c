/* SPDX-License-Identifier: MIT
 * See keys.h.
 */
#include "config/keys.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "config/keys_internal.h"
#include "config/pool_text.h"
#include "config/values.h"
#include "model/rate_limit.h"
#include "model/spec.h"

const char *const key_switches[] = {"off", "on", NULL};

/* In the order of their enums in model/spec.h. */
static const char *const promotions[] = {"adaptive", "always", "kernel", NULL};
static const char *const orders[] = {"lifo", "fifo", "priority", NULL};
static const char *const closed_infos[] = {"auto", "off", "all", NULL};
static const char *const admin_levels[] = {"user", "operator", "admin", NULL};

#define PEOPLE_ALLOWED                                                         \
	"users of this host, and groups as in @adm, commas between"

static const struct key admin_options[] = {
    {.name = "mode",
        .type = &type_mode,
        .offset = offsetof(struct admin_spec, mode),
        .flags = KEY_UNIX_ONLY,
        .allowed = "an octal file mode",
        .default_text = "0660",
        .reload = RELOAD_LIVE,
        .help = "file mode of the socket"},
    {.name = "user",
        .type = &type_user,
        .offset = offsetof(struct admin_spec, user),
        .flags = KEY_UNIX_ONLY,
        .allowed = "a user of this host",
        .default_note = "whoever started lfproxy",
        .reload = RELOAD_LIVE,
        .help = "owner of the socket"},
    {.name = "group",
        .type = &type_group,
        .offset = offsetof(struct admin_spec, group),
        .flags = KEY_UNIX_ONLY,
        .allowed = "a group of this host",
        .default_note = "that of whoever started lfproxy",
        .reload = RELOAD_LIVE,
        .help = "group of the socket"},
    {.name = "level",
        .type = &type_choice,
        .offset = offsetof(struct admin_spec, level),
        .choices = admin_levels,
        .default_note = "admin; user for TCP",
        .reload = RELOAD_LIVE,
        .help = "what its clients may do"},
    {.name = "operators",
        .type = &type_people,
        .offset = offsetof(struct admin_spec, operators),
        .flags = KEY_UNIX_ONLY,
        .allowed = PEOPLE_ALLOWED,
        .default_note = "none",
        .reload = RELOAD_LIVE,
        .help = "who has the level operator, if the socket has a lower one"},
    {.name = "admins",
        .type = &type_people,
        .offset = offsetof(struct admin_spec, admins),
        .flags = KEY_UNIX_ONLY,
        .allowed = PEOPLE_ALLOWED,
        .default_note = "none",
        .reload = RELOAD_LIVE,
        .help = "who has the level admin, if the socket has a lower one"},
    {.name = "timeout",
        .type = &type_duration,
        .offset = offsetof(struct admin_spec, timeout_ms),
        .min = 1000,
        .max = 86400000,
        .default_text = "10s",
        .reload = RELOAD_LIVE,
        .help = "how long a client may say nothing"},
    {.name = "maxconn",
        .type = &type_number,
        .offset = offsetof(struct admin_spec, maxconn),
        .min = 1,
        .max = ADMIN_CLIENTS_MAX,
        .default_text = "256",
        .reload = RELOAD_LIVE,
        .help = "clients at a time"},
    {.name = NULL}};

static const struct key http_options[] = {
    {.name = "hosts",
        .type = &type_hosts,
        .offset = offsetof(struct global_spec, http_hosts),
        .allowed = "names with commas between, or *",
        .default_note = "this host's names at a loopback address, else any",
        .reload = RELOAD_LIVE,
        .help = "names that requests may have in Host, besides addresses"},
    {.name = NULL}};

static const struct key global_keys[] = {
    {.name = "include",
        .type = &type_include,
        .flags = KEY_REPEATABLE,
        .allowed = "a file, a folder, or a pattern as in conf.d/*.ini",
        .default_note = "none",
        .reload = RELOAD_LIVE,
        .help = "further files, also before any section"},
    {.name = "admin",
        .type = &type_admin,
        .offset = offsetof(struct global_spec, admin),
        .flags = KEY_REPEATABLE,
        .allowed = "a path, or a loopback address as in 127.0.0.1:9999",
        .default_note = "none",
        .options = admin_options,
        .reload = RELOAD_LIVE,
        .help = "an admin socket, for lfproxyctl"},
    {.name = "http",
        .type = &type_http,
        .offset = offsetof(struct global_spec, http),
        .allowed = "HOST:PORT, [HOST]:PORT, *:PORT or :PORT",
        .default_note = "none",
        .options = http_options,
        .reload = RELOAD_LIVE,
        .help = "where monitoring asks: /metrics, /stats;csv, /healthz"},
    {.name = "log",
        .type = &type_log,
        .offset = offsetof(struct global_spec, log),
        .flags = KEY_REPEATABLE,
        .allowed = LOG_ALLOWED,
        .default_text = "stderr",
        .reload = RELOAD_LIVE,
        .options = key_log_options,
        .help = "where the access log goes, a line for each session"},
    {.name = "user",
        .type = &type_user,
        .offset = offsetof(struct global_spec, user),
        .allowed = "a user of this host",
        .default_note = "whoever started lfproxy",
        .reload = RELOAD_RESTART,
        .help = "user to become once all sockets are bound"},
    {.name = "group",
        .type = &type_group,
        .offset = offsetof(struct global_spec, group),
        .allowed = "a group of this host",
        .default_note = "the user's",
        .reload = RELOAD_RESTART,
        .help = "group to become once all sockets are bound"},
    {.name = "maxconn",
        .type = &type_auto_number,
        .offset = offsetof(struct global_spec, maxconn),
        .min = 1,
        .max = MAXCONN_MAX,
        .allowed = "auto, or 1 to 1048576",
        .default_text = "auto",
        .reload = RELOAD_LIVE,
        .help = "sessions at a time; auto: what the descriptors allow"},
    {.name = "rate_connections",
        .type = &type_rate,
        .offset = offsetof(struct global_spec, rate_connections),
        .min = 1,
        .max = RATE_LIMIT_MAX,
        .allowed = RATE_ALLOWED,
        .default_text = "off",
        .reload = RELOAD_LIVE,
        .help = "connections accepted per second, HAProxy's maxconnrate"},
    {.name = "rate_sessions",
        .type = &type_rate,
        .offset = offsetof(struct global_spec, rate_sessions),
        .min = 1,
        .max = RATE_LIMIT_MAX,
        .allowed = RATE_ALLOWED,
        .default_text = "off",
        .reload = RELOAD_LIVE,
        .help = "sessions begun per second, HAProxy's maxsessrate"},
    {.name = "node",
        .type = &type_node,
        .offset = offsetof(struct global_spec, node),
        .max = 64,
        .allowed = "up to 64 " NAME_ALLOWED,
        .default_note = "the host's name",
        .reload = RELOAD_LIVE,
        .help = "name of this lfproxy in `show info`"},
    {.name = "shutdown_delay",
        .type = &type_duration,
        .offset = offsetof(struct global_spec, shutdown_delay_ms),
        .max = TIMEOUT_MAX,
        .default_note = "listeners close at once",
        .reload = RELOAD_LIVE,
        .help = "after SIGTERM: how long to accept sessions, /readyz at 503"},
    {.name = "info_name",
        .type = &type_node,
        .offset = offsetof(struct global_spec, info_name),
        .max = 64,
        .allowed = "up to 64 " NAME_ALLOWED,
        .default_text = "HAProxy",
        .reload = RELOAD_LIVE,
        .help = "Name in `show info`; some clients take HAProxy alone"},
    {.name = "drain_timeout",
        .type = &type_duration,
        .offset = offsetof(struct global_spec, drain_timeout_ms),
        .min = TIMEOUT_MIN,
        .max = TIMEOUT_MAX,
        .default_text = "30s",
        .reload = RELOAD_LIVE,
        .help = "how long sessions may go on after SIGTERM"},
    {.name = "drain_idle_timeout",
        .type = &type_duration,
        .offset = offsetof(struct global_spec, drain_idle_timeout_ms),
        .min = TIMEOUT_MIN,
        .max = TIMEOUT_MAX,
        .default_text = "2s",
        .reload = RELOAD_LIVE,
        .help = "how long of that a session may be idle"},
    {.name = "closed_sessions",
        .type = &type_number,
        .offset = offsetof(struct global_spec, closed_sessions),
        .max = CLOSED_SESSIONS_MAX,
        .default_text = "1024",
        .reload = RELOAD_LIVE,
        .help = "sessions that `show closed` remembers, 0: none"},
    {.name = "closed_tcp_info",
        .type = &type_choice,
        .offset = offsetof(struct global_spec, closed_tcp_info),
        .choices = closed_infos,
        .default_text = "auto",
        .reload = RELOAD_LIVE,
        .help = "of which of these the kernel's TCP_INFO is taken"},
    {.name = NULL}};

static const struct key pool_keys[] = {
    {.name = "threads",
        .type = &type_threads,
        .allowed = THREADS_ALLOWED,
        .default_text = "auto",
        .reload = RELOAD_LIVE,
        .help = "threads of the pool; auto: one for each usable CPU"},
    {.name = "shards",
        .type = &type_shards,
        .allowed = "auto, or 1 to the number of threads",
        .default_text = "auto",
        .reload = RELOAD_LIVE,
        .help = "handle sets with a leader each; auto: one for four threads"},
    {.name = "promotion",
        .type = &type_choice,
        .offset = offsetof(struct pool_spec, promotion),
        .choices = promotions,
        .default_text = "adaptive",
        .reload = RELOAD_LIVE,
        .help = "when the leader passes leadership on"},
    {.name = "order",
        .type = &type_choice,
        .offset = offsetof(struct pool_spec, order),
        .choices = orders,
        .default_text = "lifo",
        .reload = RELOAD_LIVE,
        .help = "which of the waiting threads is promoted"},
    {.name = "cpus",
        .type = &type_cpus,
        .allowed = "all, or numbers and ranges as in 0-3,5",
        .default_text = "all",
        .reload = RELOAD_LIVE,
        .help = "CPUs that the threads run on"},
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
	const struct key *own = sections[kind].keys;
	size_t at = 0;

	if (kind != SECTION_DEFAULTS) {
		if (!own || !own[*position].name)
			return NULL;
		*ret_home = kind;
		return &own[(*position)++];
	}
	for (enum section_kind s = 0; s < SECTION_KINDS; s++) {
		const struct key *k = sections[s].keys;

		for (; k && k->name; k++, at++) {
			if (at < *position || !(k->flags & KEY_IN_DEFAULTS))
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
