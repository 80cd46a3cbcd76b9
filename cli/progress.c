#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t stop_asked;

static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_INTERRUPTS = sizeof interrupts / sizeof *interrupts };

static void on_interrupt(int number) {
  stop_asked = 1;
  for (int i = 0; i < N_INTERRUPTS; i++) signal(interrupts[i], SIG_DFL); /* the second one, whichever it is, kills */
}

void interrupt_catch(void) {
  struct sigaction action, old;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  for (int i = 0; i < N_INTERRUPTS; i++) sigaddset(&action.sa_mask, interrupts[i]);
  for (int i = 0; i < N_INTERRUPTS; i++) {
    bool kept = interrupts[i] == SIGHUP && sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler == SIG_IGN; /* nohup */
    if (!kept) sigaction(interrupts[i], &action, NULL);
  }
}

bool interrupted(void) { return stop_asked != 0; }

progress progress_start(void) { return (progress){.terminal = isatty(STDERR_FILENO) == 1}; }

static const char *short_time(char into[32], int64_t time_ns) {
  double t = (double)time_ns;
  if (time_ns == SITU_NEVER_NS) return strcpy(into, "-");
  double size = t >= 1e9 ? 1e9 : t >= 1e6 ? 1e6 : t >= 1e3 ? 1e3 : 1;
  snprintf(into, 32, "%.4g %s", t / size, t >= 1e9 ? "s" : t >= 1e6 ? "ms" : t >= 1e3 ? "us" : "ns");
  return into;
}

/* One row, unless nothing has changed since the last one. Numbers that are not there are empty. */
static void add_row(progress *p, const situ_progress *now) {
  if (now->value_ns == p->value_ns && now->lower_bound_ns == p->lower_bound_ns) return;
  fprintf(p->rows, "%.3f,%.3f,%lld,%s,", now->seconds, (double)clock() / CLOCKS_PER_SEC, (long long)now->steps,
          now->solver);
  if (now->value_ns != SITU_NEVER_NS) fprintf(p->rows, "%lld", (long long)now->value_ns);
  if (now->lower_bound_ns != SITU_NEVER_NS)
    fprintf(p->rows, ",%lld\n", (long long)now->lower_bound_ns);
  else
    fputs(",\n", p->rows);
  p->value_ns = now->value_ns;
  p->lower_bound_ns = now->lower_bound_ns;
}

int progress_record(progress *p) {
  p->value_ns = -1;
  p->rows = open_memstream(&p->text, &p->length);
  if (p->rows) fputs("seconds,cpu_seconds,steps,solver,value_ns,lower_bound_ns\n", p->rows);
  return p->rows ? EXIT_OK : fail_memory();
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
  bool whole = ferror(p->rows) == 0;
  whole &= fclose(p->rows) == 0;
  int code = !whole                                                     ? fail_memory()
             : situ_text_write(p->text, path, &error) != SITU_STATUS_OK ? fail_writing(&error)
                                                                        : EXIT_OK;
  free(p->text);
  p->rows = NULL;
  return code;
}

static bool show_progress(void *context, const situ_progress *news) {
  print_warnings();
  progress *p = context;
  if (p->rows) add_row(p, news);
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
