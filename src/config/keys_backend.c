/* SPDX-License-Identifier: MIT
 * The keys of [backend].
 */
#include "balance/balance.h"
#include "config/keys_internal.h"
#include "model/source_table.h"

CHOICES(resolve_modes, RESOLVE_TTL, [RESOLVE_START] = "start",
    [RESOLVE_RELOAD] = "reload", [RESOLVE_TTL] = "ttl");
CHOICES(resolve_prefers,
    RESOLVE_IPV6, [RESOLVE_IPV4] = "ipv4", [RESOLVE_IPV6] = "ipv6");
CHOICES(check_inits,
    CHECK_INIT_DOWN, [CHECK_INIT_UP] = "up", [CHECK_INIT_DOWN] = "down");
CHOICES(proxies, PROXY_V2_TLS, [PROXY_OFF] = "off", [PROXY_V1] = "v1",
    [PROXY_V2] = "v2", [PROXY_V2_TLS] = "v2-tls");
/* The default is off: the connection of a check has no client. */
CHOICES(check_proxies,
    PROXY_V2, [PROXY_OFF] = "off", [PROXY_V1] = "v1", [PROXY_V2] = "v2");
CHOICES(http_versions,
    HTTP_VERSION_2, [HTTP_VERSION_1_1] = "1.1", [HTTP_VERSION_2] = "2");
static const char *const methods[] = {"GET", "HEAD", "OPTIONS", NULL};
CHOICES(hash_keys, HASH_KEY_SNI, [HASH_KEY_SOURCE] = "source",
    [HASH_KEY_SOURCE_PORT] = "source-port",
    [HASH_KEY_DESTINATION] = "destination", [HASH_KEY_SNI] = "sni");
CHOICES(stickies, STICKY_STAY, [STICKY_OFF] = "off", [STICKY_STAY] = "stay");
CHOICES(retry_ons, RETRY_ON_CLOSE, [RETRY_ON_CONNECT] = "connect",
    [RETRY_ON_RESET] = "reset", [RETRY_ON_CLOSE] = "close");
CHOICES(observes, OBSERVE_RESET, [OBSERVE_OFF] = "off",
    [OBSERVE_CONNECT] = "connect", [OBSERVE_RESET] = "connect,reset");
CHOICES(eject_ons, EJECT_ON_RESET, [EJECT_ON_CONNECT] = "connect",
    [EJECT_ON_RESET] = "connect,reset");
CHOICES(on_errors, ON_ERROR_MARK_DOWN, [ON_ERROR_FAST_CHECK] = "fast_check",
    [ON_ERROR_FAIL_CHECK] = "fail_check",
    [ON_ERROR_SUDDEN_DEATH] = "sudden_death",
    [ON_ERROR_MARK_DOWN] = "mark_down");
CHOICES(on_downs,
    ON_DOWN_CLOSE, [ON_DOWN_KEEP] = "keep", [ON_DOWN_CLOSE] = "close");
CHOICES(backend_scopes,
    BAND_SOURCE, [BAND_SESSION] = "session", [BAND_PROXY] = "backend",
    [BAND_SERVER] = "server", [BAND_SOURCE] = "client");
CHOICES(set_confirms, SET_CONFIRM_ALWAYS, [SET_CONFIRM_HALF] = "half",
    [SET_CONFIRM_OFF] = "off", [SET_CONFIRM_ALWAYS] = "always");
STARTTLS_CHOICES;
CHOICES(on_ups, ON_UP_CLOSE_BACKUP, [ON_UP_KEEP] = "keep",
    [ON_UP_CLOSE_BACKUP] = "close_backup");

#define HTTP_ONLY                                                              \
	.flags = KEY_HTTP_ONLY,                                                \
	.only = "http and https checks only, as in check = http path=/healthz"
#define TLS_ONLY                                                               \
	.flags = KEY_TLS_ONLY,                                                 \
	.only = "checks over TLS only, as in check = https verify=off"

