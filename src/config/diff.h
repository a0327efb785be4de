/* SPDX-License-Identifier: MIT
 * Compares two configurations for a reload.
 *
 * Sections are compared by name, and their keys by the text that the table of
 * keys prints for each, so a new key needs no code here.
 */
#ifndef CONFIG_DIFF_H
#define CONFIG_DIFF_H

#include <stdbool.h>

#include "config/changes.h"
#include "config/keys.h"
#include "model/spec.h"

/* Adds the differences from old to new.  Values that take a restart are copied
 * from the old spec into the new one, so that it holds the values in force and
 * the next comparison reports them again.  The settings of pools are left out:
 * commands may have changed them since.  Returns false when memory is short. */
bool config_diff(const struct spec *old, struct spec *new,
    struct changes *changes) MUST_CHECK;

/* Does the same for the file of which old was made: with the settings of pools,
 * and without the servers that commands have added to old or deleted from it.
 */
bool config_diff_files(const struct spec *old, struct spec *new,
    struct changes *changes) MUST_CHECK;

/* Returns whether config_diff can copy the value of a key that takes a restart,
 * which depends on its type. */
bool config_diff_keeps(const struct key *key) MUST_CHECK;

#endif
