/* SPDX-License-Identifier: MIT
 * See options.h.
 */
#include "vocabulary/options.h"

#include <stddef.h>
#include <string.h>

#include "vocabulary/match.h"

/* An option with a counterpart. */
#define VALUE(words, what, shape, key)                                         \
	{                                                                      \
		words, TAKES_##what, DYNAMIC_TAKEN, key, NULL, NULL,           \
		    LOSS_NONE, NULL, "write " key "=" shape                    \
	}
#define NUMBER(words, key) VALUE(words, NUMBER, "NUMBER", key)
#define TIME(words, key)   VALUE(words, TIME, "TIME", key)
#define FLAG(words, key, value)                                                \
	{                                                                      \
		words, TAKES_NOTHING, DYNAMIC_TAKEN, key, value, NULL,         \
		    LOSS_NONE, NULL, "write " key "=" value                    \
	}
/* The same, which HAProxy accepts in its file only. */
#define IN_FILE(words, what, key, value, advice)                               \
	{                                                                      \
		words, TAKES_##what, DYNAMIC_NEVER, key, value, NULL,          \
		    LOSS_NONE, NULL, advice                                    \
	}
#define ONE(words, one, key, value)                                            \
	{                                                                      \
		words, TAKES_ONE, DYNAMIC_TAKEN, key, value, one, LOSS_NONE,   \
		    NULL, "write " key "=" value                               \
	}

/* An option without counterpart. */
#define NONE(words, what, dynamic, loss, ...)                                  \
	{                                                                      \
		words, TAKES_##what, DYNAMIC_##dynamic, NULL, NULL, NULL,      \
		    LOSS_##loss, __VA_ARGS__                                   \
	}
#define LEAVE(text) text, text ": leave it out"
#define SAME(text)  text, text
/* Advice alone, for an option that has code of its own where it is read. */
#define ADVICE(words, advice) NONE(words, NOTHING, UNKNOWN, NONE, NULL, advice)
#define IN_TLS(words, key)                                                     \
	NONE(words, NOTHING, REFUSED, NONE, NULL,                              \
	    "write tls=NAME, and " key " in [tls NAME]")

#define HTTP     "HTTP is not looked into"
#define IDLE     "idle connections are for HTTP, and this is TCP"
#define RESUMING "the resumption of TLS sessions is not a setting of servers"
#define NEEDLESS "it is not needed here"
#define OWN(key) "write " key " in [backend NAME]"
#define KIND     "how servers are checked is their backend's (check = KIND)"

