/* SPDX-License-Identifier: MIT
 * See parity.h.
 */
#include "acl/parity.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "acl/block.h"

/* A rank of fewer keys stays in the caches of a CPU. */
#define KEYS_MIN (UINT32_C(1) << 18)

/* A line: keys of 2, 4 or 6 bytes, and behind them a word. */
#define LINE      64u
#define LINE_KEYS 60u /* bytes */

/* Bits of the word.  BEFORE: the number of keys before the line is odd; if the
 * line is spilled, keys in `rest` do not count. */
#define BEFORE UINT32_C(1)
/* The keys of the line are in `rest`. */
#define SPILLED UINT32_C(2)

/* -- look-ups -- */

typedef uint16_t lanes16 __attribute__((vector_size(16)));
typedef uint32_t lanes32 __attribute__((vector_size(16)));
typedef uint64_t lanes64 __attribute__((vector_size(16)));

/* Compares all lanes of a line with the key, and folds the results, which have
 * all bits set or none.  Bit 0 of the value (after a further fold of 16-bit
 * lanes) is whether an odd number of lanes is not greater.  The word at the end
 * of the line does not count. */
#define ODD_LANES(type, line, key)                                             \
	({                                                                     \
		lanes64 odd_ = {0, 0};                                         \
		uint64_t all_;                                                 \
		_Pragma("GCC unroll 4") for (unsigned i_ = 0; i_ < LINE;       \
		                             i_ += 16)                         \
		{                                                              \
			type keys_, key_ = (key) - (type){0};                  \
			memcpy(&keys_, (line) + i_, sizeof(keys_));            \
			lanes64 not_greater_ = (lanes64)(keys_ <= key_);       \
			if (i_ == LINE - 16)                                   \
				not_greater_[1] &= le64toh(UINT32_MAX);        \
			odd_ ^= not_greater_;                                  \
		}                                                              \
		all_ = odd_[0] ^ odd_[1];                                      \
		all_ ^ all_ >> 32;                                             \
	})

static uint64_t
odd_of_2(const char *line, uint16_t key)
{
	uint64_t lanes = ODD_LANES(lanes16, line, key);

	return lanes ^ lanes >> 16;
}

static uint64_t
odd_of_4(const char *line, uint32_t key)
{
	return ODD_LANES(lanes32, line, key);
}

#define KEY6_MAX ((UINT64_C(1) << 48) - 1)

static uint64_t
odd_of_6(const char *line, uint64_t key)
{
	uint64_t odd = 0, at;

#pragma GCC unroll 10
	for (unsigned i = 0; i < LINE_KEYS; i += 6) {
		memcpy(&at, line + i, sizeof(at));
		odd ^= (le64toh(at) & KEY6_MAX) <= key;
	}
	return odd;
}

bool
acl_parity_of(const struct acl_parity *parity, uint64_t key)
{
	const struct acl_parity *p = parity;
	uint64_t offset = key - p->base, at = offset >> p->shift;
	const char *line;
	uint64_t odd;
	uint32_t word;

	if (!p->lines)
		return acl_rank_of(&p->rest, key) % 2 == 1;
	if (key < p->base)
		return false;
	if (at >= p->lines_n)
		return p->all_odd;
	line = p->lines + at * LINE;
	memcpy(&word, line + LINE_KEYS, sizeof(word));
	offset = (offset - (at << p->shift)) >> p->tail;
	if (word & SPILLED)
		odd = acl_rank_of(&p->rest, key);
	else if (p->key_size == 2)
		odd = odd_of_2(line, (uint16_t)offset);
	else if (p->key_size == 4)
		odd = odd_of_4(line, (uint32_t)offset);
	else
		odd = odd_of_6(line, offset);
	return (odd ^ word) & BEFORE;
}

/* -- making -- */

static unsigned
keys_max(unsigned key_size)
{
	return LINE_KEYS / key_size;
}

/* Returns the binary logarithm of the number of lines that n keys of that size
 * need: lines that are half full on average have room for nearly all keys.  A
 * key never has the greatest value, which stands for no key.  bits: the number
 * of bits in which keys differ. */
static unsigned
lines_width(size_t n, unsigned bits, unsigned key_size)
{
	unsigned width = 1;

	while (n >> width > keys_max(key_size) / 2 ||
	       bits > width + 8 * key_size - 1)
		width++;
	return width;
}

/* Chooses the form of lines that takes the least memory. */
static void
plan_lines(struct acl_parity *p, const struct acl_rank *r)
{
	static const uint8_t sizes[] = {6, 4, 2};
	uint64_t first = acl_rank_key(r, 0), set = 0;
	uint64_t differ = first ^ acl_rank_key(r, r->n - 1);
	unsigned bits = 64 - (unsigned)__builtin_clzll(differ | 1);
	unsigned least = bits;

	for (size_t i = 0; i < r->n; i++)
		set |= acl_rank_key(r, i);
	p->tail = (uint8_t)__builtin_ctzll(set);
	p->base = bits < 64 ? first >> bits << bits : 0;
	for (unsigned i = 0; i < sizeof(sizes); i++) {
		unsigned width = lines_width(r->n, bits - p->tail, sizes[i]);

		if (width > least)
			continue;
		least = width;
		p->key_size = sizes[i];
	}
	p->shift = (uint8_t)(bits - least);
	p->lines_n = (size_t)1 << least;
}

