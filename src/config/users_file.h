/* SPDX-License-Identifier: MIT
 * The file of the users of the HTTP port (`users=`), with a line for each:
 *
 *   # name:hash[:level]
 *   alice:$y$j9T$...:admin
 *   bob:$2y$05$...
 *   carol:*:operator
 *
 * hash is one of crypt(3) that crypt_checksalt(3) does not call legacy:
 * yescrypt, bcrypt, SHA-512 and such, as mkpasswd(1), htpasswd -B and openssl
 * passwd -6 make them; `*` fits no password, for users whom a proxy in front
 * has authenticated.  level is user, operator (also without a level) or admin.
 * Blank lines and those that begin with # are ignored.
 *
 * The file is read at each use, so changes need no reload.  All functions block
 * on the disk; any thread.
 */
#ifndef CONFIG_USERS_FILE_H
#define CONFIG_USERS_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "model/spec.h"

#define USER_NAME_SIZE 64
#define USER_HASH_SIZE 384 /* CRYPT_OUTPUT_SIZE */

struct user {
	char name[USER_NAME_SIZE];
	char hash[USER_HASH_SIZE];
	enum admin_level level;
};

/* Checks every line.  Returns false with err set, which has file and line. */
bool users_check(const char *path, struct err *err) MUST_CHECK;

/* Finds the user.  Returns false, with err empty if there is no such user, and
 * otherwise set: a file with a wrong line has no users. */
bool users_find(const char *path, const char *name, struct user *ret_user,
    struct err *err) MUST_CHECK;

/* Checks the password of a user.  Returns false, with err empty for a wrong
 * name or password, and otherwise set.  Takes the time of a hash, a tenth of a
 * second or more, also for a user who is unknown or has no password, if another
 * one has. */
bool users_authenticate(const char *path, const char *name,
    const char *password, struct user *ret_user, struct err *err) MUST_CHECK;

#endif
