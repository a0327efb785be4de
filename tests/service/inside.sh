# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The tests of the service, in a booted container; tests/service/run starts this
# and shows what it prints, in TAP.  The tests build on each other: the package
# is installed, used, and removed; then make install takes its place.
#
# /src: the source tree with a finished build; /run/check/lfproxy.deb, and next.deb,
# the same programs under a higher version
set -u
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
tools=/src/build/release/tools
ini=/etc/lfproxy/lfproxy.ini
local_unit=/usr/local/lib/systemd/system/lfproxy.service
tests=()
said=/tmp/said

# -- the frame --

# Everything that a test prints is shown when it fails.
check() {
	tests+=("$1")
}

run_tests() {
	local n=0 rc name

	echo "1..${#tests[@]}"
	for name in "${tests[@]}"; do
		n=$((n + 1))
		# Not as a condition, where `set -e` does nothing.
		(
			set -ex
			"$name"
		) >/tmp/output 2>&1
		rc=$?
		if [ "$rc" -eq 0 ]; then
			echo "ok $n service: ${name//_/ }"
			continue
		fi
		echo "not ok $n service: ${name//_/ }"
		{
			cat /tmp/output
			systemctl status --no-pager -l lfproxy.service
			journalctl -q --no-pager -n 25 -o cat -u lfproxy.service
		} 2>&1 | sed 's/^/# /'
	done
}

# says REGEX: in what the last `quietly` printed.
says() {
	grep -qE -- "$1" "$said" || {
		echo "expected '$1' in:"
		cat "$said"
		return 1
	}
}

# quietly COMMAND...: its output into the file that `says` reads.
quietly() {
	"$@" >"$said" 2>&1
}

fails() {
	! "$@" || {
		echo "expected to fail: $*"
		return 1
	}
}

# until_true SECONDS COMMAND...
until_true() {
	local tries=$(($1 * 20))

	shift
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || {
			echo "not in time: $*"
			return 1
		}
		sleep 0.05
	done
}

# journal_says PATTERN [OPTION...]: in what these options of journalctl select.
journal_says() {
	journalctl --sync
	journalctl -q --no-pager -o cat -u lfproxy.service "${@:2}" >"$said"
	says "$1"
}

# What was said so far does not count.
forget_journal() {
	journalctl --rotate && journalctl --vacuum-time=1us
} >/dev/null 2>&1

property() {
	systemctl show -P "$1" lfproxy.service
}

get() {
	curl -sS -m 10 http://127.0.0.1:8080/
}

status_of() {
	curl -s -m 5 -o /dev/null -w '%{http_code}' "http://127.0.0.1:8404$1"
}

# configure [LINE...]: the file, with these lines of [global].
configure() {
	{
		printf '[global]\nhttp = 127.0.0.1:8404\n'
		printf '%s\n' "$@"
		cat <<-END
			[frontend web]
			listen = 127.0.0.1:8080
			backend = app
			[backend app]
			check = connect interval=200ms
			server = a 127.0.0.1:9001
		END
	} >"$ini"
}

admin="admin = /run/lfproxy/admin.sock mode=0660"

listen_on() {
	systemd-run -q --unit "listen-$1" "$tools/appserver" --name app \
	    --listen "127.0.0.1:$1"
	until_true 10 curl -s -o /dev/null "http://127.0.0.1:$1/"
}

install_package() {
	apt-get -q -y -o Dpkg::Options::=--force-confold install \
	    /run/check/lfproxy.deb
}

# -- the package --

check apt_install_with_the_port_taken_says_why_nothing_runs
apt_install_with_the_port_taken_says_why_nothing_runs() {
	listen_on 8080
	quietly install_package
	says 'installed, but the service did not start'
	says 'cannot listen on 127.0.0.1:8080: Address already in use'
	fails systemctl is-active -q lfproxy.service
	fails quietly systemctl restart lfproxy.service
	systemctl stop listen-8080.service
}

check a_start_returns_when_connections_are_accepted
a_start_returns_when_connections_are_accepted() {
	listen_on 9001
	configure "$admin"
	systemctl reset-failed lfproxy.service
	systemctl start lfproxy.service
	[ "$(get)" = app ]
	lfproxyctl show info >/dev/null
	[[ $(property StatusText) == Ready* ]]
	[ "$(property User)" = lfproxy ]
}

