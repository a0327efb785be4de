/* SPDX-License-Identifier: MIT
 * See file.h: MaxMind databases.  A database is a tree of networks with a
 * record for each: https://maxmind.github.io/MaxMind-DB/ .  All networks of a
 * country are read out of the tree, so that a look-up costs as much as in any
 * other list.
 */
#include "acl/file.h"

#include <errno.h>
#include <maxminddb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Records whose answer is remembered: many networks share few records. */
#define KNOWN 1024u

/* A tree of IPv6 networks has IPv4 below the prefix ::/96. */
#define V4_BITS 96u

struct known_record {
	uint32_t offset;
	bool is_known, is_wanted;
};

struct walk {
	MMDB_s db;
	const char *countries;
	struct acl_content *content;
	unsigned source;
	unsigned longest;   /* 32 or 128 */
	uint64_t nodes;     /* visited */
	int error;          /* a code of libmaxminddb */
	bool has_countries; /* a record has a country */
	bool out_of_memory;
	struct known_record known[KNOWN];
};

static bool
has_code(const char *countries, const char *code, size_t len)
{
	for (const char *at = countries; *at;) {
		size_t n = strcspn(at, ",");

		if (n == len && strncmp(at, code, n) == 0)
			return true;
		at += n + (at[n] == ',');
	}
	return false;
}

static bool
record_is_wanted(struct walk *w, MMDB_entry_s *record)
{
	struct known_record *k = &w->known[record->offset % KNOWN];
	MMDB_entry_data_s code;

	if (k->is_known && k->offset == record->offset)
		return k->is_wanted;
	*k = (struct known_record){.offset = record->offset, .is_known = true};
	if (MMDB_get_value(record, &code, "country", "iso_code", NULL) !=
	        MMDB_SUCCESS ||
	    !code.has_data || code.type != MMDB_DATA_TYPE_UTF8_STRING)
		return false;
	w->has_countries = true;
	k->is_wanted = has_code(w->countries, code.utf8_string, code.data_size);
	return k->is_wanted;
}

static bool
is_zero(const uint8_t *ip, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		if (ip[i / 8] & (0x80u >> i % 8))
			return false;
	return true;
}

static void
add_mmdb_network(
    struct walk *w, uint16_t family, const uint8_t *ip, unsigned bits)
{
	struct acl_entry e = {.source = w->source,
	    .range = {.family = family, .bits = (uint8_t)bits}};

	memcpy(e.range.ip, ip, family == AF_INET ? 4 : 16);
	w->out_of_memory |= !acl_content_add(w->content, &e);
}

static void
add_network(struct walk *w, const uint8_t ip[16], unsigned bits)
{
	bool is_v4 = w->longest == 32;

	if (!is_v4 && is_zero(ip, bits < V4_BITS ? bits : V4_BITS)) {
		/* The network contains IPv4, or is a part of it. */
		add_mmdb_network(w, AF_INET, ip + V4_BITS / 8,
		    bits < V4_BITS ? 0 : bits - V4_BITS);
		if (bits >= V4_BITS)
			return;
	}
	add_mmdb_network(w, is_v4 ? AF_INET : AF_INET6, ip, bits);
}

/* A node that is still to be visited. */
struct step {
	uint32_t node;
	unsigned bits;
	uint8_t ip[16];
};

/* Returns whether the node is a repetition of IPv4.  A tree of IPv6 has IPv4
 * several times, for 6to4 and others: all but the first are left out. */
static bool
is_alias(const struct walk *w, const struct step *s)
{
	return w->longest == 128 && s->bits > 0 &&
	       s->node == w->db.ipv4_start_node.node_value &&
	       !is_zero(s->ip, s->bits);
}

/* Follows one of a node's records.  Returns whether *next is a node to visit.
 */
