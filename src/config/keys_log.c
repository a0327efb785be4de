/* SPDX-License-Identifier: MIT
 * See keys.h: the options of `log =`.
 */
#include <stddef.h>

#include "config/keys_internal.h"
#include "config/values.h"
#include "model/spec.h"

/* In the order of their enums in model/spec.h. */
static const char *const log_formats[] = {"tcplog", "json", "logfmt", NULL};
static const char *const log_rfcs[] = {"3164", "5424", NULL};
/* By their numbers, RFC 5424 section 6.2.1, named as in syslog.conf. */
static const char *const facilities[] = {"kern", "user", "mail", "daemon",
    "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp",
    "audit", "alert", "cron2", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7", NULL};

const struct key key_log_options[] = {
    {.name = "format",
        .type = &type_choice,
        .offset = offsetof(struct log_spec, format),
        .choices = log_formats,
        .default_text = "tcplog",
        .reload = RELOAD_LIVE,
        .help = "how a session is written"},
    {.name = "sample",
        .type = &type_sample,
        .offset = offsetof(struct log_spec, sample),
        .min = 1,
        .max = 1000000,
        .allowed = "1/1 to 1/1000000",
        .default_text = "1/1",
        .reload = RELOAD_LIVE,
        .help = "which share of the sessions is logged"},
    {.name = "mode",
        .type = &type_mode,
        .offset = offsetof(struct log_spec, mode),
        .flags = KEY_FILE_ONLY,
        .allowed = "an octal file mode",
        .default_text = "0640",
        .reload = RELOAD_LIVE,
        .help = "mode of a file that is made"},
    {.name = "facility",
        .type = &type_choice,
        .offset = offsetof(struct log_spec, facility),
        .flags = KEY_SYSLOG_ONLY,
        .choices = facilities,
        .allowed = "kern to ftp, or local0 to local7",
        .default_text = "local0",
        .reload = RELOAD_LIVE,
        .help = "which of the syslog daemon's logs is meant"},
    {.name = "tag",
        .type = &type_tag,
        .offset = offsetof(struct log_spec, tag),
        .flags = KEY_SYSLOG_ONLY,
        .max = LOG_TAG_MAX_LEN,
        .allowed = "up to 32 " NAME_ALLOWED,
        .default_text = "lfproxy",
        .reload = RELOAD_LIVE,
        .help = "the program's name in syslog"},
    {.name = "rfc",
        .type = &type_choice,
        .offset = offsetof(struct log_spec, rfc),
        .flags = KEY_SYSLOG_ONLY,
        .choices = log_rfcs,
        .default_text = "3164",
        .reload = RELOAD_LIVE,
        .help = "which standard the datagrams follow"},
    {.name = NULL}};