/* clang-format off */
#define SERVER_OPTIONS(OBJECT)                                                 \
    {"weight", "share of the sessions; 0: no new ones",                        \
        NUMBER(0, WEIGHT_MAX), OBJECT(weight), DEFAULT("100")},                \
    {"maxconn", "sessions at a time, others are queued; 0: no limit",          \
        NUMBER(0, UINT32_MAX), OBJECT(maxconn), DEFAULT("0")},                 \
    {"bandwidth_in", "bytes per second from clients to the server",            \
        BYTE_RATE, OBJECT(bandwidth[BAND_IN]), WITHOUT("the backend's")},      \
    {"bandwidth_out", "bytes per second from the server to clients",           \
        BYTE_RATE, OBJECT(bandwidth[BAND_OUT]), WITHOUT("the backend's")},     \
    {"backup", "gets sessions only while no other server is usable",           \
        FLAG, OBJECT(backup)},                                                 \
    {"disabled", "in maintenance until an operator enables it",                \
        FLAG, OBJECT(disabled)},                                               \
    {"slow_start", "time from its coming up to its whole share",               \
        SLOW_START, OBJECT(slow_start_ms), WITHOUT("the backend's")},          \
    {"on_down", "what happens to its sessions when it goes down",              \
        OWN_CHOICE(on_downs), OBJECT(on_down), WITHOUT("the backend's")},      \
    {"on_up", "what happens to the backups' sessions when it comes up",        \
        OWN_CHOICE(on_ups), OBJECT(on_up), WITHOUT("the backend's")},          \
    {"resolve", "when the server's name is looked up again",                   \
        OWN_CHOICE(resolve_modes), OBJECT(resolve), WITHOUT("reload"), TCP_ONLY},\
    {"resolve_prefer", "which addresses of its name are taken, if there are some",\
        OWN_CHOICE(resolve_prefers), OBJECT(resolve_prefer), WITHOUT("ipv4"),  \
        TCP_ONLY},                                                             \
    {"check", "whether this server is checked",                                \
        VALUE(sock_switch), OBJECT(check.on), WITHOUT("as the backend")},      \
    {"check_addr", "the address that is checked",                              \
        VALUE(check_host), OBJECT(check.addr), WITHOUT("the check's")},        \
    {"check_port", "the port that is checked",                                 \
        NUMBER(1, 65535), OBJECT(check.port), WITHOUT("the check's")},         \
    {"check_interval", "time from check to check",                             \
        INTERVAL, OBJECT(check.interval_ms), WITHOUT("the check's")},          \
    {"check_fast_interval",                                                    \
        "the interval while results against the state add up",                 \
        INTERVAL, OBJECT(check.fast_interval_ms), WITHOUT("the check's")},     \
    {"check_down_interval", "the interval while the server is down",           \
        INTERVAL, OBJECT(check.down_interval_ms), WITHOUT("the check's")},     \
    {"check_jitter", "share by which intervals vary, either way",              \
        VALUE(own_percent), LIMITS(0, 50), OBJECT(check.jitter), WITHOUT("the check's")},\
    {"check_timeout", "how long a check may take",                             \
        INTERVAL, OBJECT(check.timeout_ms), WITHOUT("the check's")},           \
    {"check_fall", "failures in a row until the server is down",               \
        NUMBER(1, 1000), OBJECT(check.fall), WITHOUT("the check's")},          \
    {"check_rise", "successes in a row until the server is up",                \
        NUMBER(1, 1000), OBJECT(check.rise), WITHOUT("the check's")},          \
    {"check_init_state", "state of the server before its first check",         \
        OWN_CHOICE(check_inits), OBJECT(check.init),                           \
        WITHOUT("the check's")},                                               \
    {"check_send_proxy", "the PROXY protocol's header that a check begins with",\
        OWN_CHOICE(check_proxies), OBJECT(check.proxy), WITHOUT("the check's")},\
    {"check_tls", "whether the check is made over TLS",                        \
        VALUE(sock_switch), OBJECT(check.tls), WITHOUT("the check's")},        \
    {"agent", "whether this server has an agent",                              \
        VALUE(sock_switch), OBJECT(agent.on), WITHOUT("as the backend")},      \
    {"agent_addr", "the agent's address",                                      \
        VALUE(check_host), OBJECT(agent.addr), WITHOUT("the agent's")},        \
    {"agent_port", "the agent's port",                                         \
        NUMBER(1, 65535), OBJECT(agent.port), WITHOUT("the agent's")},         \
    {"agent_send", "text that is sent to the agent first",                     \
        VALUE(agent_send), OBJECT(agent.send), WITHOUT("the agent's")},        \
    {"agent_interval", "time from question to question",                       \
        INTERVAL, OBJECT(agent.interval_ms), WITHOUT("the agent's")},          \
    {"agent_timeout", "how long an answer may take",                           \
        INTERVAL, OBJECT(agent.timeout_ms), WITHOUT("the agent's")},           \
    {"agent_tls", "whether the agent is asked over TLS",                       \
        VALUE(sock_switch), OBJECT(agent.tls), WITHOUT("the agent's")},        \
    {"track", "the server whose health is also that of this one",              \
        VALUE(track), OBJECT(track), WITHOUT("none; it has its own checks")},  \
    {"send_proxy", "the PROXY protocol's header that the server gets first",   \
        OWN_CHOICE(proxies), OBJECT(send_proxy),                               \
        WITHOUT("the backend's")},                                             \
    {"tls", "TLS with the server, as that section says",                       \
        VALUE(tls_or_off), OBJECT(tls), WITHOUT("the backend's")},             \
    {"starttls", "the protocol in which the server is asked for TLS first",    \
        OWN_CHOICE(starttls_words), OBJECT(starttls),                          \
        WITHOUT("the backend's")},                                             \
    SOCK_KEYS_SERVER(OBJECT)

