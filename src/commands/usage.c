/* SPDX-License-Identifier: MIT
 * See usage.h.
 */
#include "commands/usage.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A part of a usage between blanks, without brackets. */
struct part {
	const char *text;
	size_t len;
};

/* A part outside of brackets, or the parts of one pair of them. */
struct group {
	const char *at, *end;
	bool optional, repeated;
};

/* Takes the next group off *usage; false at the end. */
static bool
next_group(const char **usage, struct group *ret_group)
{
	const char *p = *usage + strspn(*usage, " ");
	struct group g = {.at = p, .optional = *p == '['};

	if (!*p)
		return false;
	if (g.optional) {
		g.at++;
		g.end = p = p + strcspn(p, "]");
		p += *p == ']';
		g.repeated = *p == '*';
		p += g.repeated;
	} else {
		g.end = p = p + strcspn(p, " ");
	}
	*usage = p;
	*ret_group = g;
	return true;
}

static bool
next_part(struct group *group, struct part *ret_part)
{
	const char *p = group->at;

	while (p < group->end && *p == ' ')
		p++;
	if (p == group->end)
		return false;
	ret_part->text = p;
	while (p < group->end && *p != ' ')
		p++;
	ret_part->len = (size_t)(p - ret_part->text);
	group->at = p;
	return true;
}

/* Whether the argument is one of the alternatives, or there is a `<` among
 * them, which stands for any text. */
static bool
fits(const struct part *part, const char *arg)
{
	size_t len = strlen(arg), i = 0;

	if (memchr(part->text, '<', part->len))
		return true;
	while (i < part->len) {
		const char *word = part->text + i;
		const char *bar = memchr(word, '|', part->len - i);
		size_t n = bar ? (size_t)(bar - word) : part->len - i;

		if (n == len && memcmp(word, arg, n) == 0)
			return true;
		i += n + 1;
	}
	return false;
}

/* Takes the arguments of one group off; a group that is optional and does not
 * fit takes none.  False: one does not fit and must. */
static bool
take_group(struct group group, char *const **args)
{
	struct part part;
	bool first = true;

	while (**args && next_part(&group, &part)) {
		if (!fits(&part, **args))
			return group.optional && first;
		(*args)++;
		first = false;
	}
	return true;
}

const char *
usage_unexpected(const char *usage, char *const *args)
{
	struct group group;

	while (*args && next_group(&usage, &group)) {
		char *const *before;

		do {
			before = args;
			if (!take_group(group, &args))
				return *args;
		} while (group.repeated && args != before);
	}
	return *args;
}
