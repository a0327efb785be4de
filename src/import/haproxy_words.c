/* SPDX-License-Identifier: MIT
 * Words of HAProxy that have no counterpart: the reason, the nearest thing, and
 * whether clients see the difference.
 */
#include <string.h>

#include "import/haproxy.h"

#define HTTP "HTTP is not looked into"

/* Whether clients notice that a line is missing. */
enum noticed {
	NEVER,
	IN_HTTP, /* in mode http; HAProxy itself ignores the line in mode tcp */
	ALWAYS,
};

static const struct lost_word {
	const char *word; /* one or two words */
	enum noticed noticed;
	const char *reason;
} lost_words[] = {
    {"daemon", NEVER,
        "lfproxy stays in the foreground, where a service "
        "manager keeps it"},
    {"chroot", NEVER,
        "write chroot = DIR, with the configuration and its files inside, or "
        "let a systemd unit restrict the service"},
    {"pidfile", NEVER, "the service manager knows the process"},
    {"master-worker", NEVER, "a reload keeps the process: `lfproxyctl reload`"},
    {"mworker-max-reloads", NEVER, "a reload keeps the process"},
    {"uid", NEVER, "write user = NAME"},
    {"gid", NEVER, "write group = NAME"},
    {"ulimit-n", NEVER, "lfproxy raises the limit itself"},
    {"maxpipes", NEVER, "at most 512 pipes are made, see splice"},
    {"nosplice", NEVER, "write splice = off in [defaults]"},
    {"noepoll", NEVER, "epoll is all there is"},
    {"cpu-map", NEVER, "write cpus = LIST in [pool NAME]"},
    {"bind-process", NEVER, "write pool = NAME in [frontend NAME]"},
    {"thread-groups", NEVER, "write shards = NUMBER in [pool NAME]"},
    {"lua-load", ALWAYS, "lfproxy has no scripts"},
    {"lua-load-per-thread", ALWAYS, "lfproxy has no scripts"},
    {"ssl-dh-param-file", NEVER, "ECDHE needs no parameters"},
    {"tune.ssl.default-dh-param", NEVER, "ECDHE needs no parameters"},
    {"tune.ssl.keylog", NEVER, "write keylog = FILE in [tls NAME]"},
    {"tune.ssl.lifetime", NEVER, "write session_timeout = TIME in [tls NAME]"},
    {"ssl-engine", NEVER, "write it in OpenSSL's own configuration"},
    {"maxsslconn", ALWAYS, "write handshakes = NUMBER in [frontend NAME]"},
    {"maxsslrate", ALWAYS, "write handshakes = NUMBER in [frontend NAME]"},
    {"external-check", NEVER, "check = script and check_command do it"},
    {"set-dumpable", NEVER, "write LimitCORE in the systemd unit"},
    {"zero-warning", NEVER, "`lfproxy -t` prints warnings"},
    {"quiet", NEVER, "messages go to standard error"},
    {"busy-polling", NEVER, "write spin = TIME in [pool NAME]"},
    {"numa-cpu-mapping", NEVER, "write cpus = LIST in [pool NAME]"},
    {"grace", NEVER, "write shutdown_delay = TIME"},
    {"close-spread-time", NEVER, "write drain_timeout = TIME"},
    {"default-path", ALWAYS,
        "relative paths are looked for where lfproxy is started; write whole "
        "paths"},
    {"pp2-never-send-local", ALWAYS,
        "checks begin with a header that says LOCAL"},
    {"ssl-security-level", ALWAYS, "write ciphers = LIST:@SECLEVEL=NUMBER"},
    {"ssl-default-bind-sigalgs", ALWAYS, "write ciphers = LIST"},
    {"ssl-default-bind-client-sigalgs", ALWAYS, "write ciphers = LIST"},
    {"ssl-default-server-curves", ALWAYS, "write curves = LIST"},
    {"ssl-default-server-sigalgs", ALWAYS, "write ciphers = LIST"},
    {"ssl-default-server-client-sigalgs", ALWAYS, "write ciphers = LIST"},
    {"ssl-load-extra-files", NEVER, "write key=FILE and ocsp=FILE behind cert"},
    {"ssl-load-extra-del-ext", NEVER, "write key=FILE behind cert"},
    {"ssl-mode-async", NEVER, "handshakes run on the pool's threads"},
    {"issuers-chain-path", ALWAYS,
        "write the whole chain into the file of cert"},
    {"ssl-skip-self-issued-ca", NEVER, "a chain is sent as it stands"},
    {"ocsp-update", ALWAYS, "write ocsp=FILE behind cert, and renew FILE"},
    {"setcap", NEVER, "see rights in lfproxy(8)"},
    {"cluster-secret", NEVER, HTTP},
    {"limited-quic", NEVER, "lfproxy relays TCP only"},
    {"prealloc-fd", NEVER, "lfproxy raises the limit itself"},
    {"anonkey", NEVER, "nothing is made anonymous"},
    {"fd-hard-limit", NEVER, "lfproxy raises the limit itself"},
    {"warn-blocked-traffic-after", NEVER, "show info has the longest turns"},
    {"insecure-fork-wanted", NEVER, "check = script needs no permission"},
    {"server-state-file", NEVER, "a reload keeps the state of the servers"},
    {"server-state-base", NEVER, "a reload keeps the state of the servers"},
    {"load-server-state-from-file", NEVER, "a reload keeps the state"},
    {"log-send-hostname", NEVER, "write node = NAME"},
    {"localpeer", NEVER, "lfproxy has no peers"},
    {"h1-case-adjust", IN_HTTP, HTTP},
    {"set-dumpable", NEVER, "write LimitCORE in the systemd unit"},
    {"unix-bind", NEVER, "write mode=, user= and group= behind listen"},
    {"fullconn", NEVER, "maxconn of a server does not depend on the load"},
    {"option httplog", NEVER, "sessions are logged as by option tcplog"},
    {"option forwardfor", IN_HTTP,
        HTTP "; nearest: send_proxy = v2 in [backend NAME], for servers that "
             "know the PROXY protocol"},
    {"option originalto", IN_HTTP, HTTP "; nearest: send_proxy = v2"},
    {"option httpclose", NEVER, HTTP ": connections are relayed whole"},
    {"option forceclose", NEVER, HTTP ": connections are relayed whole"},
    {"option http-server-close", NEVER, HTTP ": connections are relayed whole"},
    {"option http-keep-alive", NEVER, HTTP ": connections are relayed whole"},
    {"option http-tunnel", NEVER, "connections are relayed whole"},
    {"option http-pretend-keepalive", NEVER, HTTP},
    {"option prefer-last-server", NEVER, HTTP},
    {"option http-use-proxy-header", NEVER, HTTP},
    {"option http-buffer-request", NEVER, HTTP},
    {"option http-ignore-probes", NEVER, "write log_empty = off"},
    {"option http-no-delay", NEVER, "nothing is delayed"},
    {"option http-use-htx", NEVER, HTTP},
    {"option abortonclose", NEVER, "a client that leaves leaves the queue"},
    {"option persist", NEVER, "sessions never wait for a server that is down"},
    {"option nolinger", NEVER, "connections are closed in order"},
    {"option socket-stats", NEVER, "statistics are for the frontend"},
    {"option contstats", NEVER, "statistics are always current"},
    {"option checkcache", IN_HTTP, HTTP},
    {"option accept-invalid-http-request", NEVER, HTTP},
    {"option accept-invalid-http-response", NEVER, HTTP},
    {"option dontlog-normal", NEVER,
        "write sample=1/NUMBER behind log = TARGET"},
    {"option log-separate-errors", NEVER, "log lines have one priority"},
    {"option transparent", ALWAYS,
        "the client's own destination as the server has no counterpart"},
    {"option http_proxy", ALWAYS, HTTP},
    {"option spop-check", NEVER, "nearest: check = connect"},
    {"option independent-streams", ALWAYS,
        "each direction has no time of its own; write shorter timeouts"},
    {"option tcpka", NEVER, "write keepalive behind listen and server"},
    {"option httpslog", NEVER, "sessions are logged as by option tcplog"},
    {"log-format", NEVER,
        "the access log has option tcplog's format, or format=json, or "
        "format=logfmt behind log = TARGET"},
    {"log-format-sd", NEVER, "write format=json behind log = TARGET"},
    {"error-log-format", NEVER, "write format=json behind log = TARGET"},
    {"log-tag", NEVER, "write tag=NAME behind log = syslog"},
    {"log-steps", NEVER, "write log_on_connect = on"},
    {"unique-id-format", NEVER, HTTP},
    {"unique-id-header", IN_HTTP, HTTP},
    {"capture", NEVER, HTTP},
    {"cookie", IN_HTTP,
        HTTP "; nearest: balance = source, which keeps a "
             "client at its server"},
    {"appsession", IN_HTTP, HTTP "; nearest: balance = source"},
    {"http-request", IN_HTTP, HTTP},
    {"http-response", IN_HTTP, HTTP},
    {"http-after-response", IN_HTTP, HTTP},
    {"http-reuse", NEVER, "each session has a connection of its own"},
    {"http-error", IN_HTTP, HTTP ": nothing is answered by lfproxy"},
    {"http-send-name-header", IN_HTTP, HTTP},
    {"redirect", IN_HTTP, HTTP ": nothing is answered by lfproxy"},
    {"errorfile", IN_HTTP, HTTP ": nothing is answered by lfproxy"},
    {"errorfiles", IN_HTTP, HTTP ": nothing is answered by lfproxy"},
    {"errorloc", IN_HTTP, HTTP ": nothing is answered by lfproxy"},
    {"errorloc302", IN_HTTP, HTTP ": nothing is answered by lfproxy"},
    {"errorloc303", IN_HTTP, HTTP ": nothing is answered by lfproxy"},
    {"compression", IN_HTTP, HTTP},
    {"filter", ALWAYS, "lfproxy has no filters"},
    {"reqadd", IN_HTTP, HTTP},
    {"reqdel", IN_HTTP, HTTP},
    {"reqrep", IN_HTTP, HTTP},
    {"reqirep", IN_HTTP, HTTP},
    {"reqidel", IN_HTTP, HTTP},
    {"reqdeny", IN_HTTP, HTTP},
    {"reqideny", IN_HTTP, HTTP},
    {"rspadd", IN_HTTP, HTTP},
    {"rspdel", IN_HTTP, HTTP},
    {"rspidel", IN_HTTP, HTTP},
    {"rsprep", IN_HTTP, HTTP},
    {"rspirep", IN_HTTP, HTTP},
    {"monitor-uri", ALWAYS,
        "write http = ADDRESS in [global], which has /healthz and /readyz"},
    {"monitor-net", ALWAYS, "such clients are relayed like others"},
    {"monitor", NEVER, "/readyz of http = ADDRESS says whether it can serve"},
    {"timeout http-request", IN_HTTP,
        HTTP "; nearest: timeout_first_byte = TIME in [frontend NAME]"},
    {"timeout http-keep-alive", NEVER, HTTP "; timeout_client holds"},
    {"timeout tarpit", NEVER, "write on_deny = tarpit TIME"},
    {"timeout check", NEVER, "nothing is checked here"},
    {"stats", NEVER, "write http = ADDRESS in [global]"},
    {"email-alert", NEVER, "no mail is sent; watch /metrics"},
    {"use-fcgi-app", ALWAYS, HTTP},
    {"use-server", ALWAYS,
        "write a [backend NAME] with that server, and route = CONDITION "
        "backend=NAME in the frontend"},
    {"declare", NEVER, HTTP},
    {"id", NEVER, "lfproxy numbers by itself"},
    {"guid", NEVER, "lfproxy numbers by itself"},
    {"tcp-response", ALWAYS, "answers are not looked into"},
    {"persist", ALWAYS,
        "RDP cookies are not looked into; nearest: balance = "
        "source"},
    {"force-persist", NEVER, HTTP},
    {"ignore-persist", NEVER, HTTP},
    {"parse-resolv-conf", NEVER,
        "/etc/resolv.conf is read where no nameserver is given"},
    {"accepted_payload_size", NEVER, "long answers come by TCP"},
    {"expose-fd", NEVER, "a reload keeps the listeners"},
};

