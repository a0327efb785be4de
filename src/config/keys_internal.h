/* SPDX-License-Identifier: MIT
 * How a row of a key table is written:
 *
 *   {"retries", "further attempts, on other servers, to connect a session",
 *       NUMBER(0, 10), BACKEND(retries), DEFAULT("3"), IN_DEFAULTS},
 *
 * that is the key's name and its help; the type of its value with the limits;
 * the member of the spec that holds the value; the default, or what applies
 * without the key; and where the key or option may be given.
 */
#ifndef CONFIG_KEYS_INTERNAL_H
#define CONFIG_KEYS_INTERNAL_H

#include "config/keys.h"
#include "config/values.h"
#include "model/rate_limit.h"
#include "model/spec.h"

#define SECOND_MS   1000u
#define DAY_MS      (86400u * SECOND_MS)
#define TIMEOUT_MIN 10u
#define TIMEOUT_MAX (30ull * DAY_MS)

/* The words of an enum, each at its value; `last` is the last one. */
#define CHOICES(name, last, ...)                                               \
	static const char *const name[] = {__VA_ARGS__, NULL};                 \
	_Static_assert(                                                        \
	    sizeof(name) / sizeof(name[0]) == (last) + 2, "the last is last")

/* clang-format off */

/* Types. */
#define VALUE(name)            .type = &type_##name
#define LIMITS(low, high)      .min = (low), .max = (high)
#define NUMBER(low, high)      VALUE(number), LIMITS(low, high)
#define PERCENT(low, high)     VALUE(percent), LIMITS(low, high)
#define DURATION(low, high)    VALUE(duration), LIMITS(low, high)
#define TIMEOUT                DURATION(TIMEOUT_MIN, TIMEOUT_MAX)
#define INTERVAL               DURATION(TIMEOUT_MIN, DAY_MS)
#define SLOW_START             VALUE(slow_start), LIMITS(SECOND_MS, DAY_MS)
#define MAXCONN                VALUE(auto_number), LIMITS(1, MAXCONN_MAX)
#define RATE                   VALUE(rate), LIMITS(1, RATE_LIMIT_MAX)
#define CHOICE(words)          VALUE(choice), .choices = (words)
#define OWN_CHOICE(words)      VALUE(own_choice), .choices = (words)
#define FLAG                   VALUE(flag), WITHOUT("no")
#define SWITCH(text)           VALUE(switch), DEFAULT(text)

/* Members of the spec's structs. */
#define GLOBAL(member)         .offset = offsetof(struct global_spec, member)
#define ADMIN(member)          .offset = offsetof(struct admin_spec, member)
#define LOG(member)            .offset = offsetof(struct log_spec, member)
#define POOL(member)           .offset = offsetof(struct pool_spec, member)
#define FRONTEND(member)       .offset = offsetof(struct frontend_spec, member)
#define LISTEN(member)         .offset = offsetof(struct listen_spec, member)
#define ROUTE(member)          .offset = offsetof(struct route_spec, member)
#define SNI(member)            .offset = offsetof(struct sni_spec, member)
#define BACKEND(member)        .offset = offsetof(struct backend_spec, member)
#define SERVER(member)         .offset = offsetof(struct server_spec, member)
#define CHECK(member)          .offset = offsetof(struct check_spec, member)
#define AGENT(member)          .offset = offsetof(struct agent_spec, member)

/* The rest of a row. */
#define DEFAULT(text)          .default_text = (text)
#define WITHOUT(note)          .default_note = (note)
#define ALLOWED(words)         .allowed = (words)
#define OPTIONS(keys)          .options = (keys)
#define RESTART                .restart = true
#define REPEATABLE             .flags = KEY_REPEATABLE
#define REQUIRED_REPEATABLE    .flags = KEY_REQUIRED | KEY_REPEATABLE
#define IN_DEFAULTS            .flags = KEY_IN_DEFAULTS
#define UNIX_ONLY              .flags = KEY_UNIX_ONLY
#define TCP_ONLY               .flags = KEY_TCP_ONLY
#define FILE_ONLY              .flags = KEY_FILE_ONLY
#define SYSLOG_ONLY            .flags = KEY_SYSLOG_ONLY

/* clang-format on */

extern const struct key frontend_keys[];
extern const struct key backend_keys[];
extern const struct key key_log_options[]; /* of `log =` */

#endif
