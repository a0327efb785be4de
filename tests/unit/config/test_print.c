/* SPDX-License-Identifier: MIT
 * The effective configuration as text, and the list of all keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "config/config.h"
#include "config/cpus.h"
#include "config/ini_lines.h"
#include "config/keys.h"
#include "config/pool_text.h"
#include "config/support.h"
#include "config/values.h"

static void
every_default_is_printed(void **state)
{
	char *printed = round_trip(
	    "[global]\nnode = n\n[pool main]\nthreads = 2\n" FRONTEND BACKEND);

	(void)state;
	assert_string_equal(printed,
	    "; lfproxy " LFPROXY_VERSION
	    ": the effective configuration, with every default\n"
	    "\n[global]\n"
	    "; include is not set: none\n"
	    "; admin is not set: none\n"
	    "; http is not set: none\n"
	    "log = stderr format=tcplog sample=1/1\n"
	    "; log_messages is not set: stderr, in the format of a log there "
	    "or "
	    "at stdout\n"
	    "; user is not set: the user who started lfproxy\n"
	    "; group is not set: the user's\n"
	    "; chroot is not set: /\n"
	    "maxconn = auto\n"
	    "strict_limits = on\n"
	    "rate_connections = off\n"
	    "rate_sessions = off\n"
	    "node = n\n"
	    "; state_file is not set: changes and counters end with lfproxy\n"
	    "; shutdown_delay is not set: listeners close at once\n"
	    "info_name = HAProxy\n"
	    "drain_timeout = 30s\n"
	    "drain_idle_timeout = 2s\n"
	    "closed_sessions = 1024\n"
	    "closed_tcp_info = auto\n"
	    "seccomp = auto\n"
	    "\n[resolver]\n"
	    "; nameserver is not set: those of /etc/resolv.conf\n"
	    "; timeout is not set: timeout: of /etc/resolv.conf, or 2s\n"
	    "; retries is not set: attempts: of /etc/resolv.conf less one, or "
	    "1\n"
	    "ttl_min = 1s\n"
	    "ttl_max = 1h\n"
	    "hold = 1d\n"
	    "\n[pool main]\n"
	    "threads = 2\n"
	    "shards = auto ; here 1\n"
	    "promotion = adaptive\n"
	    "order = lifo\n"
	    "cpus = all\n"
	    "handshake_threads = auto\n"
	    "handshake_nice = 20\n"
	    "\n[frontend f]\n"
	    "listen = :80\n"
	    "backend = b\n"
	    "; sni is not set: no rules\n"
	    "; route is not set: no rules\n"
	    "pool = main\n"
	    "maxconn = auto\n"
	    "rate = off\n"
	    "disabled = off\n"
	    "timeout_client = 5m\n"
	    "timeout_client_fin = 30s\n"
	    "half_close = on\n"
	    "timeout_hello = 5s\n"
	    "on_no_hello = continue\n"
	    "timeout_handshake = 10s\n"
	    "handshakes = 0\n"
	    "; timeout_first_byte is not set: no limit of its own\n"
	    "splice = auto\n"
	    "; bandwidth is not set: no limit\n"
	    "; max_age is not set: no limit\n"
	    "; log is not set: as in [global]\n"
	    "log_on_connect = off\n"
	    "; log_every is not set: never\n"
	    "log_empty = on\n"
	    "; proxy_from is not set: any client\n"
	    "; allow is not set: any client\n"
	    "; deny is not set: none\n"
	    "on_deny = reset\n"
	    "; limit is not set: no limit\n"
	    "\n[backend b]\n"
	    "balance = roundrobin\n"
	    "hash_key = source\n"
	    "hash_balance_factor = 0%\n"
	    "sticky = off\n"
	    "sticky_size = 100000\n"
	    "; sticky_expire is not set: as long as there is room\n"
	    "; server_defaults is not set: none\n"
	    "server = s 10.0.0.1:80 weight=100 maxconn=0\n"
	    "; servers is not set: none\n"
	    "check = connect interval=2s jitter=10% init_state=up timeout=2s "
	    "fall=3 rise=2\n"
	    "; check_header is not set: none\n"
	    "; check_body is not set: anything\n"
	    "agent = off\n"
	    "; check_command is not set: none\n"
	    "; check_step is not set: none\n"
	    "; source is not set: the kernel's choice\n"
	    "send_proxy = off\n"
	    "; tls is not set: plain TCP\n"
	    "starttls = off\n"
	    "all_backups = off\n"
	    "slow_start = off\n"
	    "on_down = keep\n"
	    "on_up = keep\n"
	    "panic_percent = 0%\n"
	    "retries = 3\n"
	    "retry_on = reset\n"
	    "retry_budget = 20%\n"
	    "retry_budget_min = 100\n"
	    "observe = off\n"
	    "error_limit = 10\n"
	    "on_error = fail_check\n"
	    "eject_after = 0\n"
	    "eject_on = connect\n"
	    "eject_time = 30s\n"
	    "eject_time_max = 5m\n"
	    "eject_max_percent = 50%\n"
	    "; bandwidth is not set: no limit\n"
	    "maxqueue = 0\n"
	    "; timeout_queue is not set: timeout_connect holds\n"
	    "timeout_connect = 5s\n"
	    "timeout_server = 5m\n"
	    "timeout_server_fin = 5m\n"
	    "half_close = on\n"
	    "timeout_drain = 1h\n"
	    "; timeout_tunnel is not set: timeout_client and timeout_server "
	    "hold\n");
	free(printed);
}

static void
resolvers_are_printed(void **state)
{
	(void)state;
	assert_prints(
	    "[resolver]\nnameserver=10.0.0.2\nnameserver = [::1]:5353\n"
	    "hold=forever\nretries=0\ntimeout=1500ms\n" FRONTEND BACKEND,
	    "\nnameserver = 10.0.0.2:53\nnameserver = [::1]:5353\n"
	    "timeout = 1500ms\nretries = 0\n");
	assert_prints("[resolver]\nhold=forever\n" FRONTEND BACKEND,
	    "\nhold = forever\n");
	assert_prints(FRONTEND "[backend b]\nserver=s db:80 resolve=ttl "
	                       "resolve_prefer=ipv6\n",
	    " resolve=ttl resolve_prefer=ipv6");
}

static void
what_was_set_is_printed(void **state)
{
	(void)state;
	assert_prints("[global]\nadmin=/run/a\n" FRONTEND BACKEND,
	    "\nadmin = /run/a mode=0660 level=admin timeout=10s maxconn=256\n");
	assert_prints("[global]\nhttp=127.0.0.1:1\n" FRONTEND BACKEND,
	    "\nhttp = 127.0.0.1:1 level=user\n");
	assert_prints(
	    "[global]\nhttp=127.0.0.1:1 hosts=a.example level=operator "
	    "users=/etc/u user_header=X-User "
	    "header_from=10.0.0.0/8,::1 plain_sign_in\n" FRONTEND BACKEND,
	    "\nhttp = 127.0.0.1:1 hosts=a.example level=operator users=/etc/u "
	    "user_header=X-User header_from=10.0.0.0/8,::1 plain_sign_in\n");
	assert_prints("[global]\nuser=root\ngroup=root\n" FRONTEND BACKEND,
	    "\nuser = root\ngroup = root\n");
	assert_prints(FRONTEND "backend = c weight=5\n" BACKEND
	                       "[backend c]\nserver = s 10.0.0.1:80\n",
	    "\nbackend = b weight=100\nbackend = c weight=5\n; sni is ");
	assert_prints(
	    "[frontend f]\nlisten = :80\nbackend = b weight=7\n" BACKEND,
	    "\nbackend = b\n; sni is ");
	assert_prints(FRONTEND
	    "sni = WWW.Example.com. *.x_y.Example.COM backend=b\n"
	    "sni = a backend=b\ntimeout_hello = 1000ms\n" BACKEND,
	    "\nsni = www.example.com *.x_y.example.com backend=b\n"
	    "sni = a backend=b\npool = ");
	assert_prints("[frontend f]\nlisten = :80\n"
	              "sni = *.org backend=b\n" BACKEND,
	    "\n; backend is not set: required, unless there are rules\n"
	    "sni = *.org backend=b\n");
	assert_prints(FRONTEND BACKEND "balance = hash\nhash_key = sni\n",
	    "\nhash_key = sni\n");
	assert_prints(FRONTEND BACKEND "server = t 10.0.0.2:80 backup\n",
	    "\nserver = t 10.0.0.2:80 weight=100 maxconn=0 backup\n");
	assert_prints(FRONTEND BACKEND "server = t 10.0.0.2:80 slow_start=off "
	                               "backup=on maxconn=5\n",
	    "\nserver = t 10.0.0.2:80 weight=100 maxconn=5 backup "
	    "slow_start=off\n");
	assert_prints(FRONTEND BACKEND "server = t 10.0.0.2:80 backup=off "
	                               "slow_start=90s\n",
	    "\nserver = t 10.0.0.2:80 weight=100 maxconn=0 "
	    "slow_start=90s\n");
	assert_prints(FRONTEND BACKEND "on_down = close\n"
	                               "server = t 10.0.0.2:80 on_down=keep "
	                               "on_up=close_backup\n",
	    "\nserver = t 10.0.0.2:80 weight=100 maxconn=0 "
	    "on_down=keep on_up=close_backup\n");
	assert_prints("[defaults]\nslow_start = 30s\non_down = close\n"
	              "[backend c]\nserver = s 10.0.0.1:80\n"
	              "slow_start = off\n" FRONTEND BACKEND,
	    "\nslow_start = 30s\non_down = close\non_up = keep\n");
	assert_prints(FRONTEND BACKEND "all_backups = on\n"
	                               "on_up = close_backup\n"
	                               "panic_percent = 50\n",
	    "\nall_backups = on\nslow_start = off\non_down = keep\n"
	    "on_up = close_backup\npanic_percent = 50%\n");
	assert_prints(FRONTEND "timeout_client=90s\n" BACKEND,
	    "\ntimeout_client = 90s\n");
	assert_prints(FRONTEND "max_age=60m jitter=05%\n" BACKEND,
	    "\nmax_age = 1h jitter=5%\n");
	assert_prints(FRONTEND "max_age=60m jitter=5\n" BACKEND,
	    "\nmax_age = 1h jitter=5%\n");
	assert_prints(
	    FRONTEND BACKEND "timeout_tunnel=24h\n", "\ntimeout_tunnel = 1d\n");
	assert_prints(FRONTEND "listen = unix:/run/x mode=7\n" BACKEND,
	    "\nlisten = :80\nlisten = unix:/run/x mode=0007\n");
	assert_prints(FRONTEND "listen = [::1]:90-93 backlog=5\nlisten = :94\n"
	                       "disabled = yes\n" BACKEND,
	    "\nlisten = :80\nlisten = [::1]:90-93 backlog=5\n"
	    "listen = :94\nbackend = b\n");
	assert_prints(FRONTEND "disabled = yes\n" BACKEND, "\ndisabled = on\n");
	assert_prints(FRONTEND BACKEND
	    "server = t 10.0.0.2 check=off\nserver = u [::1]:-5 check=off\n"
	    "server = v www.example.com:+0 check_port=5\n",
	    "\nserver = t 10.0.0.2 weight=100 maxconn=0 check=off\n"
	    "server = u [::1]:-5 weight=100 maxconn=0 check=off\n"
	    "server = v www.example.com:+0 weight=100 maxconn=0 "
	    "check_port=5\n");
	assert_prints(FRONTEND "bandwidth = per=frontend out=5gbit in=10m\n"
	                       "bandwidth = in=1000000 per=session\n" BACKEND,
	    "\nbandwidth = in=8Mbit/s per=session\n"
	    "bandwidth = in=10MiB/s out=5Gbit/s per=frontend\n");
	assert_prints(FRONTEND "bandwidth = only=list:a per=session in=1m\n"
	                       "bandwidth = out=2m per=session only=list:a\n"
	                       "bandwidth = in=1m per=client except=list:b\n"
	                       "[list a]\n[list b]\n" BACKEND,
	    "\nbandwidth = in=1MiB/s out=2MiB/s per=session only=list:a\n"
	    "bandwidth = in=1MiB/s per=client prefix4=32 prefix6=64 size=1m "
	    "except=list:b\n");
	assert_prints(FRONTEND BACKEND
	    "bandwidth = in=8k/s per=server\n"
	    "bandwidth = out=1GiB/s per=backend\n"
	    "server = t 10.0.0.2:80 bandwidth_in=off "
	    "bandwidth_out=2m\n",
	    "\nserver = t 10.0.0.2:80 weight=100 maxconn=0 bandwidth_in=off "
	    "bandwidth_out=2MiB/s\n");
	assert_prints(FRONTEND BACKEND "bandwidth = in=8k/s per=server\n"
	                               "bandwidth = out=1GiB/s per=backend\n",
	    "\nbandwidth = out=1GiB/s per=backend\n"
	    "bandwidth = in=8KiB/s per=server\n");
	assert_prints(FRONTEND BACKEND
	    "bandwidth = in=8k/s per=source prefix4=24 size=1k\n",
	    "\nbandwidth = in=8KiB/s per=client prefix4=24 prefix6=64 "
	    "size=1k\n");
	assert_prints(
	    "[global]\nlog = off\n" FRONTEND BACKEND, "\nlog = off\n");
	assert_prints("[global]\nlog=file=/x mode=600\nlog=stderr format=json\n"
	              "log=syslog=unix:/s tag=t rfc=5424\n" FRONTEND BACKEND,
	    "\nlog = file=/x format=tcplog sample=1/1 mode=0600\n"
	    "log = stderr format=json sample=1/1\n"
	    "log = syslog=unix:/s format=tcplog sample=1/1 facility=local0 "
	    "tag=t rfc=5424\n");
	assert_prints(FRONTEND "log = syslog=[::1] facility=mail sample=1/7\n"
	                       "log_on_connect=on\nlog_every=1h\n"
	                       "log_empty=off\n" BACKEND,
	    "\nlog = syslog=[::1] format=tcplog sample=1/7 facility=mail "
	    "tag=lfproxy rfc=3164\nlog_on_connect = on\nlog_every = 1h\n"
	    "log_empty = off\n");
	assert_prints(FRONTEND BACKEND "check = off\n", "\ncheck = off\n");
	assert_prints("[frontend f]\nlisten = :80 accept_proxy=on\n"
	              "backend = b\nproxy_from = 10.0.0.0/8 ::1/128\n"
	              "proxy_from = unix\n" BACKEND,
	    "\nlisten = :80 accept_proxy\n");
	assert_prints("[frontend f]\nlisten = :80 accept_proxy\n"
	              "backend = b\nproxy_from = 10.0.0.0/8 ::1/128\n"
	              "proxy_from = unix\n" BACKEND,
	    "\nproxy_from = 10.0.0.0/8\nproxy_from = ::1\n"
	    "proxy_from = unix\n");
	assert_prints(FRONTEND
	    "deny = 10.1.2.3 unix\non_deny=tarpit=10s\nallow = 10.0.0.0/8\n"
	    "deny = all\n" BACKEND,
	    "\ndeny = 10.1.2.3\ndeny = unix\nallow = 10.0.0.0/8\ndeny = all\n"
	    "on_deny = tarpit 10s\n");
	assert_prints(FRONTEND
	    "limit = sessions=20 rate=10 per=source action=drop\n"
	    "limit = rate=7/m burst=2 per=frontend action=delay\n"
	    "limit = prefix6=48 rate=7/h action=tarpit=5s size=2k\n" BACKEND,
	    "\nlimit = sessions=20 rate=10/s count=accepted per=client "
	    "prefix4=32 prefix6=64 "
	    "action=drop size=1m\n"
	    "limit = rate=7/m burst=2 count=accepted per=frontend prefix4=32 "
	    "prefix6=64 "
	    "action=delay=10s size=1m\n"
	    "limit = rate=7/h count=accepted per=client prefix4=32 prefix6=48 "
	    "action=tarpit=5s size=2k\n");
	assert_prints("[defaults]\non_deny = drop\n" FRONTEND BACKEND,
	    "\n; allow is not set: any client\n; deny is not set: none\n"
	    "on_deny = drop\n");
	assert_prints(FRONTEND BACKEND
	    "send_proxy = v2\nserver = t 10.0.0.2:80 send_proxy=v1\n",
	    " maxconn=0 send_proxy=v1\n");
	assert_prints(
	    FRONTEND BACKEND "send_proxy = v2\n", "\nsend_proxy = v2\n");
	assert_prints(FRONTEND BACKEND
	    "check = http path=/h host=h:1 method=OPTIONS status=200-204\n",
	    "\ncheck = http path=/h host=h:1 method=OPTIONS status=200-204 "
	    "version=1.1 interval=2s jitter=10% init_state=up timeout=2s "
	    "fall=3 "
	    "rise=2\n");
	assert_prints(FRONTEND BACKEND "check = http status=200-200\n",
	    "\ncheck = http path=/ method=GET status=200 version=1.1");
	assert_prints(FRONTEND BACKEND
	    "check = http status=304,200-210,211,100-199\n"
	    "check_header = X-A: b, c\n"
	    "check_body = regex \"^a\\\"b\"\n"
	    "check_body = hex 00 Ff\n",
	    " status=100-211,304 version=1.1 interval=2s jitter=10% "
	    "init_state=up "
	    "timeout=2s fall=3 rise=2\ncheck_header = X-A: b, "
	    "c\n"
	    "check_body = regex \"^a\\\"b\"\ncheck_body = hex 00 Ff\n");
	assert_prints(FRONTEND BACKEND
	    "check = send-expect\ncheck_step = send \"PING\\r\\n\"\n"
	    "check_step = refuse regex \"^-\"\ncheck_step = expect +PONG\n",
	    "\ncheck_step = send \"PING\\r\\n\"\n"
	    "check_step = refuse regex \"^-\"\ncheck_step = expect +PONG\n");
	assert_prints(FRONTEND BACKEND "check = postgresql tls=on verify=off\n",
	    "\ncheck = postgresql user=lfproxy verify=off interval=");
	assert_prints(FRONTEND BACKEND "check = smtp\n",
	    "\ncheck = smtp hello=lfproxy verify=on interval=");
	assert_prints(FRONTEND BACKEND "agent = on port=99 send=s\\n\n",
	    "\nagent = on port=99 send=s\\n interval=2s timeout=2s\n");
	assert_prints(FRONTEND
	    "[backend b]\nserver=s 10.0.0.1:80 check_port=9\n"
	    "check = connect fast_interval=1s down_interval=5s jitter=0 "
	    "port=8 init_state=down\n",
	    " weight=100 maxconn=0 check_port=9\n; servers is not set: none\n"
	    "check = connect interval=2s "
	    "fast_interval=1s down_interval=5s jitter=0% port=8 "
	    "init_state=down "
	    "timeout=2s");
	assert_prints(FRONTEND BACKEND "check = https verify=off sni=x.example "
	                               "version=2\n",
	    " version=2 verify=off sni=x.example interval=2s jitter=10% "
	    "init_state=up "
	    "timeout=2s fall=3 rise=2\n");
	assert_prints(
	    FRONTEND BACKEND "[defaults]\nretries = 7\n", "\nretries = 7\n");
}

static void
options_of_sockets_come_back(void **state)
{
	static const char *const same[] = {"backlog=1", "keepalive=on",
	    "keepalive=off", "keepalive=1m", "keepalive=1m:10s:3",
	    "keepalive=::7", "keepalive=:1s", "user_timeout=250ms", "mss=1460",
	    "sndbuf=64k", "rcvbuf=4097", "congestion=reno", "interface=lo",
	    "dscp=af41", "dscp=63", "mark=0xffffffff", "defer_accept=2m",
	    "tfo=16", "reuseport=on", "reuseport=off", "transparent=on",
	    "sndbuf=1m rcvbuf=1m congestion=reno dscp=ef mark=0x1 tfo=1"};
	char text[200], line[200];

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		snprintf(text, sizeof(text),
		    FRONTEND "listen = :81 %s\n" BACKEND, same[i]);
		snprintf(line, sizeof(line), "\nlisten = :81 %s\n", same[i]);
		assert_prints(text, line);
	}
	assert_prints(FRONTEND "listen = :81 keepalive=60s:: mark=16 dscp=46 "
	                       "sndbuf=65536\n" BACKEND,
	    "\nlisten = :81 keepalive=1m sndbuf=64k dscp=ef mark=0x10\n");
	assert_prints(FRONTEND BACKEND
	    "server = z 10.0.0.9:80 tfo=on keepalive=on\n",
	    "\nserver = z 10.0.0.9:80 weight=100 maxconn=0 keepalive=on "
	    "tfo=on\n");
}

static void
sources_come_back(void **state)
{
	static const char *const same[] = {"client", "10.0.0.2",
	    "10.0.0.2:4000", "10.0.0.2:4000-5000", "*:1-65535"};
	char text[200], line[200];

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		snprintf(text, sizeof(text), FRONTEND BACKEND "source = %s\n",
		    same[i]);
		snprintf(line, sizeof(line), "\nsource = %s\n", same[i]);
		assert_prints(text, line);
	}
	assert_prints(FRONTEND BACKEND
	    "server = z [2001:db8::9]:80 source=[2001:0db8::1]:9-9\n",
	    " source=[2001:db8::1]:9\n");
	assert_prints(FRONTEND BACKEND
	    "server = z [2001:db8::9]:80 source=2001:db8::1\n",
	    " source=[2001:db8::1]\n");
}

static void
pools_are_printed_as_short_as_they_can_be_written(void **state)
{
	(void)state;
	assert_prints("[pool p]\nthreads=2..8\nshards=2\n" FRONTEND BACKEND,
	    "\nthreads = 2..8\nshards = 2\n");
	assert_prints("[pool p]\nthreads=4 nice=0\n" FRONTEND BACKEND,
	    "\nthreads = 4\nshards = auto ; here 2\n");
	assert_prints("[pool p]\nthreads=4  nice=3\n" FRONTEND BACKEND,
	    "\nthreads = 4 nice=3\n");
	assert_prints("[pool p]\nthreads=4,2 nice=-1\n" FRONTEND BACKEND,
	    "\nthreads = 4 nice=0, 2 nice=-1\n");
	assert_prints(
	    "[pool p]\norder=priority\npromotion=kernel\n" FRONTEND BACKEND,
	    "\npromotion = kernel\norder = priority\n");
}

static void
cpus_are_printed_as_a_list(void **state)
{
	char list[CPU_LIST_TEXT_SIZE], text[3000], line[3000];
	cpu_set_t usable;

	(void)state;
	cpus_allowed(&usable);
	cpu_list_text(&usable, list);
	if (strlen(list) > 100)
		skip();
	snprintf(
	    text, sizeof(text), "[pool p]\ncpus = %s\n" FRONTEND BACKEND, list);
	snprintf(line, sizeof(line), "\ncpus = %s\n", list);
	assert_prints(text, line);
}

static void
automatic_threads_stay_automatic(void **state)
{
	struct spec *spec = load(FRONTEND BACKEND);
	char expected[80];

	(void)state;
	snprintf(expected, sizeof(expected), "\nthreads = auto ; here %u\n",
	    spec->pools[0].classes[0].threads);
	spec_free(spec);
	assert_prints(FRONTEND BACKEND, expected);
}

static void
assert_lines_fit(const char *text)
{
	char *printed = round_trip(text);

	for (const char *p = printed; *p; p += strcspn(p, "\n") + 1)
		assert_true(strcspn(p, "\n") <= INI_LINE_MAX);
	free(printed);
}

/* With all its options written out the value would be longer than what is
 * read, so that those at their defaults stay away. */
