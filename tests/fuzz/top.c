/* SPDX-License-Identifier: MIT
 * What `lfproxyctl top` is told by an admin socket, which may be anybody's.
 */
#include "fuzz/fuzz.h"
#include "ctl/client.h"
#include "ctl/top/data.h"

static const uint8_t *answer;
static size_t answer_n;

/* In the place of the connection. */
bool __wrap_ctl_ask(const char *where, const char *line, int timeout_ms,
    struct ctl_text *ret_answer, struct err *err);
bool
__wrap_ctl_ask(const char *where, const char *line, int timeout_ms,
    struct ctl_text *ret_answer, struct err *err)
{
	(void)where;
	(void)line;
	(void)timeout_ms;
	(void)err;
	ctl_text_add(ret_answer, (const char *)answer, answer_n);
	return true;
}

static void
judge(const struct top_data *data)
{
	for (size_t i = 0; i < data->items_n; i++) {
		const struct top_item *item = &data->items[i];

		ENSURE(item->proxy && item->name && item->status &&
		       item->check && item->pool);
	}
	for (size_t i = 0; i < data->pools_n; i++) {
		const struct top_pool *pool = &data->pools[i];

		ENSURE(pool->name &&
		       strlen(pool->roles) ==
		           pool->leading + pool->processing + pool->following);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Rates are from one round to the next. */
	static struct top_data before;
	struct top_data now;
	struct err err;

	answer = data;
	answer_n = size;
	if (!top_data_read("fuzz", 1, true, &now, &err))
		return 0;
	judge(&now);
	top_rates(&now, before.at_ns ? &before : NULL);
	top_data_fini(&before);
	before = now;
	return 0;
}
