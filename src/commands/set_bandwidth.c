/* SPDX-License-Identifier: MIT
 * `set bandwidth client`, `del bandwidth client`, `show bandwidth clients`: see
 * proxy/client_bands.h.
 */
#include "commands/set_bandwidth.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "commands/commands.h"
#include "commands/expiring.h"
#include "commands/report.h"
#include "proxy/proxy.h"

#define OFF "off"
/* `in=RATE out=RATE` */
#define BAND_TEXT_SIZE (2 * TEXT_BYTE_RATE_SIZE + 8)

static const char *const options[BAND_DIRECTIONS] = {
    [BAND_IN] = "in", [BAND_OUT] = "out"};

static struct client_bands *
bands_of(const struct command_env *env)
{
	return &env->instance->proxy.client_bands;
}

static const char *
rates_text(const uint64_t rate[BAND_DIRECTIONS], char out[BAND_TEXT_SIZE])
{
	char text[TEXT_BYTE_RATE_SIZE];
	size_t len = 0;

	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++)
		if (rate[d] > 0)
			len += (size_t)snprintf(out + len, BAND_TEXT_SIZE - len,
			    "%s%s=%s", len > 0 ? " " : "", options[d],
			    text_byte_rate(rate[d], text));
	return len > 0 ? out : OFF;
}

/* Reads the range, argument 0. */
static bool
take_range(struct call *call, struct cidr *ret_range)
{
	if (cidr_parse(call_arg(call, 0), ret_range, call->err))
		return true;
	return err_as_sentence(call->err);
}

static bool
take_rate(struct call *call, const char *word, unsigned *given,
    uint64_t rate[BAND_DIRECTIONS])
{
	size_t len = strcspn(word, "=");
	struct err why;

	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		if (word[len] != '=' || len != strlen(options[d]) ||
		    strncmp(word, options[d], len) != 0)
			continue;
		if (!call_once(call, options[d], given, 1u << d))
			return false;
		return text_parse_byte_rate(word + len + 1, BANDWIDTH_MIN,
		           BANDWIDTH_MAX, &rate[d], &why) ||
		       err_set(call->err, "%s: %s.", options[d], why.text);
	}
	return err_set(call->err,
	    "Unexpected argument '%s'; allowed are in=RATE, out=RATE, off and "
	    "'for <duration>', as in 'set bandwidth client 10.0.0.1 out=1MiB/s "
	    "for "
	    "10m'.",
	    word);
}

/* Reads the rates behind the range. */
static bool
take_rates(struct call *call, uint64_t rate[BAND_DIRECTIONS])
{
	unsigned given = 0;

	for (unsigned i = 1; *call_arg(call, i); i++)
		if (!take_rate(call, call_arg(call, i), &given, rate))
			return false;
	return given > 0 ||
	       err_set(call->err,
	           "A rate is expected: in=RATE, out=RATE, or both, as in "
	           "'set bandwidth client 10.0.0.1 out=1MiB/s for 10m'.");
}

/* Sets the limits of the range, both 0 for none. */
static bool
change_band(struct call *call, const struct cidr *range,
    const uint64_t rate[BAND_DIRECTIONS])
{
	char from[BAND_TEXT_SIZE], to[BAND_TEXT_SIZE], text[CIDR_TEXT_SIZE];
	struct client_band before;
	int rc;

	client_bands_get(bands_of(call->env), range, &before);
	rc = session_limits_set_client(&call->env->orders->limits, range, rate);
	if (rc == -ENOSPC)
		return err_set(call->err,
		    "%u client ranges are limited, which is the most; delete "
		    "one, or use bandwidth with only=list:NAME.",
		    CLIENT_BANDS_MAX);
	if (rc < 0)
		return err_oom(call->err);
	call_audit(call, rates_text(before.rate, from), rates_text(rate, to),
	    "bandwidth client %s", cidr_text(range, text));
	return true;
}

/* Ends the limits of the range, and what was set for a time. */
static bool
end_band(struct call *call, const struct cidr *range)
{
	static const uint64_t none[BAND_DIRECTIONS];
	const struct client_band band = {.range = *range};
	struct setting now = {.subject = ""};

	if (!change_band(call, range, none))
		return false;
	describe_client_band(&band, &now);
	expiring_forget(call->env->expiring, now.subject);
	return true;
}

