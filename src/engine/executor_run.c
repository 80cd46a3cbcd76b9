/* Runs inputs through the parts of an executor. Each part starts as soon as its inputs are available; tensors for other
 * ranks are sent as soon as they are produced, in parallel with the next part. */
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "engine/executor.h"

/* How long a process waits for its workers before it polls messages. A poll takes some 20 us of a core. If no worker
 * leaves a core idle, polls that find nothing become rarer: a message that arrives while all workers are busy must wait
 * for them anyway. */
static const int64_t ALONE_NS = 10000000, IDLE_NS = 10000, BUSY_MIN_NS = 100000, BUSY_MAX_NS = 2000000;

/* Inputs in flight and their progress: the parts that have ended and the messages that are complete. */
typedef struct flow {
  executor *x;
  int32_t n_items, n_done;
  int32_t *item;   /* [copy] current item; a copy runs items copy, copy + n_copies, ..., so its messages are of the same
                      item on all ranks */
  int32_t *n_left; /* [copy] own parts and messages that are not complete */
  bool *asked, *ended;  /* [copy * n_parts + part] requested; ended: never for parts of other ranks */
  bool *passed;         /* [worker] scratch: it has a part that is not requested yet */
  int32_t *queue;       /* [worker * room + i]: copy * n_parts + part, in the order of requests */
  int32_t *head, *tail; /* [worker] */
  int32_t room;
  int32_t *channel_to;     /* [value] channel that brings it here; -1: none. NULL when alone */
  ranks_message *messages; /* [copy * n_channels + channel] */
  bool *come;              /* [copy * n_channels + channel] */
  int32_t *done;           /* scratch of ranks_test */
  int32_t n_own_channels;
  int64_t moved_ns; /* time of the last progress */
  int64_t busy_ns;  /* until the next poll while all workers are busy */
  /* Results; NULL if not wanted. */
  run_times *times;            /* [part] */
  int64_t *finish_ns, *sum_ns; /* [item], [part] */
  int32_t *n_parts_left;       /* [copy] own parts */
  int32_t n_finished;          /* items of which all own parts have ended */
  run_gaps *gaps;
  int64_t *asked_ns, *ended_ns; /* [copy * n_parts + part], [worker] last */
} flow;

static bool flow_make(flow *f, executor *x, arena *a, int32_t n_items) {
  int32_t n = x->parts->n_parts, copies = x->options.n_copies, own = ranks_own(x->options.ranks);
  int64_t n_messages = (int64_t)copies * x->n_channels;
  *f = (flow){.x = x, .n_items = n_items, .room = n * copies, .moved_ns = clock_now_ns(), .busy_ns = BUSY_MIN_NS};
  if (!ARENA_ARRAYS(a, ARRAY(f->item, copies), ZEROS(f->n_left, copies), ZEROS(f->n_parts_left, copies),
                    ZEROS(f->asked, (int64_t)n * copies), ZEROS(f->ended, (int64_t)n * copies),
                    ZEROS(f->queue, (int64_t)x->n_workers * f->room), ZEROS(f->head, x->n_workers),
                    ZEROS(f->tail, x->n_workers), ZEROS(f->passed, x->n_workers),
                    ZEROS(f->asked_ns, (int64_t)n * copies), ZEROS(f->ended_ns, x->n_workers)))
    return false;
  if (!x->options.ranks) return true;
  if (!ARENA_ARRAYS(a, ARRAY(f->channel_to, x->parts->file->n_values), ZEROS(f->messages, n_messages),
                    ZEROS(f->come, n_messages), ZEROS(f->done, n_messages)))
    return false;
  for (int32_t v = 0; v < x->parts->file->n_values; v++) f->channel_to[v] = -1;
  for (int32_t i = 0; i < x->n_channels; i++) {
    if (x->channels[i].to == own) f->channel_to[x->channels[i].value] = i;
    f->n_own_channels += x->channels[i].to == own || x->channels[i].from == own;
  }
  return true;
}

/* Whether part k can be requested: its inputs are here or, if may_follow, will be when its worker starts it, since the
 * worker runs parts in the order of requests. */
static bool is_ready(const flow *f, int32_t copy, int32_t k, bool may_follow) {
  const executor *x = f->x;
  const model_part *part = &x->parts->parts[k];
  for (int32_t i = 0; i < part->n_inputs; i++) {
    int32_t from = x->parts->value_part[part->inputs[i]], first = copy * x->parts->n_parts;
    if (from < 0) continue;
    bool here = executor_owns(x, from) ? f->ended[first + from]
                                       : f->come[(int64_t)copy * x->n_channels + f->channel_to[part->inputs[i]]];
    bool before = f->asked[first + from] && x->worker_of[first + from] == x->worker_of[first + k];
    if (!here && !(may_follow && before)) return false;
  }
  return true;
}

