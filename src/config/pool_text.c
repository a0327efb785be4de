/* SPDX-License-Identifier: MIT
 * See pool_text.h.
 */
#include "config/pool_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/cpus.h"
#include "config/values.h"

#define BLANKS   " \t"
#define NICE_MIN (-20)
#define NICE_MAX 19

static bool
fail_threads(const char *s, struct err *err)
{
	return err_set(err,
	    "'%.100s' is not a number of threads; allowed are " THREADS_ALLOWED,
	    s);
}

static bool
parse_count(const char *s, unsigned *ret_n)
{
	uint64_t n;

	if (!text_parse_number(s, 1, POOL_THREADS_MAX, &n, NULL))
		return false;
	*ret_n = (unsigned)n;
	return true;
}

/* Parses `2..8`; a range of one number is that number. */
static bool
parse_threads_range(
    const char *s, char *copy, struct threads_wish *wish, struct err *err)
{
	char *high = strstr(copy, "..");
	unsigned min, max;

	*high = '\0';
	high += 2;
	if (!parse_count(copy, &min) || !parse_count(high, &max) || min > max)
		return err_set(err,
		    "'%.100s' is not a range of threads; write the smaller "
		    "number first, as in 2..8, both from 1 to %u",
		    s, POOL_THREADS_MAX);
	wish->classes[0].threads = min;
	wish->classes_n = 1;
	if (min < max) {
		wish->min = min;
		wish->max = max;
	}
	return true;
}

static bool
parse_nice(const char *s, int *ret_nice, struct err *err)
{
	bool negative = *s == '-';
	uint64_t n;

	if (!text_parse_number(s + negative, 0,
	        negative ? -(int)NICE_MIN : NICE_MAX, &n, NULL))
		return err_set(err,
		    "'nice=%.40s' is not possible; allowed are nice=%d (runs "
		    "first) to nice=%d",
		    s, NICE_MIN, NICE_MAX);
	*ret_nice = negative ? -(int)n : (int)n;
	return true;
}

/* Parses `4` or `4 nice=5`; s is the whole text, for the message. */
static bool
parse_class(
    const char *s, char *class, struct pool_class *ret_class, struct err *err)
{
	struct pool_class c = {0};
	char *rest, *threads = strtok_r(class, BLANKS, &rest);
	char *nice = threads ? strtok_r(NULL, BLANKS, &rest) : NULL;

	if (!threads || !parse_count(threads, &c.threads) ||
	    (nice && strncmp(nice, "nice=", 5) != 0) ||
	    (nice && strtok_r(NULL, BLANKS, &rest)))
		return fail_threads(s, err);
	if (nice && !parse_nice(nice + 5, &c.nice, err))
		return false;
	*ret_class = c;
	return true;
}

static bool
parse_classes(
    const char *s, char *copy, struct threads_wish *wish, struct err *err)
{
	unsigned total = 0;
	char *class;

	while ((class = strsep(&copy, ","))) {
		if (wish->classes_n == POOL_CLASSES_MAX)
			return err_set(err,
			    "'%.100s' has too many classes; at most %d are "
			    "allowed",
			    s, POOL_CLASSES_MAX);
		if (!parse_class(
		        s, class, &wish->classes[wish->classes_n], err))
			return false;
		total += wish->classes[wish->classes_n++].threads;
	}
	if (total > POOL_THREADS_MAX)
		return err_set(err,
		    "'%.100s' makes %u threads; allowed are 1 to %u in total",
		    s, total, POOL_THREADS_MAX);
	return true;
}

bool
threads_parse(const char *s, struct threads_wish *ret_wish, struct err *err)
{
	struct threads_wish wish = {.is_auto = strcmp(s, "auto") == 0};
	char copy[256];

	if (strlen(s) >= sizeof(copy))
		return fail_threads(s, err);
	strcpy(copy, s);
	if (!wish.is_auto &&
	    !(strstr(s, "..") ? parse_threads_range(s, copy, &wish, err)
	                      : parse_classes(s, copy, &wish, err)))
		return false;
	*ret_wish = wish;
	return true;
}

unsigned
threads_auto(const cpu_set_t *cpus)
{
	unsigned n = cpus_usable("");

	if (cpus && (unsigned)CPU_COUNT(cpus) < n)
		n = (unsigned)CPU_COUNT(cpus);
	return n < POOL_THREADS_MAX ? n : POOL_THREADS_MAX;
}

unsigned
threads_for_cpus(unsigned cpus, bool has_tls)
{
	unsigned n = has_tls ? 2 * cpus : cpus;

	return n < POOL_THREADS_MAX ? n : POOL_THREADS_MAX;
}

