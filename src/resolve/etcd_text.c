/* SPDX-License-Identifier: MIT
 * See etcd_text.h.
 */
#include "resolve/etcd_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/escape.h"
#include "base/printable.h"
#include "base/text_out.h"

/* -- Requests -- */

static bool
write_base64(FILE *out, struct etcd_bytes bytes)
{
	char *text = malloc(BASE64_SIZE(bytes.n));

	if (!text)
		return false;
	base64_encode(bytes.data, bytes.n, text);
	fputs(text, out);
	free(text);
	return true;
}

/* Writes the end of the range of all keys with the prefix: the prefix with its
 * last byte incremented.  Bytes 0xff at the end are left out before. */
static bool
write_prefix_end(FILE *out, const char *prefix)
{
	size_t n = strlen(prefix);
	char *end = strdup(prefix);
	bool ok;

	if (!end)
		return false;
	while (n > 0 && (unsigned char)end[n - 1] == 0xff)
		n--;
	/* Without any byte left, "\0" means: to the end. */
	if (n > 0)
		end[n - 1]++;
	else
		n = 1;
	ok = write_base64(out, (struct etcd_bytes){end, n});
	free(end);
	return ok;
}

static bool
write_keys(FILE *out, const char *prefix, struct etcd_bytes first)
{
	fputs("\"key\":\"", out);
	if (!write_base64(out, first))
		return false;
	fputs("\",\"range_end\":\"", out);
	if (!write_prefix_end(out, prefix))
		return false;
	fputc('"', out);
	return true;
}

/* Ends a body.  Returns its text, or NULL when memory was short. */
static char *
body_close(struct text_out *out, bool ok)
{
	ok = text_out_close(out) && ok;
	if (ok)
		return out->text;
	free(out->text);
	return NULL;
}

char *
etcd_range_body(const char *prefix, struct etcd_bytes first, int64_t revision,
    unsigned limit)
{
	struct text_out out;
	bool ok;

	if (!text_out_open(&out))
		return NULL;
	fputc('{', out.stream);
	ok = write_keys(out.stream, prefix, first);
	if (revision > 0)
		fprintf(out.stream, ",\"revision\":\"%" PRId64 "\"", revision);
	if (limit > 0)
		fprintf(out.stream, ",\"limit\":\"%u\"", limit);
	else
		fputs(",\"count_only\":true", out.stream);
	fputc('}', out.stream);
	return body_close(&out, ok);
}

char *
etcd_watch_body(const char *prefix, int64_t revision)
{
	struct text_out out;
	bool ok;

	if (!text_out_open(&out))
		return NULL;
	fputs("{\"create_request\":{", out.stream);
	ok = write_keys(
	    out.stream, prefix, (struct etcd_bytes){prefix, strlen(prefix)});
	fprintf(out.stream,
	    ",\"start_revision\":\"%" PRId64 "\",\"progress_notify\":true}}",
	    revision);
	return body_close(&out, ok);
}

char *
etcd_login_body(const char *login)
{
	const char *colon = strchrnul(login, ':');
	char *name = strndup(login, (size_t)(colon - login));
	struct text_out out;

	if (!name || !text_out_open(&out)) {
		free(name);
		return NULL;
	}
	fputs("{\"name\":", out.stream);
	escape_json_put(name, out.stream);
	fputs(",\"password\":", out.stream);
	escape_json_put(*colon ? colon + 1 : colon, out.stream);
	fputc('}', out.stream);
	free(name);
	return body_close(&out, true);
}

/* -- Answers -- */

/* Parses an answer.  Returns NULL with err set when it is not an object. */
static json_t *
answer_load(const char *text, size_t n, struct err *err)
{
	json_error_t error;
	json_t *root = json_loadb(text, n, 0, &error);
	char shown[80];

	if (root && json_is_object(root))
		return root;
	printable_copy(shown, sizeof(shown), text, '?');
	err_set(err, "the answer is not JSON as etcd writes it: %s, at '%s'",
	    root ? "no object" : error.text, shown);
	json_decref(root);
	return NULL;
}

/* Returns a number, which may be a string; 0 if there is none. */
static int64_t
etcd_number_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (json_is_string(value))
		return strtoll(json_string_value(value), NULL, 10);
	return json_is_integer(value) ? json_integer_value(value) : 0;
}

/* Decodes the member of that name; a missing one is empty.  The caller frees
 * the data with free(3). */
static bool
bytes_of(const json_t *object, const char *name, struct etcd_bytes *ret_bytes,
    struct err *err)
{
	const json_t *value = json_object_get(object, name);
	size_t len = json_string_length(value), n;
	void *data;

	if (value && !json_is_string(value))
		return err_set(
		    err, "%s is not a string in etcd's answer", name);
	data = malloc(BASE64_BYTES(len) + 1);
	if (!data)
		return err_oom(err);
	if (!base64_decode(
	        value ? json_string_value(value) : "", len, data, &n)) {
		free(data);
		return err_set(err, "%s is not base64 in etcd's answer", name);
	}
	*ret_bytes = (struct etcd_bytes){data, n};
	return true;
}

static void
bytes_free(struct etcd_bytes bytes)
{
	free((void *)(uintptr_t)bytes.data);
}

static bool
key_value_take(const json_t *kv, bool removed, const struct etcd_sink *sink,
    struct err *err)
{
	struct etcd_bytes key, value;
	bool ok;

