#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lfproxyctl import: configurations of HAProxy and nginx, of the forms that are
# found in the field, and what is made of them.  Each case in import/ has the
# expected lfproxy.ini beside it; @DIR@ stands for a folder with certificates.
# `UPDATE=1 bats tests/behaviour/import.bats` writes what is made now, to be read
# before it is committed.

# bats file_tags=onethread

load helpers

CTL=$BUILD/lfproxyctl
CASES=$ROOT/tests/behaviour/import

setup_file() {
	"$ROOT/scripts/make-test-certs" "$BATS_FILE_TMPDIR/tls"
}

# convert KIND CASE: into $T/KIND/NAME.ini, with the exit status in $status.
convert() {
	local name=${2##*/}

	mkdir -p "$T/$1"
	[ -d "$T/$1/conf.d" ] || cp -r "$CASES/nginx/conf.d" "$T/$1"
	sed "s|@DIR@|$BATS_FILE_TMPDIR/tls|g" "$2" >"$T/$1/$name"
	run --separate-stderr "$CTL" import "$1" "$T/$1/$name"
	printf '%s\n' "$output" >"$T/$1/${name%.*}.ini"
}

# check_cases KIND NUMBER: all cases of the kind are as expected, valid, and
# report by the exit status whether clients see a difference.
check_cases() {
	local case ini expected bad=0 n=0 noticed

	for case in "$CASES/$1"/*.c*f*; do
		[ -f "$case" ] || continue
		n=$((n + 1))
		convert "$1" "$case"
		ini=$T/$1/$(basename "${case%.*}").ini
		sed "s|$BATS_FILE_TMPDIR/tls|@DIR@|g" "$ini" >"$ini.made"
		expected=${case%.*}.ini
		[ -z "${UPDATE:-}" ] || cp "$ini.made" "$expected"
		diff -u "$expected" "$ini.made" || bad=1
		noticed=$(sed -n '2s/.*for \(clients\|servers\).*/1/p' "$ini")
		if [ "$status" -ne "${noticed:-0}" ] ||
		    ! grep -qx "lfproxyctl: .*: $(sed -n '2s/; \(.*\)\./\1/p' "$ini")" \
		        <<<"$stderr"; then
			echo "$case: exit status $status"
			bad=1
		fi
		if ! "$LFPROXY" -t -c "$ini" >"$T/out" 2>&1; then
			echo "$case: not valid:"
			cat "$T/out"
			bad=1
		fi
	done
	echo "$n cases"
	[ "$n" -ge "$2" ]
	[ "$bad" -eq 0 ]
}

@test "import: HAProxy configurations become what is expected, and are valid" {
	check_cases haproxy 30
}

@test "import: nginx stream configurations become what is expected, and are valid" {
	check_cases nginx 20
}

@test "import: no word of a configuration vanishes" {
	mkdir "$T/words"
	cp -r "$CASES/nginx/conf.d" "$T/words"
	run python3 -B "$ROOT/tests/behaviour/importwords.py" "$CTL" "$CASES" \
	    "$T/words"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output =~ ^[0-9]{4}\ words$ ]]
}

@test "import: a word that no part of the conversion knows is reported" {
	cat >"$T/in.cfg" <<-END
		listen a
		 bind :80
		 mode tcp with nothing
		 timeout client 1m
		 timeout server 1m
		 server s 10.0.0.1:80
	END
	run --separate-stderr "$CTL" import haproxy "$T/in.cfg"
	equal "the status" 1 "$status"
	[[ $output == *"; in.cfg:3: with nothing"*"CLIENTS: no part of "* ]] ||
	    fail "$output"
	equal "the sum" "lfproxyctl: $T/in.cfg: 5 lines exact, 1 differs for clients" \
	    "$stderr"
}