unsigned
spare_threads(unsigned cpus, bool has_tls)
{
	return threads_for_cpus(cpus, has_tls) - threads_for_cpus(cpus, false);
}

const char *
threads_text(const struct pool_class *classes, unsigned classes_n,
    char out[THREADS_TEXT_SIZE])
{
	size_t len = 0;

	for (unsigned i = 0; i < classes_n; i++) {
		len += (size_t)snprintf(out + len, THREADS_TEXT_SIZE - len,
		    "%s%u", i > 0 ? ", " : "", classes[i].threads);
		if (classes_n > 1 || classes[i].nice != 0)
			len +=
			    (size_t)snprintf(out + len, THREADS_TEXT_SIZE - len,
			        " nice=%d", classes[i].nice);
	}
	return out;
}

bool
shards_parse(const char *s, unsigned *ret_shards, struct err *err)
{
	unsigned n = 0;

	if (strcmp(s, "auto") != 0 && !parse_count(s, &n))
		return err_set(err,
		    "'%.100s' is not a number of shards; allowed are auto, or "
		    "1 to the number of threads",
		    s);
	*ret_shards = n;
	return true;
}

bool
handshake_threads_parse(const char *s, unsigned *ret_n, struct err *err)
{
	unsigned n = 0;

	if (strcmp(s, "auto") != 0 && !parse_count(s, &n))
		return err_set(err,
		    "'%.100s' is not a number of threads; allowed "
		    "are " HANDSHAKE_THREADS_ALLOWED,
		    s);
	*ret_n = n;
	return true;
}

const char *
handshake_threads_text(unsigned n, char out[THREADS_TEXT_SIZE])
{
	snprintf(out, THREADS_TEXT_SIZE, n == 0 ? "auto" : "%u", n);
	return out;
}

unsigned
shards_auto(unsigned threads)
{
	return (threads + 1) / 2;
}

bool
shards_fit(unsigned shards, unsigned threads, bool autoscaled, struct err *err)
{
	if (shards <= threads)
		return true;
	return err_set(err,
	    "%u shards need at least %u threads, and %s %u; allowed are 1 to "
	    "%u, or use more threads",
	    shards, shards, autoscaled ? "autoscaling may leave" : "there are",
	    threads, threads);
}

/* Parses `5` or `0-3`, with blanks around it. */
static bool
read_cpu_range(char *part, unsigned *ret_first, unsigned *ret_last)
{
	char *rest, *range = strtok_r(part, BLANKS, &rest);

	return range && !strtok_r(NULL, BLANKS, &rest) &&
	       value_read_range(range, 0, 999999, ret_first, ret_last);
}

static bool
add_range(unsigned first, unsigned last, const cpu_set_t *usable,
    cpu_set_t *cpus, struct err *err)
{
	char text[CPU_LIST_TEXT_SIZE];

	for (unsigned cpu = first; cpu <= last; cpu++) {
		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, usable))
			return err_set(err,
			    "CPU %u does not exist or may not be used here; "
			    "allowed are %.300s, or all",
			    cpu, cpu_list_text(usable, text));
		CPU_SET(cpu, cpus);
	}
	return true;
}

bool
cpu_list_parse(const char *s, const cpu_set_t *usable, cpu_set_t *ret_cpus,
    struct err *err)
{
	char copy[DRAFT_VALUE_MAX + 1], text[CPU_LIST_TEXT_SIZE];
	char *rest = copy, *part;
	unsigned first, last;
	cpu_set_t cpus;

	if (strcmp(s, "all") == 0) {
		*ret_cpus = *usable;
		return true;
	}
	CPU_ZERO(&cpus);
	snprintf(copy, sizeof(copy), "%s", s);
	while ((part = strsep(&rest, ","))) {
		if (strlen(s) >= sizeof(copy) ||
		    !read_cpu_range(part, &first, &last))
			return err_set(err,
			    "'%.100s' is not a list of CPUs; write numbers and "
			    "ranges, as in 0-3,5; allowed are %.200s, or all",
			    s, cpu_list_text(usable, text));
		if (!add_range(first, last, usable, &cpus, err))
			return false;
	}
	*ret_cpus = cpus;
	return true;
}

const char *
cpu_list_text(const cpu_set_t *cpus, char out[CPU_LIST_TEXT_SIZE])
{
	size_t len = 0;

	out[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int last = cpu;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cpus))
			last++;
		len += (size_t)snprintf(out + len, CPU_LIST_TEXT_SIZE - len,
		    "%s%d", len > 0 ? "," : "", cpu);
		if (last > cpu)
			len += (size_t)snprintf(
			    out + len, CPU_LIST_TEXT_SIZE - len, "-%d", last);
		cpu = last;
	}
	return out;
}