	if (!json_is_object(kv) || !json_object_get(kv, "key"))
		return err_set(err, "a key is missing in etcd's answer");
	if (!bytes_of(kv, "key", &key, err))
		return false;
	if (removed) {
		ok = sink->remove(sink->arg, key, err);
	} else if ((ok = bytes_of(kv, "value", &value, err))) {
		ok = sink->put(sink->arg, key, value, err);
		bytes_free(value);
	}
	bytes_free(key);
	return ok;
}

/* Returns whether the answer is an error of the gateway, with err set to its
 * message. */
static bool
etcd_reports_error(const json_t *root, struct err *err)
{
	const json_t *error = json_object_get(root, "error");
	const json_t *message = json_object_get(root, "message");
	char text[200];

	if (!error)
		return false;
	if (json_is_object(error))
		message = json_object_get(error, "message");
	else if (!json_is_string(message))
		message = error;
	printable_copy(text, sizeof(text),
	    json_is_string(message) ? json_string_value(message) : "no reason",
	    '?');
	err_set(err, "etcd reports: %s", text);
	return true;
}

static bool
page_take(const json_t *root, const struct etcd_sink *sink,
    struct etcd_page *page, struct err *err)
{
	const json_t *kvs = json_object_get(root, "kvs"), *kv;
	size_t i;

	page->revision =
	    etcd_number_of(json_object_get(root, "header"), "revision");
	page->more = json_is_true(json_object_get(root, "more"));
	page->n = json_array_size(kvs);
	if (etcd_reports_error(root, err))
		return false;
	if (page->revision <= 0)
		return err_set(err, "there is no revision in etcd's answer");
	if (kvs && !json_is_array(kvs))
		return err_set(err, "kvs is not a list in etcd's answer");
	json_array_foreach(
	    kvs, i, kv) if (!key_value_take(kv, false, sink, err)) return false;
	return true;
}

bool
etcd_page_read(const char *text, size_t n, const struct etcd_sink *sink,
    struct etcd_page *ret_page, struct err *err)
{
	json_t *root = answer_load(text, n, err);
	struct etcd_page page;
	bool ok = root && page_take(root, sink, &page, err);

	json_decref(root);
	if (ok)
		*ret_page = page;
	return ok;
}

static bool
changes_take(const json_t *result, const struct etcd_sink *sink,
    struct etcd_news *news, struct err *err)
{
	const json_t *events = json_object_get(result, "events"), *event;
	size_t i;

	if (events && !json_is_array(events))
		return err_set(err, "events is not a list in etcd's answer");
	json_array_foreach(events, i, event)
	{
		const json_t *type = json_object_get(event, "type");
		bool removed = json_is_string(type) &&
		               strcmp(json_string_value(type), "DELETE") == 0;

		if (!key_value_take(
		        json_object_get(event, "kv"), removed, sink, err))
			return false;
		news->changes++;
	}
	return true;
}

static bool
news_take(const json_t *root, const struct etcd_sink *sink,
    struct etcd_news *news, struct err *err)
{
	const json_t *result = json_object_get(root, "result");
	const json_t *reason = json_object_get(result, "cancel_reason");
	char text[200];

	if (etcd_reports_error(root, err))
		return false;
	if (!json_is_object(result))
		return err_set(err, "there is no result in etcd's answer");
	*news = (struct etcd_news){
	    .created = json_is_true(json_object_get(result, "created")),
	    .ended = json_is_true(json_object_get(result, "canceled")),
	    .compact_revision = etcd_number_of(result, "compact_revision")};
	if (!news->ended)
		return changes_take(result, sink, news, err);
	if (news->compact_revision > 0)
		return true;
	printable_copy(text, sizeof(text),
	    json_is_string(reason) ? json_string_value(reason) : "no reason",
	    '?');
	return err_set(err, "etcd ended the watch: %s", text);
}

bool
etcd_news_read(const char *text, size_t n, const struct etcd_sink *sink,
    struct etcd_news *ret_news, struct err *err)
{
	json_t *root = answer_load(text, n, err);
	struct etcd_news news;
	bool ok = root && news_take(root, sink, &news, err);

	json_decref(root);
	if (ok)
		*ret_news = news;
	return ok;
}

char *
etcd_login_read(const char *text, size_t n, struct err *err)
{
	json_t *root = answer_load(text, n, err);
	const char *token = json_string_value(json_object_get(root, "token"));
	char *copy = NULL;

	if (root && !token)
		err_set(err, "there is no token in etcd's answer to the login");
	else if (token && strpbrk(token, "\r\n"))
		err_set(err, "the token of etcd has a line end");
	else if (token && !(copy = strdup(token)))
		err_oom(err);
	json_decref(root);
	return copy;
}

char *
etcd_key_text(struct etcd_bytes key)
{
	static const char digits[] = "0123456789ABCDEF";
	const unsigned char *in = key.data;
	char *text = malloc(3 * key.n + 1), *at = text;

	for (size_t i = 0; text && i < key.n; i++) {
		if (in[i] > ' ' && in[i] < 0x7f && in[i] != '%') {
			*at++ = (char)in[i];
			continue;
		}
		*at++ = '%';
		*at++ = digits[in[i] >> 4];
		*at++ = digits[in[i] & 15];
	}
	if (text)
		*at = '\0';
	return text;
}