check restart_and_curl_is_never_refused
restart_and_curl_is_never_refused() {
	# systemd refuses more than five starts within ten seconds.
	mkdir -p /run/systemd/system/lfproxy.service.d
	printf '[Unit]\nStartLimitIntervalSec=0\n' \
	    >/run/systemd/system/lfproxy.service.d/limit.conf
	systemctl daemon-reload
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		systemctl restart lfproxy.service
		[ "$(get)" = app ]
	done
}

# systemd has a copy of a listening socket.
stored() {
	[ "$(property NFileDescriptorStore)" -ge 1 ]
}

# moved_from PID: another process is the main one.
moved_from() {
	[ "$(property MainPID)" != "$1" ] &&
	    [ "$(property ActiveState)" = active ]
}

# clients: makes one connection after another until /tmp/stop exists; prints how
# many there were, and those that failed.
clients() {
	local n=0 failed=0

	while [ ! -e /tmp/stop ]; do
		get >/dev/null 2>>/tmp/refused || failed=$((failed + 1))
		n=$((n + 1))
	done
	echo "$n connections, $failed failed"
}

check clients_wait_through_restarts_and_a_crash
clients_wait_through_restarts_and_a_crash() {
	local client

	# systemd gets the sockets within a second of the start.
	until_true 10 stored
	rm -f /tmp/stop /tmp/refused
	clients >/tmp/clients &
	client=$!
	for _ in 1 2 3; do
		systemctl restart lfproxy.service
		until_true 10 stored
	done
	systemctl kill -s KILL --kill-who=main lfproxy.service
	until_true 20 systemctl is-active -q lfproxy.service
	until_true 10 stored
	[ "$(get)" = app ]
	: >/tmp/stop
	wait "$client"
	cat /tmp/clients /tmp/refused
	# The one that the killed process was serving is reset; none is refused.
	grep -qE '^[1-9][0-9]* connections, [01] failed$' /tmp/clients
	fails grep -E '^curl: \((7|28)\)' /tmp/refused
}

check an_upgrade_changes_the_main_process_and_refuses_no_client
an_upgrade_changes_the_main_process_and_refuses_no_client() {
	local client before

	configure "$admin"
	systemctl restart lfproxy.service
	before=$(property MainPID)
	rm -f /tmp/stop /tmp/refused
	clients >/tmp/clients &
	client=$!
	for _ in 1 2 3; do
		lfproxyctl upgrade
		until_true 10 moved_from "$before"
		before=$(property MainPID)
		[ "$(lfproxyctl show info | sed -n 's/^Pid: //p')" = "$before" ]
	done
	: >/tmp/stop
	wait "$client"
	cat /tmp/clients
	grep -qE '^[1-9][0-9]* connections, 0 failed$' /tmp/clients
	systemctl reload lfproxy.service
}

# serves_alone: one process, the main one, and its sockets are stored.
serves_alone() {
	local main

	main=$(property MainPID)
	[ "$(get)" = app ] && [ "$(pgrep -x lfproxy | xargs)" = "$main" ] &&
	    [ "$(lfproxyctl show info | sed -n 's/^Pid: //p')" = "$main" ] &&
	    stored
}

# kill_during_an_upgrade new|former
kill_during_an_upgrade() {
	local former ctl

	former=$(property MainPID)
	lfproxyctl upgrade &
	ctl=$!
	# A moment up to when an upgrade is through.
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
	if [ "$1" = former ]; then
		kill -KILL "$former"
	else
		pgrep -x lfproxy | grep -vx "$former" | xargs -r kill -KILL
	fi
	wait "$ctl" || :
}

check either_process_of_an_upgrade_is_killed_and_one_goes_on_serving
either_process_of_an_upgrade_is_killed_and_one_goes_on_serving() {
	local client

	until_true 20 serves_alone
	rm -f /tmp/stop /tmp/refused
	clients >/tmp/clients &
	client=$!
	for _ in 1 2 3 4 5 6 7 8; do
		kill_during_an_upgrade new
		until_true 20 serves_alone
		kill_during_an_upgrade former
		until_true 20 serves_alone
	done
	: >/tmp/stop
	wait "$client"
	cat /tmp/clients
	fails grep -E '^curl: \((7|28)\)' /tmp/refused
}