static const struct key server_options[] = {
    SERVER_OPTIONS(SERVER),
    {.name = NULL}};

/* The options of the set come first, and then those of its servers. */
static const struct key set_options[] = {
    {"dns", "as many servers as a name has addresses",
        VALUE(set_source), SET(source), WITHOUT("another source")},
    {"srv", "the targets of a name's SRV records, with ports and weights",
        VALUE(set_source), SET(source), WITHOUT("another source")},
    {"file", "a file of servers, which is read again when it changes",
        VALUE(set_source), SET(source), WITHOUT("another source")},
    {"etcd", "the values of the keys below a prefix in etcd",
        VALUE(set_source), SET(source), WITHOUT("another source")},
    {"consul", "the instances of a service in Consul",
        VALUE(set_source), SET(source), WITHOUT("another source")},
    {"confirm", "which changes need a second report before they are made",
        CHOICE(set_confirms), SET(confirm), DEFAULT("half")},
    {"token", "token or login for etcd or Consul",
        VALUE(set_token), SET(token), WITHOUT("none"), OVER_HTTP_ONLY},
    {"ca", "authorities that the certificate of https may be from",
        VALUE(ca_path), SET(ca), WITHOUT("the system's"), OVER_HTTP_ONLY},
    {"cert", "certificate of lfproxy for https",
        VALUE(file), SET(cert), WITHOUT("none"), OVER_HTTP_ONLY},
    {"key", "key of that certificate",
        VALUE(file), SET(key), WITHOUT("in the file of cert"), OVER_HTTP_ONLY},
    {"common_name", "whether a certificate may have the name as CN only",
        FLAG, SET(common_name), OVER_HTTP_ONLY},
    {"timeout", "how long an answer may take",
        TIMEOUT, SET(timeout_ms), WITHOUT("5s"), OVER_HTTP_ONLY},
    SERVER_OPTIONS(MEMBER),
    {.name = NULL}};