static const struct option_words server_options[] = {
    /* Addresses, weights, limits. */
    NUMBER("weight", "weight"),
    NUMBER("maxconn", "maxconn"),
    ADVICE("max_conns", "write maxconn=NUMBER"),
    NUMBER("mss", "mss"),
    TIME("slowstart", "slow_start"),
    FLAG("no-backup", "backup", "off"),
    {"backup", TAKES_NOTHING, DYNAMIC_TAKEN, "backup", "", NULL, LOSS_NONE,
        NULL, "write backup"},
    ADVICE("down", "write disabled"),
    {"disabled", TAKES_NOTHING, DYNAMIC_UNKNOWN, "disabled", "", NULL,
        LOSS_NONE, NULL, "write disabled"},
    {"enabled", TAKES_NOTHING, DYNAMIC_UNKNOWN, "disabled", "off", NULL,
        LOSS_NONE, NULL, "write disabled=off"},
    VALUE("interface", TEXT, "NAME", "interface"),
    VALUE("cc", TEXT, "NAME", "congestion"),
    VALUE("track", TEXT, "BACKEND/SERVER", "track"),
    FLAG("tfo", "tfo", "on"),
    FLAG("no-tfo", "tfo", "off"),
    IN_FILE("tcp-ut", TIME, "user_timeout", NULL, "write user_timeout=TIME"),
    IN_FILE("resolve-prefer", TEXT, "resolve_prefer", NULL,
        "write resolve_prefer=ipv4 or ipv6"),
    NONE("resolvers", TEXT, NEVER, NONE, NULL,
        "write resolve=ttl; [resolver] has the name servers"),
    NONE("init-addr, resolve-opts", TEXT, NEVER, NONE, LEAVE(NEEDLESS)),
    NONE("resolve-net", TEXT, NEVER, SERVERS,
        SAME("write resolve_prefer=ipv4 or ipv6")),
    ONE("on-marked-down", "shutdown-sessions", "on_down", "close"),
    ONE("on-marked-up", "shutdown-backup-sessions", "on_up", "close_backup"),
    ADVICE("shutdown-sessions", "write on_down=close"),
    ADVICE("shutdown-backup-sessions", "write on_up=close_backup"),
    NONE("minconn", NUMBER, REFUSED, SERVERS,
        LEAVE("maxconn does not depend on the load")),
    NONE("maxqueue", NUMBER, IGNORED, NONE,
        "sessions queue for the backend, whose key maxqueue limits them",
        OWN("maxqueue = NUMBER")),
    NONE("strict-maxconn", NOTHING, IGNORED, NONE,
        LEAVE("maxconn is always strict")),
    NONE("usesrc", TEXT, REFUSED, NONE, NULL,
        "it follows the address of source"),

    /* Checks. */
    VALUE("addr", TEXT, "IP", "check_addr"),
    NUMBER("port", "check_port"),
    TIME("inter", "check_interval"),
    ADVICE("interval", "write check_interval=TIME"),
    TIME("fastinter", "check_fast_interval"),
    TIME("downinter", "check_down_interval"),
    NUMBER("fall", "check_fall"),
    NUMBER("rise", "check_rise"),
    VALUE("init-state", TEXT, "up or down", "check_init_state"),
    ADVICE("init_state", "write check_init_state=up or down"),
    {"check", TAKES_NOTHING, DYNAMIC_TAKEN, "check", "on", NULL, LOSS_NONE,
        NULL, NULL},
    {"check-ssl", TAKES_NOTHING, DYNAMIC_TAKEN, "check_tls", "on", NULL,
        LOSS_NONE, NULL, "write check = tls or https"},
    IN_FILE("no-check", NOTHING, "check", "off", "write check=off"),
    IN_FILE("no-check-ssl", NOTHING, "check_tls", "off", "write check_tls=off"),
    {"check-send-proxy", TAKES_NOTHING, DYNAMIC_UNKNOWN, "check_send_proxy",
        "v1", NULL, LOSS_NONE, NULL, "write check_send_proxy=v1"},
    NONE("no-check-send-proxy", NOTHING, NEVER, NONE, LEAVE(NEEDLESS)),
    NONE(
        "check-alpn", TEXT, REFUSED, CLIENTS, "checks offer no protocol", KIND),
    NONE("check-proto", TEXT, REFUSED, CLIENTS,
        SAME("write version=2 behind check = http")),
    NONE("check-sni", TEXT, REFUSED, NONE, NULL,
        "write sni=NAME behind check = https"),
    NONE("healthcheck", TEXT, REFUSED, CLIENTS, SAME(KIND)),
    ADVICE("timeout", "write check_timeout=TIME"),
    NONE("observe", TEXT, UNKNOWN, CLIENTS,
        "only observe layer4 has a counterpart", OWN("observe = connect")),
    NONE("on-error", TEXT, UNKNOWN, CLIENTS, SAME(OWN("on_error = ACTION"))),
    ADVICE("error-limit", OWN("error_limit = NUMBER")),
    ADVICE("max_fails", OWN("eject_after = NUMBER")),
    ADVICE("fail_timeout", OWN("eject_time = TIME")),
    {"agent-check", TAKES_NOTHING, DYNAMIC_TAKEN, "agent", "on", NULL,
        LOSS_NONE, NULL,
        "write agent=on, and agent = on port=NUMBER in [backend NAME]"},
    IN_FILE("no-agent-check", NOTHING, "agent", "off", "write agent=off"),
    VALUE("agent-addr", TEXT, "IP", "agent_addr"),
    NUMBER("agent-port", "agent_port"),
    TIME("agent-inter", "agent_interval"),
    VALUE("agent-send", TEXT, "TEXT", "agent_send"),

    /* The PROXY protocol. */
    FLAG("send-proxy", "send_proxy", "v1"),
    FLAG("send-proxy-v2", "send_proxy", "v2"),
    FLAG("send-proxy-v2-ssl, send-proxy-v2-ssl-cn", "send_proxy", "v2-tls"),
    FLAG("no-send-proxy, no-send-proxy-v2", "send_proxy", "off"),
    NONE("proxy-v2-options", TEXT, REFUSED, SERVERS,
        LEAVE("send_proxy=v2-tls has what is known of TLS")),
    NONE("set-proxy-v2-tlv-fmt", TEXT, UNKNOWN, CLIENTS,
        LEAVE("own TLVs have no counterpart")),
    NONE("socks4", TEXT, NEVER, CLIENTS, LEAVE("SOCKS4 has no counterpart")),
    NONE("check-via-socks4", NOTHING, REFUSED, CLIENTS,
        LEAVE("SOCKS4 has no counterpart")),
    NONE("namespace", TEXT, NEVER, CLIENTS,
        SAME("network namespaces have no counterpart; start lfproxy in it")),

    /* TLS. */
    NONE("ssl", NOTHING, REFUSED, NONE, NULL,
        "write tls=NAME, and a [tls NAME]"),
    IN_FILE("no-ssl", NOTHING, NULL, NULL, "write tls=off"),
    IN_TLS("alpn, npn", "alpn = LIST"),
    IN_TLS("ca-file", "ca = FILE"),
    IN_TLS("ciphers, client-sigalgs, sigalgs", "ciphers = LIST"),
    IN_TLS("ciphersuites", "ciphersuites = LIST"),
    IN_TLS("crl-file", "crl = FILE"),
    IN_TLS("crt", "cert = FILE"),
    IN_TLS("curves", "curves = LIST"),
    IN_TLS("sni", "sni = NAME"),
    IN_TLS("ssl-max-ver, force-tlsv12, no-tlsv13", "max_version = 1.3"),
    IN_TLS(
        "ssl-min-ver, force-sslv3, force-tlsv10, force-tlsv11, force-tlsv13, "
        "no-tlsv10, no-tlsv11, no-tlsv12",
        "min_version = 1.2"),
    IN_TLS("verify", "verify = required or none"),
    IN_TLS("verifyhost", "name = NAME"),
    NONE("no-tls-tickets, tls-tickets, no-ssl-reuse", NOTHING, IGNORED, NONE,
        LEAVE(RESUMING)),
    NONE("allow-0rtt", NOTHING, IGNORED, NONE,
        LEAVE("servers get no early data")),
    NONE("no-sslv3", NOTHING, IGNORED, NONE, LEAVE("there is no SSLv3")),

    /* HTTP, stickiness, names. */
    NONE("cookie", TEXT, NEVER, OPERATORS, HTTP,
        "write balance = source, which keeps a client at its server"),
    NONE("redir", TEXT, NEVER, CLIENTS, LEAVE(HTTP)),
    NONE("non-stick", NOTHING, NEVER, CLIENTS,
        LEAVE("sticky clients may get any server")),
    NONE("stick", NOTHING, NEVER, NONE, LEAVE(NEEDLESS)),
    NONE("force-persist", NOTHING, UNKNOWN, NONE, LEAVE(NEEDLESS)),
    NONE("max-reuse", NUMBER, NEVER, OPERATORS, LEAVE(IDLE)),
    NONE("pool-max-conn, pool-purge-delay, pool-low-conn, pool-conn-name", TEXT,
        IGNORED, OPERATORS, LEAVE(IDLE)),
    NONE("check-pool-conn-name, idle-ping", TEXT, IGNORED, NONE, LEAVE(IDLE)),
    NONE("check-reuse-pool", NOTHING, IGNORED, NONE, LEAVE(IDLE)),
    NONE("proto", TEXT, REFUSED, NONE,
        LEAVE("it is about HTTP, and this is TCP")),
    NONE("ws", TEXT, IGNORED, NONE, LEAVE("it is for HTTP, and this is TCP")),
    NONE(
        "guid", TEXT, IGNORED, NONE, LEAVE("servers are named BACKEND/SERVER")),
    NONE("id", TEXT, REFUSED, NONE,
        LEAVE("a server gets the lowest id that is free")),
    NONE("shard", TEXT, IGNORED, NONE,
        LEAVE("it is for peers, which lfproxy does not have")),
    NONE("hash-key", TEXT, REFUSED, CLIENTS,
        LEAVE("the hash of a server's address or name is not a setting")),
    NONE("log-proto", TEXT, NEVER, OPERATORS, LEAVE("this is for log servers")),
    NONE("log-bufsize", TEXT, UNKNOWN, OPERATORS,
        LEAVE("this is for log servers")),
    ADVICE("service", NEEDLESS ": leave it out"),
};

