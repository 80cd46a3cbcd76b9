/* dump_platform NAME_OR_FILE: prints the platform file that situ writes for it; exit code 1 when it is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "platform/platform_sources.h"

int main(int argc, char **argv) {
  situ_platform *platform;
  situ_error error;
  if (argc != 2) return 2;
  if (situ_platform_read(&platform, argv[1], &error) != SITU_STATUS_OK) {
    fprintf(stderr, "%s: %s\n", error.where, error.text);
    return 1;
  }
  json_value *tree = platform_to_json(platform, true);
  char *text = json_print(tree, 2);
  if (text) puts(text);
  json_free(tree);
  situ_platform_free(platform);
  free(text);
  return text ? 0 : 2;
}