static const struct key check_options[] = {
    {"path", "what to ask the server for",
        VALUE(url_path), CHECK(path), DEFAULT("/"), HTTP_ONLY},
    {"host", "the Host header",
        VALUE(http_host), CHECK(host), WITHOUT("the server's address"),
        HTTP_ONLY},
    {"method", "the HTTP method",
        VALUE(choice_text), .choices = methods, CHECK(method), DEFAULT("GET"), HTTP_ONLY},
    {"status", "which answers mean healthy",
        VALUE(status), CHECK(status), DEFAULT("200-399"), HTTP_ONLY},
    {"version", "the version of HTTP",
        CHOICE(http_versions), CHECK(version), DEFAULT("1.1"), HTTP_ONLY},
    {"user", "the user that asks to log in",
        VALUE(node), LIMITS(0, 64), CHECK(user), DEFAULT("lfproxy"),
        .flags = KEY_USER_ONLY, .only = "postgresql checks"},
    {"hello", "the name that the check says in EHLO",
        VALUE(sni), CHECK(hello), DEFAULT("lfproxy"),
        .flags = KEY_HELLO_ONLY, .only = "smtp checks"},
    {"helo", "whether the check says HELO, and not EHLO",
        FLAG, CHECK(helo),
        .flags = KEY_HELLO_ONLY, .only = "smtp checks"},
    {"verify", "whether the server's certificate must be good",
        SWITCH("on"), CHECK(verify), TLS_ONLY},
    {"ca", "authorities that the server's certificate may be from",
        VALUE(ca), CHECK(ca), WITHOUT("the system's"), TLS_ONLY},
    {"sni", "the name asked for and verified in TLS",
        VALUE(sni), CHECK(sni), WITHOUT("that of host, or none"), TLS_ONLY},
    {"common_name", "whether the certificate may have the name as CN only",
        FLAG, CHECK(common_name), TLS_ONLY},
    {"interval", "time from check to check",
        INTERVAL, CHECK(interval_ms), DEFAULT("2s")},
    {"fast_interval", "the interval while results against the state add up",
        INTERVAL, CHECK(fast_interval_ms), WITHOUT("as interval")},
    {"down_interval", "the interval while the server is down",
        INTERVAL, CHECK(down_interval_ms), WITHOUT("as interval")},
    {"jitter", "share by which intervals vary, either way",
        PERCENT(0, 50), CHECK(jitter), DEFAULT("10%")},
    {"port", "the port that is checked",
        NUMBER(1, 65535), CHECK(port), WITHOUT("the server's")},
    {"addr", "the address that is checked",
        VALUE(check_host), CHECK(addr), WITHOUT("the server's")},
    {"init_state", "state of a server before its first check",
        CHOICE(check_inits), CHECK(init), DEFAULT("up")},
    {"timeout", "how long a check may take",
        INTERVAL, CHECK(timeout_ms), DEFAULT("2s")},
    {"fall", "failures in a row until the server is down",
        NUMBER(1, 1000), CHECK(fall), DEFAULT("3")},
    {"rise", "successes in a row until the server is up",
        NUMBER(1, 1000), CHECK(rise), DEFAULT("2")},
    {"send_proxy", "the PROXY protocol's header that a check begins with",
        OWN_CHOICE(check_proxies), CHECK(proxy),
        WITHOUT("the server's, unless addr or port are given"),
        .flags = KEY_WIRE_ONLY,
        .only = "checks that connect, as in check = http send_proxy=v2"},
    {"tls", "whether the check is made over TLS",
        VALUE(sock_switch), CHECK(tls),
        WITHOUT("as sessions, unless addr or port are given"),
        .flags = KEY_WIRE_ONLY,
        .only = "checks that connect, as in check = http tls=off"},
    {.name = NULL}};

static const struct key agent_options[] = {
    {"port", "the agent's port",
        NUMBER(1, 65535), AGENT(port),
        WITHOUT("required, here or at the servers")},
    {"addr", "the agent's address",
        VALUE(check_host), AGENT(addr), WITHOUT("the server's")},
    {"send", "text that is sent to the agent first",
        VALUE(agent_send), AGENT(send), WITHOUT("nothing")},
    {"interval", "time from question to question",
        INTERVAL, AGENT(interval_ms), DEFAULT("2s")},
    {"timeout", "how long an answer may take",
        INTERVAL, AGENT(timeout_ms), DEFAULT("2s")},
    {"tls", "whether the agent is asked over TLS",
        VALUE(sock_switch), AGENT(tls), WITHOUT("as the server's sessions")},
    {.name = NULL}};

