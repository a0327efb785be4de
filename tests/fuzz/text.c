/* SPDX-License-Identifier: MIT
 * The small grammars: durations, sizes, modes, addresses, threads, shards,
 * CPUs, patterns, what an agent says.  Whatever one of them takes must be
 * written as a text that it takes for the same.
 */
#include <stdio.h>

#include "base/pattern.h"
#include "base/text.h"
#include "check/agent_words.h"
#include "config/cpus.h"
#include "config/pool_text.h"
#include "fuzz/fuzz.h"
#include "net/addr.h"

static void
try_duration(const char *s)
{
	char text[TEXT_DURATION_SIZE];
	uint64_t ms, again;
	struct err err;

	if (!text_parse_duration(s, 0, UINT64_MAX, &ms, &err))
		return;
	ENSURE(text_parse_duration(
	    text_duration(ms, text), 0, UINT64_MAX, &again, &err));
	ENSURE(again == ms);
}

static void
try_size(const char *s)
{
	char text[TEXT_SIZE_SIZE];
	uint64_t n, again;
	struct err err;

	if (!text_parse_size(s, 0, UINT64_MAX, &n, &err))
		return;
	ENSURE(
	    text_parse_size(text_size(n, text), 0, UINT64_MAX, &again, &err));
	ENSURE(again == n);
}

static void
try_number(const char *s)
{
	uint64_t n = 0;
	uint32_t mode = 0;
	struct err err;

	if (text_parse_number(s, 3, 70000, &n, &err))
		ENSURE(n >= 3 && n <= 70000);
	if (text_parse_mode(s, &mode, &err))
		ENSURE(mode <= 0777);
}

static void
try_addr(const char *s, enum addr_use use)
{
	char text[ADDR_TEXT_SIZE];
	struct addr addr, again;
	struct err err;

	if (!addr_parse(s, use, &addr, &err))
		return;
	ENSURE(addr_parse(addr_text(&addr, text), use, &again, &err));
	ENSURE(addr_equal(&addr, &again));
}

static void
try_threads(const char *s)
{
	char text[THREADS_TEXT_SIZE];
	struct threads_wish wish, again;
	struct err err;

	if (!threads_parse(s, &wish, &err) || wish.is_auto || wish.max > 0)
		return;
	threads_text(wish.classes, wish.classes_n, text);
	ENSURE(threads_parse(text, &again, &err));
	ENSURE(again.classes_n == wish.classes_n);
	for (unsigned i = 0; i < wish.classes_n; i++)
		ENSURE(again.classes[i].threads == wish.classes[i].threads &&
		       again.classes[i].nice == wish.classes[i].nice);
}

static void
try_cpus(const char *s)
{
	static char text[CPU_LIST_TEXT_SIZE];
	cpu_set_t usable, cpus, again;
	struct err err;

	memset(&usable, 0xff, sizeof(usable));
	if (!cpu_list_parse(s, &usable, &cpus, &err))
		return;
	ENSURE(
	    cpu_list_parse(cpu_list_text(&cpus, text), &usable, &again, &err));
	ENSURE(CPU_EQUAL(&cpus, &again));
}

static void
try_shards(const char *s)
{
	unsigned shards;
	struct err err;

	if (shards_parse(s, &shards, &err) &&
	    !shards_fit(shards, 4, shards % 2, &err))
		ENSURE(err.text[0] != '\0');
}

static void
try_pattern(const char *s)
{
	struct pattern pattern;
	struct err err;

	if (!pattern_parse(s, &pattern, &err))
		return;
	(void)pattern_found(&pattern, s, strlen(s));
	if (pattern.kind == PATTERN_BYTES)
		ENSURE(pattern_found(&pattern, pattern.bytes, pattern.n));
	pattern_fini(&pattern);
}

static void
on_unknown(void *arg, const char *word)
{
	(void)arg;
	ENSURE(*word && strlen(word) < AGENT_LINE_SIZE);
}

static void
try_agent(const char *s)
{
	struct agent_orders orders;
	char line[AGENT_LINE_SIZE];

	snprintf(line, sizeof(line), "%s", s);
	agent_words_read(line, 100, &orders, on_unknown, NULL);
	if (orders.has_weight)
		ENSURE(orders.weight <= 256);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = fuzz_string(data, size);

	try_duration(s);
	try_size(s);
	try_number(s);
	try_addr(s, ADDR_CONNECT);
	try_addr(s, ADDR_LISTEN);
	try_threads(s);
	try_cpus(s);
	try_shards(s);
	try_pattern(s);
	try_agent(s);
	free(s);
	return 0;
}
