/* SPDX-License-Identifier: MIT
 * See keys.h: the keys of [frontend].
 */
#include "config/keys_internal.h"
#include "config/keys_sock.h"

CHOICES(splices, SPLICE_OFF, [SPLICE_AUTO] = "auto", [SPLICE_OFF] = "off");

/* clang-format off */
static const struct key listen_options[] = {
    {"mode", "file mode of a unix socket",
        VALUE(mode), LISTEN(mode), DEFAULT("0666"), UNIX_ONLY},
    {"user", "owner of a unix socket's file",
        VALUE(user), LISTEN(user), WITHOUT("the user who started lfproxy"),
        UNIX_ONLY},
    {"group", "group of a unix socket's file",
        VALUE(group), LISTEN(group), WITHOUT("that of the user who started lfproxy"),
        UNIX_ONLY},
    SOCK_KEYS_LISTEN,
    {"accept_proxy", "connections begin with a header of the PROXY protocol",
        FLAG, LISTEN(accept_proxy)},
    {.name = NULL}};

static const struct key age_options[] = {
    {"jitter", "how much earlier a session may end, drawn for each",
        PERCENT(0, 50), FRONTEND(max_age_jitter), DEFAULT("0%")},
    {.name = NULL}};

static const struct key route_options[] = {
    {"weight", "share of the sessions, where there are several backends",
        NUMBER(0, WEIGHT_MAX), ROUTE(weight), DEFAULT("100")},
    {.name = NULL}};

static const struct key sni_options[] = {
    {"backend", "backend whose servers get these clients",
        VALUE(rule_backend), SNI(backend), WITHOUT("required")},
    {.name = NULL}};

const struct key frontend_keys[] = {
    {"listen", "address to accept connections on",
        VALUE(listen), WITHOUT("required"), OPTIONS(listen_options),
        REQUIRED_REPEATABLE},
    {"backend", "backend whose servers get the connections, or a share",
        VALUE(backend), WITHOUT("required, unless there are sni rules"),
        OPTIONS(route_options), REQUIRED_REPEATABLE},
    {"sni", "backend of the TLS clients that ask for one of these names",
        VALUE(sni_rule), WITHOUT("no rules"), OPTIONS(sni_options), REPEATABLE},
    {"pool", "pool of threads that does the work",
        VALUE(pool), FRONTEND(pool), WITHOUT("the first pool")},
    {"maxconn", "sessions at a time; auto: only the limit of [global]",
        MAXCONN, FRONTEND(maxconn), DEFAULT("auto"), IN_DEFAULTS},
    {"rate", "connections accepted per second",
        RATE, FRONTEND(rate), DEFAULT("off"), IN_DEFAULTS},
    {"timeout_client", "longest silence of a client",
        TIMEOUT, FRONTEND(timeout_client_ms), DEFAULT("5m"), IN_DEFAULTS},
    {"timeout_client_fin",
        "longest silence of a client once one side has ended",
        TIMEOUT, FRONTEND(timeout_client_fin_ms), DEFAULT("30s"), IN_DEFAULTS},
    {"timeout_hello", "how long a client may take to say what it wants",
        TIMEOUT, FRONTEND(timeout_hello_ms), DEFAULT("5s"), IN_DEFAULTS},
    {"timeout_first_byte", "how long a client may take to send its first byte",
        TIMEOUT, FRONTEND(timeout_first_byte_ms),
        WITHOUT("no limit of its own"), IN_DEFAULTS},
    {"splice", "move bulk through pipes in the kernel instead of copying it",
        CHOICE(splices), FRONTEND(splice), DEFAULT("auto"), IN_DEFAULTS},
    {"max_age", "longest life of a session, busy or not",
        VALUE(age), LIMITS(TIMEOUT_MIN, TIMEOUT_MAX), WITHOUT("no limit"),
        OPTIONS(age_options), IN_DEFAULTS},
    {"log", "where this frontend's access log goes instead",
        VALUE(log), FRONTEND(log), WITHOUT("as in [global]"),
        OPTIONS(key_log_options), REPEATABLE},
    {"log_on_connect", "whether a session is also logged when it is connected",
        SWITCH("off"), FRONTEND(log_on_connect), IN_DEFAULTS},
    {"log_every", "how often a session is also logged while it lasts",
        DURATION(SECOND_MS, TIMEOUT_MAX), FRONTEND(log_every_ms),
        WITHOUT("never"), IN_DEFAULTS},
    {"log_empty", "whether to log sessions whose client sent nothing",
        SWITCH("on"), FRONTEND(log_empty), IN_DEFAULTS},
    {"proxy_from",
        "whose connections begin with a PROXY header, those of others do not",
        VALUE(proxy_from), WITHOUT("any client"), REPEATABLE},
    {.name = NULL}};
/* clang-format on */