/* Requests all own parts of an input that can begin. One that waits only for earlier parts on its device is requested
 * with them, so that the device continues without a message in between, but not before one that precedes it in the
 * plan. */
static situ_status advance(flow *f, int32_t copy, situ_error *error) {
  int32_t n = f->x->parts->n_parts;
  memset(f->passed, 0, (size_t)f->x->n_workers * sizeof *f->passed);
  for (int32_t k = 0; k < n; k++) {
    int32_t job = copy * n + k, w = f->x->worker_of[job];
    if (w < 0 || f->asked[job]) continue;
    if (!is_ready(f, copy, k, !f->passed[w])) {
      f->passed[w] = true;
      continue;
    }
    f->asked[job] = true;
    f->asked_ns[job] = clock_now_ns();
    f->queue[w * f->room + f->tail[w]++ % f->room] = job;
    TRY(worker_run(f->x->workers[w], f->x->binding[job], error));
  }
  return SITU_STATUS_OK;
}

/* Starts sending (by part k) or receiving (k < 0) tensors through channels. */
static situ_status exchange(flow *f, int32_t copy, int32_t k, situ_error *error) {
  executor *x = f->x;
  int32_t own = ranks_own(x->options.ranks);
  for (int32_t i = 0; i < x->n_channels; i++) {
    const executor_channel *c = &x->channels[i];
    const tensor_place *place = &x->places[(int64_t)copy * x->parts->file->n_values + c->value];
    int32_t at = copy * x->n_channels + i, tag = RANKS_TAGS + i * x->options.n_copies + copy;
    unsigned char *bytes = x->shared + place->at;
    if (k < 0 && c->to == own)
      TRY(ranks_receive(x->options.ranks, &f->messages[at], c->from, tag, bytes, place->bytes, error));
    if (k >= 0 && c->from == own && x->parts->value_part[c->value] == k)
      TRY(ranks_send(x->options.ranks, &f->messages[at], c->to, tag, bytes, place->bytes, error));
  }
  return SITU_STATUS_OK;
}

static situ_status begin_item(flow *f, int32_t copy, situ_error *error) {
  executor *x = f->x;
  size_t n = (size_t)x->parts->n_parts, n_channels = (size_t)x->n_channels;
  f->n_parts_left[copy] = x->n_own;
  f->n_left[copy] = x->n_own + f->n_own_channels;
  memset(f->asked + (size_t)copy * n, 0, n);
  memset(f->ended + (size_t)copy * n, 0, n);
  if (n_channels > 0) memset(f->come + (size_t)copy * n_channels, 0, n_channels);
  TRY(exchange(f, copy, -1, error));
  return advance(f, copy, error);
}

/* A part or message of an input is complete: if it was the last, the next input begins. */
static situ_status complete_one(flow *f, int32_t copy, situ_error *error) {
  f->moved_ns = clock_now_ns();
  f->busy_ns = BUSY_MIN_NS;
  if (--f->n_left[copy] > 0) return SITU_STATUS_OK;
  f->n_done++;
  f->item[copy] += f->x->options.n_copies;
  return f->item[copy] < f->n_items ? begin_item(f, copy, error) : SITU_STATUS_OK;
}

static situ_status end_part(flow *f, const worker_ran *ran, situ_error *error) {
  int32_t n = f->x->parts->n_parts, job = f->queue[ran->worker * f->room + f->head[ran->worker]++ % f->room];
  f->ended[job] = true;
  if (f->times) f->times[job % n] = (run_times){ran->start_ns, ran->finish_ns};
  if (f->sum_ns) f->sum_ns[job % n] += ran->finish_ns - ran->start_ns;
  if (f->gaps && f->gaps->n < f->gaps->max && f->asked_ns[job] < f->ended_ns[ran->worker])
    f->gaps->ns[f->gaps->n++] = ran->start_ns - f->ended_ns[ran->worker];
  f->ended_ns[ran->worker] = ran->finish_ns;
  if (--f->n_parts_left[job / n] == 0 && f->finish_ns) f->finish_ns[f->n_finished++] = ran->finish_ns;
  TRY(exchange(f, job / n, job % n, error));
  TRY(advance(f, job / n, error));
  return complete_one(f, job / n, error);
}

