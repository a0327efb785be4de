/* SPDX-License-Identifier: MIT
 * The check of a backend of HAProxy's, while its lines are read.
 */
#ifndef IMPORT_HAPROXY_CHECK_H
#define IMPORT_HAPROXY_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "import/haproxy.h"

struct check_kind;

/* The check of a backend, as its lines have described it so far. */
struct check_state {
	struct hap_proxy *proxy;
	const struct check_kind *kind;
	struct arena_text options, keys;
	const char *path, *method, *host, *status, *command;
	size_t n_steps, n_expects;
	bool over_tls;   /* tcp-check connect ssl */
	bool any_status; /* the body decides */
};

/* -- for all kinds: haproxy_check.c -- */

/* Reports that the line has no counterpart, which clients may notice. */
void hap_check_lose(
    struct check_state *check, const struct hap_line *line, const char *reason);
/* Adds the line `key = text`. */
void hap_check_key(
    struct check_state *check, const char *key, const char *text);
/* Adds ` option=value` if value is not NULL and is a word. */
void hap_check_option(
    struct check_state *check, const char *name, const char *value);

/* Returns the pattern of `string|rstring|binary|rbinary TEXT`, or NULL. */
const char *hap_check_pattern(
    struct arena *arena, const char *type, const char *text);
/* Finds the kind of an expect behind its options.  `!` may be a word of its own
 * or the kind's first letter.  Returns the index of the kind's argument. */
size_t hap_check_find_expect(
    const struct hap_line *line, const char **ret_type, bool *ret_not);
/* Converts `tcp-check connect [port N] [ssl] [send-proxy] ...`.  The first one
 * is the check's own connection. */
void hap_check_connect(struct check_state *check, const struct hap_line *line);

/* -- HTTP: haproxy_check_http.c -- */

/* Reads `option httpchk [METHOD] [PATH] [VERSION]`, where headers may follow
 * the version. */
void hap_check_http_option(
    struct check_state *check, const struct hap_line *line);
/* Reads a line `http-check`. */
void hap_check_http_rule(
    struct check_state *check, const struct hap_line *line);
/* Adds the options of `check = http`, once all lines were read. */
void hap_check_http_options(struct check_state *check);

#endif
