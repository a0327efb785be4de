/* SPDX-License-Identifier: MIT
 * What the files with the tables of keys share.
 */
#ifndef CONFIG_KEYS_INTERNAL_H
#define CONFIG_KEYS_INTERNAL_H

#include "config/keys.h"

#define SECOND_MS   1000u
#define DAY_MS      (86400u * SECOND_MS)
#define TIMEOUT_MIN 10u
#define TIMEOUT_MAX (30ull * DAY_MS)

/* "off", "on": keys.c. */
extern const char *const key_switches[];

/* Of [frontend]: keys_frontend.c. */
extern const struct key frontend_keys[];

/* Of `log =`: keys_log.c. */
extern const struct key key_log_options[];
#define LOG_ALLOWED "stderr, file=/path, syslog, syslog=ADDRESS or off"

/* Of [backend], with those of its servers: keys_backend.c. */
extern const struct key backend_keys[];

/* Of `check =` and `agent =`, some of which a server may have of its own:
 * keys_check.c. */
extern const struct key check_options[];
extern const struct key agent_options[];
extern const char *const key_check_inits[];
extern const char *const key_proxies[];

#define RATE_ALLOWED "off, or 1/s to 1000000/s"
#define IP_ALLOWED   "an IP address, without a port"
#define SEND_ALLOWED "text without blanks; \\n, \\x20 and so on as in C"

#endif