/* The other side of the first message that is not complete. */
static int32_t awaited_rank(const flow *f) {
  const executor *x = f->x;
  int32_t i = 0, n = x->options.n_copies * x->n_channels, own = ranks_own(x->options.ranks);
  while (i < n && !f->messages[i]) i++;
  if (i == n) return own;
  const executor_channel *c = &x->channels[i % x->n_channels];
  return c->from == own ? c->to : c->from;
}

static situ_status end_messages(flow *f, situ_error *error) {
  executor *x = f->x;
  int32_t n_done = 0;
  TRY(ranks_test(x->options.ranks, f->messages, x->options.n_copies * x->n_channels, f->done, &n_done, error));
  for (int32_t i = 0; i < n_done; i++) {
    int32_t copy = f->done[i] / x->n_channels;
    f->come[f->done[i]] = true;
    TRY(advance(f, copy, error));
    TRY(complete_one(f, copy, error));
  }
  double limit_s = wait_limit_s(&x->options.wait);
  return n_done > 0 ? SITU_STATUS_OK : ranks_watch(x->options.ranks, awaited_rank(f), limit_s, f->moved_ns, error);
}

/* Runs all items of a flow. */
static situ_status flow_run(flow *f, situ_error *error) {
  executor *x = f->x;
  if (x->n_own == 0) return SITU_STATUS_OK; /* a rank without parts has no channels either */
  for (int32_t c = 0; c < x->options.n_copies; c++) f->item[c] = c;
  for (int32_t c = 0; c < x->options.n_copies && c < f->n_items; c++) TRY(begin_item(f, c, error));
  while (f->n_done < f->n_items) {
    bool all_busy = true;
    worker_ran ran;
    for (int32_t w = 0; w < x->n_workers; w++) all_busy &= f->tail[w] > f->head[w];
    int64_t max_ns = !x->options.ranks ? ALONE_NS : all_busy ? f->busy_ns : IDLE_NS;
    f->busy_ns = min64(2 * f->busy_ns, BUSY_MAX_NS);
    TRY(worker_poll(&ran, x->workers, x->n_workers, max_ns, &x->options.wait, error));
    if (ran.worker >= 0) TRY(end_part(f, &ran, error));
    if (x->options.ranks) TRY(end_messages(f, error));
  }
  return SITU_STATUS_OK;
}

situ_status executor_latency(executor *x, int64_t *latency_ns, run_times *part_ns, situ_error *error) {
  flow f;
  arena_mark mark = arena_get_mark(x->arena);
  situ_status status = flow_make(&f, x, x->arena, 1) ? SITU_STATUS_OK : fail_no_memory(error);
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  f.times = part_ns;
  if (status == SITU_STATUS_OK) status = flow_run(&f, error);
  for (int32_t k = 0; k < x->parts->n_parts && status == SITU_STATUS_OK; k++) {
    if (!executor_owns(x, k)) continue;
    first_ns = min64(first_ns, part_ns[k].start_ns);
    last_ns = max64(last_ns, part_ns[k].finish_ns);
  }
  *latency_ns = last_ns > first_ns ? last_ns - first_ns : 0;
  arena_release(x->arena, mark);
  return status;
}

int32_t executor_awaited(const executor *x, const run_times *times, int32_t k) {
  const model_part *part = &x->parts->parts[k];
  int32_t last = -1;
  for (int32_t i = 0; i < part->n_inputs; i++) {
    int32_t from = x->parts->value_part[part->inputs[i]];
    if (from >= 0 && (last < 0 || times[from].finish_ns > times[last].finish_ns)) last = from;
  }
  for (int32_t other = 0; other < x->parts->n_parts; other++)
    if (other != k && x->worker_of[other] == x->worker_of[k] && times[other].finish_ns <= times[k].start_ns &&
        (last < 0 || times[other].finish_ns > times[last].finish_ns))
      last = other;
  return last;
}

situ_status executor_pipeline(executor *x, int32_t n, int64_t *finish_ns, int64_t *part_sum_ns, run_gaps *gaps,
                              situ_error *error) {
  flow f;
  arena_mark mark = arena_get_mark(x->arena);
  situ_status status = flow_make(&f, x, x->arena, n) ? SITU_STATUS_OK : fail_no_memory(error);
  f.finish_ns = finish_ns;
  f.sum_ns = part_sum_ns;
  f.gaps = gaps;
  if (status == SITU_STATUS_OK) status = flow_run(&f, error);
  arena_release(x->arena, mark);
  return status;
}
