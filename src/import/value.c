/* SPDX-License-Identifier: MIT
 * See value.h.
 */
#include "import/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define FILE_MAX_BYTES  ((size_t)1024 * 1024)
#define TOTAL_MAX_BYTES (16 * FILE_MAX_BYTES)
#define FILES_MAX       1000

void
words_add(struct arena *arena, struct words *words, const char *word)
{
	void *larger =
	    arena_grow(arena, words->word, words->n, sizeof(words->word[0]));

	words->word = larger;
	words->word[words->n++] = word;
}

void
words_watch(struct arena *arena, struct words *words)
{
	words->read = arena_alloc(arena, words->n + 1);
}

const char *
words_get(const struct words *words, size_t i)
{
	if (i >= words->n)
		return "";
	if (words->read)
		words->read[i] = true;
	return words->word[i];
}

void
words_read_all(const struct words *words, size_t first)
{
	for (size_t i = first; i < words->n; i++)
		(void)words_get(words, i);
}

const char *
words_unread(struct arena *arena, const struct words *words)
{
	struct arena_text text = {NULL, 0, 0};

	for (size_t i = 0; words->read && i < words->n; i++)
		if (!words->read[i])
			arena_text_printf(arena, &text, "%s%s",
			    text.n > 0 ? " " : "", words->word[i]);
	return text.data;
}

bool
words_has(const struct words *words, const char *word)
{
	for (size_t i = 0; i < words->n; i++)
		if (strcmp(words->word[i], word) == 0)
			return *words_get(words, i) == *word;
	return false;
}

const char *
words_join(struct arena *arena, const struct words *words, size_t first,
    const char *between)
{
	struct arena_text text = {NULL, 0, 0};

	arena_text_add(arena, &text, "", 0);
	for (size_t i = first; i < words->n; i++)
		arena_text_printf(arena, &text, "%s%s",
		    i > first ? between : "", words_get(words, i));
	return text.data;
}

bool
value_number(const char *s, uint64_t *ret_number)
{
	return text_parse_number(s, 0, UINT32_MAX, ret_number, NULL);
}

const char *
value_up_to(struct arena *arena, const char *s, unsigned max)
{
	uint64_t n;

	if (!value_number(s, &n) || n < 1)
		return NULL;
	return arena_printf(arena, "%u", n > max ? max : (unsigned)n);
}

/* A unit's name and its length in microseconds. */
struct unit {
	const char *name;
	uint64_t us;
};

#define SECOND 1000000ULL
#define DAY    (86400 * SECOND)

/* Reads a number and its unit, which is the first of the list if there is none.
 * Returns the rest of s, or NULL. */
static const char *
read_time(const char *s, const struct unit *units, uint64_t *us)
{
	uint64_t number = 0;
	size_t n, longest = 0;
	uint64_t unit = units[0].us;

	if (!isdigit((unsigned char)*s))
		return NULL;
	for (; isdigit((unsigned char)*s); s++) {
		number = number * 10 + (uint64_t)(*s - '0');
		if (number > UINT32_MAX * 1000ULL)
			return NULL;
	}
	for (size_t i = 0; units[i].name; i++) {
		n = strlen(units[i].name);
		if (n > longest && strncmp(s, units[i].name, n) == 0) {
			longest = n;
			unit = units[i].us;
		}
	}
	if (number > UINT64_MAX / 2 / unit)
		return NULL;
	*us += number * unit;
	return s + longest;
}

bool
value_haproxy_time(const char *s, uint64_t *ret_ms)
{
	static const struct unit units[] = {{"ms", 1000}, {"us", 1},
	    {"s", SECOND}, {"m", 60 * SECOND}, {"h", 3600 * SECOND}, {"d", DAY},
	    {NULL, 0}};
	uint64_t us = 0;
	const char *rest = read_time(s, units, &us);

	if (!rest || *rest)
		return false;
	*ret_ms = (us + 999) / 1000;
	return true;
}

bool
value_nginx_time(const char *s, uint64_t *ret_ms)
{
	static const struct unit units[] = {{"s", SECOND}, {"ms", 1000},
	    {"m", 60 * SECOND}, {"h", 3600 * SECOND}, {"d", DAY},
	    {"w", 7 * DAY}, {"M", 30 * DAY}, {"y", 365 * DAY}, {NULL, 0}};
	uint64_t us = 0;

	do {
		s = read_time(s, units, &us);
		if (!s || us > UINT64_MAX / 4)
			return false;
	} while (*s);
	*ret_ms = us / 1000;
	return true;
}

const char *
value_duration(
    struct arena *arena, uint64_t ms, uint64_t min_ms, uint64_t max_ms)
{
	char *out = arena_alloc(arena, TEXT_DURATION_SIZE);

