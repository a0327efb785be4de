/* SPDX-License-Identifier: MIT
 * Rates and histories, which need two rounds; see top_rates in data.h.
 */
#include <string.h>

#include "base/clock.h"
#include "ctl/top/data.h"

#define PAST_INTERVAL_NS (NS_PER_S * 9 / 10)

static double
per_second(uint64_t now, uint64_t before, double seconds)
{
	return (double)(now >= before ? now - before : now) / seconds;
}

static void
history_append(struct top_history *history, double value)
{
	if (history->n == TOP_HISTORY) {
		memmove(history->values, history->values + 1,
		    sizeof(history->values) - sizeof(history->values[0]));
		history->n--;
	}
	history->values[history->n++] = (float)value;
}

static bool
same_item(const struct top_item *a, const struct top_item *b)
{
	return a->kind == b->kind && strcmp(a->proxy, b->proxy) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

/* Items have the same index as before, except after a reload. */
static const struct top_item *
find_item(const struct top_data *data, const struct top_item *item, size_t hint)
{
	if (hint < data->items_n && same_item(&data->items[hint], item))
		return &data->items[hint];
	for (size_t i = 0; i < data->items_n; i++)
		if (same_item(&data->items[i], item))
			return &data->items[i];
	return NULL;
}

static void
rate_bytes(struct top_item *item, uint64_t now_ns)
{
	const struct top_bytes now = {now_ns, item->bytes_in, item->bytes_out};
	const struct top_bytes *first = &item->past[0];
	const struct top_bytes *last =
	    first + (item->past_n ? item->past_n - 1 : 0);

	if (item->past_n > 0 && now_ns > first->at_ns) {
		double seconds = (double)(now_ns - first->at_ns) / NS_PER_S;

		item->in_rate = per_second(now.in, first->in, seconds);
		item->out_rate = per_second(now.out, first->out, seconds);
		if (now.in < last->in || now.out < last->out)
			item->past_n = 0;
	}
	if (item->past_n > 0 && now_ns - last->at_ns < PAST_INTERVAL_NS)
		return;
	if (item->past_n == TOP_PAST) {
		memmove(item->past, item->past + 1,
		    sizeof(item->past) - sizeof(item->past[0]));
		item->past_n--;
	}
	item->past[item->past_n++] = now;
}

static void
rate_item(struct top_item *item, const struct top_item *old, double seconds,
    uint64_t now_ns)
{
	if (old) {
		item->rate = per_second(item->total, old->total, seconds);
		item->history = old->history;
		memcpy(item->past, old->past, sizeof(item->past));
		item->past_n = old->past_n;
	}
	rate_bytes(item, now_ns);
	history_append(&item->history, item->rate);
}

static void
rate_pool(struct top_pool *pool, const struct top_pool *old, double seconds)
{
	pool->promotion_rate =
	    per_second(pool->promotions, old->promotions, seconds);
	pool->wake_rate = per_second(pool->wakes, old->wakes, seconds);
}

static void
rate_head(struct top_data *data, const struct top_data *before)
{
	struct top_head *head = &data->head;

	for (size_t i = 0; i < data->items_n; i++) {
		const struct top_item *item = &data->items[i];

		if (item->kind == TOP_SERVER)
			head->servers_down += item->down;
		else
			head->errors += item->errors;
		if (item->kind != TOP_FRONTEND)
			continue;
		head->total += item->total;
		head->rate += item->rate;
		head->in_rate += item->in_rate;
		head->out_rate += item->out_rate;
	}
	if (before)
		head->history = before->head.history;
	history_append(&head->history, head->rate);
}

void
top_rates(struct top_data *data, const struct top_data *before)
{
	double seconds = 1;

	if (before && data->at_ns > before->at_ns)
		seconds = (double)(data->at_ns - before->at_ns) / NS_PER_S;
	for (size_t i = 0; i < data->items_n; i++)
		rate_item(&data->items[i],
		    before ? find_item(before, &data->items[i], i) : NULL,
		    seconds, data->at_ns);
	for (size_t i = 0; before && i < data->pools_n; i++)
		for (size_t j = 0; j < before->pools_n; j++)
			if (strcmp(data->pools[i].name,
			        before->pools[j].name) == 0)
				rate_pool(&data->pools[i], &before->pools[j],
				    seconds);
	rate_head(data, before);
}
