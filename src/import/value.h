/* SPDX-License-Identifier: MIT
 * Values of the source: words, numbers, times.
 */
#ifndef IMPORT_VALUE_H
#define IMPORT_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "import/arena.h"

/* lfproxy's longest time, which stands for "never". */
#define VALUE_FOREVER_MS (30ULL * 24 * 3600 * 1000)

/* A list of words. */
struct words {
	const char **word;
	size_t n;
	/* For each word whether it was read; NULL if the list is not watched.
	 * Copies of the list share it. */
	bool *read;
};

/* Begins to note which words are looked at, once the list is complete. */
void words_watch(struct arena *arena, struct words *words);
/* Returns the i-th word, or "", and notes that it was looked at. */
const char *words_get(const struct words *words, size_t i);
/* Notes that all words from `first` on were looked at. */
void words_read_all(const struct words *words, size_t first);
/* Returns the words that nothing has looked at, or NULL if there are none. */
const char *words_unread(struct arena *arena, const struct words *words);

/* Appends a word, which is borrowed. */
void words_add(struct arena *arena, struct words *words, const char *word);
/* Returns whether the list has the word, which then was looked at. */
bool words_has(const struct words *words, const char *word);
/* Returns the words from `first` on, with `between` between them.  They were
 * looked at then. */
const char *words_join(struct arena *arena, const struct words *words,
    size_t first, const char *between);

/* Reads a whole number.  Returns false if s is not one. */
bool value_number(const char *s, uint64_t *ret_number);

/* Returns the number in s, at most max, or NULL if s is no number from 1. */
const char *value_up_to(struct arena *arena, const char *s, unsigned max);

/* Reads a time of HAProxy: a number of milliseconds, or with us, ms, s, m, h,
 * d.  Returns false for other texts. */
bool value_haproxy_time(const char *s, uint64_t *ret_ms);

/* Reads a time of nginx: a number of seconds, or numbers with ms, s, m, h, d,
 * w, M, y, one after the other.  Returns false for other texts. */
bool value_nginx_time(const char *s, uint64_t *ret_ms);

/* Returns the time as lfproxy writes it, within min_ms and max_ms. */
const char *value_duration(
    struct arena *arena, uint64_t ms, uint64_t min_ms, uint64_t max_ms);

/* Returns `count` per `period_ms` as a rate of lfproxy, in the nearest unit (s,
 * m or h); at least 1. */
const char *value_rate(struct arena *arena, uint64_t count, uint64_t period_ms);

/* Returns whether s is an IPv4 or IPv6 address, or a range (A/BITS or A/MASK).
 * *ret_range is the range as lfproxy writes it, with the host bits
 * zero; IPv4 in IPv6 (::ffff:192.0.2.1) is written as IPv4. */
bool value_range(struct arena *arena, const char *s, const char **ret_range);

/* Returns whether the range `outer` has all addresses of `inner`.  Both are as
 * value_range writes them.  Ranges that do not cover each other have no address
 * in common. */
bool value_range_covers(
    struct arena *arena, const char *outer, const char *inner);

/* Returns whether name is a host's name, without a wildcard. */
bool value_is_host_name(const char *name);

/* Adds the names that a regular expression matches, if it has one of the usual
 * forms: `^a\.b$`, `\.b$`, `^(.*\.)?b$`, `^[^.]+\.b$`, `^(a|c)\.b$`; `*.b`
 * stands for all names below b.  Returns false for others. */
bool value_regex_names(
    struct arena *arena, const char *regex, struct words *names);

/* Returns bytes as the text of a pattern, in quotes, with escapes.  `${NAME}`
 * remains a variable. */
const char *value_quote(struct arena *arena, const char *bytes, size_t n);

/* Returns whether this host has that user. */
bool value_has_user(const char *name);
/* Returns whether this host has that group. */
bool value_has_group(const char *name);

/* Returns the directory of the path, with its slash; "" if it has none. */
const char *value_dir(struct arena *arena, const char *path);

/* Returns the text of a file of up to a megabyte, NUL-terminated; NULL if it
 * cannot be read, with errno set.  Only regular files are read, and `-`,
 * standard input; EBADF stands for other kinds.  All files of a process have up
 * to 16 megabytes and 1000 names together; EFBIG stands for more.  Blocks.
 * ret_n may be NULL. */
char *value_read_file(struct arena *arena, const char *path, size_t *ret_n);

#endif
