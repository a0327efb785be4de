/* SPDX-License-Identifier: MIT
 * Lines of HAProxy's that have no counterpart.
 */
#include <string.h>

#include "import/haproxy.h"
#include "vocabulary/keywords.h"

bool
hap_report_keyword(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line, bool http)
{
	const char *first = hap_word(line, 0);
	const struct keyword *found =
	    keyword_find(arena_printf(&file->doc->arena, "%s %s %s", first,
	        hap_word(line, 1), hap_word(line, 2)));

	if (found && found->reason) {
		bool clients = found->noticed == NOTICED_ALWAYS ||
		               (found->noticed == NOTICED_IN_HTTP && http);

		hap_lost(file, section, line,
		    clients ? LOSS_CLIENTS : LOSS_OPERATORS, "%s",
		    found->reason);
		return true;
	}
	if (strncmp(first, "tune.", 5) == 0 ||
	    strncmp(first, "profiling.", 10) == 0 ||
	    strncmp(first, "no-", 3) == 0 ||
	    strncmp(first, "expose-", 7) == 0) {
		hap_lost(file, section, line, LOSS_OPERATORS,
		    "tuning of HAProxy itself; lfproxy needs none of it");
		return true;
	}
	return false;
}
