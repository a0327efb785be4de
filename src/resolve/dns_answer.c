/* SPDX-License-Identifier: MIT
 * See dns_answer.h.
 */
#include "resolve/dns_answer.h"

#include <arpa/nameser.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The passes over the records that follow aliases, which may be in any order.
 */
#define ALIAS_PASSES 8

struct record {
	ns_rr rr;
	uint32_t ttl_s;
	char name[ADDR_HOST_SIZE]; /* in lower case */
};

static const struct {
	const char *name, *text;
} dns_errors[DNS_ERRORS] = {
#define X(id, name, text) [id] = {name, text},
    DNS_ERRORS_TABLE(X)
#undef X
};

const char *
dns_error_name(enum dns_error error)
{
	return dns_errors[error].name;
}

const char *
dns_error_text(enum dns_error error)
{
	return dns_errors[error].text;
}

void
dns_answer_fini(struct dns_answer *answer)
{
	free(answer->addrs);
	free(answer->srvs);
	free(answer->extras);
	*answer = (struct dns_answer){.addrs = NULL};
}

static bool
same_ip(const struct addr *a, const struct addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	return a->sa.sa_family == AF_INET
	           ? a->in.sin_addr.s_addr == b->in.sin_addr.s_addr
	           : memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr,
	                 sizeof(a->in6.sin6_addr)) == 0;
}

bool
dns_addrs_have(const struct addr *addrs, size_t n, const struct addr *addr)
{
	for (size_t i = 0; i < n; i++)
		if (same_ip(&addrs[i], addr))
			return true;
	return false;
}

bool
dns_answer_add(struct dns_answer *answer, const struct addr *addr)
{
	void *room;

	if (answer->addrs_n == DNS_ADDRS_MAX ||
	    dns_addrs_have(answer->addrs, answer->addrs_n, addr))
		return true;
	room = grow(answer->addrs, answer->addrs_n, &answer->addrs_room,
	    sizeof(*answer->addrs));
	if (!room)
		return false;
	answer->addrs = room;
	answer->addrs[answer->addrs_n++] = *addr;
	return true;
}

/* -- messages -- */

/* Copies the name in lower case, without a last dot.  Returns false if it has
 * more than 253 characters. */
static bool
copy_name(const char *name, char out[ADDR_HOST_SIZE])
{
	size_t n = strlen(name);

	while (n > 0 && name[n - 1] == '.')
		n--;
	if (n >= ADDR_HOST_SIZE)
		return false;
	for (size_t i = 0; i < n; i++)
		out[i] = name[i] >= 'A' && name[i] <= 'Z'
		             ? (char)(name[i] | 0x20)
		             : name[i];
	out[n] = '\0';
	return true;
}

/* Reads a name that the data of a record has at that place. */
static bool
read_data_name(
    const ns_msg *message, const uint8_t *at, char out[ADDR_HOST_SIZE])
{
	char name[NS_MAXDNAME];

	return at < ns_msg_end(*message) &&
	       ns_name_uncompress(ns_msg_base(*message), ns_msg_end(*message),
	           at, name, sizeof(name)) >= 0 &&
	       copy_name(name, out);
}

/* Reads the record of that number.  Returns false if it is wrong. */
static bool
read_record(ns_msg *message, ns_sect section, int number, struct record *ret)
{
	if (ns_parserr(message, section, number, &ret->rr) < 0 ||
	    !copy_name(ns_rr_name(ret->rr), ret->name))
		return false;
	/* A TTL with the highest bit set counts as 0 (RFC 2181, section 8). */
	ret->ttl_s =
	    ns_rr_ttl(ret->rr) > INT32_MAX ? 0 : (uint32_t)ns_rr_ttl(ret->rr);
	return true;
}

static bool
is_record(const struct record *r, ns_type type, const char *name)
{
	return ns_rr_type(r->rr) == type && ns_rr_class(r->rr) == ns_c_in &&
	       strcmp(r->name, name) == 0;
}

