# SPDX-License-Identifier: MIT
# Prints the column `name` of the rows of `show stat` whose server is `server`;
# of all rows if that is empty.  A quoted value may have commas and quotes in it.

function split_csv(line, n) {
	for (n = 0; line != ""; line = substr(line, RLENGTH + 2)) {
		if (match(line, /^"([^"]|"")*"/)) {
			fields[++n] = substr(line, 2, RLENGTH - 2)
			gsub(/""/, "\"", fields[n])
		} else {
			match(line, /^[^,]*/)
			fields[++n] = substr(line, 1, RLENGTH)
		}
	}
	return n
}

NR == 1 {
	for (i = split_csv($0); i > 0; i--)
		at[fields[i]] = i
	if (!(name in at)) {
		print "show stat has no column " name >"/dev/stderr"
		exit 1
	}
	next
}

$0 != "" {
	split("", fields)
	split_csv($0)
	if (server == "" || fields[at["svname"]] == server)
		print fields[at[name]]
}