static bool
is_off(const struct call *call)
{
	return strcmp(call_arg(call, 1), OFF) == 0 && !*call_arg(call, 2);
}

bool
run_set_bandwidth_client(struct call *call)
{
	uint64_t rate[BAND_DIRECTIONS] = {0, 0};
	struct cidr range;

	if (!take_range(call, &range))
		return false;
	if (is_off(call))
		return end_band(call, &range);
	return take_rates(call, rate) && change_band(call, &range, rate);
}

bool
run_del_bandwidth_client(struct call *call)
{
	struct client_band band;
	struct cidr range;

	if (!take_range(call, &range))
		return false;
	client_bands_get(bands_of(call->env), &range, &band);
	if (band.rate[BAND_IN] == 0 && band.rate[BAND_OUT] == 0)
		return err_set(call->err,
		    "The bandwidth of this range is not limited by a command; "
		    "see 'show bandwidth clients'.");
	return end_band(call, &range);
}

/* -- the setting -- */

void
describe_client_band(const struct client_band *band, struct setting *ret)
{
	char text[CIDR_TEXT_SIZE], rates[BAND_TEXT_SIZE];

	SETTING_PRINT(
	    ret->subject, "bandwidth client %s", cidr_text(&band->range, text));
	SETTING_PRINT(ret->configured, OFF);
	SETTING_PRINT(ret->value, "%s", rates_text(band->rate, rates));
	ret->is_changed = band->rate[BAND_IN] > 0 || band->rate[BAND_OUT] > 0;
}

enum setting_answer
describe_bandwidth_client(struct call *call, struct setting *ret)
{
	struct client_band band;
	struct cidr range;

	if (!cidr_parse(call_arg(call, 0), &range, call->err))
		return SETTING_INVALID;
	if (is_off(call)) {
		err_set(call->err,
		    "A limit cannot be off for a time; set a high rate for "
		    "that time.");
		return SETTING_UNRESTORABLE;
	}
	client_bands_get(bands_of(call->env), &range, &band);
	describe_client_band(&band, ret);
	return SETTING_KNOWN;
}

bool
restore_bandwidth_client(struct call *call)
{
	uint64_t rate[BAND_DIRECTIONS] = {0, 0};
	struct cidr range;

	return take_range(call, &range) &&
	       (is_off(call) || take_rates(call, rate)) &&
	       change_band(call, &range, rate);
}

/* -- what is limited -- */

static void
put_band(struct report *r, const struct client_band *band,
    const struct expiring *expiring)
{
	static const char *const rates[] = {"bandwidth_in", "bandwidth_out"};
	static const char *const waits[] = {"waiting_in", "waiting_out"};
	char text[CIDR_TEXT_SIZE], left[SPAN_TEXT_SIZE];
	char rate[TEXT_BYTE_RATE_SIZE];
	struct setting now = {.subject = ""};
	struct expiring_status end;

	report_object(r, NULL);
	report_put(r, "range", "%-22s", cidr_text(&band->range, text));
	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		report_json_known(
		    r, rates[d], band->rate[d] > 0, band->rate[d]);
		report_text(r, " %s=%-10s", options[d],
		    band->rate[d] > 0 ? text_byte_rate(band->rate[d], rate)
		                      : "none");
		report_json(r, waits[d], "%" PRIu32, band->waiting[d]);
	}
	report_text(r, " waiting=%" PRIu32,
	    band->waiting[BAND_IN] + band->waiting[BAND_OUT]);
	describe_client_band(band, &now);
	if (expiring_of(expiring, &now, &end)) {
		report_text(
		    r, ", %s in %s", end.former, left_text(end.left_ms, left));
		report_json_string(r, "former", end.former);
		report_json(r, "left_ms", "%" PRIu64, end.left_ms);
	}
	report_text(r, "\n");
	report_close(r);
}

bool
run_show_bandwidth_clients(struct call *call)
{
	const struct client_bands *bands = bands_of(call->env);
	size_t n = client_bands_count(bands);
	struct client_band band;
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	report_row(&r);
	report_text(&r, "# %zu client range%s limited by commands\n", n,
	    n == 1 ? " is" : "s are");
	report_list(&r, "clients");
	for (size_t i = 0; i < n; i++) {
		client_bands_at(bands, i, &band);
		put_band(&r, &band, call->env->expiring);
	}
	report_close(&r);
	report_end(&r);
	return true;
}