/* Returns how many records of the section are read. */
static int
count_records(const ns_msg *message, ns_sect section)
{
	int n = ns_msg_count(*message, section);

	return n < DNS_RECORDS_MAX ? n : DNS_RECORDS_MAX;
}

static void
lower_ttl(uint32_t *ttl_s, uint32_t other_s)
{
	if (other_s < *ttl_s)
		*ttl_s = other_s;
}

/* Replaces the name by the name of which it is an alias.  Returns false if the
 * message is wrong. */
static bool
follow_aliases(ns_msg *message, char name[ADDR_HOST_SIZE], uint32_t *ttl_s)
{
	int n = count_records(message, ns_s_an);
	bool moved = true;
	struct record r;

	for (int pass = 0; pass < ALIAS_PASSES && moved; pass++) {
		moved = false;
		for (int i = 0; i < n; i++) {
			if (!read_record(message, ns_s_an, i, &r))
				return false;
			if (!is_record(&r, ns_t_cname, name))
				continue;
			if (!read_data_name(message, ns_rr_rdata(r.rr), name))
				return false;
			lower_ttl(ttl_s, r.ttl_s);
			moved = true;
		}
	}
	return true;
}

/* Returns the length of the message without what follows its last record, which
 * ns_initparse does not accept; 0 if the message is cut off. */
static int
length_of_records(const uint8_t *bytes, size_t len)
{
	const uint8_t *at = bytes + NS_HFIXEDSZ, *end = bytes + len;

	if (len < NS_HFIXEDSZ || len > NS_MAXMSG)
		return 0;
	for (int section = ns_s_qd; section < ns_s_max; section++) {
		int n = ns_skiprr(at, end, (ns_sect)section,
		    (int)ns_get16(bytes + 4 + 2 * section));

		if (n < 0)
			return 0;
		at += n;
	}
	return (int)(at - bytes);
}

/* Begins to read a message with one question.  Gets the name that the records
 * to be used have, and the least TTL of its aliases.  Returns false if the
 * message is wrong. */
static bool
read_begin(const uint8_t *bytes, size_t len, ns_msg *message,
    char name[ADDR_HOST_SIZE], uint32_t *ret_ttl_s)
{
	int whole = length_of_records(bytes, len);
	struct record question;

	*ret_ttl_s = UINT32_MAX;
	if (whole == 0 || ns_initparse(bytes, whole, message) < 0 ||
	    ns_msg_count(*message, ns_s_qd) != 1 ||
	    !read_record(message, ns_s_qd, 0, &question))
		return false;
	memcpy(name, question.name, ADDR_HOST_SIZE);
	return follow_aliases(message, name, ret_ttl_s);
}

/* Gets the address of a record of that name.  Returns false if it is none. */
static bool
record_addr(
    const struct record *r, int family, const char *name, struct addr *ret_addr)
{
	struct addr a = {.len = 0};
	const uint8_t *data = ns_rr_rdata(r->rr);

	if (family == AF_INET && is_record(r, ns_t_a, name) &&
	    ns_rr_rdlen(r->rr) == sizeof(a.in.sin_addr)) {
		a.in.sin_family = AF_INET;
		memcpy(&a.in.sin_addr, data, sizeof(a.in.sin_addr));
		a.len = sizeof(a.in);
	} else if (family == AF_INET6 && is_record(r, ns_t_aaaa, name) &&
	           ns_rr_rdlen(r->rr) == sizeof(a.in6.sin6_addr)) {
		a.in6.sin6_family = AF_INET6;
		memcpy(&a.in6.sin6_addr, data, sizeof(a.in6.sin6_addr));
		a.len = sizeof(a.in6);
	} else {
		return false;
	}
	*ret_addr = a;
	return true;
}

enum dns_error
dns_read_addrs(
    struct dns_answer *answer, const uint8_t *message, size_t len, int family)
{
	char name[ADDR_HOST_SIZE];
	bool any = false;
	struct record r;
	uint32_t ttl_s;
	struct addr a;
	ns_msg m;

