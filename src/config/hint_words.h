/* SPDX-License-Identifier: MIT
 * The words of HAProxy's and nginx's configurations, and what does the same
 * here.
 *
 * Each function returns advice that follows a semicolon, `write listen = ...`,
 * or NULL for a word that is not known.
 */
#ifndef CONFIG_HINT_WORDS_H
#define CONFIG_HINT_WORDS_H

/* For a line of a section, or the name of its key alone. */
const char *hint_words_key(const char *line);

/* For an option of the value of `key`. */
const char *hint_words_option(const char *key, const char *option);

/* For a value that is one of several words, such as that of balance. */
const char *hint_words_value(const char *key, const char *value);

/* For the head of a section, `listen web`. */
const char *hint_words_section(const char *head);

#endif
