# SPDX-License-Identifier: MIT
# Counts the TAP of one test program; scripts/run-tests ends it with the line
# "# exit CODE after SECONDS s".  Prints what failed with everything said about
# it and the reasons of skips, then appends "passed failed skipped" to the file
# `counts`, and to the file `names`, if one is given, the names of the results
# that failed.  To the file `skips`, if one is given, goes what a user with more
# rights may try again: a line "test NAME" for each behaviour test that was
# skipped, "program LABEL PASSED FAILED SKIPPED" for a unit test program, between
# tabs.  Of a long part says now and then how far it is; `left` is what the
# parts behind it take, in seconds.
#
# A result that was planned and never came, and a bad exit without a failed
# result, are failures too: that is how a crash looks.

BEGIN {
	began = systime()
	behaviour = label ~ /^behaviour/
}

function minutes(seconds)
{
	return seconds > 90 ? int((seconds + 59) / 60) " min" : \
	    int(seconds + 0.5) " s"
}

# Each tenth of what is planned.
function progress(    results)
{
	results = passed + failed + skipped
	if (planned < 100 || int(results * 10 / planned) == tenths)
		return
	tenths = int(results * 10 / planned)
	printf "  %s: %d of %d, %d failed, about %s left\n", label, results, \
	    planned, failed, minutes((systime() - began) * \
	    (planned - results) / results + left)
	fflush()
}

function failure(text)
{
	failed++
	printf "%s", said
	said = ""
	print "FAILED " label ": " text
	telling = 1
}

/^# exit [0-9]+/ {
	code = $3
	seconds = $5
	next
}

/^1\.\.[0-9]+/ {
	planned += substr($1, 4)
	next
}

# cmocka: "not ok 3 # SKIP name"; bats: "ok 3 name # skip reason".
/^(not )?ok .*# (SKIP|skip)/ {
	skipped++
	reason = behaviour ? "" : said
	said = ""
	telling = 0
	sub(/^(not )?ok [0-9]* */, "")
	if (skips && behaviour) {
		name = $0
		sub(/ *# skip.*/, "", name)
		print "test\t" name >> skips
	}
	sub(/# (SKIP|skip) */, "skipped: ")
	gsub(/ *\n */, " ", reason)
	sub(/ +$/, "", reason)
	print "  " label ": " $0 (reason ? ":" reason : "")
	progress()
	next
}

/^ok / {
	passed++
	said = ""
	telling = 0
	progress()
	next
}

/^not ok / {
	sub(/^not ok [0-9]* *(- )?/, "")
	if (names)
		print >> names
	failure($0)
	next
}

# How cmocka sums up a group.
/^# (not )?ok - / {
	next
}

# What is said after a failure is about it; what is said otherwise may be
# about the next one.
telling && /^#/ {
	print "    " $0
	next
}

{
	said = said "    " $0 "\n"
}

END {
	results = passed + failed + skipped
	if (results < planned) {
		failure("ended with exit code " code " before the results of " \
		    planned - results " of " planned " tests")
		failed += planned - results - 1
	} else if (code != 0 && failed == 0) {
		failure("ended with exit code " code)
	} else if (results == 0) {
		failure("ran no test")
	}
	printf "%-32s %d passed, %d failed%s%s\n", label, passed, failed, \
	    skipped ? ", " skipped " skipped" : "", \
	    seconds ? ", " seconds " s" : ""
	print passed + 0, failed + 0, skipped + 0 >> counts
	if (skips && skipped && label ~ /^unit/)
		print "program\t" label "\t" passed + 0 "\t" failed + 0 "\t" \
		    skipped + 0 >> skips
}
