/* SPDX-License-Identifier: MIT
 * Certificates, authorities and CRLs that commands have set, in lines for the
 * next process (handover/later.h): the content in pieces, then the section and
 * the file that it replaces.
 *
 *   later tls<TAB>pem=TEXT, with | for each end of a line
 *   later tls<TAB>section=NAME<TAB>what=certificate<TAB>file=FILE...
 *
 * The lines have private keys.  The owner of a copy wipes it.
 *
 * All functions run on the control thread.
 */
#ifndef COMMANDS_CERTIFICATES_H
#define COMMANDS_CERTIFICATES_H

#include <stdio.h>

#include "handover/later.h"
#include "stats/answer.h"
#include "tls/replaced.h"

#define CERTIFICATES_LINE LATER "tls\t"

struct tls_spec;

/* Calls replaced for all that commands have replaced in the section. */
void certificates_each(const struct tls_spec *tls,
    void (*replaced)(void *arg, const struct tls_replaced *r), void *arg);

/* Writes the lines. */
void certificates_write(const struct command_env *env, FILE *out);

/* Reads a line, which may be one of another form.  Logs what does not fit the
 * present files. */
void certificates_read(const struct command_env *env, char *line);

#endif
