/* SPDX-License-Identifier: MIT
 * See time_text.h.
 */
#include "base/time_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Room for the text of a whole second; a fraction takes up to 8 bytes more. */
#define TEXT_SIZE (TIME_TEXT_SIZE - 8)

/* Returns the text of the whole second.  Each thread makes it once a second,
 * because many log lines are of the same second. */
static const char *
second_text(enum time_form form, time_t second)
{
	static _Thread_local struct {
		time_t second;
		char text[TEXT_SIZE];
	} last[TIME_FORMS];
	char *text = last[form].text;
	struct tm tm;

	if (second == last[form].second && text[0])
		return text;
	localtime_r(&second, &tm);
	switch (form) {
	case TIME_HAPROXY:
		strftime(text, TEXT_SIZE, "%d/%b/%Y:%H:%M:%S", &tm);
		break;
	case TIME_RFC3164:
		strftime(text, TEXT_SIZE, "%b %e %H:%M:%S", &tm);
		break;
	default:
		gmtime_r(&second, &tm);
		strftime(text, TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
		break;
	}
	last[form].second = second;
	return text;
}

const char *
time_text(enum time_form form, uint64_t wall_us, unsigned digits,
    char out[TIME_TEXT_SIZE])
{
	const char *second = second_text(form, (time_t)(wall_us / 1000000));
	const char *suffix = form == TIME_RFC3339 ? "Z" : "";
	unsigned us = (unsigned)(wall_us % 1000000);

	if (digits == 0)
		snprintf(out, TIME_TEXT_SIZE, "%s%s", second, suffix);
	else
		snprintf(out, TIME_TEXT_SIZE, "%s.%0*u%s", second, (int)digits,
		    digits == 3 ? us / 1000 : us, suffix);
	return out;
}
