/* SPDX-License-Identifier: MIT
 * See costs.h.
 */
#include "sim/cost/costs.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_MAX 1000000000u

static const struct {
	const char *name;
	size_t offset;
} table[] = {
#define ROW(name, what) {#name, offsetof(struct costs, name##_ns)},
    COSTS_TABLE(ROW)
#undef ROW
};

#define TABLE_N (sizeof(table) / sizeof(table[0]))

/* The number of the cost, or -1. */
static int
find_cost(const char *name)
{
	for (size_t i = 0; i < TABLE_N; i++)
		if (strcmp(table[i].name, name) == 0)
			return (int)i;
	return -1;
}

static uint64_t *
cost_at(struct costs *costs, int i)
{
	return (uint64_t *)(void *)((char *)costs + table[i].offset);
}

static bool
read_number(const char *text, uint64_t *ret_n)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno != 0 || n > NS_MAX)
		return false;
	*ret_n = n;
	return true;
}

/* NULL, or what is wrong with the line. */
static const char *
read_line(char *line, struct costs *costs, bool seen[TABLE_N])
{
	char *rest, *name, *number, *unit;
	int i;

	line[strcspn(line, "#\n")] = '\0';
	name = strtok_r(line, " \t", &rest);
	if (!name)
		return NULL;
	number = strtok_r(NULL, " \t", &rest);
	unit = strtok_r(NULL, " \t", &rest);
	i = find_cost(name);
	if (i < 0)
		return "unknown cost";
	if (seen[i])
		return "cost given twice";
	seen[i] = true;
	if (!number || !read_number(number, cost_at(costs, i)))
		return "a whole number of up to 1000000000 is needed";
	if (!unit || strcmp(unit, "ns") != 0 || strtok_r(NULL, " \t", &rest))
		return "the unit has to be ns, and nothing may follow but #";
	return NULL;
}

static bool
has_all(const char *path, const bool seen[TABLE_N])
{
	for (size_t i = 0; i < TABLE_N; i++)
		if (!seen[i]) {
			fprintf(stderr, "%s: missing cost '%s'\n", path,
			    table[i].name);
			return false;
		}
	return true;
}

bool
costs_read(const char *path, struct costs *ret_costs)
{
	FILE *file = fopen(path, "r");
	bool seen[TABLE_N] = {false};
	struct costs costs = {0};
	const char *wrong = NULL;
	char line[512];
	unsigned n = 0;

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	while (!wrong && fgets(line, sizeof(line), file)) {
		n++;
		wrong = read_line(line, &costs, seen);
	}
	fclose(file);
	if (wrong) {
		fprintf(stderr, "%s:%u: %s\n", path, n, wrong);
		return false;
	}
	if (!has_all(path, seen))
		return false;
	*ret_costs = costs;
	return true;
}

bool
costs_set(struct costs *costs, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[32], *end;
	double factor;
	int i;

	if (!equals || (size_t)(equals - text) >= sizeof(name))
		return false;
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	i = find_cost(name);
	if (i < 0)
		return false;
	if (equals[1] != 'x')
		return read_number(equals + 1, cost_at(costs, i));
	factor = strtod(equals + 2, &end);
	if (end == equals + 2 || *end || !(factor >= 0 && factor <= 1000))
		return false;
	*cost_at(costs, i) =
	    (uint64_t)((double)*cost_at(costs, i) * factor + 0.5);
	return true;
}

void
costs_print(const char *name, uint64_t ns, const char *from)
{
	printf("%-15s %8" PRIu64 " ns  # %s\n", name, ns, from);
}
