/* SPDX-License-Identifier: MIT
 * What the columns of `show stat` put into a field, where it takes more than a
 * line: of the table in stat_columns.c alone.  The row is of a kind that the
 * table names for the column; a field that is left alone is an empty one.
 */
#ifndef STATS_STAT_PUT_H
#define STATS_STAT_PUT_H

#include "stats/stat_columns.h"

#define STAT_PUT(name)                                                         \
	void name(struct field *out, const struct stat_row *row,               \
	    enum counter counter)
#define UNUSED() ((void)row, (void)counter)

/* stat_put_state.c: whether and how much it is in use. */
STAT_PUT(stat_put_status);
STAT_PUT(stat_put_user_weight);
STAT_PUT(stat_put_weight);
STAT_PUT(stat_put_active);
STAT_PUT(stat_put_backup);
STAT_PUT(stat_put_throttle);
STAT_PUT(stat_put_panic);
STAT_PUT(stat_put_ejections);
STAT_PUT(stat_put_times_down);
STAT_PUT(stat_put_since_change);
STAT_PUT(stat_put_downtime);
STAT_PUT(stat_put_usable);
STAT_PUT(stat_put_admin);

/* stat_put_check.c: its checks, its agent, and what they said. */
STAT_PUT(stat_put_checks_failed);
STAT_PUT(stat_put_observed);
STAT_PUT(stat_put_check_status);
STAT_PUT(stat_put_check_code);
STAT_PUT(stat_put_check_duration);
STAT_PUT(stat_put_check_text);
STAT_PUT(stat_put_agent_status);
STAT_PUT(stat_put_agent_code);
STAT_PUT(stat_put_agent_rise);
STAT_PUT(stat_put_agent_fall);
STAT_PUT(stat_put_agent_health);
STAT_PUT(stat_put_tracked);
STAT_PUT(stat_put_agent_duration);
STAT_PUT(stat_put_agent_text);
STAT_PUT(stat_put_check_meaning);
STAT_PUT(stat_put_agent_meaning);
STAT_PUT(stat_put_rise);
STAT_PUT(stat_put_fall);
STAT_PUT(stat_put_health);

#endif