const struct key backend_keys[] = {
    {"balance", "how a server is chosen",
        VALUE(balance), .choices = balance_names, BACKEND(balance),
        DEFAULT("roundrobin")},
    {"hash_key", "the value that balance = hash hashes, or sources stick by",
        CHOICE(hash_keys), BACKEND(hash_key), DEFAULT("source")},
    {"hash_balance_factor",
        "bound of balance = source and hash, of a server's fair share; 0: none",
        PERCENT(0, 65535), ALLOWED("0, or 101% to 65535%"),
        BACKEND(hash_balance_factor), DEFAULT("0%")},
    {"sticky", "whether a client stays at its last server while that is usable",
        CHOICE(stickies), BACKEND(sticky), DEFAULT("off")},
    {"sticky_size", "clients whose last server is kept",
        NUMBER(1, SOURCE_TABLE_MAX), BACKEND(sticky_size), DEFAULT("100000")},
    {"sticky_expire", "how long the last server of an absent client is kept",
        DURATION(SECOND_MS, TIMEOUT_MAX), BACKEND(sticky_expire_ms),
        WITHOUT("as long as there is room")},
    {"server_defaults", "options of each server that does not say otherwise",
        VALUE(server_defaults), BACKEND(server_defaults), WITHOUT("none"),
        .borrowed_options = server_options,
        .flags = KEY_IN_DEFAULTS | KEY_FIRST},
    {"server", "a server of this backend",
        VALUE(server), WITHOUT("none, and a warning"), OPTIONS(server_options),
        REPEATABLE},
    {"servers", "servers that come and go by themselves",
        VALUE(servers), WITHOUT("none"), OPTIONS(set_options),
        .borrowed_options = server_options, REPEATABLE},
    {"check", "health check of the servers",
        VALUE(check), BACKEND(check), DEFAULT("connect"),
        OPTIONS(check_options), IN_DEFAULTS},
    {"check_header", "a header that http checks send",
        VALUE(check_header), WITHOUT("none"), REPEATABLE},
    {"check_body", "pattern that the body of an answer to http checks must contain",
        VALUE(check_body), WITHOUT("anything"), REPEATABLE},
    {"agent", "an agent beside each server that sets weight and state",
        VALUE(agent), BACKEND(agent), DEFAULT("off"), OPTIONS(agent_options),
        IN_DEFAULTS},
    {"check_command", "the program of script checks",
        VALUE(check_command), BACKEND(check_command), WITHOUT("none")},
    {"check_step", "a step of send-expect checks",
        VALUE(check_step), WITHOUT("none"), REPEATABLE},
    {"source", "where connections to the servers come from",
        VALUE(source), BACKEND(source), WITHOUT("the kernel's choice"),
        IN_DEFAULTS},
    {"send_proxy", "the PROXY protocol's header that servers get first",
        CHOICE(proxies), BACKEND(send_proxy), DEFAULT("off"), IN_DEFAULTS},
    {"tls", "TLS with the servers, as that section says",
        VALUE(tls_or_off), BACKEND(tls), WITHOUT("plain TCP"), IN_DEFAULTS},
    {"starttls", "the protocol in which servers are asked for TLS first",
        CHOICE(starttls_words), BACKEND(starttls), DEFAULT("off"), IN_DEFAULTS},
    {"all_backups", "whether usable backups all serve, and not the first alone",
        SWITCH("off"), BACKEND(all_backups), IN_DEFAULTS},
    {"slow_start", "time from a server's coming up to its whole share",
        SLOW_START, BACKEND(slow_start_ms), DEFAULT("off"), IN_DEFAULTS},
    {"on_down", "what happens to the sessions of a server that goes down",
        CHOICE(on_downs), BACKEND(on_down), DEFAULT("keep"), IN_DEFAULTS},
    {"on_up", "what happens to the backups' sessions when another server comes up",
        CHOICE(on_ups), BACKEND(on_up), DEFAULT("keep"), IN_DEFAULTS},
    {"panic_percent",
        "with a smaller part usable all servers are tried; 0: never",
        PERCENT(0, 100), BACKEND(panic_percent), DEFAULT("0%"), IN_DEFAULTS},
    {"retries", "further attempts, on other servers, to connect a session",
        NUMBER(0, 10), BACKEND(retries), DEFAULT("3"), IN_DEFAULTS},
    {"retry_on", "failures after which another server is tried",
        CHOICE(retry_ons), BACKEND(retry_on), DEFAULT("reset"), IN_DEFAULTS},
    {"retry_budget", "share of the sessions that may be retries at a time",
        PERCENT(0, 100), BACKEND(retry_budget), DEFAULT("20%"), IN_DEFAULTS},
    {"retry_budget_min", "retries at a time that are always allowed",
        NUMBER(0, UINT32_MAX), BACKEND(retry_budget_min), DEFAULT("100"),
        IN_DEFAULTS},
    {"observe", "whether sessions that fail count for the checks",
        CHOICE(observes), BACKEND(observe), DEFAULT("off"), IN_DEFAULTS},
    {"error_limit", "failures in a row after which observe acts",
        NUMBER(1, UINT32_MAX), BACKEND(error_limit), DEFAULT("10"),
        IN_DEFAULTS},
    {"on_error", "what observe does",
        CHOICE(on_errors), BACKEND(on_error), DEFAULT("fail_check"),
        IN_DEFAULTS},
    {"eject_after", "failures in a row that eject a server; 0: never",
        NUMBER(0, UINT32_MAX), BACKEND(eject_after), DEFAULT("0"), IN_DEFAULTS},
    {"eject_on", "failures that eject a server", CHOICE(eject_ons),
        BACKEND(eject_on), DEFAULT("connect"), IN_DEFAULTS},
    {"eject_time",
        "how long the first ejection lasts; each next one twice as long",
        INTERVAL, BACKEND(eject_time_ms), DEFAULT("30s"), IN_DEFAULTS},
    {"eject_time_max", "how long an ejection lasts at most",
        INTERVAL, BACKEND(eject_time_max_ms), DEFAULT("5m"), IN_DEFAULTS},
    {"eject_max_percent",
        "share of the servers that may be ejected; one may be",
        PERCENT(1, 100), BACKEND(eject_max_percent), DEFAULT("50%"),
        IN_DEFAULTS},
    {"bandwidth", "bytes per second from clients (in) and to them (out)",
        BANDWIDTH(backend_scopes, "session, server, source or backend"),
        BACKEND(bandwidth), WITHOUT("no limit"), REPEATABLE},
    {"maxqueue", "sessions that may wait for a server; 0: no limit",
        NUMBER(0, UINT32_MAX), BACKEND(maxqueue), DEFAULT("0"), IN_DEFAULTS},
    {"timeout_queue", "how long a session may wait for a server; 0: not at all",
        VALUE(wait), LIMITS(TIMEOUT_MIN, TIMEOUT_MAX), BACKEND(timeout_queue_ms),
        WITHOUT("timeout_connect holds"), IN_DEFAULTS},
    {"timeout_connect", "how long an attempt to connect may take",
        TIMEOUT, BACKEND(timeout_connect_ms), DEFAULT("5s"), IN_DEFAULTS},
    {"timeout_server", "longest silence of a server",
        TIMEOUT, BACKEND(timeout_server_ms), DEFAULT("5m"), IN_DEFAULTS},
    {"timeout_server_fin",
        "longest silence of a server once one side has ended",
        TIMEOUT, BACKEND(timeout_server_fin_ms), DEFAULT("5m"), IN_DEFAULTS},
    {"half_close",
        "whether a session goes on once one side has finished sending",
        SWITCH("on"), BACKEND(half_close)},
    {"timeout_drain", "how long sessions of a removed server may go on",
        TIMEOUT, BACKEND(timeout_drain_ms), DEFAULT("1h"), IN_DEFAULTS},
    {"timeout_tunnel", "longest silence of a session while both sides are open",
        TIMEOUT, BACKEND(timeout_tunnel_ms),
        WITHOUT("timeout_client and timeout_server hold"), IN_DEFAULTS},
    {.name = NULL}};
/* clang-format on */