static bool
follow(struct walk *w, const struct step *from, bool right,
    const MMDB_search_node_s *node, struct step *next)
{
	uint8_t type = right ? node->right_record_type : node->left_record_type;
	MMDB_entry_s record =
	    right ? node->right_record_entry : node->left_record_entry;

	*next = *from;
	if (right)
		next->ip[from->bits / 8] |= (uint8_t)(0x80u >> from->bits % 8);
	next->bits++;
	next->node = (uint32_t)(right ? node->right_record : node->left_record);
	if (type == MMDB_RECORD_TYPE_SEARCH_NODE && next->bits < w->longest)
		return !is_alias(w, next);
	if (type == MMDB_RECORD_TYPE_DATA) {
		if (record_is_wanted(w, &record))
			add_network(w, next->ip, next->bits);
	} else if (type != MMDB_RECORD_TYPE_EMPTY) {
		w->error = MMDB_CORRUPT_SEARCH_TREE_ERROR;
	}
	return false;
}

/* Visits all nodes.  A tree has each node once, so a file in which more nodes
 * are visited than it has is corrupt. */
static void
walk_tree(struct walk *w)
{
	struct step steps[130];
	size_t n = 1;

	steps[0] = (struct step){.node = 0};
	while (n > 0 && w->error == MMDB_SUCCESS && !w->out_of_memory) {
		struct step at = steps[--n], next;
		MMDB_search_node_s node;

		if (++w->nodes > w->db.metadata.node_count) {
			w->error = MMDB_CORRUPT_SEARCH_TREE_ERROR;
			return;
		}
		w->error = MMDB_read_node(&w->db, at.node, &node);
		if (w->error != MMDB_SUCCESS)
			return;
		if (follow(w, &at, true, &node, &next))
			steps[n++] = next;
		if (follow(w, &at, false, &node, &next))
			steps[n++] = next;
	}
}

/* Opens a copy: libmaxminddb maps the file, and a process is killed when it
 * reads from a mapped file that another process has truncated.  Returns a code
 * of libmaxminddb. */
static int
open_copy(const char *text, size_t len, MMDB_s *db)
{
	int fd = memfd_create("lfproxy-mmdb", MFD_CLOEXEC);
	char path[40];
	int rc = MMDB_IO_ERROR;
	size_t done = 0;
	ssize_t n = 1;

	if (fd < 0)
		return MMDB_IO_ERROR;
	while (done < len && n > 0) {
		n = write(fd, text + done, len - done);
		done += n > 0 ? (size_t)n : 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (done == len)
		rc = MMDB_open(path, MMDB_MODE_MMAP, db);
	close(fd);
	return rc;
}

static void
report(const struct walk *w, const char *path, struct err_list *errors)
{
	if (w->error != MMDB_SUCCESS)
		err_list_add(errors, path, 0,
		    "this is not a MaxMind database: %s; write country= for "
		    "an .mmdb file alone",
		    MMDB_strerror(w->error));
	else if (!w->has_countries)
		err_list_add(errors, path, 0,
		    "this database has no countries; use one as "
		    "GeoLite2-Country");
}

static bool
read_copy(const char *text, size_t len, const char *path, struct walk *w,
    struct err_list *errors)
{
	w->error = open_copy(text, len, &w->db);
	if (w->error == MMDB_OUT_OF_MEMORY_ERROR)
		return false;
	if (w->error == MMDB_SUCCESS) {
		w->longest = w->db.metadata.ip_version == 6 ? 128 : 32;
		walk_tree(w);
		MMDB_close(&w->db);
	}
	report(w, path, errors);
	return !w->out_of_memory;
}

bool
acl_file_read_countries(const char *path, const char *countries,
    struct acl_content *content, struct err_list *errors)
{
	struct walk *w = calloc(1, sizeof(*w));
	char *text = NULL, *name = NULL;
	size_t len = 0;
	int source = -1;
	bool ok = w && asprintf(&name, "%s country=%s", path, countries) >= 0;

	if (ok) {
		source = acl_content_add_source(content, name);
		free(name);
	}
	ok = source >= 0 && acl_file_get(path, errors, &text, &len);
	if (ok && text) {
		w->countries = countries;
		w->content = content;
		w->source = (unsigned)source;
		ok = read_copy(text, len, path, w, errors);
	}
	free(text);
	free(w);
	return ok;
}
