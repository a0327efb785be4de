/* SPDX-License-Identifier: MIT
 * The types of values: how a value is read from text into its place in the
 * spec, and how it is written back.
 *
 * A value that is written and read again is the same, and the text is the
 * shortest one.
 */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/draft.h"
#include "config/hint.h"
#include "config/keys.h"
#include "model/spec.h"

/* A value on its way into the spec. */
struct value {
	const struct key *key;
	const struct key *within; /* the key whose option this is, or NULL */
	const char *text;
	void *object; /* the struct that key->offset counts in */
	struct spec *spec;
	const struct draft_section *section; /* NULL: a default */
	const struct draft_entry *entry;     /* NULL: a default */
	struct err_list *errors;             /* NULL: they are known already */
};

/* A value on its way out of the spec. */
struct shown {
	const struct key *key;
	const void *object;
	const struct spec *spec;
	size_t nth; /* of the values of a repeatable key */
};

/* The longest text of a value: as long as one that is read, and all options at
 * their defaults. */
#define VALUE_TEXT_SIZE (DRAFT_VALUE_MAX + 1024)

enum value_trait {
	VALUE_BOOLEAN = 1 << 0, /* on, off, perhaps more; the name alone: on */
	VALUE_BARE = 1 << 1,    /* printed as the option's name alone */
	VALUE_QUOTED = 1 << 2,  /* the value may be in quotes */
	VALUE_SECRET = 1 << 3,  /* may hold a password: not shown by a diff */
	/* In a struct optional: the type reads and prints only its value. */
	VALUE_OPTIONAL = 1 << 4,
};

struct value_type {
	/* Returns false after at least one error was added.  The object can
	 * then still be passed to spec_free(), or get a second value in the
	 * same place. */
	bool (*parse)(const struct value *value);
	/* Called by value_print.  Returns false when the object has no such
	 * value. */
	bool (*print)(const struct shown *shown, char out[VALUE_TEXT_SIZE]);
	/* The allowed values in words.  NULL: they depend on the key's
	 * limits. */
	const char *allowed;
	unsigned traits; /* enum value_trait */
	/* Size of a value that has the same text wherever its bytes are the
	 * same.  0: the text depends on more, as on memory that it owns. */
	size_t plain;
};

/* Defines type_NAME, which parse_NAME reads. */
#define VALUE_TYPE(name, printer, words, traits)                               \
	const struct value_type type_##name = {                                \
	    parse_##name, printer, words, traits, 0}
/* The same for a type of plain values, which are stored as c_type. */
#define PLAIN_TYPE(name, printer, words, traits, c_type)                       \
	const struct value_type type_##name = {                                \
	    parse_##name, printer, words, traits, sizeof(c_type)}

/* The types, by the C type that they are stored as.
 *
 * uint64_t: milliseconds, 0 if not set; or bytes, or bytes per second. */
extern const struct value_type type_duration, type_wait /* QUEUE_NEVER */,
    type_slow_start, type_size, type_byte_rate /* BANDWIDTH_OFF: off */;
/* unsigned. */
extern const struct value_type type_number, type_auto_number /* 0: auto */,
    type_percent, type_rate /* a second, 0: off */, type_sample,
    type_message_log, type_tfo /* 0 or 1 */, type_seconds, type_dscp, type_mark;
/* An enum, or something else of a fixed size. */
extern const struct value_type type_choice, type_flag /* bool, a bare word */,
    type_switch /* bool */, type_sock_switch /* enum sock_switch */,
    type_mode /* uint32_t */, type_pool /* size_t */,
    type_rule_backend /* size_t */, type_rule_tls /* enum sock_switch */,
    type_rule_versions /* unsigned, a set of bits */,
    type_rule_ranges /* struct rule_ranges */,
    type_rule_ports /* struct rule_ports */,
    type_balance /* const struct balance_ops * */,
    type_keepalive /* struct sock_keepalive */, type_congestion /* char [] */,
    type_interface /* char [] */, type_check_host /* struct addr, no port */,
    type_source /* struct source_spec */, type_status /* struct status_set */,
    type_on_deny /* struct gate_reply */,
    type_limit_action /* struct gate_reply */,
    type_limit_rate /* struct limit_rate */,
    type_limit_bytes /* struct limit_bytes */,
    type_limit_per /* in struct limit_spec */;