static void
longest_values_come_back(void **state)
{
	static char text[6000];

	(void)state;
	for (int n = 3970; n <= 4085; n++) {
		snprintf(text, sizeof(text),
		    FRONTEND BACKEND "check = http path=/%0*d\n", n, 1);
		assert_lines_fit(text);
	}
	snprintf(text, sizeof(text),
	    FRONTEND BACKEND
	    "check = http method=OPTIONS interval=1500ms timeout=60000ms "
	    "rise=0007 path=/%04026d\n",
	    1);
	assert_lines_fit(text);
	/* ${ is written with another $. */
	memset(text, 0, sizeof(text));
	strcpy(text, FRONTEND BACKEND "check = http path=/");
	while (strlen(text) < 4000)
		strcat(text, "$${");
	assert_lines_fit(strcat(text, "\n"));
}

/* More options than fitted into a line of 199 characters. */
static void
server_with_many_options_is_taken(void **state)
{
	(void)state;
	assert_prints(FRONTEND
	    "[backend b]\n"
	    "server = application-server-1 [2001:db8:1:2:3:4:5:6]:8080 "
	    "weight=50 maxconn=2000 backup slow_start=30s on_down=close "
	    "check_interval=1500ms check_fast_interval=500ms "
	    "check_down_interval=10s check_timeout=1s check_fall=5 "
	    "check_rise=3 source=[2001:db8:1:2:3:4:5:7] keepalive=60s:10s:3\n",
	    " check_fall=5 check_rise=3 ");
}

