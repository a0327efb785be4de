/* SPDX-License-Identifier: MIT
 * The recipe of an address list: entries of the configuration, and files.
 *
 * A recipe does not change once it is made, so a thread may read its files
 * while the configuration that it came from is freed.
 */
#ifndef ACL_RECIPE_H
#define ACL_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "acl/content.h"
#include "base/err.h"
#include "net/cidr.h"

struct acl_recipe;

/* Returns an empty recipe with one reference, or NULL when memory is short.
 * Runs on the control thread, as do acl_recipe_ref and acl_recipe_unref. */
struct acl_recipe *acl_recipe_new(void);
/* Adds a reference.  Returns the recipe. */
struct acl_recipe *acl_recipe_ref(struct acl_recipe *recipe);
/* Frees the recipe with its last reference.  NULL is allowed. */
void acl_recipe_unref(struct acl_recipe *recipe);

/* Adds an entry, with its place in the configuration.  Returns false when
 * memory is short. */
bool acl_recipe_add_entry(struct acl_recipe *recipe, const struct cidr *range,
    const char *file, unsigned line) MUST_CHECK;

/* Adds a file of entries.  countries: codes as `DE,FR`, if the file is a
 * MaxMind database and the networks of these countries are the entries;
 * otherwise NULL.  Copies both.  Returns false when memory is short. */
bool acl_recipe_add_file(struct acl_recipe *recipe, const char *path,
    const char *countries) MUST_CHECK;

/* Returns the path of the file with that number, or NULL at the end. */
const char *acl_recipe_file(const struct acl_recipe *recipe, size_t n);

/* Reads the files, and makes a sealed content of them and of the entries.
 * Returns NULL if it has added an error, with the file and the line that is
 * wrong.  Any thread.  Blocks for the disk. */
struct acl_content *acl_recipe_read(
    const struct acl_recipe *recipe, struct err_list *errors) MUST_CHECK;

/* Adds a warning for each file with entries that another entry of the list
 * covers, with the line of the first of them.  content: what acl_recipe_read
 * has returned.  name: that of the list.  Entries of the configuration that
 * others of the configuration cover are left out, see build_list_warnings. */
void acl_recipe_warn(const struct acl_recipe *recipe,
    const struct acl_content *content, const char *name,
    struct err_list *warnings);

#endif