bool
hap_report_keyword(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line, bool http)
{
	size_t n = sizeof(lost_words) / sizeof(lost_words[0]);
	const char *first = hap_word(line, 0);
	const char *both =
	    arena_printf(&file->doc->arena, "%s %s", first, hap_word(line, 1));

	for (size_t i = 0; i < n; i++) {
		const struct lost_word *lost = &lost_words[i];
		bool clients = lost->noticed == ALWAYS ||
		               (lost->noticed == IN_HTTP && http);

		if (strcmp(lost->word, first) != 0 &&
		    strcmp(lost->word, both) != 0)
			continue;
		hap_lost(file, section, line,
		    clients ? LOSS_CLIENTS : LOSS_OPERATORS, "%s",
		    lost->reason);
		return true;
	}
	if (strncmp(first, "tune.", 5) == 0 ||
	    strncmp(first, "profiling.", 10) == 0 ||
	    strncmp(first, "no-", 3) == 0 ||
	    strncmp(first, "expose-", 7) == 0) {
		hap_lost(file, section, line, LOSS_OPERATORS,
		    "tuning of HAProxy itself; lfproxy needs none of it");
		return true;
	}
	return false;
}

/* An option of bind or server. */
static const struct lost_option {
	const char *word;
	size_t arguments;
	enum loss loss;
	const char *reason; /* "": needs no remark */
} bind_options[] = {
    {"name", 1, LOSS_OPERATORS, ""},
    {"id", 1, LOSS_OPERATORS, ""},
    {"guid-prefix", 1, LOSS_OPERATORS, ""},
    {"proto", 1, LOSS_OPERATORS, ""},
    {"nice", 1, LOSS_OPERATORS,
        "write threads = NUMBER nice=NUMBER in [pool NAME]"},
    {"process", 1, LOSS_OPERATORS, "write pool = NAME in the frontend"},
    {"thread", 1, LOSS_OPERATORS, "write pool = NAME in the frontend"},
    {"shards", 1, LOSS_OPERATORS, "write shards = NUMBER in [pool NAME]"},
    {"maxconn", 1, LOSS_CLIENTS, "write maxconn = NUMBER in the frontend"},
    {"level", 1, LOSS_OPERATORS, "write level= behind admin"},
    {"severity-output", 1, LOSS_OPERATORS, ""},
    {"expose-fd", 1, LOSS_OPERATORS, ""},
    {"namespace", 1, LOSS_CLIENTS,
        "network namespaces have no counterpart; start lfproxy in it"},
    {"uid", 1, LOSS_OPERATORS, "write user=NAME"},
    {"gid", 1, LOSS_OPERATORS, "write group=NAME"},
    {"accept-netscaler-cip", 1, LOSS_CLIENTS,
        "this protocol is not known; nearest: accept_proxy"},
    {"ca-sign-file", 1, LOSS_OPERATORS, "certificates are not made here"},
    {"ca-sign-pass", 1, LOSS_OPERATORS, "certificates are not made here"},
    {"crt-ignore-err", 1, LOSS_OPERATORS, ""},
    {"default-crt", 1, LOSS_CLIENTS, "write cert = FILE first"},
    {"ssl-f-use", 0, LOSS_OPERATORS, ""},
};

