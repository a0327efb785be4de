/* SPDX-License-Identifier: MIT
 * See keys.h.
 */
#include "config/keys.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "config/keys_internal.h"
#include "model/source_table.h"

CHOICES(promotions, POLICY_KERNEL, [POLICY_ADAPTIVE] = "adaptive",
    [POLICY_ALWAYS] = "always", [POLICY_KERNEL] = "kernel");
CHOICES(orders, ORDER_PRIORITY, [ORDER_LIFO] = "lifo", [ORDER_FIFO] = "fifo",
    [ORDER_PRIORITY] = "priority");
CHOICES(closed_infos, TCP_INFO_ALL, [TCP_INFO_AUTO] = "auto",
    [TCP_INFO_OFF] = "off", [TCP_INFO_ALL] = "all");
/* MODE=cover has "off": a process writes files at its end. */
#ifndef SECCOMP_DEFAULT
#define SECCOMP_DEFAULT "auto"
#endif
CHOICES(seccomp_modes, SECCOMP_AUTO, [SECCOMP_OFF] = "off",
    [SECCOMP_LOG] = "log", [SECCOMP_ON] = "on", [SECCOMP_AUTO] = "auto");
CHOICES(admin_levels, LEVEL_ADMIN, [LEVEL_USER] = "user",
    [LEVEL_OPERATOR] = "operator", [LEVEL_ADMIN] = "admin");

STARTTLS_CHOICES;

/* The indices are values of enum band_scope; a frontend has no servers. */
static const char *const frontend_scopes[] = {[BAND_SESSION] = "session",
    [BAND_PROXY] = "frontend",
    [BAND_SERVER] = "",
    [BAND_SOURCE] = "client",
    NULL};

CHOICES(on_no_hellos, ON_NO_HELLO_CLOSE, [ON_NO_HELLO_CONTINUE] = "continue",
    [ON_NO_HELLO_CLOSE] = "close");
CHOICES(limit_counts, LIMIT_COUNT_ALL, [LIMIT_COUNT_ACCEPTED] = "accepted",
    [LIMIT_COUNT_ALL] = "all");
CHOICES(splices, SPLICE_OFF, [SPLICE_AUTO] = "auto", [SPLICE_OFF] = "off");

CHOICES(log_formats, LOG_LOGFMT, [LOG_TCPLOG] = "tcplog", [LOG_JSON] = "json",
    [LOG_LOGFMT] = "logfmt");
CHOICES(message_formats, LOG_MESSAGE_LOGFMT, [LOG_MESSAGE_TEXT] = "text",
    [LOG_MESSAGE_JSON] = "json", [LOG_MESSAGE_LOGFMT] = "logfmt");
CHOICES(log_rfcs, LOG_RFC5424, [LOG_RFC3164] = "3164", [LOG_RFC5424] = "5424");
/* The facilities by number (RFC 5424, section 6.2.1), with the names that
 * syslog.conf uses. */
