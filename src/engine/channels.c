/* Sends values that parts of one rank make and parts of another read. */

#include <string.h>

#include "base/fail.h"
#include "engine/executor.h"

/* The header of a value, sent before its bytes. */
typedef struct value_head {
  int64_t bytes, dims[MODEL_MAX_RANK];
  int32_t type, rank;
} value_head;

/* Finds the channels to one rank. mark[value]: 1 + the last rank for which the value was counted. */
static int32_t find_channels_to(executor *x, int32_t to, int32_t *mark, executor_channel *into) {
  const model_parts *p = x->parts;
  int32_t n = 0;
  for (int32_t k = 0; k < p->n_parts; k++) {
    if (executor_rank(x, k) != to) continue;
    for (int32_t i = 0; i < p->parts[k].n_inputs; i++) {
      int32_t value = p->parts[k].inputs[i], maker = p->value_part[value];
      if (maker < 0 || executor_rank(x, maker) == to || mark[value] == to + 1) continue;
      mark[value] = to + 1;
      if (into) into[n] = (executor_channel){.value = value, .from = executor_rank(x, maker), .to = to};
      n++;
    }
  }
  return n;
}

situ_status channels_find(executor *x, situ_error *error) {
  if (!x->options.ranks) return SITU_STATUS_OK;
  int32_t n_ranks = ranks_count(x->options.ranks), n = 0;
  int32_t *mark = ARENA_ZERO(x->arena, int32_t, x->parts->file->n_values);
  if (!mark) return fail_no_memory(error);
  for (int32_t to = 0; to < n_ranks; to++) n += find_channels_to(x, to, mark, NULL);
  x->channels = ARENA_NEW(x->arena, executor_channel, n);
  if (!x->channels) return fail_no_memory(error);
  memset(mark, 0, sizeof *mark * (size_t)x->parts->file->n_values);
  for (int32_t to = 0; to < n_ranks; to++) x->n_channels += find_channels_to(x, to, mark, x->channels + x->n_channels);
  return SITU_STATUS_OK;
}

static situ_status send_value(executor *x, const tensor_place *place, int32_t to, situ_error *error) {
  value_head head = {.bytes = place->bytes, .type = place->port.type, .rank = place->port.rank};
  memcpy(head.dims, place->port.dims, sizeof head.dims);
  TRY(ranks_send_wait(x->options.ranks, to, &head, sizeof head, error));
  return ranks_send_wait(x->options.ranks, to, x->shared + place->at, place->bytes, error);
}

static situ_status receive_value(executor *x, tensor_place *place, int32_t value, int32_t from, situ_error *error) {
  value_head head = {0};
  TRY(ranks_receive_wait(x->options.ranks, from, &head, sizeof head, error));
  if (head.rank < 0 || head.rank > MODEL_MAX_RANK || head.bytes < 0 ||
      head.bytes > x->shared_bytes - x->used_bytes - EXECUTOR_ALIGNMENT)
    return fail_with(error, SITU_STATUS_NO_MEMORY, x->parts->file->values[value].name,
                     "comes from rank %d with %lld bytes, too many", (int)from, (long long)head.bytes);
  *place = (tensor_place){.at = x->used_bytes, .bytes = head.bytes, .port = {.type = head.type, .rank = head.rank}};
  memcpy(place->port.dims, head.dims, sizeof head.dims);
  for (int32_t d = 0; d < head.rank; d++)
    if (head.dims[d] < 0)
      return fail_with(error, SITU_STATUS_ENGINE, x->parts->file->values[value].name,
                       "comes from rank %d with dimension %lld", (int)from, (long long)head.dims[d]);
  x->used_bytes += (head.bytes + EXECUTOR_ALIGNMENT) / EXECUTOR_ALIGNMENT * EXECUTOR_ALIGNMENT;
  return ranks_receive_wait(x->options.ranks, from, x->shared + place->at, place->bytes, error);
}

situ_status channels_send_value(executor *x, int32_t copy, int32_t value, int32_t from, int32_t to, situ_error *error) {
  tensor_place *place = &x->places[(int64_t)copy * x->parts->file->n_values + value];
  int32_t own = ranks_own(x->options.ranks);
  if (from == own) return send_value(x, place, to, error);
  return to == own ? receive_value(x, place, value, from, error) : SITU_STATUS_OK;
}

situ_status channels_send_part(executor *x, int32_t copy, int32_t k, situ_error *error) {
  for (int32_t i = 0; i < x->n_channels; i++) {
    const executor_channel *c = &x->channels[i];
    if (x->parts->value_part[c->value] == k) TRY(channels_send_value(x, copy, c->value, c->from, c->to, error));
  }
  return SITU_STATUS_OK;
}