/* VALUE_OPTIONAL: options that a server may have of its own; a section [tls],
 * by its index in the spec, or TLS_OFF. */
extern const struct value_type type_own_percent, type_own_number,
    type_own_choice, type_fallback, type_tls, type_tls_or_off;
/* char *. */
extern const struct value_type type_choice_text /* one of key->choices */,
    type_url_path, type_http_host, type_user, type_group, type_node, type_tag,
    type_root, type_state_file, type_users_file, type_header_name,
    type_ranges /* CIDR, commas between */, type_people /* users and @groups */,
    type_hosts /* names, commas */, type_track, type_ca, type_sni,
    type_check_command, type_server_defaults, type_file, type_ca_path,
    type_ciphers, type_ciphersuites, type_curves, type_alpn, type_tls_name,
    type_limit_table, type_countries, type_rule_names, type_rule_alpn,
    type_set_token;
/* struct set_spec. */
extern const struct value_type type_set_source;
/* Structs that own memory.  Those of log and admin are lists, which grow. */
extern const struct value_type type_check, type_agent,
    type_limit_list /* struct list_use */, type_agent_send /* struct pattern */,
    type_log, type_admin;
/* The section's own struct; all but http and age append to an array of it. */
extern const struct value_type type_http, type_age, type_listen, type_backend,
    type_sni_rule, type_route_rule, type_proxy_from, type_allow, type_deny,
    type_limit, type_server, type_servers,
    type_bandwidth /* struct bandwidth_spec */, type_list_entry, type_list_file,
    type_check_header, type_check_step, type_check_body;
/* struct tls_spec; int, 0: not set; enum tls_verify. */
extern const struct value_type type_cert, type_cert_dir, type_tls_version,
    type_tls_verify;
/* struct pool_spec. */
extern const struct value_type type_threads, type_shards, type_cpus;
/* struct resolver_spec; uint64_t, or HOLD_FOREVER. */
extern const struct value_type type_nameserver, type_hold;
/* Nothing: files are included before there are values (config/include.h). */
extern const struct value_type type_include;

/* Returns the member of the spec that a value is read into, or printed from. */
static inline void *
value_target(const struct value *v)
{
	return (char *)v->object + v->key->offset;
}

static inline const void *
shown_source(const struct shown *s)
{
	return (const char *)s->object + s->key->offset;
}

/* Runs the key's parser.  Returns false after at least one error was added. */
bool value_parse(const struct value *value);

/* Reads the key's default text into the object; does nothing without one.
 * Returns false when memory is short, without an error. */
bool value_set_default(
    const struct key *key, void *object, struct spec *spec) MUST_CHECK;

/* Reads `on` or `yes`, `off` or `no`.  Returns false for any other word. */
bool value_read_boolean(const char *word, bool *ret_on) MUST_CHECK;

/* Reads `200` or `200-399`, numbers between min and max.  Returns false for any
 * other text. */
bool value_read_range(const char *text, unsigned min, unsigned max,
    unsigned *ret_from, unsigned *ret_to) MUST_CHECK;

/* Returns whether the text is 0, in any unit: `0`, `0s`. */
bool value_is_zero(const char *text);

/* Returns whether the word, 0 or `off`, means that a duration is not set.  That
 * is possible for a key without a default that [defaults] may have. */
bool value_is_unset(const struct value *value, const char *word);