check the_unit_exposes_no_more_than_it_has_to
the_unit_exposes_no_more_than_it_has_to() {
	quietly systemd-analyze security --no-pager lfproxy.service
	says 'Overall exposure level for lfproxy.service: (0|1\.[0-5])'
}

check lfproxy_adds_a_filter_of_its_own
lfproxy_adds_a_filter_of_its_own() {
	lfproxyctl show info >"$said"
	says '^Lfproxy_seccomp: on$'
}

check changes_and_counters_outlive_a_restart
changes_and_counters_outlive_a_restart() {
	configure "$admin" 'state_file = /var/lib/lfproxy/state'
	systemctl restart lfproxy.service
	[ "$(get)" = app ]
	lfproxyctl set weight app/a 77
	systemctl restart lfproxy.service
	lfproxyctl get weight app/a >"$said"
	says '^77 '
	lfproxyctl show stat | awk -F, '$1 == "app" && $2 == "a" { print "total " $8 }' \
	    >"$said"
	says '^total [1-9]'
	configure "$admin"
	systemctl reload lfproxy.service
}

check an_upgrade_of_the_package_refuses_no_client
an_upgrade_of_the_package_refuses_no_client() {
	local client before

	before=$(property MainPID)
	rm -f /tmp/stop /tmp/refused
	clients >/tmp/clients &
	client=$!
	quietly dpkg --force-confold -i /run/check/lfproxy.deb
	says 'has taken over'
	until_true 10 moved_from "$before"
	: >/tmp/stop
	wait "$client"
	cat /tmp/clients
	grep -qE '^[1-9][0-9]* connections, 0 failed$' /tmp/clients
	# One that cannot be asked is restarted.
	before=$(property MainPID)
	configure
	systemctl reload lfproxy.service
	quietly dpkg --force-confold -i /run/check/lfproxy.deb
	moved_from "$before"
	[ "$(get)" = app ]
}

# has_version TEXT: the package that is installed.
has_version() {
	[ "$(dpkg-query -W -f '${Version}' lfproxy)" = "$1" ]
}

held() { lfproxyctl show stat | grep -qE '^streams,FRONTEND,[^,]*,[^,]*,20,'; }

check sessions_live_on_through_upgrade_downgrade_and_reload
sessions_live_on_through_upgrade_downgrade_and_reload() {
	local before client streams version

	version=$(dpkg-query -W -f '${Version}' lfproxy)
	systemd-run -q --unit streams "$tools/streamer" server 127.0.0.1:9002
	configure "$admin"
	cat >>"$ini" <<-END
		[frontend streams]
		listen = 127.0.0.1:8082
		backend = streams
		[backend streams]
		check = off
		server = s 127.0.0.1:9002
	END
	systemctl restart lfproxy.service
	# Their buffers and pipes are full until they go on.
	"$tools/streamer" client 127.0.0.1:8082 --mode echo --connections 20 \
	    --up 20000000 --hold-reading --deadline 120 >/tmp/streams 2>&1 &
	streams=$!
	until_true 20 held
	rm -f /tmp/stop /tmp/refused
	clients >/tmp/clients &
	client=$!
	for deb in next lfproxy next; do
		before=$(property MainPID)
		quietly dpkg --force-confold -i "/run/check/$deb.deb"
		says 'has taken over'
		until_true 10 moved_from "$before"
		held
	done
	has_version "$version+next1"
	# Files that were replaced without the package's scripts.
	before=$(property MainPID)
	cp /usr/sbin/lfproxy /usr/sbin/lfproxy.new
	mv /usr/sbin/lfproxy.new /usr/sbin/lfproxy
	systemctl reload lfproxy.service
	until_true 10 moved_from "$before"
	held
	: >/tmp/stop
	wait "$client"
	cat /tmp/clients
	grep -qE '^[1-9][0-9]* connections, 0 failed$' /tmp/clients
	kill -USR1 "$streams"
	wait "$streams" || {
		cat /tmp/streams
		return 1
	}
	systemctl stop streams.service
	quietly dpkg --force-confold -i /run/check/lfproxy.deb
	has_version "$version"
	configure
	systemctl restart lfproxy.service
}

check a_start_fails_when_the_file_is_wrong
a_start_fails_when_the_file_is_wrong() {
	configure "$admin" 'nonsense = 1'
	fails quietly systemctl restart lfproxy.service
	journal_says "unknown key 'nonsense'" -p err
	configure "$admin"
	systemctl start lfproxy.service
}

