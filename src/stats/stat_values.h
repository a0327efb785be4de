/* SPDX-License-Identifier: MIT
 * The values of `show stat` that the table in stat_columns.c refers to.
 *
 * Each function is called only for rows that the table names for its column.
 * Numbers and texts are always present; a STAT_PUT function leaves the field
 * absent where there is no value.  Texts belong to the model or are constants.
 */
#ifndef STATS_STAT_VALUES_H
#define STATS_STAT_VALUES_H

#include "stats/stat_columns.h"

#define STAT_NUMBER(name) uint64_t name(const struct stat_row *row)
#define STAT_TEXT(name)   const char *name(const struct stat_row *row)
#define STAT_PUT(name)    void name(struct field *out, const struct stat_row *row)

/* stat_values.c: identity, load, state and weight. */
STAT_TEXT(stat_proxy);
STAT_TEXT(stat_service);
STAT_NUMBER(stat_iid);
STAT_NUMBER(stat_sid);
STAT_NUMBER(stat_row_type);
STAT_PUT(stat_put_address);
STAT_TEXT(stat_algorithm);
STAT_TEXT(stat_pool);
STAT_NUMBER(stat_sessions);
STAT_NUMBER(stat_sessions_peak);
STAT_PUT(stat_put_sessions_limit);
STAT_NUMBER(stat_queued);
STAT_NUMBER(stat_queued_peak);
STAT_NUMBER(stat_rate);
STAT_NUMBER(stat_rate_peak);
STAT_NUMBER(stat_rate_limit);
STAT_PUT(stat_put_last_session);
STAT_NUMBER(stat_queue_ms);
STAT_NUMBER(stat_queue_max_ms);
STAT_NUMBER(stat_connect_ms);
STAT_NUMBER(stat_connect_max_ms);
STAT_NUMBER(stat_session_ms);
STAT_NUMBER(stat_session_max_ms);
STAT_NUMBER(stat_connect_us);
STAT_NUMBER(stat_retries);
STAT_NUMBER(stat_retries_peak);
STAT_NUMBER(stat_retries_limit);
STAT_PUT(stat_put_status);
STAT_NUMBER(stat_weight);
STAT_NUMBER(stat_effective_weight);
STAT_NUMBER(stat_active);
STAT_NUMBER(stat_backup);
STAT_NUMBER(stat_usable);
STAT_PUT(stat_put_throttle);
STAT_NUMBER(stat_panic);
STAT_NUMBER(stat_ejections);
STAT_NUMBER(stat_times_down);
STAT_NUMBER(stat_since_change_s);
STAT_NUMBER(stat_downtime_s);
STAT_TEXT(stat_admin);

/* stat_values_check.c: health checks and agents. */
STAT_NUMBER(stat_checks_failed);
STAT_PUT(stat_put_observed_failures);
STAT_TEXT(stat_check_status);
STAT_TEXT(stat_check_meaning);
STAT_TEXT(stat_check_text);
STAT_PUT(stat_put_check_code);
STAT_PUT(stat_put_check_duration);
STAT_NUMBER(stat_check_rise);
STAT_NUMBER(stat_check_fall);
STAT_NUMBER(stat_check_health);
STAT_PUT(stat_put_tracked);
STAT_TEXT(stat_agent_status);
STAT_TEXT(stat_agent_meaning);
STAT_TEXT(stat_agent_text);
STAT_PUT(stat_put_agent_code);
STAT_PUT(stat_put_agent_duration);
STAT_NUMBER(stat_agent_rise);
STAT_NUMBER(stat_agent_fall);
STAT_NUMBER(stat_agent_health);

#endif
