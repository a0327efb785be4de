/* SPDX-License-Identifier: MIT
 * The intrusive list.
 */
#include "base/list.h"

#include "unit.h"

struct item {
	int number;
	struct list node;
};

/* The numbers in order, forwards, as digits. */
static const char *
forwards(struct list *head)
{
	static char text[32];
	size_t len = 0;

	list_for_each (node, head)
		text[len++] =
		    (char)('0' + container_of(node, struct item, node)->number);
	text[len] = '\0';
	return text;
}

static const char *
backwards(struct list *head)
{
	static char text[32];
	size_t len = 0;

	for (struct list *n = head->prev; n != head; n = n->prev)
		text[len++] =
		    (char)('0' + container_of(n, struct item, node)->number);
	text[len] = '\0';
	return text;
}

static void
fill(struct list *head, struct item *items, int n)
{
	list_init(head);
	for (int i = 0; i < n; i++) {
		items[i].number = i + 1;
		list_append(head, &items[i].node);
	}
}

static void
a_new_list_is_empty(void **state)
{
	struct list head;

	(void)state;
	list_init(&head);
	assert_true(list_empty(&head));
	assert_string_equal(forwards(&head), "");
}

static void
append_keeps_the_order_in_both_directions(void **state)
{
	struct item items[4];
	struct list head;

	(void)state;
	fill(&head, items, 4);
	assert_false(list_empty(&head));
	assert_string_equal(forwards(&head), "1234");
	assert_string_equal(backwards(&head), "4321");
}

static void
remove_takes_out_first_middle_and_last(void **state)
{
	struct item items[5];
	struct list head;

	(void)state;
	fill(&head, items, 5);
	list_remove(&items[2].node);
	assert_string_equal(forwards(&head), "1245");
	list_remove(&items[0].node);
	assert_string_equal(forwards(&head), "245");
	list_remove(&items[4].node);
	assert_string_equal(forwards(&head), "24");
	assert_string_equal(backwards(&head), "42");
	list_remove(&items[1].node);
	list_remove(&items[3].node);
	assert_true(list_empty(&head));
}

static void
removing_a_node_twice_is_harmless(void **state)
{
	struct item items[3];
	struct list head;

	(void)state;
	fill(&head, items, 3);
	list_remove(&items[1].node);
	assert_true(list_empty(&items[1].node));
	list_remove(&items[1].node);
	assert_string_equal(forwards(&head), "13");
	assert_string_equal(backwards(&head), "31");
}

static void
a_removed_node_can_be_appended_again(void **state)
{
	struct item items[3];
	struct list head;

	(void)state;
	fill(&head, items, 3);
	list_remove(&items[0].node);
	list_append(&head, &items[0].node);
	assert_string_equal(forwards(&head), "231");
}

static void
safe_iteration_survives_removal_of_the_node_it_stands_on(void **state)
{
	struct item items[6];
	struct list head;
	int visited = 0;

	(void)state;
	fill(&head, items, 6);
	list_for_each_safe (node, &head) {
		struct item *it = container_of(node, struct item, node);

		visited++;
		if (it->number % 2 == 0) {
			list_remove(node);
			/* As freed memory would look. */
			memset(node, 0xa5, sizeof(*node));
		}
	}
	assert_int_equal(visited, 6);
	assert_string_equal(forwards(&head), "135");
}

static void
a_list_is_spliced_to_the_end_of_another(void **state)
{
	struct item items[5];
	struct list a, b;

	(void)state;
	list_init(&a);
	list_init(&b);
	list_splice(&a, &b);
	assert_true(list_empty(&b));
	for (int i = 0; i < 5; i++) {
		items[i].number = i + 1;
		list_append(i < 2 ? &b : &a, &items[i].node);
	}
	list_splice(&a, &b);
	assert_true(list_empty(&a));
	assert_string_equal(forwards(&b), "12345");
	list_remove(&items[1].node);
	list_splice(&b, &a);
	assert_true(list_empty(&b));
	assert_string_equal(forwards(&a), "1345");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_new_list_is_empty),
	    cmocka_unit_test(append_keeps_the_order_in_both_directions),
	    cmocka_unit_test(remove_takes_out_first_middle_and_last),
	    cmocka_unit_test(removing_a_node_twice_is_harmless),
	    cmocka_unit_test(a_removed_node_can_be_appended_again),
	    cmocka_unit_test(a_list_is_spliced_to_the_end_of_another),
	    cmocka_unit_test(
	        safe_iteration_survives_removal_of_the_node_it_stands_on),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
