/* SPDX-License-Identifier: MIT
 * See hint.h: what does the same here as words of HAProxy and nginx.
 */
#include "config/hint.h"

#include <string.h>

#define BLANKS " \t"

#define NO_HTTP  "HTTP is not looked into here: leave it out"
#define LEAVE    "it is not needed here: leave it out"
#define NAMES    "write [resolver] with nameserver = ADDRESS:PORT"
#define STICKY   "write balance = source, which keeps a client at its server"
#define HTTP_CHK "write check = http path=/PATH in [backend NAME]"
#define TLS(key) "write " key " in [tls NAME]"

/* Words that a line begins with, separated by commas.  Where several fit, the
 * one with the most letters does. */
static const struct advice {
	const char *words, *advice;
} keys[] = {
    {"acl, use_backend, use-server, tcp-request",
        "write sni = NAME backend=BACKEND, or route = CONDITION "
        "backend=BACKEND, in [frontend NAME]"},
    {"tcp-request connection reject, tcp-request content reject",
        "write deny = ADDRESSES in [frontend NAME]"},
    {"tcp-request connection accept",
        "write allow = ADDRESSES in [frontend NAME]"},
    {"tcp-request connection expect-proxy",
        "write proxy_from = ADDRESSES, and accept_proxy behind the address of "
        "listen"},
    {"bind", "write listen = ADDRESS in [frontend NAME]"},
    {"bind-process", "write pool = NAME in [frontend NAME]"},
    {"default_backend, proxy_pass", "write backend = NAME in [frontend NAME]"},
    {"dispatch", "write server = NAME ADDRESS"},
    {"default-server",
        "write server_defaults = OPTION=VALUE in [backend NAME]"},
    {"server-template", "write a server = NAME ADDRESS for each"},
    {"mode", "everything is TCP here: leave it out"},
    {"hash-type", "balance = source and hash are consistent: leave it out"},
    {"fullconn", "write maxconn=NUMBER behind each server's address"},
    {"rate-limit", "write a rate in [frontend NAME]"},
    {"stick, cookie, appsession", STICKY},
    {"stick-table, tcp-request connection track-sc0",
        "write balance = source, which keeps a client at its server, or "
        "limit = sessions=NUMBER rate=NUMBER/s in [frontend NAME]"},
    {"monitor-uri, stats",
        "write http = ADDRESS in [global], for /metrics and /stats;csv"},
    {"tcp-request inspect-delay, proxy_protocol_timeout, preread_timeout",
        "write timeout_hello = TIME"},
    {"tcp-response, master-worker, pidfile, tune.bufsize, "
     "tune.maxaccept, email-alert, option persist, option abortonclose, "
     "option tcp-smart-accept, option tcp-smart-connect, no option, "
     "proxy_buffer_size, tcp_nodelay, pid",
        LEAVE},
    {"daemon", "lfproxy stays in the foreground, where a service manager "
               "keeps it: leave it out"},
    {"ulimit-n, worker_rlimit_nofile",
        "lfproxy raises the limit itself: leave it out"},
    {"uid", "write user = NAME in [global]"},
    {"state", "write state_file = /PATH in [global]"},
    {"gid", "write group = NAME in [global]"},
    {"nbproc, nbthread, worker_processes",
        "write threads = NUMBER in [pool NAME]"},
    {"thread-groups", "write shards = NUMBER in [pool NAME]"},
    {"cpu-map, worker_cpu_affinity", "write cpus = LIST in [pool NAME]"},
    {"hard-stop-after, worker_shutdown_timeout",
        "write drain_timeout = TIME in [global]"},
    {"spread-checks", "write jitter=PERCENT behind check = KIND"},
    {"stats socket", "write admin = PATH in [global]"},
    {"stats timeout", "write timeout=TIME behind admin = PATH in [global]"},
    {"setenv, presetenv", "set the environment of lfproxy, and write ${NAME}"},
    {"ca-base, crt-base", "write whole paths in [tls NAME]: leave it out"},
    {"ssl", "write tls=NAME behind the address of listen, and a [tls NAME]"},
    {"proxy_ssl", "write tls = NAME in [backend NAME], and a [tls NAME]"},
    {"crt, proxy_ssl_certificate, ssl_certificate", TLS("cert = FILE")},
    {"proxy_ssl_certificate_key, ssl_certificate_key",
        "write key=FILE behind cert = FILE in [tls NAME]"},
    {"ssl_stapling_file", "write ocsp=FILE behind cert = FILE in [tls NAME]"},
    {"proxy_ssl_protocols, ssl-default-bind-options, "
     "ssl-default-server-options, ssl-min-ver, ssl_protocols",
        TLS("min_version = 1.2")},
    {"ssl-max-ver", TLS("max_version = 1.3")},
    {"proxy_ssl_ciphers, ssl-default-bind-ciphers, "
     "ssl-default-server-ciphers, ssl_ciphers",
        TLS("ciphers = LIST")},
    {"ssl-default-bind-ciphersuites, ssl-default-server-ciphersuites",
        TLS("ciphersuites = LIST")},
    {"ecdhe, ssl-default-bind-curves, ssl_ecdh_curve", TLS("curves = LIST")},
    {"ca-file, proxy_ssl_trusted_certificate, ssl_client_certificate, "
     "ssl_trusted_certificate",
        TLS("ca = FILE")},
    {"crl-file, proxy_ssl_crl, ssl_crl", TLS("crl = FILE")},
    {"proxy_ssl_verify, ssl-server-verify, ssl_verify_client",
        TLS("verify = required or none")},
    {"proxy_ssl_verify_depth, ssl_verify_depth", TLS("depth = NUMBER")},
    {"proxy_ssl_name, verifyhost", TLS("name = NAME")},
    {"proxy_ssl_server_name", TLS("sni = NAME")},
    {"no-tls-tickets, ssl_session_tickets, session_tickets",
        TLS("tickets = off")},
    {"ssl_session_ticket_key, tls-ticket-keys", TLS("tickets_file = FILE")},
    {"ssl_session_timeout, tune.ssl.lifetime", TLS("session_timeout = TIME")},
    {"tune.ssl.keylog", TLS("keylog = FILE")},
    {"ssl_handshake_timeout",
        "write timeout_handshake = TIME in [frontend NAME]"},
    {"maxsslconn, maxsslrate", "write handshakes = NUMBER in [frontend NAME]"},
    {"proxy_ssl_session_reuse, ssl-dh-param-file, ssl_dhparam, "
     "ssl_prefer_server_ciphers, ssl_session_cache, ssl_stapling, "
     "tune.ssl.cachesize, tune.ssl.default-dh-param, tune.ssl.maxrecord",
        LEAVE},
    {"log global", "frontends log as [global] says: leave it out"},
    {"log 127.0.0.1, log localhost, access_log",
        "write log = syslog=ADDRESS, or log = file=/PATH"},
    {"log /dev/log", "write log = syslog"},
    {"log stdout", "write log = stdout"},
    {"log-format", "write format=json or format=logfmt behind log = TARGET"},
    {"log-tag", "write tag=NAME behind log = syslog"},
    {"option tcplog", "this is how sessions are logged: leave it out"},
    {"option httplog, timeout http-request, timeout http-keep-alive, "
     "timeout tarpit, http-request, http-response, http-reuse, redirect, "
     "reqadd, rspadd, errorfile, compression, location",
        NO_HTTP},
    {"option dontlognull", "write log_empty = off"},
    {"option logasap", "write log_on_connect = on"},
    {"option dontlog-normal", "write sample=1/NUMBER behind log = TARGET"},
    {"timeout check", "write timeout=TIME behind check = KIND"},
    {"contimeout", "write timeout_connect = TIME"},
    {"clitimeout", "write timeout_client = TIME"},
    {"srvtimeout", "write timeout_server = TIME"},
    {"option httpchk", HTTP_CHK},
    {"http-check", HTTP_CHK ", and status=, host=, method= behind it"},
    {"option tcp-check", "write check = send-expect, and check_step = lines"},
    {"tcp-check", "write check_step = send TEXT or check_step = expect TEXT"},
    {"option ssl-hello-chk", "write check = tls"},
    {"option mysql-check", "write check = mysql"},
    {"option pgsql-check", "write check = postgresql"},
    {"option redis-check", "write check = redis"},
    {"option smtpchk", "write check = smtp"},
    {"option external-check, external-check",
        "write check = script, and check_command = /PATH"},
    {"option log-health-checks", "they are logged: leave it out"},
    {"option allbackups", "write all_backups = on"},
    {"option redispatch", "retries go to other servers: leave it out"},
    {"option clitcpka", "write keepalive behind the address of listen"},
    {"option srvtcpka, proxy_socket_keepalive",
        "write keepalive behind the address of server"},
    {"option tcpka", "write keepalive behind the addresses of listen and "
                     "server"},
    {"option splice-auto, option splice-request, option splice-response",
        "write splice = auto"},
    {"option transparent", "write transparent behind the address of listen"},
    {"option forwardfor", "write send_proxy = v2, by which servers that know "
                          "the PROXY protocol get the client's address"},
    {"option", "HAProxy's options have keys of their own here, see MIGRATION "
               "in lfproxy.ini(5)"},
    {"send-proxy", "write send_proxy = v1"},
    {"send-proxy-v2", "write send_proxy = v2"},
    {"send-proxy-v2-ssl, send-proxy-v2-ssl-cn", "write send_proxy = v2-tls"},
    {"inter", "write interval=TIME behind check = KIND"},
    {"rise", "write rise=NUMBER behind check = KIND"},
    {"fall", "write fall=NUMBER behind check = KIND"},
    {"backup", "write backup behind the address of server"},
    {"weight", "write weight=NUMBER behind the address of server"},
    {"accept-proxy, accept_proxy",
        "write accept_proxy behind the address of listen"},
    {"upstream", "write a [backend NAME]"},
    {"proxy_timeout", "write timeout_client = TIME in [frontend NAME] and "
                      "timeout_server = TIME in [backend NAME]"},
    {"proxy_connect_timeout", "write timeout_connect = TIME in [backend NAME]"},
    {"proxy_bind", "write source = ADDRESS in [backend NAME]"},
    {"proxy_protocol", "write send_proxy = v1 in [backend NAME]"},
    {"proxy_next_upstream, proxy_next_upstream_tries",
        "write retries = NUMBER in [backend NAME]"},
    {"proxy_next_upstream_timeout", "write timeout_queue = TIME"},
    {"proxy_half_close", "both halves close on their own: leave it out"},
    {"ssl_preread, server_name", "write sni = NAME backend=BACKEND"},
    {"set_real_ip_from", "write proxy_from = ADDRESS"},
    {"least_conn", "write balance = leastconn"},
    {"ip_hash", "write balance = source"},
    {"hash", "write balance = hash, and hash_key = KIND"},
    {"random", "write balance = random"},
    {"least_time", "write balance = ewma"},
    {"zone", "all threads share their data: leave it out"},
    {"max_fails, fail_timeout",
        "write eject_after = NUMBER and eject_time = TIME in [backend]"},
    {"max_conns", "write maxconn=NUMBER behind the server's address"},
    {"limit_conn", "write limit = sessions=NUMBER in [frontend NAME]"},
    {"limit_conn_zone", "write size=NUMBER behind a limit"},
    {"health_check", "write check = connect, or another KIND"},
    {"resolver", NAMES},
    {"worker_connections", "write maxconn = NUMBER in [global]"},
    {"error_log", "messages go to standard error: leave it out"},
    {"proxy_download_rate",
        "write bandwidth = out=RATE per=session in [frontend NAME]"},
    {"proxy_upload_rate",
        "write bandwidth = in=RATE per=session in [frontend NAME]"},
    {"proxy_protocol_version", "write send_proxy = v1 or v2"},
    {"ssl_alpn", TLS("alpn = LIST")},
    {"ssl_conf_command, proxy_ssl_conf_command", TLS("ciphersuites = LIST")},
    {"map", "write sni = NAME backend=BACKEND, or route = CONDITION "
            "backend=BACKEND, in [frontend NAME]"},
    {"geo", "write route = src=RANGE backend=BACKEND in [frontend NAME]"},
    {"split_clients",
        "write a backend = NAME weight=NUMBER for each in [frontend NAME]"},
    {"resolver_timeout", "write timeout = TIME in [resolver]"},
    {"worker_priority", "write threads = NUMBER nice=NUMBER in [pool NAME]"},
    {"proxy_session_drop", "write on_down = close in [backend NAME]"},
    {"env", "write ${NAME} in values"},
    {"log_format, log-format-sd, error-log-format",
        "write format=json or format=logfmt behind log = TARGET"},
    {"log-send-hostname", "write node = NAME in [global]"},
    {"unix-bind", "write mode=, user= and group= behind listen = unix:PATH"},
    {"nosplice", "write splice = off in [defaults]"},
    {"monitor-net", "write log_empty = off"},
    {"option nolinger, option persist, option socket-stats, "
     "option contstats, option http-no-delay, server-state-file, "
     "server-state-base, load-server-state-from-file, localpeer, guid, "
     "insecure-fork-wanted, maxpipes, noepoll, parse-resolv-conf, "
     "accepted_payload_size, set-dumpable, load_module, multi_accept, "
     "accept_mutex, thread_pool, pcre_jit, timer_resolution, "
     "working_directory, master_process, map_hash_max_size, "
     "map_hash_bucket_size, variables_hash_max_size, "
     "variables_hash_bucket_size, preread_buffer_size, status_zone, use",
        LEAVE},
    {"capture, errorfiles, errorloc, errorloc302, errorloc303, "
     "unique-id-format, unique-id-header, http-error, http-after-response, "
     "filter, reqrep, reqirep, reqdel, reqdeny, rspdel, rsprep, "
     "option httpclose, option forceclose, option http-server-close, "
     "option http-keep-alive, option originalto, option httpslog, return",
        NO_HTTP},
    {"proxy_responses, proxy_requests", "this is TCP only: leave it out"},
    {"lua-load, js_import, js_include, js_set, js_access, js_preread",
        "there are no scripts; write route = CONDITION backend=BACKEND"},
};

