#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A configuration of several files: include, and several -c.

load helpers

# bats file_tags=onethread

ADMIN=$T/admin.sock

lfproxy() {
	"$BUILD/lfproxy" "$@"
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# file NAME LINE...: a file of the configuration, in the test's folder.
file() {
	mkdir -p "$(dirname "$T/$1")"
	printf '%s\n' "${@:2}" >"$T/$1"
}

# backend_file NAME BACKEND [LINE...]: a file with one backend.
backend_file() {
	file "$1" "[backend $2]" 'server = a 10.0.0.1:80' "${@:3}"
}

# main LINE...: lfproxy.ini, with these lines in [global].
main() {
	file lfproxy.ini '[global]' 'node = lb1' "$@" '[frontend web]' \
	    'listen = 127.0.0.1:0' 'backend = app'
}

valid() {
	run -0 lfproxy -t -c "$T/lfproxy.ini"
}

# refused LINE...: exactly these errors, each the beginning of a line.
refused() {
	local i

	run -78 lfproxy -t -c "$T/lfproxy.ini"
	[ "${#lines[@]}" -eq $# ] || fail "not $# errors: $output"
	for ((i = 0; i < $#; i++)); do
		[[ ${lines[i]} == "${*:i+1:1}"* ]] ||
		    fail "'${lines[i]}' is not '${*:i+1:1}'"
	done
}

@test "include: long lines, and what is wrong behind them, have their place" {
	local len pad

	for len in {96..106} 250 2000; do
		pad=$(printf './%.0s' $(seq "$len"))
		main "include = ${pad}conf.d/app.ini"
		file conf.d/app.ini '[backend app]' \
		    "server = a 10.0.0.1:80 ; $pad" \
		    "check = http \\" "# $pad" "" "check_header = X: $pad" 'sni = b'
		refused "$T/${pad}conf.d/app.ini:7: the key 'sni' does not belong"
		file conf.d/app.ini '[backend app]' 'server = a 10.0.0.1:80' \
		    'check = http' "check_header = X: $pad"
		valid
		lfproxy -T -c "$T/lfproxy.ini" | grep -qFx "check_header = X: $pad"
	done
}

# bats test_tags=covered
@test "include: files of a pattern are read in the order of their names" {
	main 'include = conf.d/*.ini'
	backend_file conf.d/20-b.ini b
	backend_file conf.d/10-app.ini app 'retries = 7'
	backend_file conf.d/30-c.ini c
	backend_file conf.d/40-off.ini.disabled app
	valid
	equal "what was read" "$T/lfproxy.ini, $T/conf.d/10-app.ini, $T/conf.d/20-b.ini, $T/conf.d/30-c.ini: configuration is valid" "$output"
	lfproxy -T -c "$T/lfproxy.ini" >"$T/whole.ini"
	equal "backends" "app b c" \
	    "$(sed -n 's/^\[backend \(.*\)\]/\1/p' "$T/whole.ini" | paste -sd' ')"
	grep -qx 'retries = 7' "$T/whole.ini"
	# The whole stands alone.
	run -0 lfproxy -t -c "$T/whole.ini"
	equal "what was read" "$T/whole.ini: configuration is valid" "$output"
}

@test "include: a path is relative to the file that has it" {
	main 'include = sub/first.ini'
	file sub/first.ini 'include = deeper/*.ini' '[pool p]' 'threads = 2'
	backend_file sub/deeper/x.ini app
	valid
	(cd "$T/sub" && lfproxy -t -c ../lfproxy.ini)
	(cd "$T" && lfproxy -t -c lfproxy.ini)
	# Letters of patterns in the folder's own name are letters.
	mkdir "$T/[a]*"
	mv "$T/lfproxy.ini" "$T/sub" "$T/[a]*"
	run -0 lfproxy -t -c "$T/[a]*/lfproxy.ini"
	[[ $output == *"/[a]*/sub/deeper/x.ini: configuration is valid" ]]
}

@test "include: a pattern without files is fine, a file that is missing is not" {
	main 'include = conf.d/*.ini' 'include = none/*.ini' 'include = app.ini'
	mkdir "$T/conf.d"
	refused "$T/lfproxy.ini: no backend is defined" \
	    "$T/lfproxy.ini:5: include: '$T/app.ini' cannot be read: No such file" \
	    "$T/lfproxy.ini:8: backend: unknown backend 'app'"
	backend_file app.ini app
	valid
}

@test "include: a folder stands for its *.ini" {
	main "include = $T/conf.d" "include = empty"
	backend_file conf.d/app.ini app
	backend_file conf.d/.hidden.ini app
	mkdir "$T/empty"
	valid
}

@test "include: a file of others may stand above any section" {
	file lfproxy.ini 'include = conf.d/*.ini'
	backend_file conf.d/app.ini app
	file conf.d/web.ini '[frontend web]' 'listen = :0' 'backend = app'
	valid
	# In other sections the key is none.
	echo 'include = x.ini' >>"$T/conf.d/web.ini"
	refused "$T/conf.d/web.ini:4: the key 'include' does not belong in [frontend web] but in [global]"
}

# bats test_tags=covered
@test "include: errors name the included file and its line" {
	main 'include = conf.d/*.ini'
	backend_file conf.d/app.ini app 'retires = 3' 'retries = 99'
	file conf.d/z.ini 'early = 1' '[backend z]' 'server = a 1.2.3.4:0'
	refused "$T/conf.d/z.ini:1: the key 'early' comes before any section" \
	    "$T/conf.d/z.ini:3: server: '1.2.3.4:0' has no port" \
	    "$T/conf.d/app.ini:3: unknown key 'retires' in [backend app]; did you mean 'retries'" \
	    "$T/conf.d/app.ini:4: retries: '99' is not a whole number"
}

# bats test_tags=covered
@test "include: a duplicate is reported with both places" {
	main 'include = conf.d/*.ini'
	backend_file conf.d/app.ini app
	backend_file conf.d/b.ini app
	file conf.d/c.ini '[global]' 'node = lb2'
	file conf.d/d.ini '[frontend x]' 'listen = 127.0.0.1:80' \
	    'listen = 127.0.0.1:80' 'backend = app'
	refused "$T/conf.d/b.ini:1: there is a second [backend app], first in $T/conf.d/app.ini:1" \
	    "$T/conf.d/c.ini:1: there is a second [global], first in $T/lfproxy.ini:1" \
	    "$T/conf.d/d.ini:3: listen: '127.0.0.1:80' is listened on already, first in line 2"
}

# bats test_tags=covered
@test "include: a file that includes itself is refused" {
	main 'include = lfproxy.ini' 'include = app.ini'
	backend_file app.ini app
	sed -i '1i include = b.ini' "$T/app.ini"
	file b.ini 'include = ./app.ini'
	refused "$T/lfproxy.ini:3: include: '$T/lfproxy.ini' is read already" \
	    "$T/b.ini:1: include: '$T/./app.ini' is read already; a file is read once"
	# By another name, too.
	main 'include = app.ini'
	backend_file app.ini app
	ln "$T/app.ini" "$T/same.ini"
	sed -i '1i include = same.ini' "$T/app.ini"
	ln -f "$T/app.ini" "$T/same.ini"
	refused "$T/app.ini:1: include: '$T/same.ini' is read already"
}

@test "include: files include one another eight deep at most" {
	local i

	main 'include = 1.ini'
	for i in {1..8}; do
		file "$i.ini" "include = $((i + 1)).ini"
	done
	backend_file 8.ini app
	valid
	backend_file 8.ini app
	sed -i '1i include = 9.ini' "$T/8.ini"
	backend_file 9.ini b
	refused "$T/8.ini:1: include: '9.ini' is included too deep"
}

@test "include: a missing and an unreadable file are reported" {
	local WITHOUT

	without dac_override dac_read_search
	main 'include = pipe' 'include = secret.ini'
	mkfifo "$T/pipe"
	backend_file secret.ini app
	chmod 0 "$T/secret.ini"
	run -78 "${WITHOUT[@]}" timeout 60 "$BUILD/lfproxy" -t -c "$T/lfproxy.ini"
	[[ $output == *"$T/lfproxy.ini:3: include: '$T/pipe' is not a regular file"* ]]
	[[ $output == *"$T/secret.ini: cannot be read: Permission denied"* ]]
}

@test "include: variables are filled in" {
	main 'include = ${SITE}.ini' 'include = ${NONE}/x.ini'
	backend_file blue.ini app
	export SITE=blue
	refused "$T/lfproxy.ini:4: include: the variable NONE is not set"
	main 'include = ${SITE}.ini' 'include ='
	refused "$T/lfproxy.ini:4: include has no value; write include = PATH"
}

# bats test_tags=covered
@test "include: several -c are read in their order" {
	file a.ini '[frontend web]' 'listen = :0' 'backend = app'
	backend_file app.ini app
	backend_file more/b.ini b
	backend_file more/c.ini c
	run -0 lfproxy -t -c "$T/a.ini" -c "$T/app.ini" --config "$T/more"
	equal "what was read" "$T/a.ini, $T/app.ini, $T/more/b.ini, $T/more/c.ini: configuration is valid" "$output"
	# A duplicate is reported with both places; so is a file that is read
	# twice.
	run -78 lfproxy -t -c "$T/a.ini" -c "$T/app.ini" -c "$T/app.ini"
	equal "the error" "$T/app.ini: is read already; a file is read once, and may not include itself" "$output"
	cp "$T/app.ini" "$T/again.ini"
	run -78 lfproxy -t -c "$T/a.ini" -c "$T/app.ini" -c "$T/again.ini"
	equal "the error" "$T/again.ini:1: there is a second [backend app], first in $T/app.ini:1; merge the two" "$output"
}

# bats test_tags=covered
@test "include: a reload reads all files again" {
	file lfproxy.ini '[global]' "admin = $ADMIN" 'include = conf.d/*.ini' \
	    '[frontend web]' 'listen = 127.0.0.1:0' 'backend = app'
	file conf.d/app.ini '[backend app]' 'check = off' \
	    'server = a 127.0.0.1:9'
	file more.ini '[backend more]' 'check = off' 'server = m 127.0.0.1:9'
	launch_lfproxy -c "$T/lfproxy.ini" -c "$T/more.ini"
	echo 'retries = 7' >>"$T/conf.d/app.ini"
	echo 'retries = 8' >>"$T/more.ini"
	file conf.d/b.ini '[backend b]' 'check = off' 'server = a 127.0.0.1:9'
	run -0 ctl reload
	[[ $output == *"backend app: retries: 3 -> 7"* ]]
	[[ $output == *"backend more: retries: 3 -> 8"* ]]
	[[ $output == *"backend b"* ]]
	# An error in one of them changes nothing.
	echo 'retries = x' >>"$T/conf.d/b.ini"
	echo 'balance = leastconn' >>"$T/conf.d/app.ini"
	run -1 ctl reload
	[[ $output == *"$T/conf.d/b.ini:4: retries: 'x' is not a whole number"* ]]
	sed -i '$d' "$T/conf.d/b.ini"
	run -0 ctl reload
	[[ $output == *"backend app: balance: roundrobin -> leastconn"* ]]
}
