/* lab/own.h - what is freed at the end of its block, the last first, as in OWN(lab) l = lab_new(); */
#ifndef SITU_LAB_OWN_H
#define SITU_LAB_OWN_H

#define OWN(T) __attribute__((cleanup(T##_drop), unused)) T

/* Of T, held by a pointer, that T_free frees. */
#define OWNED(T)         \
  typedef struct T T;    \
  void T##_free(T *one); \
  static inline void T##_drop(T **one) { T##_free(*one); }

OWNED(arena)
OWNED(situ_comparison)
OWNED(situ_costs)
OWNED(situ_explanation)
OWNED(situ_front)
OWNED(situ_graph)
OWNED(situ_graph_builder)
OWNED(situ_instance)
OWNED(situ_model)
OWNED(situ_plan)
OWNED(situ_platform)
OWNED(situ_problem)
OWNED(situ_verdict)

#endif