	if (!read_begin(message, len, &m, name, &ttl_s))
		return DNS_MALFORMED;
	for (int i = 0; i < count_records(&m, ns_s_an); i++) {
		if (!read_record(&m, ns_s_an, i, &r))
			return DNS_MALFORMED;
		if (!record_addr(&r, family, name, &a))
			continue;
		if (!dns_answer_add(answer, &a))
			return DNS_NO_MEMORY;
		lower_ttl(&ttl_s, r.ttl_s);
		any = true;
	}
	if (!any)
		return DNS_EMPTY;
	lower_ttl(&answer->ttl_s, ttl_s);
	return DNS_OK;
}

/* -- SRV -- */

/* Returns whether the text can be a host's name; many have a `_`. */
static bool
is_host(const char *s)
{
	return *s &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0';
}

static enum dns_error
add_srv(
    struct dns_answer *answer, const ns_msg *message, const struct record *r)
{
	const uint8_t *data = ns_rr_rdata(r->rr);
	struct dns_srv srv;
	void *room;

	if (ns_rr_rdlen(r->rr) < 7 ||
	    !read_data_name(message, data + 6, srv.target))
		return DNS_MALFORMED;
	srv.priority = (uint16_t)ns_get16(data);
	srv.weight = (uint16_t)ns_get16(data + 2);
	srv.port = (uint16_t)ns_get16(data + 4);
	if (!is_host(srv.target) || srv.port == 0 ||
	    answer->srvs_n == DNS_SRVS_MAX)
		return DNS_OK;
	for (size_t i = 0; i < answer->srvs_n; i++)
		if (answer->srvs[i].port == srv.port &&
		    strcmp(answer->srvs[i].target, srv.target) == 0)
			return DNS_OK;
	room = grow(answer->srvs, answer->srvs_n, &answer->srvs_room,
	    sizeof(*answer->srvs));
	if (!room)
		return DNS_NO_MEMORY;
	answer->srvs = room;
	answer->srvs[answer->srvs_n++] = srv;
	lower_ttl(&answer->ttl_s, r->ttl_s);
	return DNS_OK;
}

/* Adds the address of the record if it is that of a target.  Returns false when
 * memory is short. */
static bool
add_extra_addr(struct dns_answer *answer, const struct record *r)
{
	int family = ns_rr_type(r->rr) == ns_t_a ? AF_INET : AF_INET6;
	struct dns_extra extra = {.srv = 0};
	void *room;

	while (extra.srv < answer->srvs_n &&
	       strcmp(answer->srvs[extra.srv].target, r->name) != 0)
		extra.srv++;
	if (extra.srv == answer->srvs_n || answer->extras_n == DNS_ADDRS_MAX ||
	    !record_addr(r, family, r->name, &extra.addr))
		return true;
	room = grow(answer->extras, answer->extras_n, &answer->extras_room,
	    sizeof(*answer->extras));
	if (!room)
		return false;
	answer->extras = room;
	answer->extras[answer->extras_n++] = extra;
	lower_ttl(&answer->ttl_s, r->ttl_s);
	return true;
}

enum dns_error
dns_read_srvs(struct dns_answer *answer, const uint8_t *message, size_t len)
{
	enum dns_error error = DNS_OK;
	char name[ADDR_HOST_SIZE];
	struct record r;
	ns_msg m;

	if (!read_begin(message, len, &m, name, &answer->ttl_s))
		return DNS_MALFORMED;
	for (int i = 0; error == DNS_OK && i < count_records(&m, ns_s_an); i++)
		if (!read_record(&m, ns_s_an, i, &r))
			error = DNS_MALFORMED;
		else if (is_record(&r, ns_t_srv, name))
			error = add_srv(answer, &m, &r);
	if (error != DNS_OK || answer->srvs_n == 0)
		return error == DNS_OK ? DNS_EMPTY : error;
	for (int i = 0; i < count_records(&m, ns_s_ar); i++)
		if (read_record(&m, ns_s_ar, i, &r) &&
		    !add_extra_addr(answer, &r))
			return DNS_NO_MEMORY;
	return DNS_OK;
}
