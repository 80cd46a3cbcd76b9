/* attack_trial.h - one question to the library that can be repeated, and the smallest problem that shows a failure. */
#ifndef SITU_ATTACK_TRIAL_H
#define SITU_ATTACK_TRIAL_H

#include <stdio.h>

#include "attack_verify.h"

typedef enum attack_trial_kind { TRIAL_CALL = 0, TRIAL_LAW, TRIAL_FILES, TRIAL_SIMULATE, TRIAL_TOOL } attack_trial_kind;

typedef struct attack_trial {
  attack_trial_kind kind;
  attack_call call;
  int32_t law; /* of attack_laws.c */
} attack_trial;

/* True if nothing is wrong. Fails the same way each time. */
bool trial_run(attack_failure *failure, const attack_problem *p, const attack_trial *trial);
/* Makes a problem that fails smaller, for as long as it fails in the same kind. */
void trial_shrink(attack_problem *p, attack_failure *failure, const attack_trial *trial);

/* Writes a problem as text. */
void problem_print(FILE *f, const attack_problem *p);
/* graph.json, platform.json, costs.json, and rules.json, fix.json where needed, into a folder that exists, with
 * cmd.txt, the call that asks the same; false if something cannot be written. */
bool problem_write(const attack_problem *p, const char *folder, const attack_call *call);
/* Removes such a folder with what calls have left in it. */
void problem_remove(const char *folder);
/* Asks through files and situ_place, as the command line does, then situ_what_if and situ_size; compares with the
 * truth. The files lie in a folder of their own below TMPDIR and go. */
bool verify_files(attack_failure *failure, const attack_problem *p, const attack_call *call);

/* Runs the command line in a folder of its own. */
bool verify_tool(attack_failure *failure, const attack_problem *p, const attack_call *call);
/* Simulates and judges `steps` random placements. */
bool verify_simulated(attack_failure *failure, const attack_problem *p, const attack_call *call);

/* ---- laws ---- */

int32_t laws_count(void);
const char *law_name(int32_t law);
/* Derives from p a problem whose optimum is not above (easier), or not below (harder), as the law says. Both of them
 * may differ from p. False if the law does not concern p. `both`: the optima are equal. */
bool law_derive(int32_t law, const attack_problem *p, attack_problem *easier, attack_problem *harder, bool *both);
/* Solves both sides; no bound of the easier is above a value of the harder. */
bool verify_law(attack_failure *failure, const attack_problem *p, int32_t law, const attack_call *call);

#endif
