/* SPDX-License-Identifier: MIT
 * The options of `check =` and `agent =` in [backend].
 */
#include "config/keys_internal.h"

/* In the order of their enums in model/spec.h. */
const char *const key_switches[] = {"off", "on", NULL};
const char *const key_check_inits[] = {"up", "down", NULL};
const char *const key_proxies[] = {"off", "v1", "v2", NULL};
static const char *const http_versions[] = {"1.1", "2", NULL};
static const char *const verifies[] = {"on", "off", NULL};
static const char *const methods[] = {"GET", "HEAD", "OPTIONS", NULL};

#define HTTP_ONLY                                                              \
	.flags = KEY_HTTP_ONLY,                                                \
	.only = "http and https checks only, as in check = http path=/healthz"
#define TLS_ONLY                                                               \
	.flags = KEY_TLS_ONLY,                                                 \
	.only = "checks over TLS only, as in check = https verify=off"

/* clang-format off */
const struct key check_options[] = {
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
    {"tls", "whether the steps are taken within TLS",
        CHOICE(key_switches), CHECK(tls), DEFAULT("off"),
        .flags = KEY_STEPS_ONLY,
        .only = "send-expect, redis, postgresql, mysql and smtp checks"},
    {"user", "the user that asks to log in",
        VALUE(node), LIMITS(0, 64), CHECK(user), DEFAULT("lfproxy"),
        .flags = KEY_USER_ONLY, .only = "postgresql checks"},
    {"verify", "whether the server's certificate must be good",
        CHOICE(verifies), CHECK(verify), DEFAULT("on"), TLS_ONLY},
    {"ca", "authorities that the server's certificate may be from",
        VALUE(ca), CHECK(ca), WITHOUT("the system's"), TLS_ONLY},
    {"sni", "the name asked for and verified in TLS",
        VALUE(sni), CHECK(sni), WITHOUT("that of host, or none"), TLS_ONLY},
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
    {"init_state", "what a server is until it was checked",
        CHOICE(key_check_inits), CHECK(init), DEFAULT("up")},
    {"timeout", "how long a check may take",
        INTERVAL, CHECK(timeout_ms), DEFAULT("2s")},
    {"fall", "failures in a row until the server is down",
        NUMBER(1, 1000), CHECK(fall), DEFAULT("3")},
    {"rise", "successes in a row until the server is up",
        NUMBER(1, 1000), CHECK(rise), DEFAULT("2")},
    {"send_proxy", "the PROXY protocol's header that a check begins with",
        OWN_CHOICE(key_proxies), CHECK(proxy),
        WITHOUT("the server's, unless addr or port are given"),
        .flags = KEY_WIRE_ONLY,
        .only = "checks that connect, as in check = http send_proxy=v2"},
    {.name = NULL}};

const struct key agent_options[] = {
    {"port", "the agent's port",
        NUMBER(1, 65535), AGENT(port),
        WITHOUT("required, here or at the servers")},
    {"addr", "the agent's address",
        VALUE(check_host), AGENT(addr), WITHOUT("the server's")},
    {"send", "what the agent is sent first",
        VALUE(agent_send), AGENT(send), WITHOUT("nothing")},
    {"interval", "time from question to question",
        INTERVAL, AGENT(interval_ms), DEFAULT("2s")},
    {"timeout", "how long an answer may take",
        INTERVAL, AGENT(timeout_ms), DEFAULT("2s")},
    {.name = NULL}};
/* clang-format on */