#define TLS_NAME(key) "write tls=NAME, and " key " in [tls NAME]"
#define OWN_KEY(key)  "write " key " in [backend NAME]"
#define KIND          "how servers are checked is said by check = KIND"

static const struct advice server_options[] = {
    {"addr", "write check_addr=IP"},
    {"agent-addr", "write agent_addr=IP"},
    {"agent-check", "write agent=on, and agent = on port=NUMBER in [backend]"},
    {"agent-inter", "write agent_interval=TIME"},
    {"agent-port", "write agent_port=NUMBER"},
    {"agent-send", "write agent_send=TEXT"},
    {"alpn", TLS_NAME("alpn = LIST")},
    {"ca-file", TLS_NAME("ca = FILE")},
    {"check-alpn", KIND},
    {"check-send-proxy", "write check_send_proxy=v1"},
    {"check-sni", "write sni=NAME behind check = https"},
    {"check-ssl", "write check = tls or https"},
    {"ciphers", TLS_NAME("ciphers = LIST")},
    {"ciphersuites", TLS_NAME("ciphersuites = LIST")},
    {"cookie", STICKY},
    {"non-stick, resolve-opts, resolve-net, guid, pool-max-conn, "
     "pool-purge-delay, pool-low-conn, max-reuse, proto, ws",
        LEAVE},
    {"socks4, check-via-socks4", "SOCKS4 is not spoken: leave it out"},
    {"check-proto", "write version=2 behind check = http"},
    {"crl-file", TLS_NAME("crl = FILE")},
    {"crt", TLS_NAME("cert = FILE")},
    {"down", "write disabled"},
    {"downinter", "write check_down_interval=TIME"},
    {"error-limit", OWN_KEY("error_limit = NUMBER")},
    {"fail_timeout", OWN_KEY("eject_time = TIME")},
    {"fall", "write check_fall=NUMBER"},
    {"fastinter", "write check_fast_interval=TIME"},
    {"id, init-addr, proxy-v2-options, service", LEAVE},
    {"init_state", "write check_init_state=up or down"},
    {"inter, interval", "write check_interval=TIME"},
    {"max_conns", "write maxconn=NUMBER"},
    {"max_fails", OWN_KEY("eject_after = NUMBER")},
    {"maxqueue", OWN_KEY("maxqueue = NUMBER")},
    {"minconn", "maxconn does not depend on the load here: leave it out"},
    {"no-backup", "write backup=off"},
    {"no-check", "write check=off"},
    {"no-ssl", "write tls=off"},
    {"no-tfo", "write tfo=off"},
    {"observe", OWN_KEY("observe = connect")},
    {"on-error", OWN_KEY("on_error = ACTION")},
    {"on-marked-down, shutdown-sessions", "write on_down=close"},
    {"on-marked-up, shutdown-backup-sessions", "write on_up=close_backup"},
    {"port", "write check_port=NUMBER"},
    {"redir", NO_HTTP},
    {"resolve-prefer", "write resolve_prefer=ipv4 or ipv6"},
    {"resolvers", "write resolve=ttl; [resolver] has the name servers"},
    {"rise", "write check_rise=NUMBER"},
    {"send-proxy", "write send_proxy=v1"},
    {"send-proxy-v2", "write send_proxy=v2"},
    {"send-proxy-v2-ssl, send-proxy-v2-ssl-cn", "write send_proxy=v2-tls"},
    {"slowstart", "write slow_start=TIME"},
    {"sni", TLS_NAME("sni = NAME")},
    {"ssl", "write tls=NAME, and a [tls NAME]"},
    {"ssl-max-ver", TLS_NAME("max_version = 1.3")},
    {"ssl-min-ver", TLS_NAME("min_version = 1.2")},
    {"tcp-ut", "write user_timeout=TIME"},
    {"timeout", "write check_timeout=TIME"},
    {"verify", TLS_NAME("verify = required or none")},
    {"verifyhost", TLS_NAME("name = NAME")},
};