static const struct lost_option server_options[] = {
    {"id", 1, LOSS_OPERATORS, ""},
    {"guid", 1, LOSS_OPERATORS, ""},
    {"init-addr", 1, LOSS_OPERATORS, ""},
    {"non-stick", 0, LOSS_CLIENTS, "sticky clients may get any server"},
    {"stick", 0, LOSS_OPERATORS, ""},
    {"resolve-opts", 1, LOSS_OPERATORS, ""},
    {"resolve-net", 1, LOSS_SERVERS, "set resolve_prefer"},
    {"cookie", 1, LOSS_OPERATORS, "HTTP is not looked into"},
    {"redir", 1, LOSS_CLIENTS, "HTTP is not looked into"},
    {"minconn", 1, LOSS_SERVERS, "maxconn does not depend on the load"},
    {"check-alpn", 1, LOSS_CLIENTS, "checks offer no protocol"},
    {"check-proto", 1, LOSS_CLIENTS, "write version=2 behind check = http"},
    {"check-via-socks4", 0, LOSS_CLIENTS, "SOCKS4 has no counterpart"},
    {"check-pool-conn-name", 1, LOSS_OPERATORS, ""},
    {"socks4", 1, LOSS_CLIENTS, "SOCKS4 has no counterpart"},
    {"namespace", 1, LOSS_CLIENTS, "network namespaces have no counterpart"},
    {"proto", 1, LOSS_OPERATORS, ""},
    {"ws", 1, LOSS_OPERATORS, ""},
    {"observe", 1, LOSS_CLIENTS, "only observe layer4 has a counterpart"},
    {"on-error", 1, LOSS_CLIENTS, "write on_error = ACTION"},
    {"pool-max-conn", 1, LOSS_OPERATORS, "connections are not shared"},
    {"pool-purge-delay", 1, LOSS_OPERATORS, "connections are not shared"},
    {"pool-low-conn", 1, LOSS_OPERATORS, "connections are not shared"},
    {"pool-conn-name", 1, LOSS_OPERATORS, "connections are not shared"},
    {"max-reuse", 1, LOSS_OPERATORS, "connections are not shared"},
    {"proxy-v2-options", 1, LOSS_SERVERS,
        "send_proxy = v2-tls has what is known of TLS"},
    {"log-proto", 1, LOSS_OPERATORS, "this is for log servers"},
    {"log-bufsize", 1, LOSS_OPERATORS, "this is for log servers"},
    {"set-proxy-v2-tlv-fmt", 1, LOSS_CLIENTS, "own TLVs have no counterpart"},
    {"force-persist", 0, LOSS_OPERATORS, ""},
    {"no-check-send-proxy", 0, LOSS_OPERATORS, ""},
    {"no-tls-tickets", 0, LOSS_OPERATORS, ""},
};

static const char *
haproxy_find_option(const struct lost_option *all, size_t n, const char *option,
    enum loss *ret_loss, size_t *ret_arguments)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].word, option) == 0) {
			*ret_loss = all[i].loss;
			*ret_arguments = all[i].arguments;
			return all[i].reason;
		}
	return NULL;
}

const char *
hap_bind_reason(const char *option, enum loss *ret_loss, size_t *ret_arguments)
{
	return haproxy_find_option(bind_options,
	    sizeof(bind_options) / sizeof(bind_options[0]), option, ret_loss,
	    ret_arguments);
}

const char *
hap_server_reason(
    const char *option, enum loss *ret_loss, size_t *ret_arguments)
{
	return haproxy_find_option(server_options,
	    sizeof(server_options) / sizeof(server_options[0]), option,
	    ret_loss, ret_arguments);
}
