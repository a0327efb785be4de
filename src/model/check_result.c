/* SPDX-License-Identifier: MIT
 * See check_result.h.
 */
#include "model/check_result.h"

#include <stdio.h>

static const struct {
	const char *name, *meaning;
} statuses[CHECK_STATUSES] = {
#define X(name, meaning) [CHECK_STATUS_##name] = {#name, meaning},
    CHECK_STATUS_TABLE(X)
#undef X
};

const char *
check_status_name(enum check_status status)
{
	return status == CHECK_STATUS_NONE ? "" : statuses[status].name;
}

const char *
check_status_meaning(enum check_status status)
{
	return statuses[status].meaning;
}

bool
check_status_passed(enum check_status status)
{
	return status == CHECK_STATUS_L4OK || status == CHECK_STATUS_L6OK ||
	       status == CHECK_STATUS_L7OK || status == CHECK_STATUS_PROCOK;
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
