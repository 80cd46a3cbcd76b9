/* The options of the library as rows of the tool: each is written once, in the library's table. */
#include <string.h>

#include "cli.h"

enum { MAX_ROWS = 64 };
static option model_rows[MAX_ROWS], problem_rows[MAX_ROWS], unknown_rows[MAX_ROWS], solve_rows[MAX_ROWS],
    choice_rows[MAX_ROWS], fix_rows[MAX_ROWS], start_rows[MAX_ROWS];
const option_group model_options = {"Model", model_rows};
const option_group problem_options = {"Machine and objective", problem_rows};
const option_group unknown_options = {"Unknown", unknown_rows};
const option_group solve_options = {"Search", solve_rows};
const option_group fewer_options = {"Choice", choice_rows};
const option_group fix_options = {"Pins", fix_rows};
const option_group start_options = {"Start", start_rows};

static option *rows_of(const char *group) {
  static const struct {
    const option_group *group;
    option *rows;
  } groups[] = {{&model_options, model_rows}, {&problem_options, problem_rows}, {&unknown_options, unknown_rows},
                {&solve_options, solve_rows}, {&fewer_options, choice_rows},    {&fix_options, fix_rows},
                {&start_options, start_rows}};
  for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
    if (strcmp(groups[k].group->title, group) == 0) return groups[k].rows;
  return NULL;
}

static option row_of(const situ_option_info *i) {
  static const size_t parts[] = {[SITU_OPTION_READ] = AT(read),
                                 [SITU_OPTION_COST] = AT(cost),
                                 [SITU_OPTION_PROBLEM] = AT(problem),
                                 [SITU_OPTION_INSTANCE] = AT(instance),
                                 [SITU_OPTION_SOLVE] = AT(solve)};
  static const option_kind kinds[] = {
      [SITU_OPTION_ON] = OPTION_ON,           [SITU_OPTION_OFF] = OPTION_OFF,       [SITU_OPTION_TEXT] = OPTION_TEXT,
      [SITU_OPTION_PATH] = OPTION_TEXT,       [SITU_OPTION_CHOICE] = OPTION_CHOICE, [SITU_OPTION_INT64] = OPTION_WHOLE,
      [SITU_OPTION_INT32] = OPTION_SMALL,     [SITU_OPTION_SEED] = OPTION_SEED,     [SITU_OPTION_MS] = OPTION_MS,
      [SITU_OPTION_PERCENT] = OPTION_PERCENT, [SITU_OPTION_REAL] = OPTION_REAL,     [SITU_OPTION_DIMS] = OPTION_DIM,
      [SITU_OPTION_NAMES] = OPTION_UNUSED,    [SITU_OPTION_RULES] = OPTION_RULES,   [SITU_OPTION_RULE] = OPTION_RULE};
  return (option){.name = i->name,
                  .kind = kinds[i->kind],
                  .offset = parts[i->part] + i->offset,
                  .value = i->value,
                  .about = i->title,
                  .choices = i->choices,
                  .min = (long long)i->min,
                  .max = i->max,
                  .old = i->old,
                  .also = i->also,
                  .family = i->family};
}

void options_load(void) {
  situ_option_info info = SITU_OPTION_INFO_INIT;
  for (int32_t k = 0; situ_option_at(k, &info); k++) {
    option *row = rows_of(info.group);
    while (row && row->name) row++;
    if (row) *row = row_of(&info);
  }
}
