/* SPDX-License-Identifier: MIT
 * See users_file.h.
 */
#include "config/users_file.h"

#include <crypt.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"

/* A user's line, and more. */
#define LINE_SIZE 1024

struct users_reading {
	const char *path;
	unsigned line;
	struct err *err;
};

static bool
fail_user_line(const struct users_reading *r, const char *what)
{
	return err_set(r->err, "%s:%u: %s", r->path, r->line, what);
}

static bool
is_user_name(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n >= USER_NAME_SIZE)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-_.@", *name))
			return false;
	return true;
}

static bool
is_strong_hash(const char *hash)
{
	return strcmp(hash, "*") == 0 || crypt_checksalt(hash) == CRYPT_SALT_OK;
}

static bool
read_user_level(const char *text, enum admin_level *ret_level)
{
	static const char *const names[] = {[LEVEL_USER] = "user",
	    [LEVEL_OPERATOR] = "operator",
	    [LEVEL_ADMIN] = "admin"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			*ret_level = (enum admin_level)i;
			return true;
		}
	return false;
}

static bool
read_user(const struct users_reading *r, char *line, struct user *ret_user)
{
	char *rest = line, *name = strsep(&rest, ":"),
	     *hash = strsep(&rest, ":"), *level = strsep(&rest, ":");

	*ret_user = (struct user){.level = LEVEL_OPERATOR};
	if (!hash || rest)
		return fail_user_line(
		    r, "a line is NAME:HASH or NAME:HASH:LEVEL");
	if (!is_user_name(name))
		return fail_user_line(
		    r, "the name has 1 to 63 letters, digits and -_.@");
	if (!is_strong_hash(hash) || strlen(hash) >= USER_HASH_SIZE)
		return fail_user_line(r,
		    "this is not a hash of crypt(3), or a weak hash such "
		    "as MD5; make a hash with mkpasswd or htpasswd -nB, or "
		    "write * for no password");
	if (level && !read_user_level(level, &ret_user->level))
		return fail_user_line(
		    r, "the level is user, operator or admin");
	strcpy(ret_user->name, name);
	strcpy(ret_user->hash, hash);
	return true;
}

/* Reads the next user.  Returns 1; 0 after the last one; or -1 with err set. */
static int
next_user(struct users_reading *r, FILE *in, struct user *ret_user)
{
	char line[LINE_SIZE];

	while (fgets(line, sizeof(line), in)) {
		size_t n = strcspn(line, "\r\n");

		r->line++;
		if (!line[n] && !feof(in)) {
			fail_user_line(r, "the line is too long");
			return -1;
		}
		line[n] = '\0';
		if (line[0] == '#' || !line[strspn(line, " \t")])
			continue;
		return read_user(r, line, ret_user) ? 1 : -1;
	}
	if (!ferror(in))
		return 0;
	err_set(r->err, "%s: cannot be read: %s", r->path, strerror(errno));
	return -1;
}

static FILE *
open_users(const char *path, struct err *err)
{
	FILE *in = fopen(fault_hang(path), "re");
	struct stat st;

	if (!in) {
		err_set(err, "%s: cannot be opened: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fileno(in), &st) < 0 || !S_ISREG(st.st_mode)) {
		err_set(err, "%s: this is not a regular file", path);
		fclose(in);
		return NULL;
	}
	if (st.st_mode & S_IROTH) {
		err_set(err,
		    "%s: every user of this host can read the hashes; chmod "
		    "o-r it",
		    path);
		fclose(in);
		return NULL;
	}
	return in;
}

static bool
has_password(const struct user *user)
{
	return user->hash[0] && strcmp(user->hash, "*") != 0;
}

/* Finds the user of the name, and another one who has a password, if any.
 * Reads all lines, so that a wrong one is reported. */
static bool
search_users(const char *path, const char *name, struct user *ret_found,
    struct user *ret_other, struct err *err)
{
	struct users_reading r = {.path = path, .err = err};
	struct user user;
	FILE *in;
	int rc;

	*ret_found = *ret_other = (struct user){.level = LEVEL_USER};
	in = open_users(path, err);
	if (!in)
		return false;
	while ((rc = next_user(&r, in, &user)) > 0) {
		bool same = strcmp(user.name, name) == 0;

		if (same && ret_found->name[0]) {
			fail_user_line(
			    &r, "there is a user of that name above");
			rc = -1;
			break;
		}
		if (same)
			*ret_found = user;
		else if (has_password(&user))
			*ret_other = user;
	}
	fclose(in);
	return rc == 0;
}

bool
users_check(const char *path, struct err *err)
{
	struct users_reading r = {.path = path, .err = err};
	struct user user, found, other;
	FILE *in = open_users(path, err);
	int rc = 1;

	if (!in)
		return false;
	/* search_users reports a second user of the same name. */
	while (rc > 0 && (rc = next_user(&r, in, &user)) > 0)
		if (!search_users(path, user.name, &found, &other, err))
			rc = -1;
	fclose(in);
	return rc == 0;
}

bool
users_find(
    const char *path, const char *name, struct user *ret_user, struct err *err)
{
	struct user other;

	err_set(err, "%s", "");
	return search_users(path, name, ret_user, &other, err) &&
	       ret_user->name[0];
}

static bool
fits_password(const char *hash, const char *password)
{
	struct crypt_data data = {.initialized = 0};
	const char *made = crypt_r(password, hash, &data);
	size_t n = strlen(hash);
	unsigned char differs = 0;
	bool ok;

	ok = made && made[0] != '*' && strlen(made) == n;
	for (size_t i = 0; ok && i < n; i++)
		differs |= (unsigned char)(made[i] ^ hash[i]);
	explicit_bzero(&data, sizeof(data));
	return ok && differs == 0;
}

bool
users_authenticate(const char *path, const char *name, const char *password,
    struct user *ret_user, struct err *err)
{
	struct user other;
	const char *hash;
	bool fits;

	err_set(err, "%s", "");
	if (!search_users(path, name, ret_user, &other, err))
		return false;
	/* The time must not tell whose names are in the file. */
	hash = has_password(ret_user) ? ret_user->hash : other.hash;
	fits = *hash && fits_password(hash, password);
	return fits && hash == ret_user->hash;
}
