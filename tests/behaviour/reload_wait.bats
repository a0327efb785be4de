# SPDX-License-Identifier: MIT
# lfproxy --reload PID, which the systemd unit uses: a reload by signal that
# fails with the reason.  And what the errors say under systemd.

load helpers

setup_file() {
	export RUNTIME_DIRECTORY=$BATS_FILE_TMPDIR/run:/nowhere
	mkdir "${RUNTIME_DIRECTORY%%:*}"
}

# A configuration without an admin socket.
configuration() {
	common
	cat <<-END
		[frontend web]
		listen = unix:$T/web.sock
		backend = app
		[backend app]
		check = off
		server = a 127.0.0.1:9
	END
}

# reload STATUS: asks for it; what it prints is in $output.
reload() {
	run "-$1" timeout 90 "$LFPROXY" --reload "$LFPROXY_PID"
}

request_left_nothing() {
	refute test -e "${RUNTIME_DIRECTORY%%:*}/reload"
}

# bats test_tags=covered
@test "reload --reload: returns when the new file is in force" {
	start_lfproxy < <(configuration)
	echo "server = b 127.0.0.1:9" >>"$T/lfproxy.ini"
	reload 0
	equal "output" "" "$output"
	wait_for 10 lfproxy_said 'server b is new'
	wait_for 10 lfproxy_said 'reloaded: 1 change'
	request_left_nothing
}

@test "reload --reload: fails with the reason when the file is wrong" {
	local place

	start_lfproxy < <(configuration)
	echo "nonsense = 1" >>"$T/lfproxy.ini"
	reload 78
	place=$T/lfproxy.ini:$(wc -l <"$T/lfproxy.ini")
	[[ $output == *"not reloaded"*"$place: "*nonsense* ]]
	[[ $output != *errors* ]]
	echo "another = 2" >>"$T/lfproxy.ini"
	reload 78
	[[ $output == *"2 errors (see the log), the first: $T/"* ]]
	request_left_nothing
}

@test "reload --reload: fails on errors that only the running process can find" {
	start_app taken
	start_lfproxy < <(configuration)
	sed -i "/^listen/a listen = $(addr taken)" "$T/lfproxy.ini"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	reload 78
	[[ $output == *"cannot listen on $(addr taken)"* ]]
}

@test "reload --reload: a log file that cannot be written" {
	start_lfproxy < <(configuration)
	sed -i "s|^log = .*|log = file=$T/none/access.log|" "$T/lfproxy.ini"
	reload 78
	[[ $output == *"the log file $T/none/access.log cannot be opened"* ]]
	[[ $output != *ReadWritePaths* ]]
}

# bats test_tags=covered
@test "reload --reload: a request that was killed is not in the way" {
	start_lfproxy < <(configuration)
	stop_process "$LFPROXY_PID"
	spawn first "$LFPROXY" --reload "$LFPROXY_PID"
	wait_for 10 test -S "${RUNTIME_DIRECTORY%%:*}/reload"
	end first KILL
	kill -CONT "$LFPROXY_PID"
	reload 0
	request_left_nothing
}

# bats test_tags=covered
@test "reload --reload: while lfproxy stops, it fails" {
	start_bad s slow --bytes 60000 --rate 30000
	web s
	spawn client curl -sS -m $((60 * PATIENCE)) --http0.9 "$(url)"
	wait_for 10 test -s "$T/client.out"
	stop_process "${PIDS[s]}"
	kill -TERM "$LFPROXY_PID"
	wait_for 10 lfproxy_said draining
	reload 78
	[[ $output == *"lfproxy is stopping"* ]]
	signal s CONT
	finish client
}

@test "reload --reload: no such process" {
	run -71 "$LFPROXY" --reload 2147483647
	[[ $output == *"cannot signal process 2147483647: No such process"* ]]
	request_left_nothing
}

@test "reload --reload: without a runtime directory it says what to use" {
	run -71 env -u RUNTIME_DIRECTORY "$LFPROXY" --reload $$
	[[ $output == *"lfproxyctl reload"* ]]
	run -71 env RUNTIME_DIRECTORY="$T/gone" "$LFPROXY" --reload $$
	[[ $output == *"cannot make $T/gone/reload: No such file"* ]]
}

@test "reload --reload: a number is needed, and no file" {
	run -64 "$LFPROXY" --reload web
	[[ $output == *"is not a process id"* ]]
	run -64 "$LFPROXY" --reload 0
	run -64 "$LFPROXY" --reload 1 -c /dev/null
	[[ $output == *"--reload takes no -c"* ]]
}

@test "start: under systemd a file in the wrong place names the setting" {
	export INVOCATION_ID=0123456789abcdef0123456789abcdef
	configuration |
	    sed "s|^log = .*|log = file=$T/none/access.log|" >"$T/a.ini"
	run -71 timeout 60 "$LFPROXY" -c "$T/a.ini"
	[[ $output == *"LogsDirectory="*"ReadWritePaths=$T/none"* ]]
	configuration |
	    sed "s|^listen = .*|listen = unix:$T/none/web.sock|" >"$T/b.ini"
	run -71 timeout 60 "$LFPROXY" -c "$T/b.ini"
	[[ $output == *"RuntimeDirectory="*"ReadWritePaths=$T/none"* ]]
}
