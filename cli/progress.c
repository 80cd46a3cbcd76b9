#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "console.h"

static volatile sig_atomic_t stop_asked;

void interrupt_catch(void) { console_catch(&stop_asked); }

bool interrupted(void) { return stop_asked != 0; }

progress progress_start(void) { return (progress){.terminal = console_is_terminal(stderr)}; }

static const char *short_time(char into[32], int64_t time_ns) {
  double t = (double)time_ns;
  if (time_ns == SITU_NEVER_NS) return strcpy(into, "-");
  double size = t >= 1e9 ? 1e9 : t >= 1e6 ? 1e6 : t >= 1e3 ? 1e3 : 1;
  snprintf(into, 32, "%.4g %s", t / size, t >= 1e9 ? "s" : t >= 1e6 ? "ms" : t >= 1e3 ? "us" : "ns");
  return into;
}

__attribute__((format(printf, 2, 3))) static void add(progress *p, const char *format, ...) {
  char line[256];
  va_list rest;
  va_start(rest, format);
  size_t n = (size_t)vsnprintf(line, sizeof line, format, rest);
  va_end(rest);
  if (n >= sizeof line) n = sizeof line - 1;
  char *grown = p->text ? realloc(p->text, p->length + n + 1) : NULL;
  if (!grown) free(p->text);
  p->text = grown;
  if (grown) memcpy(grown + p->length, line, n + 1);
  p->length += n;
}

/* One row, unless nothing has changed since the last one. Numbers that are not there are empty. */
static void add_row(progress *p, const situ_progress *now) {
  if (now->value_ns == p->value_ns && now->lower_bound_ns == p->lower_bound_ns) return;
  add(p, "%.3f,%.3f,%lld,%s,", now->seconds, (double)clock() / CLOCKS_PER_SEC, (long long)now->steps, now->solver);
  if (now->value_ns != SITU_NEVER_NS) add(p, "%lld", (long long)now->value_ns);
  add(p, ",");
  if (now->lower_bound_ns != SITU_NEVER_NS) add(p, "%lld", (long long)now->lower_bound_ns);
  add(p, "\n");
  p->value_ns = now->value_ns;
  p->lower_bound_ns = now->lower_bound_ns;
}

int progress_record(progress *p) {
  p->value_ns = -1;
  p->records = true;
  p->text = calloc(1, 1);
  add(p, "seconds,cpu_seconds,steps,solver,value_ns,lower_bound_ns\n");
  return p->text ? EXIT_OK : fail_memory();
}

int progress_write(progress *p, const situ_plan *plan, const char *path) {
  situ_plan_summary found = plan_summary(plan);
  if (plan)
    add_row(p, &(situ_progress){.solver = found.solver,
                                .seconds = found.seconds,
                                .steps = found.steps,
                                .value_ns = found.value_ns,
                                .lower_bound_ns = found.lower_bound_ns});
  situ_error error = {0};
  int code = !p->text                                                   ? fail_memory()
             : situ_text_write(p->text, path, &error) != SITU_STATUS_OK ? fail_writing(&error)
                                                                        : EXIT_OK;
  free(p->text);
  p->records = false;
  return code;
}

static bool show_progress(void *context, const situ_progress *news) {
  print_warnings();
  progress *p = context;
  if (p->records) add_row(p, news);
  bool due = p->terminal && news->seconds >= 1 && (!p->shown || news->seconds - p->last_s >= 0.1);
  if (!due) return interrupted();
  char value[32], bound[32];
  double gap = news->value_ns == SITU_NEVER_NS || news->value_ns <= 0
                   ? 1
                   : (double)(news->value_ns - news->lower_bound_ns) / (double)news->value_ns;
  fprintf(stderr, "\r\033[K  %.1f s  %s  value %s  bound %s  gap %.1f %%", news->seconds,
          news->solver ? news->solver : "", short_time(value, news->value_ns), short_time(bound, news->lower_bound_ns),
          100 * gap);
  fflush(stderr);
  p->shown = true;
  p->last_s = news->seconds;
  return interrupted();
}

void progress_of_solve(progress *p, situ_solve_options *solve) {
  *p = progress_start();
  solve->progress = show_progress;
  solve->context = p;
  interrupt_catch();
}

bool progress_measure(void *context, const char *phase, int32_t done, int32_t total) {
  progress *p = context;
  if (p->terminal) fprintf(stderr, "\r\033[K  %s", phase);
  if (p->terminal && total > 0) fprintf(stderr, "  %d of %d", (int)done, (int)total);
  if (p->terminal) fflush(stderr);
  p->shown |= p->terminal;
  return interrupted();
}

void progress_stop(progress *p) {
  if (p->shown) fputs("\r\033[K", stderr);
  p->shown = false;
}