/* Returns the end of the keys of that line, which begin at `first`. */
static size_t
line_end(const struct acl_parity *p, const struct acl_rank *r, size_t line,
    size_t first)
{
	while (first < r->n &&
	       (acl_rank_key(r, first) - p->base) >> p->shift == line)
		first++;
	return first;
}

static void
put_line_key(char *to, unsigned key_size, uint64_t key)
{
	uint16_t key2 = (uint16_t)key;
	uint32_t key4 = (uint32_t)key;
	uint64_t little = htole64(key);

	if (key_size == 2)
		memcpy(to, &key2, 2);
	else if (key_size == 4)
		memcpy(to, &key4, 4);
	else
		memcpy(to, &little, 6);
}

static void
put_line_keys(const struct acl_parity *p, const struct acl_rank *r, char *line,
    size_t first, size_t end)
{
	uint64_t within = (UINT64_C(1) << p->shift) - 1;
	char *to = line;

	memset(line, 0xff, LINE_KEYS);
	for (size_t i = first; i < end; i++, to += p->key_size)
		put_line_key(
		    to, p->key_size, (acl_rank_key(r, i) & within) >> p->tail);
}

/* Copies keys to the end of the rank. */
static void
append_keys(
    struct acl_rank *to, const struct acl_rank *from, size_t first, size_t n)
{
	size_t size = to->wide ? sizeof(uint64_t) : sizeof(uint32_t);

	memcpy((char *)to->keys + to->n * size,
	    (const char *)from->keys + first * size, n * size);
	to->n += n;
}

/* Fills the lines, and copies keys that do not fit to spilled, which has room
 * for spilled_max.  Returns false if there are more of them. */
static bool
fill_lines(const struct acl_parity *p, const struct acl_rank *keys,
    struct acl_rank *spilled, size_t spilled_max)
{
	size_t first = 0, end;

	spilled->n = 0;
	for (size_t at = 0; at < p->lines_n; at++, first = end) {
		char *line = p->lines + at * LINE;
		uint32_t word = first & BEFORE;

		end = line_end(p, keys, at, first);
		if (end - first <= keys_max(p->key_size)) {
			put_line_keys(p, keys, line, first, end);
		} else if (end - first <= spilled_max - spilled->n) {
			word = ((first - spilled->n) & BEFORE) | SPILLED;
			append_keys(spilled, keys, first, end - first);
		} else {
			return false;
		}
		memcpy(line + LINE_KEYS, &word, sizeof(word));
	}
	return true;
}

/* Copies the keys into `rest`.  Returns false when memory is short. */
static bool
copy_rest(struct acl_parity *p, const struct acl_rank *keys)
{
	if (!acl_rank_init(&p->rest, keys->n, keys->wide))
		return false;
	p->rest.n = 0;
	if (keys->n > 0)
		append_keys(&p->rest, keys, 0, keys->n);
	return true;
}

/* Puts the keys into lines, unless too many of them do not fit.  Returns false
 * when memory is short. */
static bool
make_lines(struct acl_parity *p, const struct acl_rank *keys)
{
	size_t spilled_max = keys->n / 8;
	struct acl_rank spilled;
	bool ok;

	plan_lines(p, keys);
	if (!acl_rank_init(&spilled, spilled_max, keys->wide))
		return false;
	p->lines = acl_block_alloc(p->lines_n, LINE);
	ok = p->lines != NULL;
	if (ok && fill_lines(p, keys, &spilled, spilled_max)) {
		ok = copy_rest(p, &spilled);
	} else {
		free(p->lines);
		p->lines = NULL;
	}
	acl_rank_fini(&spilled);
	return ok;
}

bool
acl_parity_make(struct acl_parity *parity, void *keys, size_t n, bool wide)
{
	const struct acl_rank all = {.keys = keys, .n = n, .wide = wide};

	*parity = (struct acl_parity){.all_odd = n % 2};
	if (n >= KEYS_MIN && !make_lines(parity, &all))
		return false;
	if (!parity->lines && !copy_rest(parity, &all))
		return false;
	return acl_rank_index(&parity->rest);
}

void
acl_parity_fini(struct acl_parity *parity)
{
	acl_rank_fini(&parity->rest);
	free(parity->lines);
}

void
acl_parity_memory(const struct acl_parity *parity, struct memory_use *use)
{
	acl_rank_memory(&parity->rest, use);
	memory_add_block(use, parity->lines);
}
