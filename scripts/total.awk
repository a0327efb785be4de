# SPDX-License-Identifier: MIT
# Sums lines of "passed failed skipped" into the one line that ends a run.
# Fails when something failed, and when nothing passed, unless `may_skip` is set:
# all may be skipped, or replace results that were skipped before.
{
	passed += $1
	failed += $2
	skipped += $3
}

END {
	printf "%d passed, %d failed%s\n", passed, failed, \
	    skipped ? ", " skipped " skipped" : ""
	exit failed > 0 || (passed <= 0 && !may_skip)
}