/* Defaults that equal their own printed form can be told apart from what was
 * set, in print_options(); and every text must be one that is allowed. */
static void
assert_default_is_canonical(const struct key *key)
{
	union {
		struct global_spec global;
		struct pool_spec pool;
		struct frontend_spec frontend;
		struct listen_spec listen;
		struct backend_spec backend;
		struct server_spec server;
		struct check_spec check;
		char *strings[64];
	} object;
	struct shown s = {.key = key, .object = &object};
	char text[VALUE_TEXT_SIZE];

	memset(&object, 0, sizeof(object));
	assert_true(key->default_text || key->default_note);
	if (!key->default_text)
		return;
	assert_true(value_set_default(key, &object, NULL));
	assert_true(value_print(&s, text));
	if (!key->options) /* `auto ; here 2` */
		text[strcspn(text, " ")] = '\0';
	assert_int_equal(
	    strncmp(text, key->default_text, strlen(key->default_text)), 0);
	if (!key->options)
		assert_string_equal(text, key->default_text);
	if (key->type == &type_choice_text || key->type == &type_url_path ||
	    key->type == &type_node || key->type == &type_tag ||
	    key->type == &type_sni)
		free(*(char **)(void *)((char *)&object + key->offset));
	if (key->type == &type_log)
		log_list_clear((void *)((char *)&object + key->offset));
}

