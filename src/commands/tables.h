/* SPDX-License-Identifier: MIT
 * The tables of limits: how commands name them, their keys and their values.
 *
 *   show table web data.conn_cur gt 5
 *   clear table web key 192.0.2.7
 */
#ifndef COMMANDS_TABLES_H
#define COMMANDS_TABLES_H

#include "commands/call.h"
#include "model/limit.h"
#include "model/source_facts.h"

/* X(identifier, name): the values of an entry.  Those of bytes are there if the
 * limit counts them; sticky choices have the server alone.  server_id,
 * conn_cnt, conn_cur, bytes_in_cnt and bytes_out_cnt are HAProxy's. */
#define TABLE_VALUES_TABLE(X)                                                  \
	X(CONN_CNT, "conn_cnt")                                                \
	X(CONN_CUR, "conn_cur")                                                \
	X(REFUSED, "refused")                                                  \
	X(TOKENS, "tokens")                                                    \
	X(BYTES_IN_CNT, "bytes_in_cnt")                                        \
	X(BYTES_OUT_CNT, "bytes_out_cnt")                                      \
	X(BYTES_LEFT, "bytes_left")                                            \
	X(SERVER_ID, "server_id")

enum table_value {
#define X(id, name) TABLE_##id,
	TABLE_VALUES_TABLE(X)
#undef X
	    TABLE_VALUES
};

extern const char *const table_value_names[TABLE_VALUES];

enum table_operator { OP_EQ, OP_NE, OP_LE, OP_GE, OP_LT, OP_GT, TABLE_OPS };

#define TABLE_FILTERS_MAX 4

/* Selects the entry of a key, or those that pass all comparisons. */
struct table_filter {
	bool has_key;
	struct source_key key;
	unsigned n;
	struct {
		enum table_value value;
		enum table_operator op;
		uint64_t than;
	} all[TABLE_FILTERS_MAX];
};

/* Returns whether entries of the limit have the value: tokens take a rate, the
 * values of bytes take bytes, and choices have the server alone. */
bool table_has(const struct limit *limit, enum table_value value);

/* Returns the limit whose table is named, or NULL with call->err set. */
const struct limit *table_named(struct call *call, const char *name);

/* Reads the key, an address, `unix`, `all` or the hexadecimal key of a hash, in
 * the form of the table.
 * Returns false with call->err set. */
bool table_read_key(struct call *call, const struct limit *limit,
    const char *text, struct source_key *ret_key);

/* Reads `data.NAME` of an entry of the limit.  otherwise: the error for a text
 * that does not begin with `data.`.  Returns false with call->err set. */
bool table_read_value(struct call *call, const struct limit *limit,
    const char *text, const char *otherwise, enum table_value *ret_value);

/* Reads the filters from argument number `from` on.  Returns false with
 * call->err set. */
bool table_read_filter(struct call *call, const struct limit *limit,
    unsigned from, struct table_filter *ret_filter);

/* Returns a value of the entry. */
uint64_t table_value_of(const struct limit *limit,
    const struct source_facts *facts, enum table_value value);

/* Returns whether the entry passes the comparisons; the key is not compared. */
bool table_filter_passes(const struct table_filter *filter,
    const struct limit *limit, const struct source_facts *facts);

/* Writes the key as table_read_key reads it.  Returns out. */
const char *table_key_text(const struct limit *limit,
    const struct source_key *key, char out[INET6_ADDRSTRLEN]);

#endif