check a_reload_that_is_refused_fails_with_the_reason
a_reload_that_is_refused_fails_with_the_reason() {
	forget_journal
	sed -i 's/^server = a .*/&\nserver = b 127.0.0.1:9001/' "$ini"
	systemctl reload lfproxy.service
	[[ $(property StatusText) == 'Ready; reloaded with 1 change'* ]]
	sed -i 's/^backend = app/&\nnonsense = 1/' "$ini"
	fails quietly systemctl reload lfproxy.service
	journal_says "error: not reloaded, .*unknown key 'nonsense'"
	journal_says "^lfproxy: error: .* not reloaded.*'nonsense'" -p err
	fails journal_says 'reloaded: 1 change' -p warning
	journal_says 'reloaded: 1 change'
	[ "$(property ActiveState)" = active ]
	[[ $(property StatusText) == 'Ready; a reload was refused: '* ]]
	[ "$(get)" = app ]
}

check a_reload_needs_no_admin_socket
a_reload_needs_no_admin_socket() {
	configure
	systemctl restart lfproxy.service
	systemctl reload lfproxy.service
	configure 'admin = 127.0.0.1:7777 level=admin'
	systemctl reload lfproxy.service
	journal_says 'reloaded: '
	configure "$admin"
	systemctl reload lfproxy.service
}

check a_log_file_outside_the_sandbox_names_the_setting
a_log_file_outside_the_sandbox_names_the_setting() {
	mkdir -p /srv/log && chown lfproxy /srv/log
	configure "$admin" 'log = file=/srv/log/access.log'
	fails quietly systemctl reload lfproxy.service
	journal_says '/srv/log/access.log .*Read-only.*ReadWritePaths=/srv/log'
	configure "$admin" 'log = file=/var/log/lfproxy/access.log'
	systemctl reload lfproxy.service
	[ "$(get)" = app ]
	until_true 10 grep -q ' web app/a ' /var/log/lfproxy/access.log
}

