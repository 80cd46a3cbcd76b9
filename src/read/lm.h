/* read/lm.h - language models: the description in their weight files, and the graph derived from it.
 *
 * A reader fills an lm: hyper-parameters and every tensor by name, shape and bytes. lm_build makes the graph of one
 * step from the tensors alone, so that undescribed architectures work too: a tensor belongs to the block whose number
 * is in its name, and a matrix is a matrix product. Known names and hyper-parameters add exact attention, experts and
 * state. Costs: docs/theory/models/language-models.md. */
#ifndef SITU_READ_LM_H
#define SITU_READ_LM_H

#include "base/arena.h"
#include "base/text.h"
#include "situ/graph.h"
#include "situ/read.h"

enum { LM_MAX_RANK = 4, LM_MAX_BLOCKS = 65536 };

typedef struct lm_tensor {
  const char *name; /* as in the file */
  int32_t rank;
  int64_t dims[LM_MAX_RANK]; /* outermost first: [out, in] of a product, [experts, out, in] of a stack */
  int64_t bytes;             /* as stored */
  situ_dtype dtype;          /* in which products with it compute: I8 for blocks of few bits */
  const char *stored;        /* how, as GGUF names it, static; NULL: not known */
  bool packed;               /* several values lie in one element: its bytes do not follow from dims and dtype */
} lm_tensor;

/* Of one block; 0 where the file does not say. */
typedef struct lm_layer {
  int64_t heads, kv_heads, key, value; /* key, value: elements of a head */
  int64_t window;                      /* attention looks back so far; 0: to the beginning */
  bool shares_cache;                   /* it reads the cache of an earlier block */
  bool recurrent;                      /* it keeps a state, and no cache, whatever its products are called */
} lm_layer;

typedef struct lm {
  arena *arena; /* of the reader */
  const char *model, *architecture;
  int32_t n_blocks; /* of the trunk: 0 .. n_blocks-1; later blocks predict further tokens and are left out */
  int64_t n_embd, vocab, trained_context;
  int32_t n_ahead;                    /* blocks behind the trunk, which predict further tokens, as the file says */
  int64_t experts_used, experts;      /* of a token; in all, 0: the file does not say */
  int64_t latent_rank;                /* attention over a latent vector (MLA): its elements; 0 for others */
  int64_t conv, inner, state, groups; /* recurrent blocks: kernel, channels, elements by channel, groups */
  /* Sparse attention: an indexer of so many heads, with one key of so many elements in the cache for all of them,
   * chooses the tokens that are looked at; 0: there is none. */
  int64_t index_heads, index_key, index_top;
  bool keys_are_values;     /* blocks without a product for values take the keys */
  int64_t activation_bytes; /* of an element of activations */
  bool masks;               /* llama.cpp runs it, which has masks of attention as tensors */
  bool crops_last;          /* so far as results are not asked for, it ends after the last attention */
  lm_layer *layers;         /* [n_blocks] */
  bool doubted;             /* its structure is inferred from names alone (read/lm_doubts.h) */
  int64_t absent_blocks;    /* of the trunk, without any weight */
  bool reads_whole;         /* an encoder: it reads a whole text at once and generates nothing */
  /* Of an encoder before a decoder, whose blocks are those above (read/lm_pair.h); NULL: there is none. */
  const char *encoder, *decoder; /* the stacks of blocks, as in lm_place */
  int32_t n_encoder_blocks;      /* 0: by the tensors */
  int64_t encoder_heads, encoder_head, source_trained;
  lm_tensor *tensors;
  int32_t n_tensors;
} lm;

/* One step of work: `tokens` new ones of each stream, after `context` (a mean) that the cache holds. */
typedef struct lm_step {
  int64_t streams, tokens;
  double context;
  int64_t cells, caches;    /* elements of a cache, and how many: one for each stream that is served */
  double head_rows;         /* of each stream that need the head, a mean over steps */
  double cell_bytes;        /* of an element of a cache */
  const char *cell_type;    /* its name, static; NULL: f16 */
  int64_t prompt, generate; /* what is asked for, of each stream */
  bool both_ways;           /* a token sees all tokens of its stream, the later ones too, and no cache is kept */
  int64_t source;           /* tokens of each stream that the encoder before the decoder reads; 0: there is none */
  bool encodes;             /* it reads them in this step, and nothing is decoded */
  int64_t micro_batch;      /* tokens of a prompt that pass through the network at once; 0: LM_MICRO_BATCH */
} lm_step;

/* The tokens that engines take through the network at once in prefill, unless asked for others. */
enum { LM_MICRO_BATCH = 512 };

/* The graph of one step. Operators and tensors have the same numbers for every step. Assumptions and omissions become
 * notes, a line each; NULL: not wanted. BAD_INPUT if there is nothing to build. */
situ_status lm_build(situ_graph **out, const lm *model, const lm_step *step, text_buffer *notes, situ_error *error);

/* Where a tensor belongs, by its name. */
typedef struct lm_place {
  const char *stack;  /* the part of the name before the block, "" for tensors outside of blocks; in the arena */
  int32_t block;      /* -1 outside */
  const char *op;     /* the operator: the name without the suffix of its parts, and without the expert */
  const char *within; /* the same after the block's number; of T5 in the words of the others */
  int32_t expert;     /* the number of one of many, or -1 */
  bool part;          /* a bias, scale or zero point: its bytes are the operator's, its shape is not */
} lm_place;

/* Whether models of this architecture, by the name that GGUF or Hugging Face gives it, read a whole text at once and
 * generate nothing. */
bool lm_is_encoder(const char *architecture);

/* False without memory. */
bool lm_find_place(lm_place *out, const char *name, arena *a);

/* The role of a tensor of a block. */
typedef enum lm_role {
  LM_SMALL, /* read by whatever its part of the block computes */
  LM_NORM,
  LM_INNER_NORM, /* of queries and keys, ... */
  LM_IN,         /* a product with the block's input */
  LM_MIDDLE,     /* a product of what LM_IN made */
  LM_OUT,        /* the product that ends its part */
  LM_ROUTER
} lm_role;
typedef enum lm_group { LM_ATTENTION, LM_CROSS, LM_DENSE, LM_ROUTED, LM_SHARED } lm_group;

/* From the name after the block's number; `wide`: its input is as wide as the model, `back`: its output is. */
lm_role lm_role_of(const char *within, int32_t rank, bool wide, bool back);
/* LM_CROSS: attention of a decoder to what its encoder has read. LM_DENSE also for the norms around it. */
lm_group lm_group_of(const char *within);
/* What products of attention are called: words for lm_has_word. Latent: keys and values together, of low rank (MLA). */
extern const char lm_queries[], lm_keys[], lm_values[], lm_latent[], lm_fused[];
/* Of an architecture whose files state a window alone: one block of so many looks back to the beginning, by GGUF's name
 * or that of Hugging Face; 0: all have the window. */
int64_t lm_window_period(const char *architecture);
/* Whether `within` has one of the words: a list with a space before and after each; a word is bounded by . _ or an end.
 */
bool lm_has_word(const char *within, const char *words);

#endif