static const char *const facilities[] = {"kern", "user", "mail", "daemon",
    "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp",
    "audit", "alert", "cron2", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7", NULL};
_Static_assert(sizeof(facilities) / sizeof(facilities[0]) == 24 + 1, "0 to 23");

/* Returns whether the change takes a restart: a filter cannot be removed. */
static bool
seccomp_loosens(unsigned from, unsigned to)
{
	return to < from && to < SECCOMP_ON;
}

/* clang-format off */
/* The options of targets, for sessions and for messages. */
#define TARGET_OPTIONS(its_facility)                                           \
    {"mode", "mode of a file that is made",                                    \
        VALUE(mode), LOG(mode), DEFAULT("0640"), FILE_ONLY},                   \
    {"facility", "which of the syslog daemon's logs is meant",                 \
        CHOICE(facilities), ALLOWED("kern to ftp, or local0 to local7"),       \
        LOG(facility), DEFAULT(its_facility), SYSLOG_ONLY},                    \
    {"tag", "the program's name in syslog",                                    \
        VALUE(tag), LIMITS(0, LOG_TAG_MAX), LOG(tag), DEFAULT("lfproxy"),      \
        SYSLOG_ONLY},                                                          \
    {"rfc", "which standard the messages follow",                              \
        CHOICE(log_rfcs), LOG(rfc), DEFAULT("3164"), SYSLOG_ONLY},

static const struct key log_options[] = {
    {"format", "how a session is written",
        CHOICE(log_formats), LOG(format), DEFAULT("tcplog")},
    {"sample", "which share of the sessions is logged",
        VALUE(sample), LIMITS(1, 1000000), LOG(sample), DEFAULT("1/1")},
    TARGET_OPTIONS("local0")
    {.name = NULL}};

static const struct key message_options[] = {
    {"format", "how a message is written",
        CHOICE(message_formats), LOG(format), DEFAULT("text")},
    TARGET_OPTIONS("daemon")
    {.name = NULL}};

static const struct key admin_options[] = {
    {"mode", "file mode of the socket",
        VALUE(mode), ADMIN(mode), DEFAULT("0660"), UNIX_ONLY},
    {"user", "owner of the socket",
        VALUE(user), ADMIN(user), WITHOUT("the user who started lfproxy"),
        UNIX_ONLY},
    {"group", "group of the socket",
        VALUE(group), ADMIN(group), WITHOUT("the group of the user who started lfproxy"),
        UNIX_ONLY},
    {"level", "the level of its clients",
        CHOICE(admin_levels), ADMIN(level), WITHOUT("admin; user for TCP")},
    {"operators", "users with the level operator on a socket with a lower level",
        VALUE(people), ADMIN(operators), WITHOUT("none"), UNIX_ONLY},
    {"admins", "users with the level admin on a socket with a lower level",
        VALUE(people), ADMIN(admins), WITHOUT("none"), UNIX_ONLY},
    {"timeout", "how long a client may say nothing",
        DURATION(SECOND_MS, DAY_MS), ADMIN(timeout_ms), DEFAULT("10s")},
    {"maxconn", "clients at a time",
        NUMBER(1, ADMIN_CLIENTS_MAX), ADMIN(maxconn), DEFAULT("256")},
    {.name = NULL}};

static const struct key http_options[] = {
    {"hosts", "names that requests may have in Host, besides addresses",
        VALUE(hosts), GLOBAL(http.hosts),
        WITHOUT("this host's names at a loopback address, else any")},
    {"level", "level of clients that are not signed in",
        CHOICE(admin_levels), GLOBAL(http.level), DEFAULT("user")},
    {"users", "the file of users who may sign in, with the hashes of their passwords",
        VALUE(users_file), GLOBAL(http.users), WITHOUT("no user can sign in")},
    {"tls", "TLS with clients, as that section says",
        VALUE(tls), GLOBAL(http.at.tls), WITHOUT("plain HTTP")},
    {"user_header", "the header in which a proxy in front names the user",
        VALUE(header_name), GLOBAL(http.user_header), WITHOUT("none")},
    {"header_from", "the addresses of such proxies",
        VALUE(ranges), GLOBAL(http.header_from), WITHOUT("none")},
    {"plain_sign_in", "signing in from other hosts also without TLS",
        FLAG, GLOBAL(http.plain_sign_in)},
    {.name = NULL}};

static const struct key global_keys[] = {
    {"include", "further files, also before any section",
        VALUE(include), WITHOUT("none"), REPEATABLE},
    {"admin", "an admin socket, for lfproxyctl",
        VALUE(admin), GLOBAL(admin), WITHOUT("none"), OPTIONS(admin_options),
        REPEATABLE},
    {"http", "where monitoring asks: /metrics, /stats;csv, /healthz",
        VALUE(http), GLOBAL(http.at), WITHOUT("none"), OPTIONS(http_options)},
    {"log", "where the access log goes, a line for each session",
        VALUE(log), GLOBAL(log), DEFAULT("stderr"), OPTIONS(log_options),
        REPEATABLE},
    {"log_messages", "where messages for the operator go",
        VALUE(message_log), GLOBAL(messages),
        WITHOUT("stderr, in the format of a log there or at stdout"),
        OPTIONS(message_options), REPEATABLE},
    {"user", "user to become once all sockets are bound",
        VALUE(user), GLOBAL(user), WITHOUT("the user who started lfproxy"), RESTART},
    {"group", "group to become once all sockets are bound",
        VALUE(group), GLOBAL(group), WITHOUT("the user's"), RESTART},
    {"chroot", "directory in which all paths are looked up, also by reloads",
        VALUE(root), GLOBAL(chroot), WITHOUT("/"), RESTART},
    {"maxconn", "sessions at a time; auto: as many as the descriptors allow",
        MAXCONN, GLOBAL(maxconn), DEFAULT("auto")},
    {"strict_limits", "whether maxconn needs two descriptors for each session",
        SWITCH("on"), GLOBAL(strict_limits), RESTART},
    {"rate_connections",
        "connections accepted per second, HAProxy's maxconnrate",
        RATE, GLOBAL(rate_connections), DEFAULT("off")},
    {"rate_sessions", "sessions begun per second, HAProxy's maxsessrate",
        RATE, GLOBAL(rate_sessions), DEFAULT("off")},
    {"node", "name of this lfproxy in `show info`",
        VALUE(node), LIMITS(0, 64), GLOBAL(node), WITHOUT("the host's name")},
    {"state_file", "file that keeps changes by operators and counters over a restart",
        VALUE(state_file), GLOBAL(state_file), WITHOUT("changes and counters end with lfproxy")},
    {"shutdown_delay",
        "after SIGTERM: how long to accept sessions, /readyz at 503",
        DURATION(0, TIMEOUT_MAX), GLOBAL(shutdown_delay_ms),
        WITHOUT("listeners close at once")},
    {"info_name", "Name in `show info`; some clients take HAProxy alone",
        VALUE(node), LIMITS(0, 64), GLOBAL(info_name), DEFAULT("HAProxy")},
    {"drain_timeout", "how long sessions may go on after SIGTERM",
        TIMEOUT, GLOBAL(drain_timeout_ms),
        WITHOUT("30s; in a container 8s less shutdown_delay, at least 1s")},
    {"drain_idle_timeout", "how long of that a session may be idle",
        TIMEOUT, GLOBAL(drain_idle_timeout_ms), DEFAULT("2s")},
    {"closed_sessions", "sessions that `show closed` remembers, 0: none",
        NUMBER(0, CLOSED_SESSIONS_MAX), GLOBAL(closed_sessions),
        DEFAULT("1024")},
    {"closed_tcp_info", "of which of these the kernel's TCP_INFO is taken",
        CHOICE(closed_infos), GLOBAL(closed_tcp_info), DEFAULT("auto")},
    {"seccomp", "whether lfproxy refuses itself system calls that it never needs",
        CHOICE(seccomp_modes), GLOBAL(seccomp), DEFAULT(SECCOMP_DEFAULT),
        .loosens = seccomp_loosens},
    {.name = NULL}};

static const struct key list_file_options[] = {
    {"country", "take the networks of these countries from a MaxMind database",
        VALUE(countries), LIST_FILE(countries), WITHOUT("the file has a range on each line")},
    {.name = NULL}};

static const struct key list_keys[] = {
    {"entry", "addresses that the list has",
        VALUE(list_entry), WITHOUT("none"), REPEATABLE},
    {"file", "a file of addresses, which is read again when it changes",
        VALUE(list_file), WITHOUT("none"), OPTIONS(list_file_options),
        REPEATABLE},
    {.name = NULL}};

static const struct key resolver_keys[] = {
    {"nameserver", "a name server",
        VALUE(nameserver), WITHOUT("those of /etc/resolv.conf"), REPEATABLE},
    {"timeout", "how long a name server may take to answer",
        DURATION(TIMEOUT_MIN, 60 * SECOND_MS), RESOLVER(timeout_ms),
        WITHOUT("timeout: of /etc/resolv.conf, or 2s")},
    {"retries", "how often all name servers are asked again",
        VALUE(own_number), LIMITS(0, 10), RESOLVER(retries),
        WITHOUT("attempts: of /etc/resolv.conf less one, or 1")},
    {"ttl_min", "time after which a name is asked for again, at least",
        DURATION(100, DAY_MS), RESOLVER(ttl_min_ms), DEFAULT("1s")},
    {"ttl_max", "time after which a name is asked for again, at most",
        DURATION(100, TIMEOUT_MAX), RESOLVER(ttl_max_ms), DEFAULT("1h")},
    {"hold", "how long a good answer is kept while names are not resolved",
        VALUE(hold), LIMITS(0, TIMEOUT_MAX), RESOLVER(hold_ms), DEFAULT("1d")},
    {.name = NULL}};

static const struct key pool_keys[] = {
    {"threads", "threads of the pool; auto: one for each usable CPU, two with TLS",
        VALUE(threads), DEFAULT("auto")},
    {"shards", "handle sets with a leader each; auto: one for two threads",
        VALUE(shards), DEFAULT("auto")},
    {"promotion", "when the leader passes leadership on",
        CHOICE(promotions), POOL(promotion), DEFAULT("adaptive")},
    {"order", "which of the waiting threads is promoted",
        CHOICE(orders), POOL(order), DEFAULT("lifo")},
    {"cpus", "CPUs that the threads run on",
        VALUE(cpus), DEFAULT("all")},
    {"handshake_threads",
        "threads that may be in TLS handshakes; auto: one for each CPU",
        VALUE(auto_number), LIMITS(1, POOL_THREADS_MAX),
        POOL(handshake_threads), DEFAULT("auto")},
    {"handshake_nice",
        "how much nicer a thread is during a TLS handshake",
        VALUE(number), LIMITS(0, HANDSHAKE_NICE_MAX),
        POOL(handshake_nice), DEFAULT("20")},
    {.name = NULL}};

static const struct key listen_options[] = {
    {"mode", "file mode of a unix socket",
        VALUE(mode), LISTEN(mode), DEFAULT("0666"), UNIX_ONLY},
    {"user", "owner of a unix socket's file",
        VALUE(user), LISTEN(user), WITHOUT("the user who started lfproxy"),
        UNIX_ONLY},
    {"group", "group of a unix socket's file",
        VALUE(group), LISTEN(group), WITHOUT("the group of the user who started lfproxy"),
        UNIX_ONLY},
    SOCK_KEYS_LISTEN,
    {"accept_proxy", "connections begin with a header of the PROXY protocol",
        FLAG, LISTEN(accept_proxy)},
    {"tls", "TLS with clients, as that section says",
        VALUE(tls), LISTEN(tls), WITHOUT("plain TCP")},
    {"starttls", "the protocol in which clients ask for TLS before it begins",
        OWN_CHOICE(starttls_words), LISTEN(starttls),
        WITHOUT("off")},
    {.name = NULL}};

static const struct key age_options[] = {
    {"jitter", "how much earlier a session may end, drawn for each",
        PERCENT(0, 50), FRONTEND(max_age_jitter), DEFAULT("0%")},
    {.name = NULL}};

static const struct key route_options[] = {
    {"weight", "share of the sessions, where there are several backends",
        NUMBER(0, SHARE_MAX), ROUTE(weight), DEFAULT("100")},
    {"fallback", "backend that serves while this one has no usable server",
        VALUE(fallback), ROUTE(fallback), WITHOUT("none")},
    {.name = NULL}};

#define RULE_KEYS                                                              \
    {"backend", "backend whose servers get these clients",                     \
        VALUE(rule_backend), RULE(backend), WITHOUT("required")}

static const struct key sni_options[] = {RULE_KEYS, {.name = NULL}};

static const struct key rule_options[] = {
    {"sni", "clients that ask for one of these names, with TLS",
        VALUE(rule_names), RULE(names), WITHOUT("any, or none")},
    {"alpn", "clients that offer one of these protocols, with TLS",
        VALUE(rule_alpn), RULE(alpn), WITHOUT("any, or none")},
    {"tls", "whether the client speaks TLS",
        VALUE(rule_tls), RULE(tls), WITHOUT("either")},
    {"version", "clients whose highest TLS version is one of these",
        VALUE(rule_versions), RULE(versions), WITHOUT("any, or none")},
    {"src", "addresses of clients",
        VALUE(rule_ranges), RULE(src), WITHOUT("any")},
    {"dst", "addresses that clients have connected to",
        VALUE(rule_ranges), RULE(dst), WITHOUT("any")},
    {"port", "ports that clients have connected to",
        VALUE(rule_ports), RULE(ports), WITHOUT("any")},
    RULE_KEYS,
    {.name = NULL}};

static const struct key limit_options[] = {
    {"sessions", "sessions at a time",
        NUMBER(1, MAXCONN_MAX), LIMIT(sessions), WITHOUT("any number")},
    {"rate", "connections accepted in a second, minute or hour",
        VALUE(limit_rate), LIMITS(1, RATE_LIMIT_MAX), LIMIT(rate),
        WITHOUT("any number")},
    {"burst", "connections that may come at once",
        NUMBER(1, RATE_LIMIT_MAX), LIMIT(burst),
        WITHOUT("the number that the rate allows in its second, minute or hour")},
    {"count", "which connections the rate counts",
        CHOICE(limit_counts), LIMIT(count), DEFAULT("accepted")},
    {"bytes", "bytes, in both directions, in a second, minute or hour",
        VALUE(limit_bytes), LIMITS(BANDWIDTH_MIN, BANDWIDTH_MAX),
        LIMIT(bytes), WITHOUT("any number")},
    {"per", "whether each client range, all clients together, or the clients of a list are counted",
        VALUE(limit_per), LIMIT(per), DEFAULT("client")},
    {"only", "the list of the clients that are counted",
        VALUE(limit_list), LIMIT(only), WITHOUT("all clients")},
    {"except", "the list of the clients that are not counted",
        VALUE(limit_list), LIMIT(except), WITHOUT("none")},
    {"prefix4", "bits of an IPv4 address that make a source",
        NUMBER(0, 32), LIMIT(prefix4), DEFAULT("32")},
    {"prefix6", "bits of an IPv6 address that make a source",
        NUMBER(0, 128), LIMIT(prefix6), DEFAULT("64")},
    {"action", "what happens to a client beyond the limit",
        VALUE(limit_action), LIMIT(action), DEFAULT("reset")},
    {"size", "sources in the table",
        VALUE(size), LIMITS(1, SOURCE_TABLE_MAX), LIMIT(size), DEFAULT("1m")},
    {"table", "the name of a table that limits of several frontends share",
        VALUE(limit_table), LIMIT(table), WITHOUT("a table of its own")},
    {.name = NULL}};

static const struct key frontend_keys[] = {
    {"listen", "address to accept connections on",
        VALUE(listen), WITHOUT("required"), OPTIONS(listen_options),
        REQUIRED_REPEATABLE},
    {"backend", "backend whose servers get the connections, or a share",
        VALUE(backend), WITHOUT("required, unless there are rules"),
        OPTIONS(route_options), REQUIRED_REPEATABLE},
    {"sni", "backend of the TLS clients that ask for one of these names",
        VALUE(sni_rule), WITHOUT("no rules"), OPTIONS(sni_options), REPEATABLE},
    {"route", "backend of the clients for which all of its conditions hold",
        VALUE(route_rule), WITHOUT("no rules"), OPTIONS(rule_options),
        REPEATABLE},
    {"pool", "pool of threads that does the work",
        VALUE(pool), FRONTEND(pool), WITHOUT("the first pool")},
    {"maxconn", "sessions at a time; auto: only the limit of [global]",
        MAXCONN, FRONTEND(maxconn), DEFAULT("auto"), IN_DEFAULTS},
    {"rate", "connections accepted per second",
        RATE, FRONTEND(rate), DEFAULT("off"), IN_DEFAULTS},
    {"disabled", "whether it refuses connections until an operator enables it",
        SWITCH("off"), FRONTEND(disabled)},
    {"timeout_client", "longest silence of a client",
        TIMEOUT, FRONTEND(timeout_client_ms), DEFAULT("5m"), IN_DEFAULTS},
    {"timeout_client_fin",
        "longest silence of a client once one side has ended",
        TIMEOUT, FRONTEND(timeout_client_fin_ms), DEFAULT("30s"), IN_DEFAULTS},
    {"half_close",
        "whether a session goes on once one side has finished sending",
        SWITCH("on"), FRONTEND(half_close), IN_DEFAULTS},
    {"timeout_hello", "how long a client may take to send its hello",
        TIMEOUT, FRONTEND(timeout_hello_ms), DEFAULT("5s"), IN_DEFAULTS},
    {"on_no_hello", "what happens to a client that has not sent its hello by then",
        CHOICE(on_no_hellos), FRONTEND(on_no_hello), DEFAULT("continue")},
    {"timeout_handshake", "how long the TLS handshake with a client may take",
        TIMEOUT, FRONTEND(timeout_handshake_ms), DEFAULT("10s"), IN_DEFAULTS},
    {"handshakes", "TLS handshakes with clients at a time; 0: no limit",
        NUMBER(0, MAXCONN_MAX), FRONTEND(handshakes_max), DEFAULT("0"),
        IN_DEFAULTS},
    {"timeout_first_byte", "how long a client may take to send its first byte",
        TIMEOUT, FRONTEND(timeout_first_byte_ms),
        WITHOUT("no limit of its own"), IN_DEFAULTS},
    {"splice", "move bulk through pipes in the kernel instead of copying it",
        CHOICE(splices), FRONTEND(splice), DEFAULT("auto"), IN_DEFAULTS},
    {"bandwidth", "bytes per second from clients (in) and to them (out)",
        BANDWIDTH(frontend_scopes, "session, source or frontend"),
        FRONTEND(bandwidth), WITHOUT("no limit"), REPEATABLE},
    {"max_age", "longest life of a session, busy or not",
        VALUE(age), LIMITS(TIMEOUT_MIN, TIMEOUT_MAX), WITHOUT("no limit"),
        OPTIONS(age_options), IN_DEFAULTS},
    {"log", "where this frontend's access log goes instead",
        VALUE(log), FRONTEND(log), WITHOUT("as in [global]"),
        OPTIONS(log_options), REPEATABLE},
    {"log_on_connect", "whether a session is also logged when it is connected",
        SWITCH("off"), FRONTEND(log_on_connect), IN_DEFAULTS},
    {"log_every", "how often a session is also logged while it lasts",
        DURATION(SECOND_MS, TIMEOUT_MAX), FRONTEND(log_every_ms),
        WITHOUT("never"), IN_DEFAULTS},
    {"log_empty", "whether to log sessions whose client sent nothing",
        SWITCH("on"), FRONTEND(log_empty), IN_DEFAULTS},
    {"proxy_from",
        "peers whose connections begin with a PROXY header",
        VALUE(proxy_from), WITHOUT("any client"), REPEATABLE},
    {"allow", "clients that may come in; with deny, the first match decides",
        VALUE(allow), WITHOUT("any client"), REPEATABLE},
    {"deny", "clients that may not come in; with allow, the first match decides",
        VALUE(deny), WITHOUT("none"), REPEATABLE},
    {"on_deny", "what happens to a client that is denied",
        VALUE(on_deny), FRONTEND(on_deny), DEFAULT("reset"), IN_DEFAULTS},
    {"limit", "sessions and connections that each source may have",
        VALUE(limit), WITHOUT("no limit"), OPTIONS(limit_options), REPEATABLE},
    {.name = NULL}};
/* clang-format on */

const struct section sections[SECTION_KINDS] = {
    [SECTION_GLOBAL] = {"global", "[global]", false, global_keys},
    [SECTION_POOL] = {"pool", "[pool NAME]", true, pool_keys},
    [SECTION_TLS] = {"tls", "[tls NAME]", true, tls_keys},
    [SECTION_LIST] = {"list", "[list NAME]", true, list_keys},
    [SECTION_RESOLVER] = {"resolver", "[resolver]", false, resolver_keys},
    [SECTION_DEFAULTS] = {"defaults", "[defaults]", false, NULL},
    [SECTION_FRONTEND] = {"frontend", "[frontend NAME]", true, frontend_keys},
    [SECTION_BACKEND] = {"backend", "[backend NAME]", true, backend_keys},
};

enum section_kind
key_home(const struct key *key)
{
	for (enum section_kind s = 0; s < SECTION_KINDS; s++)
		for (const struct key *k = sections[s].keys; k && k->name; k++)
			if (k == key)
				return s;
	return SECTION_KINDS;
}

/* Picks the keys of [defaults] from those of all sections. */
const struct key *
key_next(enum section_kind kind, const struct key *previous)
{
	const struct key *k = previous ? previous + 1 : sections[kind].keys;
	enum section_kind s = 0;

	if (kind != SECTION_DEFAULTS)
		return k && k->name ? k : NULL;
	if (previous)
		s = key_home(previous);
	for (k = previous ? k : sections[s].keys;; k = sections[s].keys) {
		for (; k && k->name; k++)
			if (k->flags & KEY_IN_DEFAULTS)
				return k;
		if (++s == SECTION_KINDS)
			return NULL;
	}
}

const struct key *
key_find(enum section_kind kind, const char *name)
{
	const struct key *k = NULL;

	while ((k = key_next(kind, k)) && strcmp(k->name, name) != 0)
		;
	return k;
}

/* Formats one of the key's limits in the form that its type reads. */
static const char *
limit_text(const struct key *key, uint64_t limit, char out[TEXT_DURATION_SIZE])
{
	const struct value_type *type = key->type;

	if (type == &type_duration || type == &type_age)
		return text_duration(limit, out);
	if (type == &type_size)
		return text_size(limit, out);
	snprintf(out, TEXT_DURATION_SIZE, "%" PRIu64 "%s", limit,
	    type == &type_percent || type == &type_own_percent ? "%" : "");
	return out;
}

/* Returns a value that is allowed although it is below the limits, followed by
 * `, or `; "" if there is none. */
static const char *
value_beside_limits(const struct key *key)
{
	if (key->type == &type_auto_number)
		return "auto, or ";
	return key->type != &type_number && !key->default_text &&
	               (key->flags & KEY_IN_DEFAULTS)
	           ? "0, or "
	           : "";
}

const char *
key_allowed(const struct key *key, char out[KEY_ALLOWED_SIZE])
{
	const char *words = key->allowed ? key->allowed : key->type->allowed;
	char low[TEXT_DURATION_SIZE], high[TEXT_DURATION_SIZE];
	size_t len = 0;

	out[0] = '\0';
	if (words)
		snprintf(out, KEY_ALLOWED_SIZE, "%s", words);
	for (size_t i = 0; !words && key->choices && key->choices[i]; i++)
		len += (size_t)snprintf(out + len, KEY_ALLOWED_SIZE - len,
		    "%s%s", i ? ", " : "", key->choices[i]);
	if (!words && !key->choices)
		snprintf(out, KEY_ALLOWED_SIZE, "%s%s to %s",
		    value_beside_limits(key), limit_text(key, key->min, low),
		    limit_text(key, key->max, high));
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

/* Returns whether the key has the option from another key, which lists it. */
static bool
is_borrowed(const struct key *key, const struct key *option)
{
	const struct key *o = key->borrowed_options;

	while (o && o->name && strcmp(o->name, option->name) != 0)
		o++;
	return o && o->name;
}

void
keys_list(FILE *out)
{
	for (enum section_kind s = 0; s < SECTION_KINDS; s++) {
		const struct key *k = NULL;

		while ((k = key_next(s, k))) {
			const struct key *o = k->options;

			list_key(out, sections[s].name, NULL, k);
			for (; o && o->name; o++)
				if (!is_borrowed(k, o))
					list_key(out, sections[s].name, k, o);
		}
	}
}
