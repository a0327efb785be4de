#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades from the version before the present one to the present one, and back.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID
# shellcheck disable=SC2034 # LFPROXY is for the helpers

load helpers
load ctl
load upgrade

SOURCE=$ROOT/build/former/source
FORMER=$SOURCE/build/release/lfproxy

# build_former: that version's lfproxy, in a directory of its own.  How it is
# compiled changes nothing of what it says to another process.
build_former() {
	local cc=cc

	! command -v ccache >/dev/null || cc="ccache cc"
	CCACHE_BASEDIR=$SOURCE CCACHE_NOHASHDIR=1 make -s -C "$SOURCE" \
	    -j "$(nproc)" CC="$cc" CFLAGS=-O0 CPPFLAGS= build/release/lfproxy 3>&-
}

setup_file() {
	"$ROOT/scripts/former-version" >"$BATS_FILE_TMPDIR/version" || return 0
	build_former >"$BATS_FILE_TMPDIR/build" 2>&1 || {
		cat "$BATS_FILE_TMPDIR/build"
		return 1
	}
}

# needs_former: skips the test if that version's source is not there.
needs_former() {
	local said

	said=$(cat "$BATS_FILE_TMPDIR/version")
	[[ $said == *", commit "* ]] || skip "$said"
}

# runs PROGRAM: it is the program of the process that answers.
runs() {
	equal "the program" "$(readlink -f "$1")" \
	    "$(readlink "/proc/$(pid_now)/exe")"
}

# format_of ROOT: the version of the hand-over that the sources there speak.
format_of() {
	sed -n 's/^#define HANDOVER_VERSION //p' "$1/src/net/handover.h"
}

# stays_with FROM TO: TO does not understand FROM, which says so and goes on.
stays_with() {
	LFPROXY=$1
	slow_server s
	begin_with s
	asks plain plain
	wait_for 10 has_line s 'got plain'
	run -1 ctl upgrade "$2"
	[[ $output == *"no upgrade, this process goes on: "*version* ]] ||
	    fail "$output"
	runs "$1"
	signal s USR1
	answers plain plain
}

# crosses FROM TO: the program FROM runs, with sessions of all kinds, and TO takes
# over, if both speak the same version of the hand-over.
crosses() {
	if [ "$(format_of "$ROOT")" != "$(format_of "$SOURCE")" ]; then
		stays_with "$@"
		return
	fi
	LFPROXY=$1
	slow_server s
	begin_with s maxconn=2
	runs "$1"
	asks plain plain
	wait_for 10 has_line s 'got plain'
	asks half half half
	wait_for 10 in_state CLIENT_EOF 1
	asks queued queued
	wait_for 10 in_state QUEUED 1
	upgrade "$2"
	[[ $UPGRADED == *" and 3 sessions" ]] || fail "$UPGRADED"
	wait_for 10 ended "$FIRST"
	runs "$2"
	in_state CLIENT_EOF 1
	in_state QUEUED 1
	# The other process obeys maxconn, and counts those that have come.
	equal "sessions at the server" 2 "$(stat_of app s scur)"
	signal s USR1
	answers plain plain
	wait_for 10 has_line s 'got queued'
	signal s USR1
	answers half half
	signal s USR1
	answers queued queued
	asks new new
	wait_for 10 has_line s 'got new'
	signal s USR1
	answers new new
	stop_newest
}

# bats test_tags=slow
@test "upgrade: the version before hands its sessions to the present one" {
	needs_former
	crosses "$FORMER" "$BUILD/lfproxy"
}

# bats test_tags=slow
@test "upgrade: the present version hands its sessions to the one before" {
	needs_former
	crosses "$BUILD/lfproxy" "$FORMER"
}

# bats test_tags=slow
@test "upgrade: from one version to the other and back, with ids that are not mixed up" {
	local ids

	needs_former
	[ "$(format_of "$ROOT")" = "$(format_of "$SOURCE")" ] ||
	    skip "the hand-over has another version"
	slow_server s
	begin_with s
	asks a a
	wait_for 10 has_line s 'got a'
	upgrade "$FORMER"
	asks b b
	wait_for 10 has_line s 'got b'
	upgrade "$BUILD/lfproxy"
	asks c c
	wait_for 10 has_line s 'got c'
	ids=$(ctl show sess | cut -d: -f1 | sort -u)
	equal "ids" 3 "$(wc -l <<<"$ids")"
	for id in $ids; do
		[[ $(ctl show sess "$id") == "$id: "* ]] || fail "no $id"
		ctl shutdown session "$id"
	done
	stop_newest
}