static const struct option_words listen_options[] = {
    NONE("name, id", TEXT, UNKNOWN, NONE, LEAVE(NEEDLESS)),
    NONE("guid-prefix, proto, severity-output, expose-fd, crt-ignore-err", TEXT,
        UNKNOWN, NONE, NULL, NULL),
    NONE("ssl-f-use", NOTHING, UNKNOWN, NONE, LEAVE(NEEDLESS)),
    ADVICE("bind, default_server", NEEDLESS ": leave it out"),
    NONE("accept-netscaler-cip", TEXT, UNKNOWN, CLIENTS,
        SAME("this protocol is not known; nearest: accept_proxy")),
    NONE("nice", TEXT, UNKNOWN, OPERATORS,
        SAME("write threads = NUMBER nice=NUMBER in [pool NAME]")),
    NONE("process, thread", TEXT, UNKNOWN, OPERATORS,
        SAME("write pool = NAME in [frontend NAME]")),
    NONE("shards", TEXT, UNKNOWN, OPERATORS,
        SAME("write shards = NUMBER in [pool NAME]")),
    NONE("maxconn", TEXT, UNKNOWN, CLIENTS,
        SAME("write maxconn = NUMBER in [frontend NAME]")),
    NONE("level", TEXT, UNKNOWN, OPERATORS,
        SAME("write level= behind admin = PATH in [global]")),
    NONE("namespace", TEXT, UNKNOWN, CLIENTS,
        SAME("network namespaces have no counterpart; start lfproxy in it")),
    NONE("uid", TEXT, UNKNOWN, OPERATORS, SAME("write user=NAME")),
    NONE("gid", TEXT, UNKNOWN, OPERATORS, SAME("write group=NAME")),
    NONE("ca-sign-file, ca-sign-pass", TEXT, UNKNOWN, OPERATORS,
        LEAVE("certificates are not made here")),
    NONE(
        "default-crt", TEXT, UNKNOWN, CLIENTS, SAME("write cert = FILE first")),
    ADVICE("accept-proxy, proxy_protocol", "write accept_proxy"),
    IN_TLS("alpn", "alpn = LIST"),
    IN_TLS("ca-file", "ca = FILE"),
    IN_TLS("cert, crt, crt-list", "cert = FILE"),
    IN_TLS("ciphers", "ciphers = LIST"),
    IN_TLS("ciphersuites", "ciphersuites = LIST"),
    IN_TLS("crl-file", "crl = FILE"),
    IN_TLS("curves, ecdhe", "curves = LIST"),
    IN_TLS("no-tls-tickets", "tickets = off"),
    IN_TLS("ssl-max-ver", "max_version = 1.3"),
    IN_TLS("ssl-min-ver", "min_version = 1.2"),
    IN_TLS("strict-sni", "strict_sni = on"),
    IN_TLS("verify", "verify = required or optional"),
    ADVICE("ssl", "write tls=NAME, and a [tls NAME]"),
    ADVICE("defer-accept, deferred", "write defer_accept=TIME"),
    ADVICE("fastopen", "write tfo=NUMBER"),
    ADVICE("http2", HTTP ": leave it out"),
    ADVICE("ipv6only", "write v6only=on or off"),
    ADVICE("so_keepalive", "write keepalive=on, or IDLE:INTERVAL:COUNT"),
    ADVICE("tcp-ut", "write user_timeout=TIME"),
    ADVICE("udp", "this is TCP only"),
    ADVICE("v4v6", "write v6only=off"),
};

static const struct option_words *
find_option(const struct option_words *all, size_t n, const char *option)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = match_longest(option, all[i].words);

		if (len > 0 && (option[len] == '\0' || option[len] == '('))
			return &all[i];
	}
	return NULL;
}

const struct option_words *
server_option_find(const char *option)
{
	return find_option(server_options,
	    sizeof(server_options) / sizeof(server_options[0]), option);
}

const struct option_words *
listen_option_find(const char *option)
{
	return find_option(listen_options,
	    sizeof(listen_options) / sizeof(listen_options[0]), option);
}