static void
defaults_in_the_table_are_canonical(void **state)
{
	(void)state;
	for (enum section_kind k = 0; k < SECTION_KINDS; k++) {
		const struct key *key;
		size_t n = 0;

		for (key = NULL; (key = key_next(k, key));) {
			const struct key *o = key->options;

			assert_default_is_canonical(key);
			for (; o && o->name; o++)
				assert_default_is_canonical(o);
			n++;
		}
		assert_true(n > 0);
	}
}

static void
list_has_a_line_for_each_key_and_option(void **state)
{
	static const char *const lines[] = {
	    "global\tdrain_timeout\t30s; in a container 8s less "
	    "shutdown_delay, "
	    "at least 1s\t10ms to 30d\t",
	    "global\tadmin:mode\t0660\tan octal file mode\t",
	    "pool\tthreads\tauto\t" THREADS_ALLOWED "\t",
	    "defaults\ttimeout_client\t5m\t10ms to 30d\t",
	    "defaults\tcheck:interval\t2s\t10ms to 1d\t",
	    "frontend\ttimeout_client\t5m\t10ms to 30d\t",
	    "frontend\tlisten\trequired\tIP:PORT, [V6]:PORT, :PORT, a range",
	    "backend\tserver:weight\t100\t0 to 256\t",
	    "backend\tcheck:method\tGET\tGET, HEAD, OPTIONS\t",
	    "backend\tbalance\troundrobin\troundrobin, leastconn, "
	    "random, source, hash, first, ewma\t",
	};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	keys_list(f);
	fclose(f);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(text, lines[i]))
			fail_msg("no '%s' in:\n%s", lines[i], text);
	for (char *line = text, *end; *line; line = end + 1) {
		size_t tabs = 0;

		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		for (const char *p = line; *p; p++)
			tabs += *p == '\t';
		assert_int_equal(tabs, 4);
		assert_null(strstr(line, "(null)"));
	}
	free(text);
}

