/* SPDX-License-Identifier: MIT
 * The directories whose changes may change what a TLS context or an address
 * list reads.
 *
 * A file can be replaced by a rename, so its directory is watched; and where it
 * is a symbolic link, or a directory on the way to it is, also the directory of
 * the link's target: live/www/cert.pem -> ../../archive/www/cert3.pem, or
 * ..data -> ..2026_01_31.
 */
#ifndef CONTROL_TLS_INTERESTS_H
#define CONTROL_TLS_INTERESTS_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct acl_recipe;
struct tls_context;

/* A name in a directory; NULL: every name. */
struct tls_interest {
	int wd; /* the directory's watch, as from inotify_add_watch */
	char *name;
};

struct tls_interests {
	struct tls_interest *all; /* sorted */
	size_t n, room;
	int error;          /* errno of the first watch that failed; 0: none */
	char *error_path;   /* its directory */
	bool out_of_memory; /* some are missing */
};

/* Adds a watch to the inotify descriptor for each directory of the files of
 * ssl, see tls_context_each_file_of.  Any thread; blocks for the directories.
 * Caller calls tls_interests_fini. */
void tls_interests_find(int inotify, const struct tls_context *context,
    const SSL_CTX *ssl, struct tls_interests *ret_interests);

/* The same for the files of an address list. */
void tls_interests_find_files(int inotify, const struct acl_recipe *recipe,
    struct tls_interests *ret_interests);

/* Frees the names; the watches stay. */
void tls_interests_fini(struct tls_interests *interests);

/* Returns whether a change of the name in the watched directory is of interest.
 * name NULL: a change of the directory itself. */
bool tls_interests_have(
    const struct tls_interests *interests, int wd, const char *name);

/* Returns whether both are the same. */
bool tls_interests_equal(
    const struct tls_interests *a, const struct tls_interests *b);

#endif
