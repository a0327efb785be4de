/* SPDX-License-Identifier: MIT
 * See check_result.h.
 */
#include "model/check_result.h"

#include <stdio.h>

const char *
check_status_name(enum check_status status)
{
	static const char *const names[] = {
	    [CHECK_STATUS_NONE] = "",
	    [CHECK_STATUS_INI] = "INI",
	    [CHECK_STATUS_SOCKERR] = "SOCKERR",
	    [CHECK_STATUS_L4OK] = "L4OK",
	    [CHECK_STATUS_L4TOUT] = "L4TOUT",
	    [CHECK_STATUS_L4CON] = "L4CON",
	    [CHECK_STATUS_L6OK] = "L6OK",
	    [CHECK_STATUS_L6RSP] = "L6RSP",
	    [CHECK_STATUS_L6TOUT] = "L6TOUT",
	    [CHECK_STATUS_L7OK] = "L7OK",
	    [CHECK_STATUS_L7TOUT] = "L7TOUT",
	    [CHECK_STATUS_L7RSP] = "L7RSP",
	    [CHECK_STATUS_L7STS] = "L7STS",
	    [CHECK_STATUS_PROCERR] = "PROCERR",
	    [CHECK_STATUS_PROCTOUT] = "PROCTOUT",
	    [CHECK_STATUS_PROCOK] = "PROCOK",
	    [CHECK_STATUS_HANA] = "HANA",
	};

	return names[status];
}

bool
check_status_passed(enum check_status status)
{
	return status == CHECK_STATUS_L4OK || status == CHECK_STATUS_L6OK ||
	       status == CHECK_STATUS_L7OK || status == CHECK_STATUS_PROCOK;
}

const char *
check_status_meaning(enum check_status status)
{
	static const char *const meanings[] = {
	    [CHECK_STATUS_NONE] = "",
	    [CHECK_STATUS_INI] = "Initializing",
	    [CHECK_STATUS_SOCKERR] = "Socket error",
	    [CHECK_STATUS_L4OK] = "Layer4 check passed",
	    [CHECK_STATUS_L4TOUT] = "Layer4 timeout",
	    [CHECK_STATUS_L4CON] = "Layer4 connection problem",
	    [CHECK_STATUS_L6OK] = "Layer6 check passed",
	    [CHECK_STATUS_L6RSP] = "Layer6 invalid response",
	    [CHECK_STATUS_L6TOUT] = "Layer6 timeout",
	    [CHECK_STATUS_L7OK] = "Layer7 check passed",
	    [CHECK_STATUS_L7TOUT] = "Layer7 timeout",
	    [CHECK_STATUS_L7RSP] = "Layer7 invalid response",
	    [CHECK_STATUS_L7STS] = "Layer7 wrong status",
	    [CHECK_STATUS_PROCERR] = "External check error",
	    [CHECK_STATUS_PROCTOUT] = "External check timeout",
	    [CHECK_STATUS_PROCOK] = "External check passed",
	    [CHECK_STATUS_HANA] = "Health analyze",
	};

	return meanings[status];
}

const char *
check_result_text(
    const struct check_result *result, char out[CHECK_RESULT_TEXT_SIZE])
{
	char code[24] = "", info[sizeof(result->text) + 16] = "";
	char duration[48] = "";

	if (result->code != 0)
		snprintf(code, sizeof(code), ", code: %u", result->code);
	if (result->text[0])
		snprintf(info, sizeof(info), ", info: \"%s\"", result->text);
	/* A result that sessions have found has no duration of its own. */
	if (result->status != CHECK_STATUS_HANA)
		snprintf(duration, sizeof(duration), ", check duration: %llums",
		    (unsigned long long)result->duration_ms);
	snprintf(out, CHECK_RESULT_TEXT_SIZE, "%s (%s)%s%s%s",
	    check_status_name(result->status),
	    check_status_meaning(result->status), code, info, duration);
	return out;
}