/* The sign of a percentage may be left out, and 0 needs no unit: each line
 * and the form in which it is printed. */
static void
units_follow_one_rule(void **state)
{
	static const struct {
		const char *written, *printed;
	} rows[] = {
	    {"panic_percent = 50", "panic_percent = 50%"},
	    {"panic_percent = 50%", "panic_percent = 50%"},
	    {"retry_budget = 30", "retry_budget = 30%"},
	    {"retry_budget = 30%", "retry_budget = 30%"},
	    {"eject_max_percent = 7", "eject_max_percent = 7%"},
	    {"eject_max_percent = 7%", "eject_max_percent = 7%"},
	    {"balance = hash\nhash_balance_factor = 125",
	        "hash_balance_factor = 125%"},
	    {"balance = hash\nhash_balance_factor = 125%",
	        "hash_balance_factor = 125%"},
	    {"check = connect jitter=5", "interval=2s jitter=5% "},
	    {"check = connect jitter=5%", "interval=2s jitter=5% "},
	    {"server = t 10.0.0.2:80 check_jitter=0", " check_jitter=0%"},
	    {"server = t 10.0.0.2:80 check_jitter=0%", " check_jitter=0%"},
	    {"timeout_queue = 0", "timeout_queue = 0"},
	    {"timeout_queue = 0s", "timeout_queue = 0"},
	    {"timeout_queue = 0ms", "timeout_queue = 0"},
	    {"[defaults]\ntimeout_tunnel = 1h\n[backend x]\n"
	     "server = s 10.0.0.9:80\ntimeout_tunnel = 0s",
	        "\n; timeout_tunnel is not set"},
	    {"[defaults]\nmax_age = 1h\n[frontend x]\nlisten = :81\n"
	     "backend = b\nmax_age = 0",
	        "\n; max_age is not set"},
	    {"[defaults]\nmax_age = 1h\n[frontend x]\nlisten = :81\n"
	     "backend = b\nmax_age = 0 jitter=10",
	        "\n; max_age is not set"},
	    {"[defaults]\nlog_every = 1h\n[frontend x]\nlisten = :81\n"
	     "backend = b\nlog_every = off",
	        "\n; log_every is not set"},
	    {"[defaults]\nlog_every = 1h\n[frontend x]\nlisten = :81\n"
	     "backend = b\nlog_every = 0",
	        "\n; log_every is not set"},
	    {"[frontend x]\nlisten = :81\nbackend = b\nrate = 0",
	        "\nrate = off"},
	    {"slow_start = 0", "slow_start = off"},
	    {"slow_start = 0s", "slow_start = off"},
	    {"server = t 10.0.0.2:80 slow_start=0", " slow_start=off"},
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), FRONTEND BACKEND "%s\n",
		    rows[i].written);
		assert_prints(text, rows[i].printed);
	}
}