	ms = ms < min_ms ? min_ms : ms > max_ms ? max_ms : ms;
	if (ms > 10000 && ms % 1000 != 0 && max_ms > 3600000)
		ms = (ms + 999) / 1000 * 1000;
	text_duration(ms, out);
	return out;
}

const char *
value_rate(struct arena *arena, uint64_t count, uint64_t period_ms)
{
	static const struct {
		uint64_t ms;
		const char *name;
	} units[] = {{1000, "s"}, {60000, "m"}, {3600000, "h"}};
	size_t i = 0;
	uint64_t n;

	period_ms = period_ms > 0 ? period_ms : 1;
	while (i < 2 && count * units[i].ms % period_ms != 0)
		i++;
	if (count * units[i].ms % period_ms != 0 && count * 1000 > period_ms)
		i = count * 1000 / period_ms >= 10 ? 0 : 1;
	n = (count * units[i].ms + period_ms / 2) / period_ms;
	n = n < 1 ? 1 : n > 1000000 ? 1000000 : n;
	return arena_printf(arena, "%" PRIu64 "/%s", n, units[i].name);
}

/* Returns the number of leading ones of a mask, or -1 if it has others. */
static int
mask_bits(const unsigned char *mask, size_t n)
{
	int bits = 0;
	bool ended = false;

	for (size_t i = 0; i < n * 8; i++) {
		bool one = mask[i / 8] >> (7 - i % 8) & 1;

		if (one && ended)
			return -1;
		ended |= !one;
		bits += one;
	}
	return bits;
}

static int
range_bits(const char *slash, int family)
{
	int most = family == AF_INET ? 32 : 128;
	unsigned char mask[16];
	uint64_t bits;

	if (!slash)
		return most;
	if (value_number(slash + 1, &bits))
		return bits <= (uint64_t)most ? (int)bits : -1;
	if (inet_pton(family, slash + 1, mask) != 1)
		return -1;
	return mask_bits(mask, family == AF_INET ? 4 : 16);
}

/* Returns whether the range is within ::ffff:0:0/96, IPv4 in IPv6. */
static bool
is_mapped(const unsigned char *bytes, int bits)
{
	static const unsigned char prefix[12] = {[10] = 0xff, [11] = 0xff};

	return bits >= 96 && memcmp(bytes, prefix, sizeof(prefix)) == 0;
}

bool
value_range(struct arena *arena, const char *s, const char **ret_range)
{
	const char *slash = strchr(s, '/');
	size_t n = slash ? (size_t)(slash - s) : strlen(s);
	char text[INET6_ADDRSTRLEN];
	unsigned char bytes[16];
	int family, bits, most;

	if (n >= sizeof(text))
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(family, text, bytes) != 1)
		return false;
	bits = range_bits(slash, family);
	if (bits < 0)
		return false;
	most = family == AF_INET ? 32 : 128;
	for (int i = bits; i < most; i++)
		bytes[i / 8] &= (unsigned char)~(0x80 >> i % 8);
	if (family == AF_INET6 && is_mapped(bytes, bits)) {
		family = AF_INET;
		memmove(bytes, bytes + 12, 4);
		bits -= 96;
		most = 32;
	}
	inet_ntop(family, bytes, text, sizeof(text));
	*ret_range = bits == most ? arena_printf(arena, "%s", text)
	                          : arena_printf(arena, "%s/%d", text, bits);
	return true;
}

bool
value_range_covers(struct arena *arena, const char *outer, const char *inner)
{
	int family = strchr(outer, ':') ? AF_INET6 : AF_INET;
	const char *slash = strchr(inner, '/'), *widened;
	size_t n = slash ? (size_t)(slash - inner) : strlen(inner);
	int bits = range_bits(strchr(outer, '/'), family);

	/* The inner address must be in the same range of the outer one's
	 * width. */
	return bits >= 0 &&
	       family == (strchr(inner, ':') ? AF_INET6 : AF_INET) &&
	       range_bits(slash, family) >= bits &&
	       value_range(arena,
	           arena_printf(arena, "%.*s/%d", (int)n, inner, bits),
	           &widened) &&
	       strcmp(widened, outer) == 0;
}

bool
value_is_host_name(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n < 254 && name[0] != '.' && name[0] != '-' &&
	       strspn(name,
	           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	           "0123456789-_.") == n &&
	       !strstr(name, "..");
}

/* Reads a name with escaped dots up to the final `$`.  Returns it, or NULL. */
static char *
plain_name(struct arena *arena, const char *regex)
{
	char *name = arena_copy(arena, regex, strlen(regex));
	size_t n = 0;

	for (; *regex && strcmp(regex, "$") != 0; regex++) {
		if (*regex == '\\' && (regex[1] == '.' || regex[1] == '-'))
			regex++;
		else if (!isalnum((unsigned char)*regex) && *regex != '-' &&
		         *regex != '_')
			return NULL;
		name[n++] = *regex;
	}
	name[n] = '\0';
	return *regex == '$' && value_is_host_name(name) ? name : NULL;
}

