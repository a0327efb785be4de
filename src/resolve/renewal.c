/* SPDX-License-Identifier: MIT
 * See renewal.h.
 */
#include "resolve/renewal.h"

#include "base/mix.h"

void
renewal_begin(struct renewal *renewal)
{
	renewal->asked = true;
	renewal->ask_at_ms = 0;
}

static uint64_t
bound_ttl(const struct renewal_settings *settings, uint32_t ttl_s)
{
	uint64_t ttl_ms = (uint64_t)ttl_s * 1000;

	if (ttl_ms < settings->ttl_min_ms)
		return settings->ttl_min_ms;
	return ttl_ms > settings->ttl_max_ms ? settings->ttl_max_ms : ttl_ms;
}

void
renewal_answer(struct renewal *renewal, const struct renewal_settings *settings,
    uint32_t ttl_s, bool again, uint64_t now_ms, uint64_t *random)
{
	double factor = 1.0 - 0.1 * mix64_share(random);

	renewal->asked = false;
	renewal->known = renewal->ever = true;
	renewal->error = DNS_OK;
	renewal->answers++;
	renewal->good_at_ms = now_ms;
	renewal->ttl_ms = bound_ttl(settings, ttl_s);
	renewal->failing_ms = renewal->pause_ms = 0;
	renewal->ask_at_ms =
	    again ? now_ms + (uint64_t)((double)renewal->ttl_ms * factor) : 0;
}

void
renewal_fail(struct renewal *renewal, enum dns_error error, uint64_t now_ms,
    uint64_t *random)
{
	double factor = 0.8 + 0.4 * mix64_share(random);

	renewal->asked = false;
	renewal->error = error;
	renewal->failures++;
	if (renewal->failing_ms == 0)
		renewal->failing_ms = now_ms > 0 ? now_ms : 1;
	renewal->pause_ms = renewal->pause_ms == 0 ? RENEWAL_PAUSE_MIN_MS
	                                           : 2 * renewal->pause_ms;
	if (renewal->pause_ms > RENEWAL_PAUSE_MAX_MS)
		renewal->pause_ms = RENEWAL_PAUSE_MAX_MS;
	renewal->ask_at_ms =
	    now_ms + (uint64_t)((double)renewal->pause_ms * factor);
}

/* Returns when the last good answer lapses, if failures go on; 0: never. */
static uint64_t
lapse_at_ms(
    const struct renewal *renewal, const struct renewal_settings *settings)
{
	if (!renewal->known || renewal->failing_ms == 0 ||
	    settings->hold_ms == RENEWAL_FOREVER)
		return 0;
	return renewal->failing_ms + settings->hold_ms;
}

bool
renewal_lapsed(struct renewal *renewal, const struct renewal_settings *settings,
    uint64_t now_ms)
{
	uint64_t lapse_ms = lapse_at_ms(renewal, settings);

	if (lapse_ms == 0 || now_ms < lapse_ms)
		return false;
	renewal->known = false;
	return true;
}

uint64_t
renewal_next_ms(
    const struct renewal *renewal, const struct renewal_settings *settings)
{
	uint64_t ask_ms = renewal->asked ? 0 : renewal->ask_at_ms;
	uint64_t lapse_ms = lapse_at_ms(renewal, settings);

	if (lapse_ms == 0 || (ask_ms != 0 && ask_ms < lapse_ms))
		return ask_ms;
	return lapse_ms;
}
