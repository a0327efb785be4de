/* SPDX-License-Identifier: MIT
 * See help.h.
 */
#include "ctl/help.h"

#include <string.h>

static bool
parse_usage(char *row, struct ctl_usage *ret_usage)
{
	char *end = strstr(row, ": "), *words = row + 2, *args;

	if (strncmp(row, "  ", 2) != 0 || !end)
		return false;
	while (end > words && end[-1] == ' ')
		end--;
	*end = '\0';
	args = words + strcspn(words, "[<");
	if (args > words && *args)
		args[-1] = '\0';
	*ret_usage = (struct ctl_usage){
	    .words = words,
	    .args = args,
	    .has_json = strstr(args, "json") != NULL,
	    .is_json = strstr(words, "json") != NULL,
	    .has_flat = strstr(args, "|flat|") != NULL,
	};
	return true;
}

bool
ctl_next_usage(char **at, struct ctl_usage *ret_usage)
{
	char *row;

	while ((row = strsep(at, "\n")))
		if (parse_usage(row, ret_usage))
			return true;
	return false;
}
