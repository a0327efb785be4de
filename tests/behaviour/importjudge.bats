#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lfproxyctl import: generated configurations run in the original program and,
# converted, in lfproxy.  `make check-import` runs more of them, also those whose
# verdict depends on time.

# bats file_tags=onethread

load helpers

CTL=$BUILD/lfproxyctl

setup_file() {
	"$ROOT/scripts/make-test-certs" "$BATS_FILE_TMPDIR/tls"
}

# judges KIND: eight configurations, in two programs, of which some are exact.
judges() {
	local first

	for first in 1 13; do
		echo "$first"
	done | xargs -I'{}' -P 2 python3 -B \
	    "$ROOT/tests/behaviour/importjudge.py" steady "$1" '{}' 4 \
	    "$T/{}" "$LFPROXY" "$CTL" "$BATS_FILE_TMPDIR/tls" >"$T/judged" ||
		fail "$(cat "$T/judged")"
	cat "$T/judged"
	[ "$(awk '/ compared, /{ n += $1 } END { print n }' "$T/judged")" -ge 4 ]
	[ "$(awk '/ compared, /{ n += $3 } END { print n }' "$T/judged")" -ge 2 ]
}

# What is converted is the same beside every build.
# bats test_tags=unsanitized
@test "importjudge: clients and servers of HAProxy see no difference" {
	command -v haproxy >/dev/null || skip "no haproxy to compare with"
	judges haproxy
}

# bats test_tags=unsanitized
@test "importjudge: clients and servers of nginx see no difference" {
	[ -f /usr/lib/nginx/modules/ngx_stream_module.so ] ||
		skip "no nginx with stream to compare with"
	judges nginx
}
