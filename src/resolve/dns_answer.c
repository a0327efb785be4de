/* SPDX-License-Identifier: MIT
 * See dns_answer.h.
 */
#include "resolve/dns_answer.h"

#include <ares.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define HEADER_SIZE 12
#define TYPE_A      1
#define TYPE_CNAME  5
#define TYPE_AAAA   28
#define TYPE_SRV    33
#define CLASS_IN    1

/* The passes over the records that follow aliases, which may be in any order.
 */
#define ALIAS_PASSES 8

struct walk {
	const uint8_t *message, *at, *end;
	unsigned left; /* records that may still be read */
};

struct record {
	unsigned type, class;
	uint32_t ttl_s;
	const uint8_t *data;
	size_t len;
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

static unsigned
read_16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static uint32_t
read_32(const uint8_t *at)
{
	return (uint32_t)read_16(at) << 16 | read_16(at + 2);
}

/* Reads a name in lower case, without a last dot, and moves *at behind it.
 * Returns false if there is none of at most 253 characters. */
static bool
read_dns_name(const uint8_t *message, const uint8_t *end, const uint8_t **at,
    char out[ADDR_HOST_SIZE])
{
	char *name;
	long len;
	size_t n;

	if (*at >= end || ares_expand_name(*at, message, (int)(end - message),
	                      &name, &len) != ARES_SUCCESS)
		return false;
	*at += len;
	n = strlen(name);
	while (n > 0 && name[n - 1] == '.')
		n--;
	if (n < ADDR_HOST_SIZE) {
		for (size_t i = 0; i < n; i++)
			out[i] = name[i] >= 'A' && name[i] <= 'Z'
			             ? (char)(name[i] | 0x20)
			             : name[i];
		out[n] = '\0';
	}
	ares_free_string(name);
	return n < ADDR_HOST_SIZE;
}

/* Begins behind the one question of the message, whose name is written.
 * Returns false if that cannot be read. */
static bool
walk_begin(struct walk *w, const uint8_t *message, size_t len,
    char question[ADDR_HOST_SIZE])
{
	*w = (struct walk){.message = message,
	    .at = message + HEADER_SIZE,
	    .end = message + len,
	    .left = DNS_RECORDS_MAX};
	if (len < HEADER_SIZE || read_16(message + 4) != 1 ||
	    !read_dns_name(message, w->end, &w->at, question) ||
	    w->end - w->at < 4)
		return false;
	w->at += 4;
	return true;
}

/* Reads the next record.  Returns false if it is cut off or wrong. */
static bool
walk_next(struct walk *w, struct record *ret)
{
	if (!read_dns_name(w->message, w->end, &w->at, ret->name) ||
	    w->end - w->at < 10)
		return false;
	ret->type = read_16(w->at);
	ret->class = read_16(w->at + 2);
	ret->ttl_s = read_32(w->at + 4);
	/* A TTL with the highest bit set counts as 0 (RFC 2181, section 8). */
	if (ret->ttl_s > INT32_MAX)
		ret->ttl_s = 0;
	ret->len = read_16(w->at + 8);
	w->at += 10;
	if ((size_t)(w->end - w->at) < ret->len)
		return false;
	ret->data = w->at;
	w->at += ret->len;
	return true;
}

/* Reads the next record of a section; at its end sets *ret_end to true.  A
 * section with more records than may be read ends early.  Returns false if the
 * record is cut off or wrong. */
static bool
walk_section(struct walk *w, unsigned *left, struct record *ret, bool *ret_end)
{
	*ret_end = *left == 0 || w->left == 0;
	if (*ret_end)
		return true;
	--*left;
	--w->left;
	return walk_next(w, ret);
}

static unsigned
count_answers(const uint8_t *message)
{
	return read_16(message + 6);
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
follow_aliases(const uint8_t *message, size_t len, char name[ADDR_HOST_SIZE],
    uint32_t *ttl_s)
{
	char question[ADDR_HOST_SIZE];
	bool moved = true, end = false;
	struct record r;
	struct walk w;

	for (int pass = 0; pass < ALIAS_PASSES && moved; pass++) {
		unsigned left = count_answers(message);

		moved = false;
		if (!walk_begin(&w, message, len, question))
			return false;
		while (walk_section(&w, &left, &r, &end) && !end) {
			const uint8_t *at = r.data;

			if (r.type != TYPE_CNAME || r.class != CLASS_IN ||
			    strcmp(r.name, name) != 0)
				continue;
			if (!read_dns_name(message, w.end, &at, name))
				return false;
			lower_ttl(ttl_s, r.ttl_s);
			moved = true;
		}
		if (!end)
			return false;
	}
	return true;
}

/* Gets the address of a record.  Returns false if the record is not an address.
 */
static bool
record_addr(const struct record *r, struct addr *ret_addr)
{
	struct addr a = {.len = 0};

	if (r->class != CLASS_IN)
		return false;
	if (r->type == TYPE_A && r->len == sizeof(a.in.sin_addr)) {
		a.in.sin_family = AF_INET;
		memcpy(&a.in.sin_addr, r->data, r->len);
		a.len = sizeof(a.in);
	} else if (r->type == TYPE_AAAA && r->len == sizeof(a.in6.sin6_addr)) {
		a.in6.sin6_family = AF_INET6;
		memcpy(&a.in6.sin6_addr, r->data, r->len);
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
	uint32_t ttl_s = UINT32_MAX;
	char name[ADDR_HOST_SIZE];
	bool any = false, end = false;
	struct record r;
	struct walk w;
	struct addr a;
	unsigned left;

	if (!walk_begin(&w, message, len, name) ||
	    !follow_aliases(message, len, name, &ttl_s))
		return DNS_MALFORMED;
	left = count_answers(message);
	while (walk_section(&w, &left, &r, &end) && !end) {
		if (strcmp(r.name, name) != 0 || !record_addr(&r, &a) ||
		    a.sa.sa_family != family)
			continue;
		if (!dns_answer_add(answer, &a))
			return DNS_NO_MEMORY;
		lower_ttl(&ttl_s, r.ttl_s);
		any = true;
	}
	if (!end)
		return DNS_MALFORMED;
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
add_srv(struct dns_answer *answer, const struct walk *w, const struct record *r)
{
	const uint8_t *at = r->data + 6;
	struct dns_srv srv;
	void *room;

	if (r->len < 7 || !read_dns_name(w->message, w->end, &at, srv.target))
		return DNS_MALFORMED;
	srv.priority = (uint16_t)read_16(r->data);
	srv.weight = (uint16_t)read_16(r->data + 2);
	srv.port = (uint16_t)read_16(r->data + 4);
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

static bool
add_extra_addr(struct dns_answer *answer, const struct record *r)
{
	struct dns_extra extra = {.srv = 0};
	void *room;

	if (answer->extras_n == DNS_ADDRS_MAX || !record_addr(r, &extra.addr))
		return true;
	while (extra.srv < answer->srvs_n &&
	       strcmp(answer->srvs[extra.srv].target, r->name) != 0)
		extra.srv++;
	if (extra.srv == answer->srvs_n)
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

static enum dns_error
read_srv_records(struct dns_answer *answer, const uint8_t *message, size_t len,
    struct walk *w)
{
	unsigned left = count_answers(message);
	enum dns_error error = DNS_OK;
	char name[ADDR_HOST_SIZE];
	bool end = false;
	struct record r;

	answer->ttl_s = UINT32_MAX;
	if (!walk_begin(w, message, len, name) ||
	    !follow_aliases(message, len, name, &answer->ttl_s))
		return DNS_MALFORMED;
	while (error == DNS_OK && walk_section(w, &left, &r, &end) && !end)
		if (r.type == TYPE_SRV && r.class == CLASS_IN &&
		    strcmp(r.name, name) == 0)
			error = add_srv(answer, w, &r);
	if (error == DNS_OK && !end)
		error = DNS_MALFORMED;
	return error == DNS_OK && answer->srvs_n == 0 ? DNS_EMPTY : error;
}

enum dns_error
dns_read_srvs(struct dns_answer *answer, const uint8_t *message, size_t len)
{
	enum dns_error error;
	unsigned left;
	bool end = false;
	struct record r;
	struct walk w;

	if (len < HEADER_SIZE)
		return DNS_MALFORMED;
	error = read_srv_records(answer, message, len, &w);
	if (error != DNS_OK)
		return error;
	/* The authority section comes before the extra records.  An error
	 * behind the SRV records costs only the extra addresses. */
	left = read_16(message + 8) + read_16(message + 10);
	while (walk_section(&w, &left, &r, &end) && !end)
		if (!add_extra_addr(answer, &r))
			return DNS_NO_MEMORY;
	return DNS_OK;
}