/* Adds a name for each alternative in `(a|b)`, followed by the rest.  Returns
 * false if one is not a name. */
static bool
add_alternatives(struct arena *arena, const char *regex, struct words *names)
{
	const char *close = strchr(regex, ')');

	if (!close || close == regex)
		return false;
	while (regex < close) {
		size_t n = strcspn(regex, "|)");
		const char *name = plain_name(arena,
		    arena_printf(arena, "%.*s%s", (int)n, regex, close + 1));

		if (!name)
			return false;
		words_add(arena, names, name);
		regex += n + 1;
	}
	return true;
}

bool
value_regex_names(struct arena *arena, const char *regex, struct words *names)
{
	static const char *const below[] = {"^.*\\.", ".*\\.", "^.+\\.",
	    ".+\\.", "^[^.]+\\.", "^[^\\.]+\\.", "^[^.]*\\.", "^[^\\.]*\\.",
	    "^[a-z0-9-]+\\.", "^\\w+\\.", "\\.", "^(.+)\\.", "^(.*)\\."};
	static const char *const both[] = {"^(.*\\.)?", "^(.+\\.)?",
	    "^(?:.*\\.)?", "^(?:.+\\.)?", "^([^.]+\\.)?", "(^|\\.)",
	    "(?:^|\\.)"};
	const char *name;

	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		size_t n = strlen(both[i]);

		if (strncmp(regex, both[i], n) != 0)
			continue;
		name = plain_name(arena, regex + n);
		if (!name)
			return false;
		words_add(arena, names, name);
		words_add(arena, names, arena_printf(arena, "*.%s", name));
		return true;
	}
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		size_t n = strlen(below[i]);

		if (strncmp(regex, below[i], n) != 0)
			continue;
		name = plain_name(arena, regex + n);
		if (name)
			words_add(
			    arena, names, arena_printf(arena, "*.%s", name));
		return name != NULL;
	}
	if (strncmp(regex, "^(", 2) == 0)
		return add_alternatives(arena, regex + 2, names);
	name = *regex == '^' ? plain_name(arena, regex + 1) : NULL;
	if (name)
		words_add(arena, names, name);
	return name != NULL;
}

const char *
value_quote(struct arena *arena, const char *bytes, size_t n)
{
	struct arena_text text = {NULL, 0, 0};

	arena_text_add(arena, &text, "\"", 1);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\r')
			arena_text_add(arena, &text, "\\r", 2);
		else if (c == '\n')
			arena_text_add(arena, &text, "\\n", 2);
		else if (c == '\t')
			arena_text_add(arena, &text, "\\t", 2);
		else if (c == '"' || c == '\\')
			arena_text_printf(arena, &text, "\\%c", c);
		else if (c < ' ' || c > '~' || c == ';')
			arena_text_printf(arena, &text, "\\x%02x", c);
		else
			arena_text_add(arena, &text, bytes + i, 1);
	}
	arena_text_add(arena, &text, "\"", 1);
	return text.data;
}

bool
value_has_user(const char *name)
{
	return getpwnam(name) != NULL;
}

bool
value_has_group(const char *name)
{
	return getgrnam(name) != NULL;
}

const char *
value_dir(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return arena_copy(arena, path, slash ? (size_t)(slash - path) + 1 : 0);
}

/* Opens a regular file for reading.  Returns NULL, with errno set, for others:
 * a FIFO would be waited for, and a device has no end. */
static FILE *
open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fdopen(fd, "r");
	close(fd);
	errno = EBADF;
	return NULL;
}

/* Reads all of the file into text, which has room for one byte more than is
 * allowed.  Returns the number of bytes, or -1 with errno set. */
static ssize_t
read_all(FILE *in, char *text)
{
	static size_t total, files;
	size_t n;

	errno = 0;
	n = fread(text, 1, FILE_MAX_BYTES + 1, in);
	if (ferror(in)) {
		errno = errno ? errno : EIO;
		return -1;
	}
	total += n;
	if (n > FILE_MAX_BYTES || total > TOTAL_MAX_BYTES ||
	    ++files > FILES_MAX) {
		errno = EFBIG;
		return -1;
	}
	return (ssize_t)n;
}

char *
value_read_file(struct arena *arena, const char *path, size_t *ret_n)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : open_regular(path);
	static char buffer[FILE_MAX_BYTES + 1];
	ssize_t n;
	int error;

	if (!in)
		return NULL;
	n = read_all(in, buffer);
	error = errno;
	if (in != stdin)
		fclose(in);
	errno = error;
	if (n < 0)
		return NULL;
	if (ret_n)
		*ret_n = (size_t)n;
	return arena_copy(arena, buffer, (size_t)n);
}
