/* SPDX-License-Identifier: MIT
 * A model made by hand: frontend web -> backend app (checked by http) with
 * servers s1, s2 and the unix one u, and backend raw without checks.
 */
#ifndef TESTS_UNIT_ADMIN_FIXTURE_H
#define TESTS_UNIT_ADMIN_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/grace.h"
#include "model/model.h"

struct fixture {
	struct grace *grace;
	struct model *model;
	struct frontend *web;
	struct backend *app, *raw;
	struct server *s1, *s2, *u, *r1;
	char *text; /* what a renderer wrote; freed by the next output */
	size_t text_n;
	FILE *out;
};

/* Opens f->out, a stream into f->text. */
FILE *output(struct fixture *f);
/* Closes it; the text. */
const char *written(struct fixture *f);

int fixture_setup(void **state);
int fixture_teardown(void **state);

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
