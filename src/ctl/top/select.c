/* SPDX-License-Identifier: MIT
 * See select.h.
 */
#include "ctl/top/select.h"

#include <stdio.h>
#include <string.h>

static bool
can_be_selected(const struct top_line *line)
{
	return line->kind != LINE_EMPTY && line->kind != LINE_TITLE;
}

static void
target_of(const struct top_line *line, const struct top_data *data,
    struct top_target *ret_target)
{
	bool pool = line->kind == LINE_POOL;

	ret_target->kind = line->kind;
	snprintf(ret_target->proxy, TOP_NAME_SIZE, "%s",
	    pool ? data->pools[line->at].name : data->items[line->at].proxy);
	snprintf(ret_target->name, TOP_NAME_SIZE, "%s",
	    pool ? "" : data->items[line->at].name);
}

static bool
is_target(const struct top_line *line, const struct top_data *data,
    const struct top_target *target)
{
	struct top_target other;

	if (line->kind != target->kind)
		return false;
	target_of(line, data, &other);
	return strcmp(other.proxy, target->proxy) == 0 &&
	       strcmp(other.name, target->name) == 0;
}

size_t
top_selected(struct top_target *target, const struct top_data *data,
    const struct top_lines *lines)
{
	size_t first = lines->n;

	for (size_t i = lines->n; i-- > 0;) {
		if (!can_be_selected(&lines->lines[i]))
			continue;
		if (is_target(&lines->lines[i], data, target))
			return i;
		first = i;
	}
	target->kind = LINE_EMPTY;
	if (first < lines->n)
		target_of(&lines->lines[first], data, target);
	return first;
}

void
top_select(struct top_target *target, long by, const struct top_data *data,
    const struct top_lines *lines)
{
	size_t at = top_selected(target, data, lines), to = at;

	while (by != 0 && at < lines->n) {
		if (by < 0 ? at == 0 : at + 1 == lines->n)
			break;
		at += by < 0 ? (size_t)-1 : 1;
		if (!can_be_selected(&lines->lines[at]))
			continue;
		to = at;
		by += by < 0 ? 1 : -1;
	}
	if (to < lines->n)
		target_of(&lines->lines[to], data, target);
}