# tested [PATTERN]: root's -t says that the file is valid; with a warning about
# the service only if there is a PATTERN for it.
tested() {
	quietly /usr/sbin/lfproxy -t -c "$ini"
	says 'configuration is valid$'
	if [ $# -gt 0 ]; then
		says "warning: .*lfproxy.service.* 'lfproxy': .*$1"
	else
		fails grep 'lfproxy.service' "$said"
	fi
}

# serve_tls OPTION...: and a listen with TLS, of a [tls public] with these lines.
serve_tls() {
	configure "$admin"
	sed -i 's/^listen = .*8080$/&\nlisten = 127.0.0.1:8443 tls=public/' "$ini"
	printf '%s\n' '[tls public]' "$@" >>"$ini"
}

# new_cert CERT KEY: where only root may read the key.
new_cert() {
	mkdir -p "${1%/*}" "${2%/*}"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
	    -days 2 -subj /CN=www -keyout "$2" -out "$1" 2>/dev/null
	chmod 600 "$2"
	chmod 644 "$1"
}

# served: the fingerprint of the certificate that clients get.
served() {
	openssl s_client -connect 127.0.0.1:8443 </dev/null 2>/dev/null |
	    openssl x509 -noout -fingerprint
}

serves_cert() {
	[ "$(served)" = "$(openssl x509 -noout -fingerprint -in "$1")" ]
}

check a_test_by_root_says_what_the_unit_may_not_do
a_test_by_root_says_what_the_unit_may_not_do() {
	configure "$admin" 'log = file=/var/log/lfproxy/access.log' \
	    'state_file = /var/lib/lfproxy/state'
	sed -i 's/127.0.0.1:8080/&\nlisten = 127.0.0.1:81/' "$ini"
	tested
	# systemctl show has the same while nothing runs.
	systemctl stop lfproxy.service
	tested
	configure 'admin = /run/other/admin.sock'
	tested "admin: '/run/other' cannot be written: No such file"
	mkdir -p /srv/open && chown lfproxy /srv/open
	configure 'state_file = /srv/open/state'
	tested "state_file: '/srv/open' cannot be written: Read-only"
	configure 'admin = /tmp/admin.sock'
	tested '/tmp/admin.sock is in .*PrivateTmp='
	configure 'user = daemon'
	tested 'user = daemon takes the rights of root'
	configure 'maxconn = 1000000'
	tested 'maxconn = 1000000 takes'
	configure
	printf '[list l]\nfile = /root/list\n' >>"$ini"
	sed -i 's/^backend = app/&\ndeny = list:l/' "$ini"
	: >/root/list
	tested 'Permission denied'
	new_cert /etc/lfproxy/tls/www.pem /etc/ssl/private/www.key
	serve_tls 'cert = /etc/lfproxy/tls/www.pem key=/etc/ssl/private/www.key'
	tested "/etc/ssl/private/www.key' cannot be read: Permission denied"
	fails quietly systemctl restart lfproxy.service
	systemctl reset-failed lfproxy.service
	configure "$admin"
	systemctl start lfproxy.service
}

check a_key_comes_as_a_credential
a_key_comes_as_a_credential() {
	local before drop_in=/run/systemd/system/lfproxy.service.d/credentials.conf

	new_cert /etc/lfproxy/tls/www.pem /etc/ssl/private/www.key
	cp /usr/share/doc/lfproxy/examples/credentials.conf "$drop_in"
	systemctl daemon-reload
	# shellcheck disable=SC2016 # of the file
	serve_tls 'cert = /etc/lfproxy/tls/www.pem key=${CREDENTIALS_DIRECTORY}/www.key'
	systemctl restart lfproxy.service
	serves_cert /etc/lfproxy/tls/www.pem
	tested
	sed -i 's/^server = a .*/&\nserver = b 127.0.0.1:9001/' "$ini"
	systemctl reload lfproxy.service
	[[ $(property StatusText) == 'Ready; reloaded with 1 change'* ]]
	before=$(property MainPID)
	lfproxyctl upgrade
	until_true 10 moved_from "$before"
	serves_cert /etc/lfproxy/tls/www.pem
	systemctl reload lfproxy.service
	# A reload reads the copy that systemd made at the start; a restart makes
	# another one.
	cp /etc/lfproxy/tls/www.pem /tmp/former.pem
	new_cert /tmp/new.pem /etc/ssl/private/www.key
	systemctl reload lfproxy.service
	serves_cert /tmp/former.pem
	cp /tmp/new.pem /etc/lfproxy/tls/www.pem
	fails quietly systemctl reload lfproxy.service
	journal_says 'the key does not belong to the certificate'
	serves_cert /tmp/former.pem
	systemctl restart lfproxy.service
	serves_cert /tmp/new.pem
	rm "$drop_in"
	systemctl daemon-reload
	configure "$admin"
	systemctl restart lfproxy.service
}

check the_deploy_hook_makes_files_that_the_service_reads
the_deploy_hook_makes_files_that_the_service_reads() {
	local live=/etc/letsencrypt/live/www.example.test

	mkdir -p /etc/letsencrypt/live
	chmod 700 /etc/letsencrypt/live
	new_cert "$live/fullchain.pem" "$live/privkey.pem"
	RENEWED_LINEAGE=$live /usr/lib/lfproxy/lfproxy-deploy
	serve_tls 'cert_dir = /etc/lfproxy/tls/sites'
	tested
	# systemd may still have the former socket of the port, which a start gets.
	systemctl restart lfproxy.service
	serves_cert "$live/fullchain.pem"
	new_cert "$live/fullchain.pem" "$live/privkey.pem"
	RENEWED_LINEAGE=$live /usr/lib/lfproxy/lfproxy-deploy
	until_true 20 serves_cert "$live/fullchain.pem"
	configure "$admin"
	systemctl reload lfproxy.service
	rm -r /etc/letsencrypt /etc/lfproxy/tls
}

check a_user_of_the_group_needs_no_root
a_user_of_the_group_needs_no_root() {
	useradd joe && useradd -G lfproxy ann
	fails quietly runuser -u joe -- lfproxyctl show info
	quietly runuser -u ann -- lfproxyctl show info
	says '^Name: '
}

check idle_sessions_do_not_hold_up_a_restart
idle_sessions_do_not_hold_up_a_restart() {
	local began

	configure "$admin" 'drain_timeout = 1h'
	systemctl restart lfproxy.service
	systemd-run -q --unit idle "$tools/badclient" silent 127.0.0.1:8080 \
	    --count 5 --deadline 100
	until_true 10 five_sessions
	began=$SECONDS
	systemctl restart lfproxy.service
	[ $((SECONDS - began)) -lt 30 ]
	[ "$(get)" = app ]
}

five_sessions() {
	lfproxyctl show info | grep -q '^CurrConns: 5$'
}

check shutdown_delay_goes_beyond_TimeoutStopSec
shutdown_delay_goes_beyond_TimeoutStopSec() {
	forget_journal
	configure "$admin" 'shutdown_delay = 4s'
	printf '[Service]\nTimeoutStopSec=1s\n' \
	    >/run/systemd/system/lfproxy.service.d/stop.conf
	systemctl daemon-reload
	systemctl restart lfproxy.service
	until_true 10 ready
	systemctl stop --no-block lfproxy.service
	until_true 3 not_ready
	[ "$(get)" = app ]
	until_true 30 is_inactive
	journal_says 'stopping in 4s'
	journal_says 'stopped with 0 sessions left'
	[ "$(property Result)" = success ]
	rm /run/systemd/system/lfproxy.service.d/stop.conf
	systemctl daemon-reload
	systemctl start lfproxy.service
}

ready() { [ "$(status_of /readyz)" = 200 ]; }
not_ready() { [ "$(status_of /readyz)" = 503 ]; }
is_inactive() { [ "$(property ActiveState)" = inactive ]; }

# trace_service: lfproxy.service runs under strace(1) from its next start on, which
# writes a file for each thread, /var/log/lfproxy/trace.ID.
trace_service() {
	cat >/run/systemd/system/lfproxy.service.d/trace.conf <<-END
		[Service]
		ExecStart=
		ExecStart=/usr/bin/strace -D -ff -y -s 300 \
		    -o /var/log/lfproxy/trace \
		    -e trace=%%file,%%net,mmap,flock,fchmodat,fchownat \
		    /usr/sbin/lfproxy -c $ini
		SystemCallFilter=
	END
	rm -f /var/log/lfproxy/trace.*
	systemctl daemon-reload
}

# Files as the examples and the manual name them.
make_files() {
	/src/scripts/make-test-certs /etc/lfproxy/tls
	mkdir -p /etc/lfproxy/conf.d /etc/lfproxy/tls/sites \
	    /etc/letsencrypt/live/www /etc/letsencrypt/archive/www
	cp /etc/lfproxy/tls/rsa.pem /etc/lfproxy/tls/sites/www.pem
	cp /etc/lfproxy/tls/ecdsa.pem /etc/letsencrypt/archive/www/fullchain1.pem
	openssl pkey -in /etc/lfproxy/tls/ecdsa.pem \
	    -out /etc/letsencrypt/archive/www/privkey1.pem
	ln -sf ../../archive/www/fullchain1.pem /etc/letsencrypt/live/www/fullchain.pem
	ln -sf ../../archive/www/privkey1.pem /etc/letsencrypt/live/www/privkey.pem
	head -c 48 /dev/urandom >/etc/lfproxy/tls/tickets.key
	echo 198.51.100.0/24 >/etc/lfproxy/office.list
	echo 127.0.0.1:9001 >/etc/lfproxy/app.servers
	echo secret >/etc/lfproxy/token
	printf '[backend more]\nserver = a 127.0.0.1:9001\n' \
	    >/etc/lfproxy/conf.d/more.ini
	printf '#!/bin/sh\nexec test -d /run\n' >/usr/local/bin/check-queue
	chmod 755 /usr/local/bin/check-queue
	# Keys may be read by the service and by no other user.
	chmod -R go= /etc/lfproxy/tls /etc/letsencrypt /etc/lfproxy/token
	chown -R lfproxy /etc/lfproxy /etc/letsencrypt
}

use_everything() {
	cat >"$ini" <<-END
		[global]
		http = 127.0.0.1:8404
		$admin
		admin = /run/lfproxy/other.sock mode=0600 level=operator
		state_file = /var/lib/lfproxy/state
		log = file=/var/log/lfproxy/access.log
		log = syslog
		include = conf.d/*.ini
		[tls public]
		cert = /etc/lfproxy/tls/ecdsa.pem
		cert = /etc/letsencrypt/live/www/fullchain.pem key=/etc/letsencrypt/live/www/privkey.pem
		cert_dir = /etc/lfproxy/tls/sites
		verify = optional
		ca = /etc/lfproxy/tls/ca.pem
		crl = /etc/lfproxy/tls/ca.crl
		tickets_file = /etc/lfproxy/tls/tickets.key
		keylog = /run/lfproxy/keys.log
		[tls upstream]
		ca = system
		[list office]
		file = /etc/lfproxy/office.list
		[frontend web]
		listen = 127.0.0.1:8080
		listen = 127.0.0.1:8443 tls=public
		listen = unix:/run/lfproxy/web.sock mode=0666
		deny = list:office
		backend = app
		[backend app]
		check = connect interval=200ms
		servers = app 10 file=/etc/lfproxy/app.servers
		server = name localhost:9001
		server = socket unix:/run/app/worker1.sock
		[backend queue]
		check = script interval=200ms
		check_command = /usr/local/bin/check-queue 100
		server = q 127.0.0.1:9001
		[backend test]
		check = script interval=200ms
		check_command = /usr/bin/env TOKEN=\${file:/etc/lfproxy/token} /usr/bin/test -d /run
		server = t 127.0.0.1:9001
		[backend safe]
		tls = upstream
		check = tls interval=200ms
		server = s localhost:9001
	END
}

# checked BACKEND/SERVER: its check has passed.
checked() {
	lfproxyctl show stat | grep -E "^${1%/*},${1#*/},(.*,)?UP,"
}

