/* SPDX-License-Identifier: MIT
 * The [tls] sections for commands, one for each role in which they are used.
 */
#ifndef COMMANDS_TLS_SECTIONS_H
#define COMMANDS_TLS_SECTIONS_H

#include "commands/call.h"
#include "model/spec.h"
#include "tls/facts.h"

/* A section in a role. */
struct tls_section {
	const struct tls_spec *tls;
	enum tls_role role;
	struct tls_context *context; /* borrowed from the spec */
};

/* Finds the next used section from *at on, which is 0 at first, and advances
 * *at.  Returns false if there is none left. */
bool tls_section_next(
    const struct spec *spec, size_t *at, struct tls_section *ret_section);

/* Returns the section of that name, or NULL with call->err set. */
const struct tls_spec *tls_section_named(struct call *call, const char *name);

#define TLS_KEY_TEXT_SIZE 32

/* Writes `EC256`, `RSA2048`, `ED25519`.  Returns out. */
const char *tls_key_text(
    const struct tls_cert_facts *facts, char out[TLS_KEY_TEXT_SIZE]);

/* Puts what was staged for the file into use in the section, logs what that
 * changes, and records it.  Returns false with call->err set. */
bool tls_section_commit(
    struct call *call, const struct tls_section *section, const char *file);

/* Puts what was staged for the part into use, as tls_section_commit does. */
bool tls_section_commit_trust(
    struct call *call, const struct tls_section *section, enum tls_trust part);

/* A note for people: what commands replace is in no file of the section. */
#define TLS_IN_MEMORY                                                          \
	"It is in memory only: a change of the file brings back what the "     \
	"file has."

#endif