/* Adds `KEY: sentence` at the value's place.  Always returns false. */
bool value_fail(const struct value *value, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes the value.  Returns false when it is not set, and for shown->nth
 * beyond the last value. */
bool value_print(const struct shown *shown, char out[VALUE_TEXT_SIZE]);

/* Formats into out.  Always returns true. */
bool value_write(char out[VALUE_TEXT_SIZE], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a value of type char *.  Returns false if it is NULL. */
bool value_print_string(const struct shown *shown, char out[VALUE_TEXT_SIZE]);

/* Replaces the string in *slot by a copy of s.  Returns false after an
 * error. */
bool value_set_string(
    const struct value *value, char **slot, const char *s) MUST_CHECK;

/* Stores a copy of the text as a value of type char *.  Returns false after an
 * error. */
bool value_keep_text(const struct value *value) MUST_CHECK;

/* Finds the word among the names.  Returns false after an error, which lists
 * the names, or has advice for a word of HAProxy or nginx. */
bool value_choose(const struct value *value, const char *word,
    const struct name_table *names, size_t *ret_index) MUST_CHECK;

/* Appends a copy of element to the array of *n elements of that size, which
 * nothing else has made or appended to.  Returns false after an error. */
bool value_append(const struct value *value, void *array, size_t *n,
    const void *element, size_t size) MUST_CHECK;

/* A text cut at blanks. */
struct words {
	char copy[DRAFT_VALUE_MAX + 1];
	char *word[DRAFT_VALUE_MAX / 2 + 1];
	size_t n;
};

/* Cuts the text at blanks. */
void words_split(struct words *words, const char *text);

/* Reads words[from…] as `option=value` of value->key->options into object, and
 * sets options that are missing to their defaults.  An option with a flag that
 * is not in `allowed` is refused, with `why` as the reason.  Returns false
 * after an error. */
bool options_read(const struct value *value, const struct words *words,
    size_t from, void *object, unsigned allowed, const char *why) MUST_CHECK;

/* Does the same where the defaults are in the object already. */
bool options_read_over(const struct value *value, const struct words *words,
    size_t from, void *object, unsigned allowed, const char *why) MUST_CHECK;

/* Appends ` option=value` for each option of the key that has a value and whose
 * flags are allowed.  If the text would be too long to be read, appends only
 * options that differ from their default.  The defaults are those of the struct
 * `base`, or of the table where base is NULL.  Always returns true. */
bool options_print(const struct shown *shown, const void *object,
    const void *base, unsigned allowed, char out[VALUE_TEXT_SIZE]);

/* Does the same, but only for options that differ from their default. */
void options_print_set(const struct shown *shown, const void *object,
    const void *base, unsigned allowed, char out[VALUE_TEXT_SIZE]);

/* The beginning of a word that names an address list. */
#define VALUE_LIST_PREFIX "list:"

/* Finds the section [list NAME].  Returns false after an error. */
bool value_find_list(
    const struct value *value, const char *name, size_t *ret_index) MUST_CHECK;

/* Reads the text, `list:NAME`, into a use that is empty.  Returns false after
 * an error. */
bool value_read_list(const struct value *value, const char *text,
    struct list_use *list) MUST_CHECK;

/* Finds the backend of that name.  Returns false after an error. */
bool value_find_backend(
    const struct value *value, const char *name, size_t *ret_index) MUST_CHECK;

/* Prints the rule shown->nth of the frontend, which was written as `sni =`, as
 * a value of that key.  Always returns true. */
bool value_print_short_rule(
    const struct shown *shown, char out[VALUE_TEXT_SIZE]);

/* Reads an action, as `reset`, `tarpit 10s` or `tarpit=10s`; delay is refused
 * unless may_delay.  Returns false after an error. */
bool value_read_reply(const struct value *value, bool may_delay,
    struct gate_reply *ret_reply) MUST_CHECK;

/* Returns whether s may be the name of a section or server, of at most max
 * letters; otherwise sets err. */
bool name_check(const char *s, size_t max, struct err *err) MUST_CHECK;

#endif
