/* SPDX-License-Identifier: MIT
 * See save_config.h.
 */
#include "ctl/save_config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/ini_edit.h"

struct saving {
	const char *where;
	bool dry_run, again;
	struct list files; /* that were read */
	size_t saved, left;
	size_t next; /* left now, and can be saved after a reload */
	struct err err;
};

static const char *
member(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* Returns the answer of `show drift json`, or NULL with err set. */
static json_t *
ask_drift(struct saving *s)
{
	struct ctl_answer answer = {.text = {NULL, 0, 0}};
	json_t *drift = NULL;

	if (!ctl_ask_one(s->where, "show drift json", ctl_timeout_ms(), &answer,
	        &s->err))
		return NULL;
	if (answer.is_error)
		err_set(&s->err, "%.*s", (int)strcspn(answer.text.data, "\n"),
		    answer.text.data);
	else
		drift = json_loadb(answer.text.data, answer.text.n, 0, NULL);
	if (!answer.is_error && !drift)
		err_set(&s->err, "lfproxy's answer cannot be read");
	ctl_text_fini(&answer.text);
	return drift;
}

static struct ini_file *
file_of(struct saving *s, const char *path)
{
	struct ini_file *file;

	list_for_each (node, &s->files) {
		file = container_of(node, struct ini_file, node);
		if (strcmp(file->path, path) == 0)
			return file;
	}
	file = ini_file_read(path, &s->err);
	if (file)
		list_append(&s->files, &file->node);
	return file;
}

/* -- one change -- */

/* Finds the head of [global], whose changes have no place: looks for it in all
 * files, or adds it to the first one. */
static struct ini_file *
find_global_head(struct saving *s, const json_t *drift, const char *section,
    size_t *ret_head)
{
	const json_t *files = json_object_get(drift, "files");
	struct ini_file *file, *first = NULL;

	for (size_t i = 0; i < json_array_size(files); i++) {
		file = file_of(s, json_string_value(json_array_get(files, i)));
		if (!file)
			return NULL;
		*ret_head = ini_find_section(file, section);
		if (*ret_head > 0)
			return file;
		first = first ? first : file;
	}
	*ret_head = first ? ini_add_section(first, section) : 0;
	if (*ret_head == 0)
		err_oom(&s->err);
	return *ret_head > 0 ? first : NULL;
}

/* Finds the head of the section that the change belongs to. */
static struct ini_file *
find_head(struct saving *s, const json_t *drift, const json_t *change,
    size_t *ret_head)
{
	const char *section = member(change, "section"),
	           *path = member(change, "path");
	struct ini_file *file;

	if (!path)
		return find_global_head(s, drift, section, ret_head);
	file = file_of(s, path);
	*ret_head = file ? ini_find_section(file, section) : 0;
	if (file && *ret_head == 0)
		err_set(
		    &s->err, "%s: [%s] is not there any more", path, section);
	return *ret_head > 0 ? file : NULL;
}

static bool
save_server(struct saving *s, const json_t *change)
{
	const char *path = member(change, "path"), *key = member(change, "key"),
	           *text = member(change, "text"),
	           *server = member(change, "server");
	size_t line =
	    (size_t)json_integer_value(json_object_get(change, "line"));
	struct ini_file *file = path ? file_of(s, path) : NULL;

	if (!file)
		return path || err_set(&s->err, "a server is in no file");
	return strcmp(key, "address") == 0
	           ? ini_set_address(file, line, server, text, &s->err)
	           : ini_set_option(file, line, server, key, text, &s->err);
}

static bool
save_change(struct saving *s, const json_t *drift, const json_t *change)
{
	const char *key = member(change, "key"), *text = member(change, "text"),
	           *server = member(change, "server");
	bool whole = strcmp(key, "server") == 0;
	struct ini_file *file;
	struct cidr range;
	size_t head;

	if (server && !whole)
		return save_server(s, change);
	file = find_head(s, drift, change, &head);
	if (!file)
		return false;
	if (strcmp(key, "entry") == 0 && !text)
		return cidr_parse(
		           member(change, "configured"), &range, &s->err) &&
		       ini_remove_range(file, head, key, &range, &s->err);
	if (whole && !text)
		return ini_remove(file, head, key, server, &s->err);
	return whole || strcmp(key, "entry") == 0
	           ? ini_add_key(file, head, key, text, &s->err)
	           : ini_set_key(file, head, key, text, &s->err);
}

/* Returns whether the change is one of a server that was added, which has no
 * line yet. */
static bool
is_of_added(const json_t *all, const json_t *change)
{
	const char *server = member(change, "server"), *other;
	const json_t *c;
	size_t i;

	if (!server || strcmp(member(change, "key"), "server") == 0)
		return false;
	json_array_foreach((json_t *)(uintptr_t)all, i, c)
	{
		other = member(c, "server");
		if (other && strcmp(other, server) == 0 && member(c, "key") &&
		    strcmp(member(c, "key"), "server") == 0 &&
		    strcmp(member(c, "section"), member(change, "section")) ==
		        0)
			return true;
	}
	return false;
}

static bool
save_changes(struct saving *s, json_t *drift)
{
	json_t *all = json_object_get(drift, "running"), *change;
	size_t i;

	json_array_foreach(all, i, change)
	{
		const char *what = member(change, "what"),
		           *was = member(change, "configured"),
		           *is = member(change, "value");

		if (!what || !was || !is || !member(change, "section"))
			return err_set(
			    &s->err, "lfproxy's answer cannot be read");
		if (!member(change, "key")) {
			const char *why = member(change, "unsaved");

			if (!s->again)
				printf("%s: %s -> %s: not saved, %s\n", what,
				    was, is,
				    why ? why : "the file cannot say this");
			s->left++;
			continue;
		}
		if (is_of_added(all, change)) {
			s->next++;
			if (!s->dry_run)
				continue;
		} else if (!save_change(s, drift, change)) {
			return false;
		}
		printf("%s: %s -> %s\n", what, was, is);
		s->saved++;
	}
	return true;
}

/* -- files -- */

/* Writes the files that were changed.  Returns false with err set at the first
 * one that cannot be written. */
static bool
write_files(struct saving *s)
{
	list_for_each (node, &s->files) {
		struct ini_file *file =
		    container_of(node, struct ini_file, node);

		if (!file->changed)
			continue;
		if (!ini_file_write(file, false, &s->err))
			return false;
		file->written = true;
	}
	return true;
}

/* Puts the files that were written back, each one if it can.  Returns true if
 * no file has the edits any more; otherwise prints the state of each file. */
static bool
put_files_back(struct saving *s)
{
	struct err err;
	bool all = true;

	list_for_each (node, &s->files) {
		struct ini_file *file =
		    container_of(node, struct ini_file, node);

		if (!file->written)
			continue;
		file->written = !ini_file_write(file, true, &err);
		if (file->written)
			fprintf(stderr,
			    "lfproxyctl: %s was changed and cannot be put "
			    "back: %s\n",
			    file->path, err.text);
		all &= !file->written;
	}
	list_for_each (node, &s->files) {
		struct ini_file *file =
		    container_of(node, struct ini_file, node);

		if (!all && file->changed && !file->written)
			fprintf(stderr, "lfproxyctl: %s is as it was before\n",
			    file->path);
	}
	return all;
}

/* Makes lfproxy read the files.  Returns false with err set if they are not
 * valid. */
static bool
check_files(struct saving *s)
{
	json_t *drift = ask_drift(s), *errors;
	bool ok;

	if (!drift)
		return false;
	errors = json_object_get(drift, "errors");
	ok = json_array_size(errors) == 0;
	if (!ok)
		err_set(&s->err,
		    "lfproxy does not accept the changed files: %s",
		    json_string_value(json_array_get(errors, 0)));
	json_decref(drift);
	return ok;
}

/* Returns whether the files are those that were loaded, since lines are found
 * by their numbers.  Sets err otherwise. */
static bool
files_are_loaded(struct saving *s, const json_t *drift)
{
	const json_t *errors = json_object_get(drift, "errors");

	if (json_array_size(errors) > 0)
		return err_set(&s->err, "%s",
		    json_string_value(json_array_get(errors, 0)));
	if (json_array_size(json_object_get(drift, "file")) > 0)
		return err_set(&s->err,
		    "the files have changed since they were loaded, see show "
		    "drift; reload first");
	return true;
}

/* Makes lfproxy load what was written: from then on the values are those of the
 * files, and no longer an operator's. */
static bool
load_files(struct saving *s)
{
	struct ctl_answer answer = {.text = {NULL, 0, 0}};
	bool ok =
	    ctl_ask_one(s->where, "reload", ctl_timeout_ms(), &answer, &s->err);

	if (ok && answer.is_error) {
		char *rest = answer.text.data, *first = strsep(&rest, "\n");

		ok = err_set(
		    &s->err, "%s %s", first, rest ? strsep(&rest, "\n") : "");
	}
	ctl_text_fini(&answer.text);
	return ok;
}

/* Saves what can be saved at once.  Returns CTL_OK, or after a message
 * another status. */
static enum ctl_exit
save_once(struct saving *s)
{
	json_t *drift = ask_drift(s);
	size_t saved = s->saved;
	bool ok;

	if (!drift) {
		fprintf(stderr, "lfproxyctl: %s\n", s->err.text);
		return CTL_NO_ANSWER;
	}
	s->left = s->next = 0;
	ok = files_are_loaded(s, drift) && save_changes(s, drift) &&
	     (s->dry_run || (write_files(s) && check_files(s)));
	json_decref(drift);
	if (!ok) {
		fprintf(stderr, "lfproxyctl: %s: %s\n",
		    put_files_back(s)
		        ? "nothing was saved"
		        : "the changes were saved in a part of the files",
		    s->err.text);
	} else if (!s->dry_run && s->saved > saved && !load_files(s)) {
		ok = false;
		fprintf(stderr,
		    "lfproxyctl: saved, but lfproxy has not loaded the files; "
		    "reload later: %s\n",
		    s->err.text);
	}
	list_for_each_safe (node, &s->files)
		ini_file_free(container_of(node, struct ini_file, node));
	list_init(&s->files);
	return ok ? CTL_OK : CTL_ANSWER_IS_ERROR;
}

enum ctl_exit
ctl_save_config(const char *where, bool dry_run)
{
	struct saving s = {.where = where, .dry_run = dry_run};
	enum ctl_exit status;

	list_init(&s.files);
	status = save_once(&s);
	/* Save changes of a new server, which has a line now. */
	s.again = s.next > 0 && !dry_run;
	if (status == CTL_OK && s.again)
		status = save_once(&s);
	if (status == CTL_OK)
		printf("%zu change%s %s, %zu left.\n", s.saved, text_s(s.saved),
		    dry_run ? "would be saved" : "saved", s.left);
	return status;
}
