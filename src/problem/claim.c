#include "problem/claim.h"

#include <stdlib.h>

#include "base/arguments.h"
#include "base/c_locale.h"
#include "base/fail.h"

static const double USUAL_MAX_PERCENT = 5;

double claim_max_share(double max_percent) { return (max_percent > 0 ? max_percent : USUAL_MAX_PERCENT) / 100; }

const char *claim_optimal(const situ_problem *p) {
  return p->guessed ? "optimal for guessed costs" : "proved optimal for these costs";
}

const char *claim_costs(const situ_problem *p) { return p->guessed ? "guessed costs" : "these costs"; }

int32_t situ_problem_unknown_count(const situ_problem *p) { return p ? p->unknown.n : 0; }

bool situ_problem_unknown_at(const situ_problem *p, int32_t index, situ_unknown *out) {
  if (index < 0 || index >= situ_problem_unknown_count(p)) return false;
  const unknown_row *row = &p->unknown.rows[index];
  situ_unknown unknown = {
      .kind = row->kind, .subject = row->subject, .n_operators = row->n_operators, .share = row->share};
  return GIVE(out, unknown);
}

situ_status situ_problem_require_known(const situ_problem *p, double max_percent, situ_error *error) {
  TRY(GIVEN(error, p));
  if (!(max_percent >= 0))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the percentage that may be guessed must be at least 0");
  double max = claim_max_share(max_percent > 0 ? max_percent : p->max_unknown_percent);
  if (p->unknown.share <= max) return SITU_STATUS_OK;
  text_buffer t = {0};
  bool sizes = false;
  char allowed[TEXT_UNIT_BYTES];
  for (int32_t i = 0; i < p->unknown.n; i++) sizes |= p->unknown.rows[i].kind == SITU_GUESS_SIZE;
  unknown_add_words(&t, &p->unknown);
  char *text = text_take(&t);
  if (!text) return fail_no_memory(error);
  c_locale_print(allowed, sizeof allowed, "%.3g %%", 100 * max);
  situ_status status = fail_with(error, SITU_STATUS_GUESSED, p->graph->model,
                                 "more than %s is guessed (%.300s); %smeasure times (--cost-table), or allow more "
                                 "(--max-unknown)",
                                 allowed, text, sizes ? "give sizes (--dim), " : "");
  free(text);
  return status;
}
