#define _WIN32_WINNT 0x0601
#define WIN32_LEAN_AND_MEAN
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h> /* behind the first */

#include "console.h"

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
static UINT code_page;
static wchar_t spooled[MAX_PATH + 1];

static HANDLE handle_of(FILE *file) { return (HANDLE)_get_osfhandle(_fileno(file)); }

/* ---- begin and end ---- */

static void end(void) {
  if (code_page) SetConsoleOutputCP(code_page);
  if (*spooled) _wunlink(spooled);
}

static char *narrow(const wchar_t *wide) {
  int n = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
  char *text = n > 0 ? malloc((size_t)n) : NULL;
  if (text) WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, n, NULL, NULL);
  return text;
}

/* Lines end in one byte, as everywhere; a terminal shows UTF-8 and colours. */
char **console_begin(int argc, char **argv) {
  FILE *const standard[] = {stdin, stdout, stderr};
  int n = 0;
  for (int i = 0; i < 3; i++) _setmode(_fileno(standard[i]), _O_BINARY);
  for (int i = 1; i < 3; i++) {
    DWORD mode = 0;
    if (!GetConsoleMode(handle_of(standard[i]), &mode)) continue;
    SetConsoleMode(handle_of(standard[i]), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    code_page = GetConsoleOutputCP();
    SetConsoleOutputCP(CP_UTF8);
  }
  atexit(end);
  wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &n);
  char **words = wide && n == argc ? calloc((size_t)n + 1, sizeof *words) : NULL;
  for (int i = 0; words && i < n; i++) {
    words[i] = narrow(wide[i]);
    if (!words[i]) words[i] = argv[i];
  }
  LocalFree(wide);
  return words ? words : argv;
}

/* ---- terminals ---- */

bool console_is_terminal(FILE *file) {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(file), &mode) && (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING || file == stdin);
}

int console_width(FILE *file) {
  CONSOLE_SCREEN_BUFFER_INFO is;
  return GetConsoleScreenBufferInfo(handle_of(file), &is) ? is.srWindow.Right - is.srWindow.Left + 1 : 0;
}

bool console_is_unicode(void) { return GetConsoleOutputCP() == CP_UTF8; }

static volatile sig_atomic_t *asked;

static BOOL WINAPI on_control(DWORD event) {
  if (*asked) return FALSE; /* it kills */
  *asked = 1;
  return TRUE;
}

void console_catch(volatile sig_atomic_t *stop_asked) {
  asked = stop_asked;
  SetConsoleCtrlHandler(on_control, TRUE);
}

/* ---- files ---- */

FILE *console_spool(const char **path) {
  wchar_t folder[MAX_PATH + 1];
  if (!GetTempPathW(MAX_PATH - 16, folder) || !GetTempFileNameW(folder, L"sit", 0, spooled)) return NULL;
  *path = narrow(spooled);
  return *path ? _wfopen(spooled, L"wb") : NULL;
}

bool console_spooled(FILE *file) { return fclose(file) == 0; }

static HANDLE open_path(const char *path) {
  int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
  wchar_t *name = n > 0 ? malloc((size_t)n * sizeof *name) : NULL;
  if (!name) return INVALID_HANDLE_VALUE;
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, name, n);
  HANDLE h = CreateFileW(name, 0, SHARE_ALL, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  free(name);
  return h;
}

console_kind console_look(const char *path) {
  BY_HANDLE_FILE_INFORMATION is;
  HANDLE h = open_path(path);
  if (h == INVALID_HANDLE_VALUE) return CONSOLE_ABSENT;
  bool known = GetFileType(h) == FILE_TYPE_DISK && GetFileInformationByHandle(h, &is);
  CloseHandle(h);
  if (!known) return CONSOLE_SPECIAL;
  return is.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? CONSOLE_FOLDER : CONSOLE_FILE;
}

bool console_is_same(const char *path, const char *other) {
  BY_HANDLE_FILE_INFORMATION a, b;
  HANDLE one = open_path(path), two = open_path(other);
  bool same = GetFileInformationByHandle(one, &a) && GetFileInformationByHandle(two, &b) &&
              a.dwVolumeSerialNumber == b.dwVolumeSerialNumber && a.nFileIndexHigh == b.nFileIndexHigh &&
              a.nFileIndexLow == b.nFileIndexLow;
  if (one != INVALID_HANDLE_VALUE) CloseHandle(one);
  if (two != INVALID_HANDLE_VALUE) CloseHandle(two);
  return same;
}
