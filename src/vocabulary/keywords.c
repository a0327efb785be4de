/* SPDX-License-Identifier: MIT
 * See keywords.h.
 */
#include "vocabulary/keywords.h"

#include <stddef.h>

#include "vocabulary/match.h"

/* The reason and the advice of a line that the import leaves out. */
#define SAME(text)  text, text
#define LEAVE(text) text, text ": leave it out"
/* The advice for a line that the import converts. */
#define CONVERTED(words, advice)                                               \
	{                                                                      \
		words, NOTICED_CONVERTED, NULL, advice                         \
	}

#define HTTP     "HTTP is not looked into"
#define NEEDLESS "it is not needed here: leave it out"
#define TLS(key) "write " key " in [tls NAME]"
#define CHK_HTTP "write check = http path=/PATH in [backend NAME]"
#define JSON     "write format=json or format=logfmt behind log = TARGET"
#define ROUTES                                                                 \
	"write sni = NAME backend=BACKEND, or route = CONDITION "              \
	"backend=BACKEND, in [frontend NAME]"

static const struct keyword keywords[] = {
    /* HAProxy's process. */
    {"daemon", NOTICED_NEVER,
        LEAVE("lfproxy stays in the foreground, where a service manager keeps "
              "it")},
    {"chroot", NOTICED_NEVER,
        SAME("write chroot = DIR, with the configuration and its files inside, "
             "or let a systemd unit restrict the service")},
    {"pidfile, pid", NOTICED_NEVER,
        LEAVE("the service manager knows the process")},
    {"master-worker", NOTICED_NEVER,
        SAME("a reload keeps the process: `lfproxyctl reload`")},
    {"mworker-max-reloads", NOTICED_NEVER, LEAVE("a reload keeps the process")},
    {"uid", NOTICED_NEVER, SAME("write user = NAME in [global]")},
    {"gid", NOTICED_NEVER, SAME("write group = NAME in [global]")},
    {"ulimit-n, prealloc-fd, fd-hard-limit, worker_rlimit_nofile",
        NOTICED_NEVER, LEAVE("lfproxy raises the limit itself")},
    {"maxpipes", NOTICED_NEVER,
        LEAVE("at most 512 pipes are made, see splice")},
    {"nosplice", NOTICED_NEVER, SAME("write splice = off in [defaults]")},
    {"noepoll", NOTICED_NEVER, LEAVE("epoll is all there is")},
    {"cpu-map, numa-cpu-mapping, worker_cpu_affinity", NOTICED_NEVER,
        SAME("write cpus = LIST in [pool NAME]")},
    {"bind-process", NOTICED_NEVER,
        SAME("write pool = NAME in [frontend NAME]")},
    {"thread-groups", NOTICED_NEVER,
        SAME("write shards = NUMBER in [pool NAME]")},
    {"busy-polling", NOTICED_NEVER, SAME("write spin = TIME in [pool NAME]")},
    {"lua-load, lua-load-per-thread", NOTICED_ALWAYS,
        SAME("lfproxy runs no scripts; write route = CONDITION "
             "backend=BACKEND")},
    {"external-check", NOTICED_NEVER,
        SAME("write check = script, and check_command = /PATH")},
    {"insecure-fork-wanted", NOTICED_NEVER,
        LEAVE("check = script needs no permission")},
    {"set-dumpable", NOTICED_NEVER,
        SAME("write LimitCORE in the systemd unit")},
    {"setcap", NOTICED_NEVER, SAME("see rights in lfproxy(8)")},
    {"zero-warning", NOTICED_NEVER, LEAVE("`lfproxy -t` prints warnings")},
    {"quiet", NOTICED_NEVER, LEAVE("messages go to standard error")},
    {"grace", NOTICED_NEVER, SAME("write shutdown_delay = TIME in [global]")},
    {"close-spread-time", NOTICED_NEVER,
        SAME("write drain_timeout = TIME in [global]")},
    {"default-path", NOTICED_ALWAYS,
        SAME("relative paths are looked for where lfproxy is started; write "
             "whole paths")},
    {"pp2-never-send-local", NOTICED_ALWAYS,
        LEAVE("checks begin with a header that says LOCAL")},
    {"cluster-secret, declare, force-persist, ignore-persist", NOTICED_NEVER,
        LEAVE(HTTP)},
    {"h1-case-adjust", NOTICED_IN_HTTP, LEAVE(HTTP)},
    {"limited-quic", NOTICED_NEVER, LEAVE("lfproxy relays TCP only")},
    {"anonkey", NOTICED_NEVER, LEAVE("nothing is made anonymous")},
    {"warn-blocked-traffic-after", NOTICED_NEVER,
        LEAVE("show info has the longest turns")},
    {"server-state-file, server-state-base, load-server-state-from-file",
        NOTICED_NEVER, LEAVE("a reload keeps the state of the servers")},
    {"localpeer", NOTICED_NEVER, LEAVE("lfproxy has no peers")},
    {"expose-fd", NOTICED_NEVER, LEAVE("a reload keeps the listeners")},
    {"unix-bind", NOTICED_NEVER,
        SAME("write mode=, user= and group= behind listen = unix:PATH")},
    {"fullconn", NOTICED_NEVER,
        LEAVE("maxconn of a server does not depend on the load")},
    {"id, guid", NOTICED_NEVER, LEAVE("lfproxy numbers by itself")},
    {"email-alert", NOTICED_NEVER,
        SAME("no mail is sent; watch /metrics, or write log_messages = "
             "syslog=ADDRESS")},
    {"stats", NOTICED_NEVER, SAME("write http = ADDRESS in [global]")},
    {"monitor-uri", NOTICED_ALWAYS,
        SAME("write http = ADDRESS in [global], which has /healthz and "
             "/readyz")},
    {"monitor-net", NOTICED_ALWAYS,
        SAME("such clients are relayed like others; log_empty = off keeps "
             "them out of the log")},
    {"monitor", NOTICED_NEVER,
        SAME("/readyz of http = ADDRESS says whether it can serve")},
    {"parse-resolv-conf", NOTICED_NEVER,
        LEAVE("/etc/resolv.conf is read where no nameserver is given")},
    {"accepted_payload_size", NOTICED_NEVER, LEAVE("long answers come by TCP")},

    /* HAProxy's TLS. */
    {"ssl-dh-param-file, tune.ssl.default-dh-param", NOTICED_NEVER,
        LEAVE("ECDHE needs no parameters")},
    {"tune.ssl.keylog", NOTICED_NEVER,
        SAME("write keylog = FILE in [tls NAME]")},
    {"tune.ssl.lifetime", NOTICED_NEVER,
        SAME("write session_timeout = TIME in [tls NAME]")},
    {"ssl-engine", NOTICED_NEVER,
        SAME("write it in OpenSSL's own configuration")},
    {"maxsslconn, maxsslrate", NOTICED_ALWAYS,
        SAME("write handshakes = NUMBER in [frontend NAME]")},
    {"ssl-security-level", NOTICED_ALWAYS,
        SAME("write ciphers = LIST:@SECLEVEL=NUMBER in [tls NAME]")},
    {"ssl-default-bind-sigalgs, ssl-default-bind-client-sigalgs, "
     "ssl-default-server-sigalgs, ssl-default-server-client-sigalgs",
        NOTICED_ALWAYS, SAME("write ciphers = LIST in [tls NAME]")},
    {"ssl-default-server-curves", NOTICED_ALWAYS,
        SAME("write curves = LIST in [tls NAME]")},
    {"ssl-load-extra-files", NOTICED_NEVER,
        SAME("write key=FILE and ocsp=FILE behind cert = FILE in [tls NAME]")},
    {"ssl-load-extra-del-ext", NOTICED_NEVER,
        SAME("write key=FILE behind cert = FILE in [tls NAME]")},
    {"ssl-mode-async", NOTICED_NEVER,
        LEAVE("handshakes run on the pool's threads")},
    {"issuers-chain-path", NOTICED_ALWAYS,
        SAME("write the whole chain into the file of cert")},
    {"ssl-skip-self-issued-ca", NOTICED_NEVER,
        LEAVE("a chain is sent as it stands")},
    {"ocsp-update", NOTICED_ALWAYS,
        SAME("write ocsp=FILE behind cert = FILE in [tls NAME], and renew "
             "FILE")},

    /* HAProxy's log. */
    {"log-send-hostname", NOTICED_NEVER, SAME("write node = NAME in [global]")},
    {"log-format, log_format", NOTICED_NEVER,
        "the access log has HAProxy's form, or format=json or logfmt behind "
        "log = TARGET",
        JSON},
    {"log-format-sd, error-log-format", NOTICED_NEVER, SAME(JSON)},
    {"log-tag", NOTICED_NEVER, SAME("write tag=NAME behind log = syslog")},
    {"log-steps", NOTICED_NEVER, SAME("write log_on_connect = on")},
    {"option dontlog-normal", NOTICED_NEVER,
        SAME("write sample=1/NUMBER behind log = TARGET")},
    {"option log-separate-errors", NOTICED_NEVER,
        LEAVE("log lines have one priority")},
    {"option httplog, option httpslog", NOTICED_NEVER,
        LEAVE("sessions are logged as by option tcplog")},
    {"option http-ignore-probes", NOTICED_NEVER, SAME("write log_empty = off")},

    /* HAProxy's HTTP. */
    {"option forwardfor", NOTICED_IN_HTTP,
        SAME(HTTP "; nearest: send_proxy = v2 in [backend NAME], for servers "
                  "that know the PROXY protocol")},
    {"option originalto", NOTICED_IN_HTTP,
        SAME(HTTP "; nearest: send_proxy = v2 in [backend NAME]")},
    {"option httpclose, option forceclose, option http-server-close, "
     "option http-keep-alive, option http-tunnel",
        NOTICED_NEVER, LEAVE(HTTP ": connections are relayed whole")},
    {"option http-pretend-keepalive, option prefer-last-server, "
     "option http-use-proxy-header, option http-buffer-request, "
     "option http-use-htx, option accept-invalid-http-request, "
     "option accept-invalid-http-response, unique-id-format, capture",
        NOTICED_NEVER, LEAVE(HTTP)},
    {"option checkcache, unique-id-header, http-request, http-response, "
     "http-after-response, http-send-name-header, compression, reqadd, "
     "reqdel, reqrep, reqirep, reqidel, reqdeny, reqideny, rspadd, rspdel, "
     "rspidel, rsprep, rspirep",
        NOTICED_IN_HTTP, LEAVE(HTTP)},
    {"option http_proxy, use-fcgi-app", NOTICED_ALWAYS, LEAVE(HTTP)},
    {"http-error, redirect, errorfile, errorfiles, errorloc, errorloc302, "
     "errorloc303",
        NOTICED_IN_HTTP, LEAVE(HTTP ": nothing is answered by lfproxy")},
    {"http-reuse", NOTICED_NEVER,
        LEAVE("each session has a connection of its own")},
    {"cookie, appsession", NOTICED_IN_HTTP,
        SAME(HTTP "; nearest: balance = source, which keeps a client at its "
                  "server")},
    {"persist", NOTICED_ALWAYS,
        SAME("RDP cookies are not looked into; nearest: balance = source, "
             "which keeps a client at its server")},
    {"timeout http-request", NOTICED_IN_HTTP,
        SAME(HTTP "; nearest: timeout_first_byte = TIME in [frontend NAME]")},
    {"timeout http-keep-alive", NOTICED_NEVER,
        LEAVE(HTTP "; timeout_client holds")},
    {"timeout tarpit", NOTICED_NEVER, SAME("write on_deny = tarpit TIME")},

    /* HAProxy's TCP. */
    {"option http-no-delay", NOTICED_NEVER, LEAVE("nothing is delayed")},
    {"option abortonclose", NOTICED_NEVER,
        LEAVE("a client that leaves leaves the queue")},
    {"option persist", NOTICED_NEVER,
        LEAVE("sessions never wait for a server that is down")},
    {"option nolinger", NOTICED_NEVER,
        LEAVE("connections are closed in order")},
    {"option socket-stats", NOTICED_NEVER,
        LEAVE("statistics are for the frontend")},
    {"option contstats", NOTICED_NEVER, LEAVE("statistics are always current")},
    {"option transparent", NOTICED_ALWAYS,
        LEAVE("the client's own destination as the server has no "
              "counterpart")},
    {"option spop-check", NOTICED_NEVER, SAME("nearest: check = connect")},
    {"option independent-streams", NOTICED_ALWAYS,
        SAME("each direction has no time of its own; write shorter timeouts")},
    {"option tcpka", NOTICED_NEVER,
        SAME("write keepalive behind the addresses of listen and server")},
    {"timeout check", NOTICED_NEVER, "nothing is checked here",
        "write timeout=TIME behind check = KIND"},
    {"filter bwlim-in, filter bwlim-out, "
     "tcp-request content set-bandwidth-limit, "
     "tcp-response content set-bandwidth-limit",
        NOTICED_ALWAYS,
        SAME("write bandwidth = out=RATE per=session, or per=client, in "
             "[frontend NAME]; only=list:NAME chooses clients")},
    {"filter", NOTICED_ALWAYS, LEAVE("lfproxy has no filters")},
    {"use-server", NOTICED_ALWAYS,
        SAME("write a [backend NAME] with that server, and route = CONDITION "
             "backend=NAME in [frontend NAME]")},
    {"tcp-response", NOTICED_ALWAYS, LEAVE("answers are not looked into")},

    /* nginx. */
    {"master_process", NOTICED_NEVER, LEAVE("there is one process")},
    {"load_module", NOTICED_NEVER, LEAVE("everything is built in")},
    {"error_log", NOTICED_NEVER, LEAVE("messages go to standard error")},
    {"worker_priority", NOTICED_NEVER,
        SAME("write threads = NUMBER nice=NUMBER in [pool main]")},
    {"env", NOTICED_NEVER, LEAVE("values may have ${NAME}")},
    {"pcre_jit", NOTICED_NEVER, LEAVE("lfproxy has no expressions")},
    {"thread_pool", NOTICED_NEVER, LEAVE("files are not served")},
    {"timer_resolution", NOTICED_NEVER, LEAVE("time is exact")},
    {"working_directory", NOTICED_NEVER, SAME("write it in the systemd unit")},
    {"use", NOTICED_NEVER, LEAVE("epoll is all there is")},
    {"multi_accept", NOTICED_NEVER,
        LEAVE("connections are accepted as they come")},
    {"accept_mutex", NOTICED_NEVER, LEAVE("one thread leads, see promotion")},
    {"open_log_file_cache", NOTICED_NEVER, LEAVE("log files stay open")},
    {"variables_hash_max_size, variables_hash_bucket_size, map_hash_max_size, "
     "map_hash_bucket_size",
        NOTICED_NEVER, LEAVE("lfproxy has no such table")},
    {"proxy_buffer_size", NOTICED_NEVER, LEAVE("each thread has one buffer")},
    {"preread_buffer_size", NOTICED_NEVER, LEAVE("a hello may have 16 KiB")},
    {"proxy_next_upstream_timeout", NOTICED_ALWAYS,
        SAME("write timeout_queue = TIME")},
    {"proxy_session_drop", NOTICED_ALWAYS, SAME("write on_down = close")},
    {"proxy_ssl_session_reuse", NOTICED_NEVER, LEAVE("sessions are resumed")},
    {"proxy_ssl_password_file, ssl_password_file", NOTICED_ALWAYS,
        LEAVE("keys have no passphrase")},
    {"ssl_session_cache", NOTICED_NEVER, LEAVE("tickets need no cache")},
    {"ssl_dhparam", NOTICED_NEVER, LEAVE("ECDHE needs no parameters")},
    {"ssl_stapling", NOTICED_ALWAYS, SAME("write ocsp=FILE behind cert")},
    {"ssl_engine", NOTICED_NEVER, SAME("write it in OpenSSL's configuration")},
    {"limit_conn_log_level", NOTICED_NEVER,
        LEAVE("show stat counts such clients")},
    {"resolver_timeout", NOTICED_NEVER,
        SAME("write timeout = TIME in [resolver]")},
    {"status_zone", NOTICED_NEVER, LEAVE("all frontends are counted")},
    {"zone_sync", NOTICED_ALWAYS, LEAVE("every lfproxy counts alone")},
    {"health_check", NOTICED_ALWAYS,
        SAME("write check = connect in [backend NAME]")},
    {"match", NOTICED_ALWAYS,
        SAME("write check = send-expect, and check_step")},
    {"return", NOTICED_ALWAYS, LEAVE("nothing is answered by lfproxy")},
    {"set", NOTICED_ALWAYS,
        LEAVE(
            "lfproxy has no variables; write route = CONDITION backend=NAME")},
    {"proxy_responses, proxy_requests", NOTICED_NEVER,
        LEAVE("lfproxy relays TCP only")},
    {"mail", NOTICED_ALWAYS,
        LEAVE("mail is relayed as TCP: [frontend NAME] and [backend NAME]")},
    {"include", NOTICED_ALWAYS, "the file was not read", NULL},
    {"js_import, js_include, js_set, js_access, js_preread, js_filter",
        NOTICED_ALWAYS, LEAVE("lfproxy has no scripts")},
    {"js_path", NOTICED_NEVER, LEAVE("lfproxy has no scripts")},

    /* Lines that the import converts, HAProxy's and nginx's. */
    CONVERTED("acl, use_backend, tcp-request",
        "write sni = NAME backend=BACKEND, or route = CONDITION "
        "backend=BACKEND, in [frontend NAME]"),
    CONVERTED("tcp-request connection reject, tcp-request content reject",
        "write deny = ADDRESSES in [frontend NAME]"),
    CONVERTED("tcp-request connection accept",
        "write allow = ADDRESSES in [frontend NAME]"),
    CONVERTED("tcp-request connection expect-proxy",
        "write proxy_from = ADDRESSES, and accept_proxy behind the address of "
        "listen"),
    CONVERTED("bind", "write listen = ADDRESS in [frontend NAME]"),
    CONVERTED("default_backend, proxy_pass",
        "write backend = NAME in [frontend NAME]"),
    CONVERTED("dispatch", "write server = NAME ADDRESS"),
    CONVERTED("default-server",
        "write server_defaults = OPTION=VALUE in [backend NAME]"),
    CONVERTED("server-template", "write a server = NAME ADDRESS for each"),
    CONVERTED("mode", "everything is TCP here: leave it out"),
    CONVERTED(
        "hash-type", "balance = source and hash are consistent: leave it out"),
    CONVERTED("rate-limit", "write a rate in [frontend NAME]"),
    CONVERTED(
        "stick", "write balance = source, which keeps a client at its server"),
    CONVERTED("stick-table, tcp-request connection track-sc0",
        "write balance = source, which keeps a client at its server, or limit "
        "= sessions=NUMBER rate=NUMBER/s in [frontend NAME]"),
    CONVERTED(
        "tcp-request inspect-delay, proxy_protocol_timeout, preread_timeout",
        "write timeout_hello = TIME"),
    CONVERTED("tune.bufsize, tune.maxaccept, option tcp-smart-accept, option "
              "tcp-smart-connect, no option, tcp_nodelay",
        NEEDLESS),
    CONVERTED("state", "write state_file = /PATH in [global]"),
    CONVERTED("nbproc, nbthread, worker_processes",
        "write threads = NUMBER in [pool NAME]"),
    CONVERTED("hard-stop-after, worker_shutdown_timeout",
        "write drain_timeout = TIME in [global]"),
    CONVERTED("spread-checks", "write jitter=PERCENT behind check = KIND"),
    CONVERTED("stats socket", "write admin = PATH in [global]"),
    CONVERTED(
        "stats timeout", "write timeout=TIME behind admin = PATH in [global]"),
    CONVERTED("setenv, presetenv",
        "set the environment of lfproxy, and write ${NAME}"),
    CONVERTED(
        "ca-base, crt-base", "write whole paths in [tls NAME]: leave it out"),
    CONVERTED(
        "ssl", "write tls=NAME behind the address of listen, and a [tls NAME]"),
    CONVERTED(
        "proxy_ssl", "write tls = NAME in [backend NAME], and a [tls NAME]"),
    CONVERTED(
        "crt, proxy_ssl_certificate, ssl_certificate", TLS("cert = FILE")),
    CONVERTED("proxy_ssl_certificate_key, ssl_certificate_key",
        TLS("key=FILE behind cert = FILE")),
    CONVERTED("ssl_stapling_file", TLS("ocsp=FILE behind cert = FILE")),
    CONVERTED("proxy_ssl_protocols, ssl-default-bind-options, "
              "ssl-default-server-options, ssl-min-ver, ssl_protocols",
        TLS("min_version = 1.2")),
    CONVERTED("ssl-max-ver", TLS("max_version = 1.3")),
    CONVERTED("proxy_ssl_ciphers, ssl-default-bind-ciphers, "
              "ssl-default-server-ciphers, ssl_ciphers",
        TLS("ciphers = LIST")),
    CONVERTED("ssl-default-bind-ciphersuites, ssl-default-server-ciphersuites",
        TLS("ciphersuites = LIST")),
    CONVERTED(
        "ecdhe, ssl-default-bind-curves, ssl_ecdh_curve", TLS("curves = LIST")),
    CONVERTED("ca-file, proxy_ssl_trusted_certificate, ssl_client_certificate, "
              "ssl_trusted_certificate",
        TLS("ca = FILE")),
    CONVERTED("crl-file, proxy_ssl_crl, ssl_crl", TLS("crl = FILE")),
    CONVERTED("proxy_ssl_verify, ssl-server-verify, ssl_verify_client",
        TLS("verify = required or none")),
    CONVERTED(
        "proxy_ssl_verify_depth, ssl_verify_depth", TLS("depth = NUMBER")),
    CONVERTED("proxy_ssl_name, verifyhost", TLS("name = NAME")),
    CONVERTED("proxy_ssl_server_name", TLS("sni = NAME")),
    CONVERTED("no-tls-tickets, ssl_session_tickets, session_tickets",
        TLS("tickets = off")),
    CONVERTED(
        "ssl_session_ticket_key, tls-ticket-keys", TLS("tickets_file = FILE")),
    CONVERTED("ssl_session_timeout", TLS("session_timeout = TIME")),
    CONVERTED("ssl_handshake_timeout",
        "write timeout_handshake = TIME in [frontend NAME]"),
    CONVERTED(
        "ssl_prefer_server_ciphers, tune.ssl.cachesize, tune.ssl.maxrecord",
        NEEDLESS),
    CONVERTED("log global", "frontends log as [global] says: leave it out"),
    CONVERTED("log 127.0.0.1, log localhost, access_log",
        "write log = syslog=ADDRESS, or log = file=/PATH"),
    CONVERTED("log /dev/log", "write log = syslog"),
    CONVERTED("log stdout", "write log = stdout"),
    CONVERTED("option tcplog", "this is how sessions are logged: leave it out"),
    CONVERTED("location", HTTP ": leave it out"),
    CONVERTED("option dontlognull", "write log_empty = off"),
    CONVERTED("option logasap", "write log_on_connect = on"),
    CONVERTED("contimeout", "write timeout_connect = TIME"),
    CONVERTED("clitimeout", "write timeout_client = TIME"),
    CONVERTED("srvtimeout", "write timeout_server = TIME"),
    CONVERTED(
        "option httpchk", "write check = http path=/PATH in [backend NAME]"),
    CONVERTED("http-check", "write check = http path=/PATH in [backend NAME], "
                            "and status=, host=, method= behind it"),
    CONVERTED("option tcp-check",
        "write check = send-expect, and check_step = lines"),
    CONVERTED("tcp-check",
        "write check_step = send TEXT or check_step = expect TEXT"),
    CONVERTED("option ssl-hello-chk", "write check = tls"),
    CONVERTED("option mysql-check", "write check = mysql"),
    CONVERTED("option pgsql-check", "write check = postgresql"),
    CONVERTED("option redis-check", "write check = redis"),
    CONVERTED("option smtpchk", "write check = smtp"),
    CONVERTED("option external-check",
        "write check = script, and check_command = /PATH"),
    CONVERTED("option log-health-checks", "they are logged: leave it out"),
    CONVERTED("option allbackups", "write all_backups = on"),
    CONVERTED("option redispatch", "retries go to other servers: leave it out"),
    CONVERTED(
        "option clitcpka", "write keepalive behind the address of listen"),
    CONVERTED("option srvtcpka, proxy_socket_keepalive",
        "write keepalive behind the address of server"),
    CONVERTED(
        "option splice-auto, option splice-request, option splice-response",
        "write splice = auto"),
    CONVERTED("option", "HAProxy's options have keys of their own here, see "
                        "MIGRATION in lfproxy.ini(5)"),
    CONVERTED("send-proxy", "write send_proxy = v1"),
    CONVERTED("send-proxy-v2", "write send_proxy = v2"),
    CONVERTED(
        "send-proxy-v2-ssl, send-proxy-v2-ssl-cn", "write send_proxy = v2-tls"),
    CONVERTED("inter", "write interval=TIME behind check = KIND"),
    CONVERTED("rise", "write rise=NUMBER behind check = KIND"),
    CONVERTED("fall", "write fall=NUMBER behind check = KIND"),
    CONVERTED("backup", "write backup behind the address of server"),
    CONVERTED("weight", "write weight=NUMBER behind the address of server"),
    CONVERTED("accept-proxy, accept_proxy",
        "write accept_proxy behind the address of listen"),
    CONVERTED("upstream", "write a [backend NAME]"),
    CONVERTED("proxy_timeout", "write timeout_client = TIME in [frontend NAME] "
                               "and timeout_server = TIME in [backend NAME]"),
    CONVERTED("proxy_connect_timeout",
        "write timeout_connect = TIME in [backend NAME]"),
    CONVERTED("proxy_bind", "write source = ADDRESS in [backend NAME]"),
    CONVERTED("proxy_protocol", "write send_proxy = v1 in [backend NAME]"),
    CONVERTED("proxy_next_upstream, proxy_next_upstream_tries",
        "write retries = NUMBER in [backend NAME]"),
    CONVERTED(
        "proxy_half_close", "both halves close on their own: leave it out"),
    CONVERTED("ssl_preread, server_name", "write sni = NAME backend=BACKEND"),
    CONVERTED("set_real_ip_from", "write proxy_from = ADDRESS"),
    CONVERTED("least_conn", "write balance = leastconn"),
    CONVERTED("ip_hash", "write balance = source"),
    CONVERTED("hash", "write balance = hash, and hash_key = KIND"),
    CONVERTED("random", "write balance = random"),
    CONVERTED("least_time", "write balance = ewma"),
    CONVERTED("zone", "all threads share their data: leave it out"),
    CONVERTED("max_fails, fail_timeout",
        "write eject_after = NUMBER and eject_time = TIME in [backend]"),
    CONVERTED("max_conns", "write maxconn=NUMBER behind the server's address"),
    CONVERTED("limit_conn", "write limit = sessions=NUMBER in [frontend NAME]"),
    CONVERTED("limit_conn_zone", "write size=NUMBER behind a limit"),
    CONVERTED("resolver", "write [resolver] with nameserver = ADDRESS:PORT"),
    CONVERTED("worker_connections", "write maxconn = NUMBER in [global]"),
    CONVERTED("proxy_download_rate",
        "write bandwidth = out=RATE per=session in [frontend NAME]"),
    CONVERTED("proxy_upload_rate",
        "write bandwidth = in=RATE per=session in [frontend NAME]"),
    CONVERTED("proxy_protocol_version", "write send_proxy = v1 or v2"),
    CONVERTED("ssl_alpn", TLS("alpn = LIST")),
    CONVERTED(
        "ssl_conf_command, proxy_ssl_conf_command", TLS("ciphersuites = LIST")),
    CONVERTED("map", "write sni = NAME backend=BACKEND, or route = CONDITION "
                     "backend=BACKEND, in [frontend NAME]"),
    CONVERTED(
        "geo", "write route = src=RANGE backend=BACKEND in [frontend NAME]"),
    CONVERTED("split_clients",
        "write a backend = NAME weight=NUMBER for each in [frontend NAME]"),
};

const struct keyword *
keyword_find(const char *line)
{
	const struct keyword *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		size_t len = match_longest(line, keywords[i].words);

		if (len > longest) {
			longest = len;
			found = &keywords[i];
		}
	}
	return found;
}
