/* SPDX-License-Identifier: MIT
 * See keys.h: the options of `log =`.
 */
#include "config/keys_internal.h"

/* In the order of their enums in model/spec.h. */
static const char *const log_formats[] = {"tcplog", "json", "logfmt", NULL};
static const char *const log_rfcs[] = {"3164", "5424", NULL};
/* By their numbers, RFC 5424 section 6.2.1, named as in syslog.conf. */
static const char *const facilities[] = {"kern", "user", "mail", "daemon",
    "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp",
    "audit", "alert", "cron2", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7", NULL};

/* clang-format off */
const struct key key_log_options[] = {
    {"format", "how a session is written",
        CHOICE(log_formats), LOG(format), DEFAULT("tcplog")},
    {"sample", "which share of the sessions is logged",
        VALUE(sample), LIMITS(1, 1000000), LOG(sample), DEFAULT("1/1")},
    {"mode", "mode of a file that is made",
        VALUE(mode), LOG(mode), DEFAULT("0640"), FILE_ONLY},
    {"facility", "which of the syslog daemon's logs is meant",
        CHOICE(facilities), ALLOWED("kern to ftp, or local0 to local7"),
        LOG(facility), DEFAULT("local0"), SYSLOG_ONLY},
    {"tag", "the program's name in syslog",
        VALUE(tag), LIMITS(0, LOG_TAG_MAX_LEN), LOG(tag), DEFAULT("lfproxy"),
        SYSLOG_ONLY},
    {"rfc", "which standard the datagrams follow",
        CHOICE(log_rfcs), LOG(rfc), DEFAULT("3164"), SYSLOG_ONLY},
    {.name = NULL}};
/* clang-format on */
