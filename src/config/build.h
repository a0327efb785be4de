/* SPDX-License-Identifier: MIT
 * Builds the spec from a draft: fills in defaults, resolves references and
 * refuses contradictions.  build_spec calls the other functions here.
 */
#ifndef CONFIG_BUILD_H
#define CONFIG_BUILD_H

#include <stdbool.h>

#include "config/diff.h"
#include "config/draft.h"
#include "model/spec.h"

/* Returns a spec, or NULL after at least one error was added.  Takes ownership
 * of the draft's files, for the spec's places; the caller still calls
 * draft_fini.  present: as in config_load_all. */
struct spec *build_spec(struct draft *draft, const struct spec *present,
    struct err_list *errors) MUST_CHECK;

/* Makes the indexes of the names, by which keys refer to sections, and adds an
 * error for each head with a wrong name or the name of an earlier one. */
void build_heads(
    struct spec *spec, const struct draft *draft, struct err_list *errors);

/* Adds one error for the entry, which says what to write instead.  The entry
 * either has a line (config/draft.h), or a name that is not a key of the
 * section.  Returns the key of the section that was meant, or NULL. */
const struct key *build_unknown(const struct draft_section *section,
    const struct draft_entry *entry, struct err_list *errors);

/* Adds errors about frontends and backends that contradict themselves, and for
 * a missing frontend or backend; the latter with the first file, if the draft
 * is not that of a command line.  What a backend's check lacks is not reported
 * beside a value of check or check_... that could not be read: it may be that
 * value. */
void build_check(const struct spec *spec, const struct draft *draft,
    struct err_list *errors);

/* Adds an error for each address that two sockets want. */
void build_check_listens(const struct spec *spec, struct err_list *errors);

/* Adds errors about one server in its backend: about its check, its agent, its
 * source, and its on_up. */
void build_check_server(const struct backend_spec *backend,
    const struct server_spec *server, struct err_list *errors);

/* Adds an error if the server has a name that a member of a set of the backend
 * may get. */
void build_check_set_name(const struct backend_spec *backend,
    const struct server_spec *server, struct err_list *errors);

/* Returns the set of the backend whose members may get that name, or NULL. */
const struct set_spec *build_set_named(
    const struct backend_spec *backend, const char *name);

/* Checks the sets of the backend: their names, and the options that their
 * members have. */
void build_check_sets(
    const struct backend_spec *backend, struct err_list *errors);

/* Adds an error for each name that two neighbouring rules of the frontend have,
 * and one if there are too many backends or protocols. */
void build_check_sni(const struct spec *spec,
    const struct frontend_spec *frontend, struct err_list *errors);

/* Returns whether the rules of the frontend have nothing but names, so that
 * their order makes no difference. */
bool build_rules_are_names(const struct frontend_spec *frontend);

/* Adds a change for each name of a rule that is new, was removed, or has
 * another backend, wherever its line is.  build_rules_are_names must be true of
 * both.  Returns false when memory is short. */
bool build_diff_sni(const struct spec *old_spec,
    const struct frontend_spec *old, const struct spec *new_spec,
    const struct frontend_spec *new, const char *label,
    struct changes *changes) MUST_CHECK;

/* Adds a warning for each allow and deny rule that is never reached, for rules
 * that deny no client, and for limits that another limit covers. */
void build_access_warnings(const struct spec *spec, struct err_list *warnings);

/* Moves `at`, an address in the range, to the address behind the range.
 * Returns false if the family has none. */
bool build_step_behind(const struct cidr *range, struct endpoint *at);

/* Makes the recipes of the lists, and adds errors.  Does not read the lists'
 * files. */
void build_lists(struct spec *spec, struct err_list *errors);

/* Adds a warning for each entry that another one of its list has, for each file
 * with such entries if the contents of the spec were read, and for lists that
 * are empty or not used. */
void build_list_warnings(const struct spec *spec, struct err_list *warnings);

/* Finds the pools whose sessions make TLS handshakes, and sets their automatic
 * threads.  Also called after servers with TLS have come or gone. */
void build_pools(struct spec *spec);

/* Sets threads and shards that are automatic, once all keys of the pool are
 * known, but for the spare threads of build_pools.  Returns false with err set
 * if there are more shards than threads. */
bool build_complete_pool(struct pool_spec *pool, struct err *err);

/* Makes the contexts of the [tls] sections, for the roles in which they are
 * used, and so reads all of their files.  Adds an error for each fault, at the
 * line of the key or of the listen or server.  present: as in config_load_all.
 * Blocks. */
void build_tls(struct spec *spec, const struct spec *present,
    const struct draft *draft, struct err_list *errors);

/* Does the same for one server, whose section may not have been used before. */
void build_tls_server(struct spec *spec, const struct backend_spec *backend,
    const struct server_spec *server, struct err_list *errors);

/* Adds a warning for each setting of TLS that is without effect or risky. */
void build_tls_warnings(const struct spec *spec, struct err_list *warnings);

/* Adds a warning for each starttls without effect, and for servers whose TLS
 * would carry the clients' TLS inside. */
void build_starttls_warnings(
    const struct spec *spec, struct err_list *warnings);

/* Adds a warning for each server without a port of its own, behind a frontend
 * with an address whose clients have no port that the server could take. */
void build_port_warnings(const struct spec *spec, struct err_list *warnings);

/* Adds an error for each cycle of fallbacks of the frontend. */
void build_check_tables(const struct spec *spec,
    const struct frontend_spec *frontend, struct err_list *errors);
void build_check_fallbacks(const struct spec *spec,
    const struct frontend_spec *frontend, struct err_list *errors);

/* Adds a warning for each rule of a frontend that never matches: another one
 * matches before it, or the frontend does not listen on its ports. */
void build_route_warnings(const struct spec *spec, struct err_list *warnings);

/* Finds the server that each `track` names.  Adds an error if there is none, if
 * it has no health of its own to be followed, or if the tracking server has
 * further settings that would be without effect. */
void build_track(struct spec *spec, struct err_list *errors);
/* The same for one server, which tracks another, of the backend with the index
 * home.  The server need not be in the spec. */
void build_track_server(const struct spec *spec, size_t home,
    struct server_spec *server, struct err_list *errors);

#endif