# compile_profile [TEXT]: into /tmp/profile, without the rules that have the text.
compile_profile() {
	grep -vF "${1:-no such rule}" /etc/apparmor.d/usr.sbin.lfproxy \
	    >/tmp/profile.text
	apparmor_parser -QKS --kernel-features /etc/apparmor.d/abi/3.0 \
	    /tmp/profile.text >/tmp/profile
}

# confined ARGUMENT...: see confined.py.
confined() {
	python3 -B /src/tests/service/confined.py /tmp/profile "$@"
}

# denied MODE PATH: by the profile.
denied() {
	confined --allows "$@" >"$said" || :
	says "^denied: "
}

# What the kernel would deny can be told without one that has AppArmor.
check the_apparmor_profile_allows_what_the_service_does
the_apparmor_profile_allows_what_the_service_does() {
	local before used

	systemctl cat lfproxy.service | grep -x AppArmorProfile=-lfproxy
	make_files
	use_everything
	mkdir -p /run/app
	systemd-run -q --unit worker "$tools/appserver" --name worker \
	    --listen unix:/run/app/worker1.sock
	until_true 10 test -S /run/app/worker1.sock
	chmod 666 /run/app/worker1.sock
	trace_service
	systemctl restart lfproxy.service
	until_true 20 checked app/socket
	until_true 20 checked app/app1
	until_true 20 checked queue/q
	until_true 20 checked test/t
	curl -sS -k -m 10 https://127.0.0.1:8443/
	curl -sS -m 10 --unix-socket /run/lfproxy/web.sock http://localhost/
	lfproxyctl set weight app/name 50
	lfproxyctl show capacity
	systemctl reload lfproxy.service
	before=$(property MainPID)
	lfproxyctl upgrade
	until_true 20 moved_from "$before"
	[ "$(get)" != '' ]
	until_true 20 test -s /var/lib/lfproxy/state
	systemctl stop lfproxy.service
	# The new process is traced as well, and the traces have what was used.
	cat /var/log/lfproxy/trace.* >/tmp/traces
	[ "$(grep -c '^execve("/usr/sbin/lfproxy"' /tmp/traces)" -ge 2 ]
	for used in keys.log access.log state app.servers office.list ca.crl \
	    privkey1.pem tickets.key more.ini check-queue resolv.conf \
	    worker1.sock /dev/log; do
		grep -F "$used" /tmp/traces >"$said" || {
			echo "not traced: $used"
			return 1
		}
	done
	compile_profile
	confined /var/log/lfproxy/trace.*
}

