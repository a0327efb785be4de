/* SPDX-License-Identifier: MIT
 * See tls_interests.h.
 */
#include "control/tls_interests.h"

#include "acl/recipe.h"
#include "tls/context.h"

static void
add_path_of_context(void *arg, const char *path, bool is_directory)
{
	if (is_directory)
		interests_add_directory(arg, path);
	else
		interests_add_file(arg, path);
}

void
tls_interests_find(int inotify, const struct tls_context *context,
    const SSL_CTX *ssl, struct interests *ret_interests)
{
	struct interests_search *search =
	    interests_begin(inotify, ret_interests);

	if (search)
		tls_context_each_file_of(
		    context, ssl, add_path_of_context, search);
	interests_end(search);
}

void
tls_interests_find_files(int inotify, const struct acl_recipe *recipe,
    struct interests *ret_interests)
{
	struct interests_search *search =
	    interests_begin(inotify, ret_interests);
	const char *path;

	for (size_t i = 0; search && (path = acl_recipe_file(recipe, i)); i++)
		interests_add_file(search, path);
	interests_end(search);
}
