/* learn/gdp_net.h - the network of gdp: scores of units against devices. docs/theory/learned/gdp.md has the formulas.
 */
#ifndef SITU_LEARN_GDP_NET_H
#define SITU_LEARN_GDP_NET_H

#include "learn/gdp_view.h"
#include "nn/params.h"

enum {
  GDP_WIDTH = 64, /* numbers of a unit's embedding */
  GDP_KIND_WIDTH = 16,
  GDP_HIDDEN = 128,   /* between the two layers of a feed-forward part */
  GDP_SAGES = 2,      /* layers of graph embedding */
  GDP_ATTENTIONS = 2, /* layers of attention */
  GDP_HEADS = 4,
  GDP_SEGMENT = 128,
  GDP_SHORT_SEGMENT = 16,
  GDP_ROUNDS = 3, /* of agreement between neighbours */
  GDP_LATENT = 8  /* numbers drawn for each device in each trial */
};

/* The changes of a variant of the network. They are stored as the columns of a parameter without gradient, which only
 * variants have, so that the file of a variant is not mistaken for a plain policy. */
typedef enum gdp_change {
  GDP_WITHOUT_ATTENTION, /* a layer has only its dense part */
  GDP_WITHOUT_GATE,      /* no superposition */
  GDP_STILL_MEMORY,      /* no gradient flows into the segment before, as published */
  GDP_SHORT_SEGMENTS,    /* of GDP_SHORT_SEGMENT units */
  GDP_RECIPE             /* how many there are */
} gdp_change;

/* The numbers of a dense layer's parameters. */
typedef struct gdp_dense {
  int32_t weight, bias;
} gdp_dense;

typedef struct gdp_norm {
  int32_t gain, shift;
} gdp_norm;

/* The numbers of all parameters. */
typedef struct gdp_net {
  int32_t kinds;
  gdp_dense unit;
  int32_t of_kind;
  struct gdp_sage {
    gdp_dense own, pool_before, pool_after;
    int32_t before, after;
    gdp_norm norm;
  } sage[GDP_SAGES];
  struct gdp_attention {
    int32_t gate;
    gdp_norm gated, middle;
    gdp_dense query, key, value, out, wide, narrow;
  } attention[GDP_ATTENTIONS];
  gdp_norm last;
  gdp_dense device, device_out;
  int32_t of_graph, of_latent, slowness, agree_before, agree_after, recipe; /* recipe: -1 but in a variant */
} gdp_net;

/* Adds the parameters; NULL without memory. The net lives in the arena. */
gdp_net *gdp_net_make(params *p, rng *random, arena *a);

/* Makes the net a variant, or one of one more change. False without memory. */
bool gdp_net_vary(gdp_net *net, params *p, rng *random, gdp_change change);

/* Scores of n_units x (n_draws * n_devices): in draw k, devices are distinguished by latent[(k * n_devices + d) *
 * GDP_LATENT ..]. firmness (NULL: all 1) is, for each column, the factor of the opinion of neighbours. */
nn_var gdp_net_scores(const gdp_net *net, const params *p, tape *t, const gdp_view *view, const nn_real *latent,
                      const nn_real *firmness, int32_t n_draws);

#endif