check the_apparmor_profile_denies_the_rest
the_apparmor_profile_denies_the_rest() {
	local rule

	denied r /etc/shadow
	denied r /home/joe/.ssh/id_rsa
	denied r /srv/secret
	denied w /etc/lfproxy/lfproxy.ini
	denied w /usr/sbin/lfproxy
	denied x /var/lib/lfproxy/program
	confined --allows r /var/lib/GeoIP/GeoLite2-Country.mmdb
	# A trace of what is denied is one.
	strace -ff -y -o /tmp/denied -e trace=%file cat /etc/shadow >/dev/null
	confined /tmp/denied.* >"$said" || :
	says '^denied: r /etc/shadow'
	# Without a rule, what the service did would be denied.
	for rule in '@{tid}/comm rw' '/usr/local/** mrix' '/var/lib/lfproxy/** rwk' \
	    '@{run}/**.sock rw' '/etc/lfproxy/** r,'; do
		compile_profile "$rule"
		confined /var/log/lfproxy/trace.* >"$said" || :
		says '^denied: '
	done
	rm -rf /run/systemd/system/lfproxy.service.d/trace.conf \
	    /var/log/lfproxy/trace.* /var/lib/lfproxy/state
	systemctl stop worker.service
	systemctl daemon-reload
	configure "$admin"
	systemctl start lfproxy.service
	[ "$(get)" = app ]
}

