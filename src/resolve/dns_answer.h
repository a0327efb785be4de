/* SPDX-License-Identifier: MIT
 * The answer to a look-up of a name, and functions that read it from a DNS
 * message (RFC 1035, 2181, 2782).
 *
 * Messages come from outside and may have any contents.  ns_parserr of the C
 * library reads records, and bounds compression; a message with a record that
 * is cut off is wrong as a whole.  At most DNS_RECORDS_MAX records of a section
 * are read, so that no message takes the control thread long.
 */
#ifndef RESOLVE_DNS_ANSWER_H
#define RESOLVE_DNS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

#define DNS_RECORDS_MAX 2048
#define DNS_ADDRS_MAX   1024
#define DNS_SRVS_MAX    256

/* X(identifier, name in reports and metrics, sentence without a full stop) */
#define DNS_ERRORS_TABLE(X)                                                    \
	X(DNS_OK, "ok", "resolved")                                            \
	X(DNS_TIMEOUT, "timeout", "the name servers do not answer")            \
	X(DNS_UNREACHABLE, "unreachable",                                      \
	    "the name servers cannot be reached")                              \
	X(DNS_SERVFAIL, "servfail",                                            \
	    "the name servers answer with an error (SERVFAIL)")                \
	X(DNS_REFUSED, "refused",                                              \
	    "the name servers refuse to answer (REFUSED)")                     \
	X(DNS_MALFORMED, "malformed",                                          \
	    "the answer of the name servers cannot be read")                   \
	X(DNS_NXDOMAIN, "nxdomain", "there is no such name (NXDOMAIN)")        \
	X(DNS_EMPTY, "empty", "the name has no records of the kind wanted")    \
	X(DNS_BAD_NAME, "bad_name", "the name is too long for DNS")            \
	X(DNS_NO_MEMORY, "no_memory", "out of memory")

enum dns_error {
#define X(id, name, text) id,
	DNS_ERRORS_TABLE(X)
#undef X
	    DNS_ERRORS
};

/* Returns `nxdomain` and so on. */
const char *dns_error_name(enum dns_error error);
/* Returns the sentence. */
const char *dns_error_text(enum dns_error error);

/* Returns whether the error is an answer: the name has no such records.  All
 * other errors say nothing about the name. */
static inline bool
dns_error_is_final(enum dns_error error)
{
	return error == DNS_NXDOMAIN || error == DNS_EMPTY;
}

struct dns_srv {
	char target[ADDR_HOST_SIZE]; /* in lower case, without the last dot */
	uint16_t port, priority, weight;
};

/* An address of a target that came along with SRV records. */
struct dns_extra {
	size_t srv; /* index into srvs, of the first one with the target */
	struct addr addr;
};

struct dns_answer {
	enum dns_error error; /* DNS_OK: there is at least one record */
	uint32_t ttl_s; /* with DNS_OK: the least TTL of the records used */
	/* With DNS_OK: the family whose question failed while that of the other
	 * family was answered, so that addrs has none of its addresses; 0: no
	 * question failed. */
	int failed_family;
	enum dns_error failed_error;
	struct addr *addrs; /* distinct, port 0 */
	size_t addrs_n, addrs_room;
	struct dns_srv *srvs;
	size_t srvs_n, srvs_room;
	struct dns_extra *extras;
	size_t extras_n, extras_room;
};

/* Frees the members. */
void dns_answer_fini(struct dns_answer *answer);

/* Returns whether the address is in the list, without regard to ports. */
bool dns_addrs_have(
    const struct addr *addrs, size_t n, const struct addr *addr);

/* Adds the address unless it is there, or the list has DNS_ADDRS_MAX.  Returns
 * false when memory is short. */
bool dns_answer_add(struct dns_answer *answer, const struct addr *addr);

/* Adds the addresses of the family from a message that answers a question for
 * them, and lowers ttl_s to the least TTL.  Aliases (CNAME) are followed within
 * the message.  Returns DNS_OK if the message had an address. */
enum dns_error dns_read_addrs(
    struct dns_answer *answer, const uint8_t *message, size_t len, int family);

/* Adds the SRV records and the addresses of their targets that came along.
 * Records whose target is not a host name, or is `.` (no service), are left
 * out.  Returns DNS_OK if a record is left. */
enum dns_error dns_read_srvs(
    struct dns_answer *answer, const uint8_t *message, size_t len);

#endif
