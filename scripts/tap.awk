# SPDX-License-Identifier: MIT
# Counts the TAP of one test program; scripts/run-tests ends it with the line
# "# exit CODE after SECONDS s".  Prints what failed with everything said about
# it and the reasons of skips, then appends "passed failed skipped" to the file
# `counts`.  Two other files get lines with tabs in them, if they are given:
#
#   again   what failed and may be tried once more: "test LABEL NAME" for a
#           behaviour test, "program LABEL PASSED FAILED SKIPPED" for a program
#   skips   what a user with more rights may try: "test NAME" for a behaviour
#           test that was skipped, "program LABEL PASSED FAILED SKIPPED" for a
#           unit test program without a failure
#
# Of a long part says now and then how far it is; `left` is what the parts
# behind it take, in seconds.
#
# A result that was planned and never came, and a bad exit without a failed
# result, are failures too: that is how a crash looks.

BEGIN {
	began = systime()
	behaviour = label ~ /^behaviour/
	# The same input, the same result.
	repeatable = label ~ /^(simulator|models|package$|check-)/
}

# A crash as ENSURE, the tests' helpers, cmocka, systemd and tools/peers.h report
# it; lfproxy that does not stop in a minute is as bad.
/this must hold and does not|lfproxy did not stop|^# lfproxy was killed/ ||
/lfproxy's exit code: expected '0', got '1(2[89]|[3-9][0-9])'/ ||
/Test failed with exception/ ||
/Main process exited, code=(dumped|killed), status=[0-9]*\/(SEGV|ABRT|BUS|ILL|FPE)/ {
	crashed = 1
}

# A behaviour test that failed, after all that is said about it.
function remember()
{
	if (failure_name && !crashed && again)
		print "test\t" label "\t" failure_name >> again
	failure_name = ""
	if (behaviour)
		crashed = 0
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
/^(not )?ok / {
	remember()
}

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
	if (behaviour)
		failure_name = $0
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
	remember()
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
	program = "program\t" label "\t" passed + 0 "\t" failed + 0 "\t" \
	    skipped + 0
	# Another run's results would hide a failure.
	if (skips && skipped && !failed && label ~ /^unit/)
		print program >> skips
	# From 124: no end in time, or a signal.  66 and 99: a sanitizer.
	if (again && failed && !behaviour && !repeatable && !crashed &&
	    code < 124 && code != 66 && code != 99)
		print program >> again
}