static const struct advice listen_options[] = {
    {"accept-netscaler-cip, bind, default_server, id, name", LEAVE},
    {"accept-proxy, proxy_protocol", "write accept_proxy"},
    {"alpn", TLS_NAME("alpn = LIST")},
    {"ca-file", TLS_NAME("ca = FILE")},
    {"cert, crt, crt-list", TLS_NAME("cert = FILE")},
    {"ciphers", TLS_NAME("ciphers = LIST")},
    {"ciphersuites", TLS_NAME("ciphersuites = LIST")},
    {"crl-file", TLS_NAME("crl = FILE")},
    {"curves, ecdhe", TLS_NAME("curves = LIST")},
    {"defer-accept, deferred", "write defer_accept=TIME"},
    {"fastopen", "write tfo=NUMBER"},
    {"gid", "write group=NAME"},
    {"http2", NO_HTTP},
    {"ipv6only", "write v6only=on or off"},
    {"level", "write it behind admin = PATH in [global]"},
    {"maxconn", "write maxconn = NUMBER in [frontend NAME]"},
    {"nice", "write threads = NUMBER nice=NUMBER in [pool NAME]"},
    {"process, thread", "write pool = NAME in [frontend NAME]"},
    {"no-tls-tickets", TLS_NAME("tickets = off")},
    {"so_keepalive", "write keepalive=on, or IDLE:INTERVAL:COUNT"},
    {"ssl", "write tls=NAME, and a [tls NAME]"},
    {"ssl-max-ver", TLS_NAME("max_version = 1.3")},
    {"ssl-min-ver", TLS_NAME("min_version = 1.2")},
    {"strict-sni", TLS_NAME("strict_sni = on")},
    {"tcp-ut", "write user_timeout=TIME"},
    {"udp", "this is TCP only"},
    {"uid", "write user=NAME"},
    {"v4v6", "write v6only=off"},
    {"verify", TLS_NAME("verify = required or optional")},
};