# What autopkgtest runs, where lfproxy is the installed one and there is no build of
# another.
check the_package_passes_its_own_tests
the_package_passes_its_own_tests() {
	cp "$ini" /tmp/ini
	cp /src/etc/lfproxy.ini "$ini"
	/src/packaging/debian/tests/service
	(
		cd /src
		LFPROXY_TESTS="state upgrade" JOBS=4 \
		    packaging/debian/tests/behaviour
	) >"$said" 2>&1 || :
	says '^[1-9][0-9]* passed, 0 failed'
	cp /tmp/ini "$ini"
	systemctl restart lfproxy.service
}

check remove_stops_the_service_and_keeps_the_configuration
remove_stops_the_service_and_keeps_the_configuration() {
	echo "; of an operator" >>"$ini"
	apt-get -q -y remove lfproxy
	fails systemctl is-active -q lfproxy.service
	fails get
	[ ! -e /usr/sbin/lfproxy ]
	grep -q '^; of an operator' "$ini"
	install_package
	grep -q '^; of an operator' "$ini"
	until_true 10 systemctl is-active -q lfproxy.service
	[ "$(get)" = app ]
}

check purge_leaves_nothing
purge_leaves_nothing() {
	apt-get -q -y purge lfproxy
	fails systemctl is-active -q lfproxy.service
	fails getent passwd lfproxy
	fails getent group lfproxy
	[ ! -e "$ini" ]
	[ ! -e /var/log/lfproxy ]
	[ ! -e /var/lib/lfproxy ]
	[ ! -e /etc/apparmor.d/usr.sbin.lfproxy ]
	[ ! -e /etc/apparmor.d/local/usr.sbin.lfproxy ]
}

# -- make install --

check make_install_alone_is_a_service_that_works
make_install_alone_is_a_service_that_works() {
	quietly make -s -C /src install
	says 'edit .*/lfproxy.ini, then: systemctl enable --now lfproxy'
	[ "$(property FragmentPath)" = "$local_unit" ]
	configure "$admin"
	systemctl enable --now lfproxy.service
	[ "$(get)" = app ]
}

check with_both_the_package_warns_and_its_purge_spares_the_other
with_both_the_package_warns_and_its_purge_spares_the_other() {
	quietly install_package
	says "warning: $local_unit, from a 'make install' perhaps"
	quietly make -s -C /src install
	says 'overrides the unit of the installed package lfproxy'
	cp "$ini" /tmp/ini
	quietly apt-get -q -y purge lfproxy
	says 'needs the user lfproxy, which stays'
	getent passwd lfproxy
	mkdir -p "${ini%/*}" && cp /tmp/ini "$ini"
	systemctl restart lfproxy.service
	[ "$(get)" = app ]
}

check make_uninstall_stops_the_service_and_gives_way
make_uninstall_stops_the_service_and_gives_way() {
	quietly install_package
	quietly make -s -C /src uninstall
	says "the unit of the package is used again"
	[ "$(property FragmentPath)" != "$local_unit" ]
	systemctl restart lfproxy.service
	[ "$(get)" = app ]
	apt-get -q -y purge lfproxy
	quietly make -s -C /src install
	systemctl start lfproxy.service || :
	quietly make -s -C /src uninstall
	fails systemctl is-active -q lfproxy.service
	[ ! -e "$local_unit" ]
	[ ! -e /usr/local/lib/lfproxy ]
}

run_tests