/* Every option that is on or off stands alone, and takes four words. */
static void
booleans_follow_one_rule(void **state)
{
	static const struct {
		const char *head, *option, *on, *off;
	} rows[] = {
	    {"[frontend x]\nbackend = b\nlisten = 127.0.0.1:0", "accept_proxy",
	        " accept_proxy\n", "listen = 127.0.0.1:0\n"},
	    {"[frontend x]\nbackend = b\nlisten = 127.0.0.1:0", "reuseport",
	        " reuseport=on\n", " reuseport=off\n"},
	    {"[frontend x]\nbackend = b\nlisten = 127.0.0.1:0", "transparent",
	        " transparent=on\n", " transparent=off\n"},
	    {"[frontend x]\nbackend = b\nlisten = [::1]:0", "v6only",
	        " v6only=on\n", NULL},
	    {"[frontend x]\nbackend = b\nlisten = 127.0.0.1:0", "keepalive",
	        " keepalive=on\n", " keepalive=off\n"},
	    {"[backend x]\nserver = s 10.0.0.1:80", "backup", " backup\n",
	        "s 10.0.0.1:80 weight=100 maxconn=0\n"},
	    {"[backend x]\nserver = s 10.0.0.1:80", "tfo", " tfo=on\n",
	        "s 10.0.0.1:80 weight=100 maxconn=0\n"},
	    {"[backend x]\nserver = s 10.0.0.1:80", "check", " check=on\n",
	        " check=off\n"},
	    {"[backend x]\nserver = s 10.0.0.1:80\ncheck = redis", "tls",
	        " tls=on", " tls=off"},
	    {"[backend x]\nserver = s 10.0.0.1:80\ncheck = https", "verify",
	        " verify=on", " verify=off"},
	};
	static const char *const words[] = {"", "=on", "=yes", "=off", "=no"};
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t j = 0; j < 5; j++) {
			const char *line = j < 3 ? rows[i].on : rows[i].off;

			snprintf(text, sizeof(text),
			    FRONTEND BACKEND "%s %s%s\n", rows[i].head,
			    rows[i].option, words[j]);
			if (line)
				assert_prints(text, line);
		}
	}
	assert_prints(FRONTEND "log_on_connect = yes\n" BACKEND,
	    "\nlog_on_connect = on\n");
	assert_prints(FRONTEND "log_empty = no\n" BACKEND, "log_empty = off");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_default_is_printed),
	    cmocka_unit_test(resolvers_are_printed),
	    cmocka_unit_test(what_was_set_is_printed),
	    cmocka_unit_test(options_of_sockets_come_back),
	    cmocka_unit_test(sources_come_back),
	    cmocka_unit_test(pools_are_printed_as_short_as_they_can_be_written),
	    cmocka_unit_test(cpus_are_printed_as_a_list),
	    cmocka_unit_test(automatic_threads_stay_automatic),
	    cmocka_unit_test(longest_values_come_back),
	    cmocka_unit_test(server_with_many_options_is_taken),
	    cmocka_unit_test(defaults_in_the_table_are_canonical),
	    cmocka_unit_test(list_has_a_line_for_each_key_and_option),
	    cmocka_unit_test(units_follow_one_rule),
	    cmocka_unit_test(booleans_follow_one_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
