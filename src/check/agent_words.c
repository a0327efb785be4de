/* SPDX-License-Identifier: MIT
 * See agent_words.h.
 */
#include "check/agent_words.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Returns a share of the weight in the file; 0 only if the weight or the
 * percentage is 0. */
static unsigned
share_of(unsigned weight, uint64_t percent)
{
	uint64_t share = (weight * percent + 50) / 100;

	if (share == 0 && weight > 0 && percent > 0)
		share = 1;
	return share < WEIGHT_MAX ? (unsigned)share : WEIGHT_MAX;
}

static bool
take_weight(unsigned weight, const char *word, struct agent_orders *orders)
{
	size_t len = strlen(word);
	char digits[AGENT_LINE_SIZE];
	uint64_t n;

	if (strncasecmp(word, "weight:", 7) == 0) {
		if (!text_parse_number(word + 7, 0, WEIGHT_MAX, &n, NULL))
			return false;
		orders->weight = (unsigned)n;
	} else {
		snprintf(digits, sizeof(digits), "%s", word);
		digits[len - 1] = '\0';
		if (word[len - 1] != '%' ||
		    !text_parse_number(digits, 0, 25600, &n, NULL))
			return false;
		orders->weight = share_of(weight, n);
	}
	return orders->has_weight = true;
}

static bool
take_maxconn(const char *word, struct agent_orders *orders)
{
	uint64_t n;

	if (strncasecmp(word, "maxconn:", 8) != 0 ||
	    !text_parse_number(word + 8, 0, UINT32_MAX, &n, NULL))
		return false;
	orders->maxconn = (unsigned)n;
	return orders->has_maxconn = true;
}

static bool
take_admin(const char *word, struct agent_orders *orders)
{
	for (enum server_admin a = SERVER_READY; a <= SERVER_MAINT; a++) {
		if (strcasecmp(word, server_admin_name(a)) != 0)
			continue;
		orders->admin = a;
		return orders->has_admin = true;
	}
	return false;
}

static bool
take_health(const char *word, struct agent_orders *orders)
{
	static const char *const words[] = {"up", "down", "stopped", "fail"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(word, words[i]) != 0)
			continue;
		orders->up = i == 0;
		return orders->has_health = true;
	}
	return false;
}

static bool
read_agent_word(unsigned weight, const char *word, struct agent_orders *orders)
{
	return take_weight(weight, word, orders) ||
	       take_maxconn(word, orders) || take_admin(word, orders) ||
	       take_health(word, orders);
}

void
agent_words_read(char *line, unsigned weight, struct agent_orders *ret_orders,
    void (*unknown)(void *arg, const char *word), void *arg)
{
	char *why = line + strcspn(line, "#"), *rest = line, *word;

	*ret_orders = (struct agent_orders){.up = true};
	if (*why) {
		*why++ = '\0';
		why += strspn(why, " \t");
		snprintf(ret_orders->why, sizeof(ret_orders->why), "%s", why);
	}
	while ((word = strsep(&rest, " \t,"))) {
		if (!*word)
			continue;
		if (read_agent_word(weight, word, ret_orders))
			ret_orders->understood = true;
		else
			unknown(arg, word);
	}
}
