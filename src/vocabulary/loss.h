/* SPDX-License-Identifier: MIT
 * The people or programs that may notice that a line or an option has no exact
 * counterpart.
 */
#ifndef VOCABULARY_LOSS_H
#define VOCABULARY_LOSS_H

/* In order: the last value that is true. */
enum loss {
	LOSS_NONE,
	LOSS_OPERATORS, /* readers of logs and statistics, givers of commands
	                 */
	LOSS_SERVERS,   /* servers, by their connections or their checks */
	LOSS_CLIENTS,
};

#endif