static const struct advice check_options[] = {
    {"check_interval, inter", "write interval=TIME"},
    {"check_fall, fails", "write fall=NUMBER"},
    {"check_rise, passes", "write rise=NUMBER"},
    {"downinter", "write down_interval=TIME"},
    {"expect, match",
        "write status=LIST, or check_body = TEXT in [backend NAME]"},
    {"fastinter", "write fast_interval=TIME"},
    {"send-proxy", "write send_proxy=v1"},
    {"ssl", "write check = https or tls"},
    {"uri", "write path=/PATH"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *key;
	const struct advice *options;
	size_t n;
} options[] = {
    {"server", server_options, COUNT(server_options)},
    {"server_defaults", server_options, COUNT(server_options)},
    {"servers", server_options, COUNT(server_options)},
    {"listen", listen_options, COUNT(listen_options)},
    {"check", check_options, COUNT(check_options)},
};

static const struct {
	const char *key, *words, *advice;
} values[] = {
    {"balance", "first-available", "write first"},
    {"balance", "hdr, uri, url_param", NO_HTTP},
    {"balance", "ip_hash, rdp-cookie", "write source"},
    {"balance", "least-conn, least_conn", "write leastconn"},
    {"balance", "least_time", "write ewma"},
    {"balance", "p2c", "write ewma or random"},
    {"balance", "round-robin, round_robin, rr, static-rr, wrr",
        "write roundrobin"},
    {"check", "external-check", "write script"},
    {"check", "httpchk", "write http"},
    {"check", "mariadb, mysql-check", "write mysql"},
    {"check", "no, none", "write off"},
    {"check", "on, yes", "write connect, or another kind"},
    {"check", "pg, pgsql, pgsql-check, postgres", "write postgresql"},
    {"check", "redis-check", "write redis"},
    {"check", "smtpchk", "write smtp"},
    {"check", "ssl, ssl-hello-chk", "write tls"},
    {"check", "tcp", "write connect"},
    {"check", "tcp-check", "write connect or send-expect"},
    {"log", "/dev/log", "write syslog"},
    {"max_version", "TLSv1.2, tls12, tlsv12", "write 1.2"},
    {"max_version", "TLSv1.3, tls13, tlsv13", "write 1.3"},
    {"min_version", "TLSv1.2, tls12, tlsv12", "write 1.2"},
    {"min_version", "TLSv1.3, tls13, tlsv13", "write 1.3"},
    {"splice", "on", "write auto"},
    {"verify", "no, off", "write none"},
    {"verify", "on, yes", "write required"},
    {"verify", "optional_no_ca", "write optional, and ca = FILE"},
};

static const struct advice heads[] = {
    {"listen", "write a [frontend NAME] and a [backend NAME]"},
    {"upstream", "write [backend NAME]"},
    {"server", "write [frontend NAME], or server = NAME ADDRESS in a "
               "[backend NAME]"},
    {"stream", "write [frontend NAME] and [backend NAME]"},
    {"http", "write http = ADDRESS in [global] for monitoring; lfproxy "
             "balances TCP only"},
    {"events", "write [global] and [pool NAME]"},
    {"default", "write [defaults]"},
    {"peers, program", LEAVE},
    {"resolvers", NAMES},
    {"userlist, cache", NO_HTTP},
};

/* Returns the length of the beginning of the line that equals the n characters
 * of words, however many blanks there are; 0 if the line does not begin with
 * them.  nginx's ';' at the end is not counted. */
static size_t
match(const char *line, const char *words, size_t n)
{
	const char *at = line;

	for (const char *end = words + n; words < end; words++) {
		if (*words == ' ') {
			if (*at == '\0' || !strchr(BLANKS, *at))
				return 0;
			at += strspn(at, BLANKS);
		} else if (*at++ != *words) {
			return 0;
		}
	}
	return *at == '\0' || strchr(BLANKS ":=;", *at) ? (size_t)(at - line)
	                                                : 0;
}

/* Returns the same for the longest of several words that fit. */
static size_t
match_any(const char *line, const char *words)
{
	size_t longest = 0, n;

	for (;; words += n + strlen(", ")) {
		size_t len = match(line, words, n = strcspn(words, ","));

		longest = len > longest ? len : longest;
		if (!words[n])
			return longest;
	}
}

bool
hint_word_is_in(const char *word, const char *list)
{
	return *word && match_any(word, list) == strlen(word);
}

static const char *
find_advice(const struct advice *all, size_t n, const char *line)
{
	const char *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = match_any(line, all[i].words);

		if (len > longest) {
			longest = len;
			found = all[i].advice;
		}
	}
	return found;
}

const char *
hint_words_key(const char *line)
{
	return find_advice(keys, COUNT(keys), line);
}

const char *
hint_words_option(const char *key, const char *option)
{
	for (size_t i = 0; i < COUNT(options); i++)
		if (strcmp(options[i].key, key) == 0)
			return find_advice(
			    options[i].options, options[i].n, option);
	return NULL;
}

const char *
hint_words_value(const char *key, const char *value)
{
	for (size_t i = 0; i < COUNT(values); i++)
		if (strcmp(values[i].key, key) == 0 &&
		    hint_word_is_in(value, values[i].words))
			return values[i].advice;
	return NULL;
}

const char *
hint_words_section(const char *head)
{
	return find_advice(heads, COUNT(heads), head);
}
