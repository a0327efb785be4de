/* SPDX-License-Identifier: MIT
 * See etcd_keys.h.
 */
#include "resolve/etcd_keys.h"

#include <stdlib.h>
#include <string.h>

#include "resolve/member_text.h"

const char *
etcd_target_prefix(const struct discovery_target *target, struct err *err)
{
	const char *prefix = target->path;
	bool path = strcmp(target->path, "/") != 0;

	for (size_t i = 0; i < target->parameters_n; i++) {
		const struct discovery_parameter *p = &target->parameters[i];

		if (strcmp(p->name, "prefix") != 0) {
			err_set(err,
			    "unknown parameter '%s'; allowed is "
			    "prefix=",
			    p->name);
			return NULL;
		}
		if (path || i > 0) {
			err_set(err, "the URL names two prefixes; write either "
			             "/PREFIX or /?prefix=PREFIX");
			return NULL;
		}
		prefix = p->value ? p->value : "";
	}
	if ((path || target->parameters_n > 0) && *prefix)
		return prefix;
	err_set(err, "the URL names no prefix; write "
	             "http://HOST:PORT/PREFIX");
	return NULL;
}

bool
etcd_keys_init(struct etcd_keys *keys, const char *prefix)
{
	*keys = (struct etcd_keys){
	    .prefix = strdup(prefix), .members = member_set_new()};
	if (keys->prefix && keys->members)
		return true;
	etcd_keys_fini(keys);
	return false;
}

static void
place_free(struct etcd_keys *keys)
{
	free((void *)(uintptr_t)keys->from.data);
	keys->from = (struct etcd_bytes){NULL, 0};
}

void
etcd_keys_drop(struct etcd_keys *keys)
{
	member_set_free(keys->reading);
	keys->reading = NULL;
	place_free(keys);
}

void
etcd_keys_fini(struct etcd_keys *keys)
{
	etcd_keys_drop(keys);
	member_set_free(keys->members);
	free(keys->prefix);
	*keys = (struct etcd_keys){.prefix = NULL};
}

/* Notes where the next page begins: at the key or, with_nul being 1, at the key
 * with a NUL behind it, which is the next possible key.  Returns false when
 * memory is short. */
static bool
place_keep(struct etcd_keys *keys, const void *key, size_t n, size_t with_nul)
{
	char *from = malloc(n + 1);

	if (!from)
		return false;
	memcpy(from, key, n);
	from[n] = '\0';
	place_free(keys);
	keys->from.data = from;
	keys->from.n = n + with_nul;
	return true;
}

bool
etcd_keys_begin(struct etcd_keys *keys)
{
	etcd_keys_drop(keys);
	keys->reading = member_set_new();
	return keys->reading &&
	       place_keep(keys, keys->prefix, strlen(keys->prefix), 0);
}

void
etcd_keys_take(struct etcd_keys *keys)
{
	member_set_free(keys->members);
	keys->members = keys->reading;
	keys->reading = NULL;
	keys->changed = false;
	place_free(keys);
}

bool
etcd_keys_changed(struct etcd_keys *keys)
{
	bool changed = keys->changed;

	keys->changed = false;
	return changed;
}

/* Returns the text of a key without the prefix, or NULL with err set.  The text
 * is "" for the prefix itself. */
static char *
keys_name(const struct etcd_keys *keys, struct etcd_bytes key, struct err *err)
{
	size_t n = strlen(keys->prefix);
	const char *at = key.data;
	char *text;

	if (key.n < n || memcmp(at, keys->prefix, n) != 0) {
		err_set(err, "etcd's answer has a key without the prefix '%s'",
		    keys->prefix);
		return NULL;
	}
	text = etcd_key_text((struct etcd_bytes){at + n, key.n - n});
	if (!text)
		err_oom(err);
	return text;
}

static bool
members_are_equal(const struct discovered *a, const struct discovered *b)
{
	return a && strcmp(a->address, b->address) == 0 &&
	       strcmp(a->options, b->options) == 0 &&
	       strcmp(a->note, b->note) == 0;
}

static bool
keys_put_member(
    struct etcd_keys *keys, const struct discovered *member, struct err *err)
{
	struct member_set *set = keys->reading ? keys->reading : keys->members;

	/* A registration that is repeated changes nothing. */
	if (members_are_equal(member_set_find(set, member->key), member))
		return true;
	if (!member_set_put(set, member))
		return err_oom(err);
	keys->changed = true;
	return member_set_count(set) <= ETCD_MEMBERS_MAX ||
	       err_set(err, "there are more than %d keys below '%s'",
	           ETCD_MEMBERS_MAX, keys->prefix);
}

static bool
keys_on_put(
    void *arg, struct etcd_bytes key, struct etcd_bytes value, struct err *err)
{
	struct etcd_keys *keys = arg;
	char *name = keys_name(keys, key, err);
	struct member_text m;
	bool ok = name != NULL;

	if (ok && *name) {
		member_text_read(value.data, value.n, &m);
		m.member.key = name;
		ok = keys_put_member(keys, &m.member, err);
	}
	free(name);
	if (ok && keys->reading && !place_keep(keys, key.data, key.n, 1))
		return err_oom(err);
	return ok;
}

static bool
keys_on_remove(void *arg, struct etcd_bytes key, struct err *err)
{
	struct etcd_keys *keys = arg;
	char *name = keys_name(keys, key, err);

	if (!name)
		return false;
	if (member_set_find(keys->members, name)) {
		member_set_remove(keys->members, name);
		keys->changed = true;
	}
	free(name);
	return true;
}

struct etcd_sink
etcd_keys_sink(struct etcd_keys *keys)
{
	return (struct etcd_sink){keys_on_put, keys_on_remove, keys};
}
