/* Patterns against their definition, which is recursive. */
#include "../../lab/test.h"
#include "base/glob.h"

/* A star covers nothing, or one character and what it covers of the rest. */
static bool by_definition(const char *pattern, const char *name) {
  if (!*pattern) return !*name;
  if (*pattern == '*') return by_definition(pattern + 1, name) || (*name && by_definition(pattern, name + 1));
  return *name && (*pattern == '?' || *pattern == *name) && by_definition(pattern + 1, name + 1);
}

/* The word of that number over an alphabet, shortest words first. */
static void word_of(char into[8], int number, const char *letters, int n) {
  int at = 0;
  for (; number > 0; number = (number - 1) / n) into[at++] = letters[(number - 1) % n];
  into[at] = '\0';
}

TEST(all_short_patterns_match_what_their_definition_says) {
  char pattern[8], name[8];
  for (int i = 0; i < 1365; i++)    /* 4^0 + ... + 4^5 patterns */
    for (int j = 0; j < 127; j++) { /* 2^0 + ... + 2^6 names */
      word_of(pattern, i, "ab*?", 4);
      word_of(name, j, "ab", 2);
      if (glob_matches(pattern, name) != by_definition(pattern, name)) fail_msg("%s on %s", pattern, name);
    }
}

TEST(paths_and_brackets_are_plain_characters) {
  assert_true(glob_matches("/model/layers.0/*", "/model/layers.0/attn/MatMul"));
  assert_true(glob_matches("w[0]", "w[0]"));
  assert_false(glob_matches("w[0]", "w0"));
  assert_false(glob_matches("layer0.*", "layer01.add"));
  assert_false(glob_matches("Softmax", "softmax"));
}

TEST_MAIN