# beside KIND: each case of the kind runs in the original program and then in
# lfproxy, two cases at a time; the same clients get the same servers.
beside() {
	local case name bad=0 n=0

	# shellcheck disable=SC2016 # sh expands it
	for case in "$CASES/$1"/*.c*f*; do
		[ -f "$case" ] || continue
		name=$(basename "${case%.*}")
		mkdir "$T/$name"
		ln -s "$BATS_FILE_TMPDIR/tls" "$T/$name/tls"
		printf '%s\0' "$case" "$T/$name"
	done | xargs -0 -n 2 -P 2 sh -c '
		python3 -B "$1" "$2" "$5" "$6" "$3" "$4" >"$6/out" 2>&1
		echo $? >"$6/status"
	' "$1" "$ROOT/tests/behaviour/importtool.py" "$1" "$LFPROXY" "$CTL"
	for case in "$CASES/$1"/*.c*f*; do
		[ -f "$case" ] || continue
		name=$(basename "${case%.*}")
		n=$((n + 1))
		echo "$1/$name:"
		cat "$T/$name/out"
		if [ "$(cat "$T/$name/status")" != 0 ]; then
			echo "FAILED: $1/$name"
			bad=1
		fi
	done
	echo "$n cases"
	[ "$n" -ge "$2" ]
	[ "$bad" -eq 0 ]
}

# What is converted is the same beside every build.
# bats test_tags=unsanitized
@test "import: HAProxy and lfproxy send the same clients to the same servers" {
	command -v haproxy >/dev/null || skip "no haproxy to compare with"
	beside haproxy 33
}

# bats test_tags=unsanitized
@test "import: nginx and lfproxy send the same clients to the same servers" {
	[ -f /usr/lib/nginx/modules/ngx_stream_module.so ] ||
		skip "no nginx with stream to compare with"
	beside nginx 21
}

# refuse KIND TEXT MESSAGE: nothing but a message, with its place.
refuse() {
	printf '%s' "$2" >"$T/in.cfg"
	run --separate-stderr "$CTL" import "$1" "$T/in.cfg"
	echo "status $status: $output $stderr"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == *"in.cfg:$3"* ]]
}

@test "import: what cannot be parsed is refused with its line" {
	refuse haproxy $'global\n log "x\n' "2: a quote is not closed"
	refuse haproxy 'server { listen 80; }' "1: a section such as"
	refuse haproxy $'global\n.endif\n' "2: an .if before it is missing"
	refuse haproxy $'.if 1\nglobal\n' "1: .endif is missing"
	refuse nginx $'stream {\n server {\n' "2: '}' is missing"
	refuse nginx $'stream {\n}\n}\n' "3: unexpected '}'"
	refuse nginx $'stream {\n listen 80\n}\n' "2: ';' or '{' is missing"
	refuse haproxy $'backend b\n server s 10.0.0.1:80\n' " no frontend"
	refuse nginx $'events {}\n' " no server in a stream"
}

# Symptom: it crashed.
# bats test_tags=covered
@test "import: the word no before a key that is not an option is ignored" {
	cat >"$T/in.cfg" <<-END
		defaults
		    mode tcp
		    timeout client 10s
		    timeout server 10s
		    timeout connect 5s
		listen a
		    bind 127.0.0.1:8080
		    no timeout client 5s
		    no maxconn 10
		    server s 127.0.0.1:80
	END
	run --separate-stderr "$CTL" import haproxy "$T/in.cfg"
	[ "$status" -le 1 ]
	[[ $output == *'timeout_client = 10s'* ]] || fail "$output"
}

@test "import: a file that cannot be read is status 2, wrong words are 64" {
	local usage="usage: lfproxyctl import [--serve-check] haproxy|nginx FILE"

	run -2 --separate-stderr "$CTL" import haproxy "$T/none.cfg"
	[[ $stderr == *"none.cfg: No such file"* ]]
	run -64 --separate-stderr "$CTL" import apache "$T/none.cfg"
	[[ $stderr == *"cannot import 'apache'; the formats are haproxy, "*" nginx, "*$'\n'"$usage" ]]
	run -64 --separate-stderr "$CTL" import "$T/haproxy.cfg"
	[[ $stderr == *"haproxy.cfg'; the formats are "* ]]
	run -64 --separate-stderr "$CTL" import nginx
	[[ $stderr == *"the FILE is missing"*$'\n'"$usage" ]]
	run -64 --separate-stderr "$CTL" import
	equal "the answer" "$usage" "$stderr"
}

@test "import: standard input is read where the file is -" {
	run --separate-stderr "$CTL" import nginx - <<-END
		events {}
		stream { server { listen 80; proxy_half_close on; proxy_pass 10.0.0.1:80; } }
	END
	[ "$status" -eq 0 ]
	[[ $output == *"backend = 10.0.0.1:80"* ]]
}

@test "import: files that the configuration names become a part of the result" {
	printf '# the office\n192.0.2.0/24\n2001:db8::/32\n' >"$T/office.lst"
	printf 'a.example.com one\n.b.example.com two\n' >"$T/sni.map"
	cat >"$T/files.cfg" <<-END
		defaults
		 mode tcp
		frontend f
		 bind :443
		 tcp-request connection reject if !{ src -f $T/office.lst }
		 tcp-request inspect-delay 5s
		 tcp-request content accept if { req.ssl_hello_type 1 }
		 use_backend %[req.ssl_sni,lower,map_dom($T/sni.map,two)]
		backend one
		 server s 10.0.0.1:443
		backend two
		 server s 10.0.0.2:443
	END
	run --separate-stderr "$CTL" import haproxy "$T/files.cfg"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"CLIENTS: a name in the middle of another one does not match"* ]]
	[[ $output == *$'\n[list office.lst]\nfile = '"$T/office.lst"$'\n'* ]]
	[[ $output == *"allow = list:office.lst"* ]]
	[[ $output == *"deny = all"* ]]
	[[ $output == *"sni = a.example.com backend=one"* ]]
	[[ $output == *"sni = *.b.example.com backend=two"* ]]
	[[ $output == *$'\nroute = tls=yes backend=two'* ]]
}

# numbered N LINE: the line N times, with the numbers from 1 for each `&`.
numbered() {
	seq "$1" | sed "s|.*|$2|"
}

@test "import: many rules all become routes" {
	{
		printf 'defaults\n mode tcp\nfrontend f\n bind :443\n'
		printf ' tcp-request inspect-delay 5s\n'
		printf ' tcp-request content accept if { req.len gt 0 }\n'
		numbered 2500 ' use_backend b1 if { req.ssl_sni -i n&.test }'
		printf 'backend b0\n server s 10.0.0.1:443\n'
		printf 'backend b1\n server s 10.0.0.2:443\n'
	} >"$T/many.cfg"
	run --separate-stderr "$CTL" import haproxy "$T/many.cfg"
	[ "$status" -eq 0 ]
	equal "routes" 2500 "$(grep -c '^sni = n' <<<"$output")"
	{
		printf 'events {}\nstream {\nmap $ssl_preread_server_name $b {\n'
		numbered 21000 'n&.test 10.0.0.1:443;'
		printf '}\nserver { listen 443; ssl_preread on; proxy_pass $b; }\n}\n'
	} >"$T/many.conf"
	run --separate-stderr "$CTL" import nginx "$T/many.conf"
	[ "$status" -le 1 ]
	equal "entries" 21000 "$(grep -c 'n[0-9]*\.test' <<<"$output")"
}

@test "import: what would become too many routes is reported as lost" {
	{
		printf 'defaults\n mode tcp\nfrontend f\n bind :443\n'
		printf ' use_backend b0 if { src 10.0.0.0/8 } !{ dst_port 444 }\n'
		numbered 2100 ' use_backend b1 if { req.ssl_sni -i n&.test }'
		printf 'backend b0\n server s 10.0.0.1:443\n'
		printf 'backend b1\n server s 10.0.0.2:443\n'
	} >"$T/many.cfg"
	run --separate-stderr "$CTL" import haproxy "$T/many.cfg"
	equal "the status" 1 "$status"
	[[ $output == *"; many.cfg:5: use_backend b0 if { src 10.0.0.0/8 } !{ dst_port 444 }"*"CLIENTS: with the rules behind it, it would become more than 2000 routes"* ]] ||
	    fail "$(head -n 40 <<<"$output")"
	equal "the other rules" 2100 "$(grep -c '^sni = n' <<<"$output")"
	{
		printf 'events {}\nstream {\nmap $ssl_preread_server_name $b {\n'
		numbered 100 'n&.test $c;'
		printf '}\nmap $server_port $c {\n'
		numbered 100 '& 10.0.0.1:443;'
		printf '}\nserver { listen 1-100; ssl_preread on; proxy_pass $b; }\n}\n'
	} >"$T/many.conf"
	run --separate-stderr "$CTL" import nginx "$T/many.conf"
	equal "the status" 1 "$status"
	[[ $output == *"CLIENTS: maps in maps would become more than 5000 routes"* ]]
	for i in $(seq 100); do
		grep -q "n$i\\.test" <<<"$output" || fail "n$i.test has vanished"
	done
}

@test "import: entries of maps that become no route are reported as lost" {
	printf 'a.test one\nb.test nowhere\n~^c one\nd.test\n' >"$T/sni.map"
	cat >"$T/map.cfg" <<-END
		defaults
		 mode tcp
		frontend f
		 bind :443
		 use_backend %[req.ssl_sni,map($T/sni.map,gone)]
		backend one
		 server s 10.0.0.1:443
	END
	run --separate-stderr "$CTL" import haproxy "$T/map.cfg"
	equal "the status" 1 "$status"
	[[ $output == *"sni = a.test backend=one"* ]]
	for line in 2 3 4; do
		[[ $output == *"sni.map:$line"* ]] || fail "$line: $output"
	done
	[[ $output == *"map.cfg:5: gone"*"no backend has that name"* ]]
	cat >"$T/map.conf" <<-'END'
		events {}
		stream {
		  geo $b { default 10.0.0.1:1; 10.0.0.0/8 10.0.0.2:1;
		    delete 10.1.0.0/16; proxy 192.0.2.1; include none.conf; }
		  server { listen 443; proxy_pass $b; }
		}
	END
	run --separate-stderr "$CTL" import nginx "$T/map.conf"
	equal "the status" 1 "$status"
	for entry in 'delete 10.1.0.0/16' 'proxy 192.0.2.1' 'include none.conf'; do
		[[ $output == *"$entry"* ]] || fail "$entry: $output"
	done
}
