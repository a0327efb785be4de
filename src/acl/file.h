/* SPDX-License-Identifier: MIT
 * Files of address lists.
 *
 * All functions add what is wrong with the file to errors, with the line, and
 * return false when memory is short.  Functions that read entries add them to a
 * content that is not sealed.  Any thread may call these functions.  All but
 * acl_file_parse block for the disk.
 */
#ifndef ACL_FILE_H
#define ACL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "acl/content.h"
#include "base/err.h"

/* The most errors of one file that are added one by one: a file of another
 * format has an error on each line. */
#define ACL_FILE_ERRORS_MAX 10u

/* Gets the text of the file, which the caller frees.  *ret_text is NULL if an
 * error was added. */
bool acl_file_get(const char *path, struct err_list *errors, char **ret_text,
    size_t *ret_len) MUST_CHECK;

/* Reads lines with one address or range each.  Blanks around it, empty lines,
 * and comments from `#` to the end of the line are skipped. */
bool acl_file_read_lines(const char *path, struct acl_content *content,
    struct err_list *errors) MUST_CHECK;

/* Reads text as acl_file_read_lines reads that of a file; path is the file's
 * name. */
bool acl_file_parse(const char *path, const char *text, size_t len,
    struct acl_content *content, struct err_list *errors) MUST_CHECK;

/* Reads the networks of the countries, as `DE,FR`, from a MaxMind database. */
bool acl_file_read_countries(const char *path, const char *countries,
    struct acl_content *content, struct err_list *errors) MUST_CHECK;

#endif
