/* SPDX-License-Identifier: MIT
 * The directories whose changes may change what a TLS context or an address
 * list reads.
 */
#ifndef CONTROL_TLS_INTERESTS_H
#define CONTROL_TLS_INTERESTS_H

#include <openssl/types.h>

#include "base/interests.h"

struct acl_recipe;
struct tls_context;

/* Adds a watch to the inotify descriptor for each directory of the files of
 * ssl, see tls_context_each_file_of.  Runs on any thread, and blocks on the
 * disk.  Caller calls interests_fini. */
void tls_interests_find(int inotify, const struct tls_context *context,
    const SSL_CTX *ssl, struct interests *ret_interests);

/* Adds watches as tls_interests_find does, for the files of an address list. */
void tls_interests_find_files(int inotify, const struct acl_recipe *recipe,
    struct interests *ret_interests);

#endif
