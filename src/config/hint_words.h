/* SPDX-License-Identifier: MIT
 * Advice for words of HAProxy's and nginx's configurations: what does the same
 * here.
 *
 * Each function returns advice that follows a semicolon, `write listen = ...`,
 * or NULL for a word that is not known.
 */
#ifndef CONFIG_HINT_WORDS_H
#define CONFIG_HINT_WORDS_H

/* Returns advice for a line of a section, or for the name of its key alone.  */
const char *hint_words_key(const char *line);

/* Returns advice for an option of the value of `key`.  */
const char *hint_words_option(const char *key, const char *option);

/* Returns advice for a value that is one of several words, such as that of
 * balance.  */
const char *hint_words_value(const char *key, const char *value);

/* Returns advice for the head of a section, `listen web`.  */
const char *hint_words_section(const char *head);

#endif
