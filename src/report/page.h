/* report/page.h - the data of a page about a plan, as JSON; page.c puts them into the page. */
#ifndef SITU_REPORT_PAGE_H
#define SITU_REPORT_PAGE_H

#include "report/report.h"
#include "situ/explain.h"

/* Adds an object: names, arrays of numbers by operator, tensor, lane, memory, and what `place --json` and `explain
 * --json` say. docs/report.md lists the members. `what_ifs` and `model` may be NULL. A failure is remembered by the
 * text. */
void page_add_plan(text_buffer *t, const situ_plan *plan, const situ_model *model, const situ_what_if_list *what_ifs);

/* Adds `"key":` and a tree, which is freed; false, or NULL for a tree, is a failure. */
void page_add_tree(text_buffer *t, const char *key, json_value *tree, bool ok);

/* The page around the data, generated at build time from the files of src/report/page: the text before and the text
 * after. */
extern const char page_before[], page_after[];

#endif
