/* SPDX-License-Identifier: MIT
 * Answers of etcd and Consul, and files of servers: the first letter of an
 * input says what it is,
 *
 *   r  an answer to a range request          w  the stream of a watch
 *   l  the answer to a login                 v  the value of a key
 *   c  the answer to a query of Consul       u  a URL
 *   f  a file of servers
 *
 * and the rest arrives in pieces, whose size the second letter says.  Whatever
 * arrives, keys are distinct and texts are printable, and the size of the
 * pieces changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "fuzz/fuzz.h"
#include "resolve/consul_text.h"
#include "resolve/etcd_keys.h"
#include "resolve/file_members.h"
#include "resolve/json_split.h"
#include "resolve/member_text.h"

#define OBJECT_MAX 512

/* What a stream has come to. */
struct outcome {
	struct etcd_keys keys;
	struct member_set *instances;
	size_t objects;
	bool ok;
};

static bool
take_object(
    struct outcome *o, char kind, const char *text, size_t n, struct err *err)
{
	const struct etcd_sink sink = etcd_keys_sink(&o->keys);
	struct etcd_page page;
	struct etcd_news news;
	char *token;

	o->objects++;
	switch (kind) {
	case 'r':
		return etcd_page_read(text, n, &sink, &page, err);
	case 'w':
		return etcd_news_read(text, n, &sink, &news, err);
	case 'c':
		return consul_instance_read(
		    text, n, n % 2 == 0, o->instances, err);
	default:
		token = etcd_login_read(text, n, err);
		ENSURE(!token || !strpbrk(token, "\r\n"));
		free(token);
		return token != NULL;
	}
}

struct stream {
	struct outcome *outcome;
	char kind;
};

static bool
on_object(void *arg, const char *text, size_t n, struct err *err)
{
	const struct stream *s = arg;
	bool ok;

	ENSURE(strlen(text) <= n && n <= OBJECT_MAX);
	ok = take_object(s->outcome, s->kind, text, n, err);
	ENSURE(ok || err->text[0]);
	return ok;
}

static void
check_text(const char *text)
{
	size_t n;

	while ((n = printable_length(text)) > 0)
		text += n;
	ENSURE(*text == '\0');
}

static void
check_members(const struct member_set *set)
{
	size_t n;
	struct discovered *members = member_set_list(set, &n);

	ENSURE(members && n == member_set_count(set));
	for (size_t i = 0; i < n; i++) {
		ENSURE(strcmp(member_set_find(set, members[i].key)->address,
		           members[i].address) == 0);
		check_text(members[i].key);
		check_text(members[i].address);
		check_text(members[i].options);
		check_text(members[i].note);
	}
	free(members);
}

static void
check_weights(struct member_set *set)
{
	size_t n;
	struct discovered *members;

	ENSURE(consul_weights_scale(set));
	members = member_set_list(set, &n);
	ENSURE(members);
	for (size_t i = 0; i < n; i++)
		ENSURE(atoi(members[i].options + strlen("weight=")) <=
		       CONSUL_WEIGHT_MAX);
	free(members);
}

static void
run_stream(
    struct outcome *o, char kind, const char *text, size_t n, size_t piece)
{
	struct stream stream = {o, kind};
	struct json_split split = {
	    .kind = kind == 'c' ? JSON_LIST : JSON_OBJECTS,
	    .object_max = OBJECT_MAX,
	    .on_object = on_object,
	    .arg = &stream};
	struct err err = {.text = ""};

	*o = (struct outcome){.instances = member_set_new(), .ok = true};
	ENSURE(o->instances && etcd_keys_init(&o->keys, "/a/"));
	if (kind == 'r')
		ENSURE(etcd_keys_begin(&o->keys));
	json_split_begin(&split);
	for (size_t i = 0; o->ok && i < n; i += piece)
		o->ok = json_split_feed(
		    &split, text + i, n - i < piece ? n - i : piece, &err);
	o->ok = o->ok && json_split_ended(&split, &err);
	ENSURE(o->ok || err.text[0]);
	json_split_fini(&split);
	if (kind == 'r')
		etcd_keys_take(&o->keys);
}

static void
end_outcome(struct outcome *o)
{
	etcd_keys_fini(&o->keys);
	member_set_free(o->instances);
}

static void
check_stream(char kind, const char *text, size_t n, size_t piece)
{
	struct outcome whole, pieces;

	run_stream(&whole, kind, text, n, n + 1);
	run_stream(&pieces, kind, text, n, piece);
	ENSURE(whole.ok == pieces.ok);
	ENSURE(whole.objects == pieces.objects);
	ENSURE(member_set_count(whole.keys.members) ==
	       member_set_count(pieces.keys.members));
	ENSURE(consul_fingerprint(whole.instances) ==
	       consul_fingerprint(pieces.instances));
	check_members(whole.keys.members);
	check_members(whole.instances);
	check_weights(whole.instances);
	end_outcome(&whole);
	end_outcome(&pieces);
}

static void
check_value(const char *text, size_t n)
{
	struct member_text m;

	member_text_read(text, n, &m);
	check_text(m.member.address);
	check_text(m.member.options);
	check_text(m.member.note);
}

static void
check_file_member(const struct discovered *m)
{
	ENSURE(m->address[0]);
	ENSURE(strcmp(m->key, m->address) == 0);
	ENSURE(!strchr(m->options, '\n'));
	check_text(m->note);
	if (m->wrong) {
		ENSURE(m->wrong[0]);
		check_text(m->key);
		check_text(m->wrong);
	} else {
		ENSURE(!strpbrk(m->address, " \t\r\n"));
	}
}

/* Takes ownership of the text. */
static void
check_members_file(char *text, size_t n)
{
	struct file_members m;
	struct err err = {.text = ""};

	if (!file_members_parse("f", text, n, &m, &err)) {
		ENSURE(strncmp(err.text, "f:", 2) == 0);
		return;
	}
	for (size_t i = 0; i < m.n; i++) {
		check_file_member(&m.all[i]);
		for (size_t j = 0; j < i; j++)
			ENSURE(strcmp(m.all[i].key, m.all[j].key) != 0);
	}
	file_members_fini(&m);
}

static void
check_url(const char *url)
{
	struct discovery_target target;
	struct err err = {.text = ""};
	char *query;

	if (!discovery_target_parse(url, &target, &err)) {
		ENSURE(err.text[0]);
		return;
	}
	ENSURE(target.endpoints_n > 0 && target.path[0] == '/');
	(void)etcd_target_prefix(&target, &err);
	query = consul_query(&target, &err);
	ENSURE(!query || strpbrk(query, " \r\n#") == NULL);
	free(query);
	discovery_target_fini(&target);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char kind = size > 2 ? (char)data[0] : '\0', *text;
	size_t n = size > 2 ? size - 2 : 0;

	if (!kind || !strchr("rwlcvuf", kind))
		return -1; /* not worth keeping */
	text = fuzz_string(data + 2, n);
	if (kind == 'f') {
		check_members_file(text, n);
		return 0;
	}
	if (kind == 'v')
		check_value(text, n);
	else if (kind == 'u')
		check_url(text);
	else
		check_stream(kind, text, n, data[1] % 16 + 1);
	free(text);
	return 0;
}
