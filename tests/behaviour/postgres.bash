# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A PostgreSQL of its own, behind helpers.

postgres_ready() {
	"$PG/pg_isready" -q -h 127.0.0.1 -p "$1"
}

as_postgres() {
	"${AS_POSTGRES[@]}" "$@"
}

eval "helpers_$(declare -f teardown)"
teardown() {
	local rc=0

	helpers_teardown || rc=1
	rm -rf "${DB:-}"
	return $rc
}

# start_postgres [CERT]: with TLS, if there is a certificate.  PostgreSQL refuses
# to run as root.
start_postgres() {
	local tls=()

	AS_POSTGRES=()
	if [ "$(id -u)" -eq 0 ]; then
		need_to_give postgres
		AS_POSTGRES=(setpriv --reuid=postgres --regid=postgres
			--clear-groups)
		need "CAP_SETUID and CAP_SETGID (to become postgres)" \
		    as_postgres true
	fi
	PG=$(find /usr/lib/postgresql -name bin | sort -V | tail -n 1)
	DB=$(mktemp -d "${BATS_RUN_TMPDIR%/*}/lfproxy-pg.XXXXXX")
	if [ -n "${1:-}" ]; then
		install -m 600 "$T/$1.pem" "$DB/cert.pem"
		install -m 600 "$T/$1.key" "$DB/cert.key"
		tls=(-c ssl=on -c "ssl_cert_file=$DB/cert.pem"
			-c "ssl_key_file=$DB/cert.key")
	fi
	[ "$(id -u)" -ne 0 ] || chown -R postgres "$DB"
	as_postgres "$PG/initdb" -D "$DB/data" -A trust -N >"$T/initdb.out" 2>&1
	on_free_port postgres postgres_ready "${AS_POSTGRES[@]}" \
	    "$PG/postgres" -D "$DB/data" -p PORT -h 127.0.0.1 -k "$DB" \
	    "${tls[@]}"
}

# ask_postgres PORT OPTIONS QUERY...: psql, with these options of its connection.
ask_postgres() {
	local query args=() user

	user=$(id -un)
	[ "$user" != root ] || user=postgres
	for query in "${@:3}"; do
		args+=(-c "$query")
	done
	timeout 60 psql -AtX "host=127.0.0.1 port=$1 dbname=postgres
		user=$user
		$2" "${args[@]}"
}
