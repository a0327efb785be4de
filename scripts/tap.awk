# SPDX-License-Identifier: MIT
# Counts the TAP of one test program; scripts/run-tests ends it with the line
# "# exit CODE after SECONDS s".  Prints what failed with everything said about
# it and the reasons of skips, then appends "passed failed skipped" to the file
# `counts`, and to the file `names`, if one is given, the names of the results
# that failed.
#
# A result that was planned and never came, and a bad exit without a failed
# result, are failures too: that is how a crash looks.

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
	said = ""
	telling = 0
	sub(/^(not )?ok [0-9]* */, "")
	sub(/# (SKIP|skip) */, "skipped: ")
	print "  " label ": " $0
	next
}

/^ok / {
	passed++
	said = ""
	telling = 0
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
}
