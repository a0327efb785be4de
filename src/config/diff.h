/* SPDX-License-Identifier: MIT
 * Compares two configurations for a reload.
 *
 * Sections are compared by name, and their keys by the text that the table of
 * keys prints for each, so a new key needs no code here.
 */
#ifndef CONFIG_DIFF_H
#define CONFIG_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "config/changes.h"
#include "config/keys.h"
#include "model/spec.h"

/* Adds the differences from old to new.  Values that take a restart are copied
 * from the old spec into the new one, so that it holds the values in force and
 * the next comparison reports them again.  The settings of pools are left out:
 * commands may have changed them since.  Returns false when memory is short. */
bool config_diff(
    const struct spec *old, struct spec *new, struct changes *changes);

/* Returns whether a reload can keep the value of a key that takes a restart:
 * its type must be known.  *ret_size is the size of its field, 0 for a
 * string.  */
bool config_diff_keeps(const struct key *key, size_t *ret_size);

#endif
