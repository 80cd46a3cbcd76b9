/* Windows 7 and later, by MinGW-w64: files, time, the machine. Names go to the system as UTF-16, so that the code page
 * of the program does not matter. */
#define _WIN32_WINNT 0x0601
#define WIN32_LEAN_AND_MEAN
#include "base/os.h"

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include "base/os_wide.h"

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, MAX_PIECE = 1 << 30 };

/* ---- names and errors ---- */

/* What the system says last, as errno; returns false. */
static bool failed(void) {
  static const struct {
    DWORD theirs;
    int ours;
  } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},    {ERROR_PATH_NOT_FOUND, ENOENT},   {ERROR_INVALID_NAME, ENOENT},
               {ERROR_BAD_NETPATH, ENOENT},       {ERROR_ACCESS_DENIED, EACCES},    {ERROR_SHARING_VIOLATION, EACCES},
               {ERROR_FILE_EXISTS, EEXIST},       {ERROR_ALREADY_EXISTS, EEXIST},   {ERROR_DISK_FULL, ENOSPC},
               {ERROR_NOT_ENOUGH_MEMORY, ENOMEM}, {ERROR_COMMITMENT_LIMIT, ENOMEM}, {ERROR_WRITE_PROTECT, EROFS}};
  DWORD last = GetLastError();
  errno = EIO;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k].theirs == last) errno = known[k].ours;
  return false;
}

/* A file or folder that exists; INVALID_HANDLE_VALUE. */
static HANDLE open_path(const char *path, DWORD access, DWORD sharing) {
  wchar_t *name = os_wide(path);
  HANDLE h = name ? CreateFileW(name, access, sharing, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
                  : INVALID_HANDLE_VALUE;
  if (name && h == INVALID_HANDLE_VALUE) failed();
  free(name);
  return h;
}

static int as_handle(HANDLE h, int flags) {
  int handle = h == INVALID_HANDLE_VALUE ? -1 : _open_osfhandle((intptr_t)h, flags | _O_BINARY | _O_NOINHERIT);
  if (h != INVALID_HANDLE_VALUE && handle < 0) CloseHandle(h);
  return handle;
}

/* ---- files ---- */

static os_about about(HANDLE h) {
  BY_HANDLE_FILE_INFORMATION is;
  if (h == INVALID_HANDLE_VALUE) return (os_about){0};
  if (GetFileType(h) != FILE_TYPE_DISK || !GetFileInformationByHandle(h, &is)) return (os_about){OS_SPECIAL, 0};
  if (is.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) return (os_about){OS_FOLDER, 0};
  return (os_about){OS_FILE, (int64_t)is.nFileSizeHigh << 32 | is.nFileSizeLow};
}

os_about os_look(const char *path) {
  HANDLE h = open_path(path, 0, SHARE_ALL);
  os_about is = about(h);
  if (h != INVALID_HANDLE_VALUE) CloseHandle(h);
  return is;
}

os_about os_look_at(int handle) { return about((HANDLE)_get_osfhandle(handle)); }

bool os_is_same(const char *path, const char *other) {
  BY_HANDLE_FILE_INFORMATION a, b;
  HANDLE one = open_path(path, 0, SHARE_ALL), two = open_path(other, 0, SHARE_ALL);
  bool same = one != INVALID_HANDLE_VALUE && two != INVALID_HANDLE_VALUE && GetFileInformationByHandle(one, &a) &&
              GetFileInformationByHandle(two, &b) && a.dwVolumeSerialNumber == b.dwVolumeSerialNumber &&
              a.nFileIndexHigh == b.nFileIndexHigh && a.nFileIndexLow == b.nFileIndexLow;
  if (one != INVALID_HANDLE_VALUE) CloseHandle(one);
  if (two != INVALID_HANDLE_VALUE) CloseHandle(two);
  return same;
}

/* Nobody may write to it meanwhile, for os_view_new maps it. */
int os_open(const char *path) {
  return as_handle(open_path(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE), _O_RDONLY);
}

int os_create(const char *path) {
  wchar_t *name = os_wide(path);
  enum { FLAGS = _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT };
  int handle = name ? _wopen(name, FLAGS, _S_IREAD | _S_IWRITE) : -1;
  free(name);
  return handle;
}

int os_open_existing(const char *path, bool waits) {
  return as_handle(open_path(path, GENERIC_WRITE, SHARE_ALL), _O_WRONLY);
}

bool os_close(int handle) { return _close(handle) == 0; }

/* From a pipe only what is there. */
ptrdiff_t os_read(int handle, void *into, size_t n) {
  HANDLE h = (HANDLE)_get_osfhandle(handle);
  DWORD there = 0;
  if (GetFileType(h) == FILE_TYPE_PIPE) {
    if (!PeekNamedPipe(h, NULL, 0, NULL, &there, NULL)) return 0;
    errno = EAGAIN;
    if (there == 0) return -1;
  }
  return _read(handle, into, (unsigned)(n < MAX_PIECE ? n : MAX_PIECE));
}

ptrdiff_t os_write(int handle, const void *bytes, size_t n) {
  return _write(handle, bytes, (unsigned)(n < MAX_PIECE ? n : MAX_PIECE));
}

bool os_flush(int handle) { return _commit(handle) == 0; }

bool os_rename(const char *from, const char *to) {
  wchar_t *before = os_wide(from), *after = os_wide(to);
  bool moved = before && after && (MoveFileExW(before, after, MOVEFILE_REPLACE_EXISTING) || failed());
  free(before);
  free(after);
  return moved;
}

static bool on_path(int (*call)(const wchar_t *), const char *path) {
  wchar_t *name = os_wide(path);
  bool good = name && call(name) == 0;
  free(name);
  return good;
}

bool os_remove(const char *path) { return on_path(_wunlink, path); }

bool os_make_folder(const char *path) { return on_path(_wmkdir, path); }

bool os_remove_folder(const char *path) { return on_path(_wrmdir, path); }

/* The next name that may be free; false when all were tried. */
static bool name_temporary(char *into, size_t n, const char *prefix, int number) {
  wchar_t folder[MAX_PATH + 1];
  char *name = GetTempPathW(MAX_PATH + 1, folder) > 0 ? os_narrow(folder) : NULL;
  bool fits = name && snprintf(into, n, "%s%s%d-%d", name, prefix, _getpid(), number) < (int)n;
  free(name);
  return fits && number < 10000;
}

bool os_temporary_folder(char *into, size_t n, const char *prefix) {
  for (int k = 0; name_temporary(into, n, prefix, k); k++) {
    if (os_make_folder(into)) return true;
    if (errno != EEXIST) break;
  }
  *into = '\0';
  return false;
}

int os_temporary_file(char *into, size_t n, const char *prefix) {
  for (int k = 0; name_temporary(into, n, prefix, k); k++) {
    int handle = os_create(into);
    if (handle >= 0) return handle;
    if (errno != EEXIST) break;
  }
  *into = '\0';
  return -1;
}

struct os_folder {
  HANDLE search;
  WIN32_FIND_DATAW found;
  bool more;
  char name[4 * MAX_PATH];
};

os_folder *os_folder_open(const char *path) {
  os_folder *folder = calloc(1, sizeof *folder);
  size_t n = strlen(path) + 3;
  char *all = malloc(n);
  if (all) snprintf(all, n, "%s/*", path);
  wchar_t *name = all ? os_wide(all) : NULL;
  if (folder) folder->search = name ? FindFirstFileW(name, &folder->found) : INVALID_HANDLE_VALUE;
  free(name);
  free(all);
  if (folder) folder->more = folder->search != INVALID_HANDLE_VALUE;
  if (folder && folder->more) return folder;
  free(folder);
  failed();
  return NULL;
}

const char *os_folder_next(os_folder *folder) {
  if (!folder || !folder->more) return NULL;
  char *name = os_narrow(folder->found.cFileName);
  snprintf(folder->name, sizeof folder->name, "%s", name ? name : "");
  free(name);
  folder->more = FindNextFileW(folder->search, &folder->found);
  return folder->name;
}

void os_folder_close(os_folder *folder) {
  if (folder) FindClose(folder->search);
  free(folder);
}

char *os_real_path(const char *path) {
  HANDLE h = open_path(path, 0, SHARE_ALL);
  wchar_t name[4096];
  if (h == INVALID_HANDLE_VALUE) return NULL;
  DWORD n = GetFinalPathNameByHandleW(h, name, sizeof name / sizeof *name, FILE_NAME_NORMALIZED);
  CloseHandle(h);
  if (n == 0 || n >= sizeof name / sizeof *name) return failed() ? NULL : NULL;
  return os_narrow(wcsncmp(name, L"\\\\?\\", 4) == 0 && name[5] == L':' ? name + 4 : name);
}

static bool is_drive(const char *path) { return *path && path[1] == ':'; }

bool os_is_absolute(const char *path) {
  const char *at = is_drive(path) ? path + 2 : path;
  return *at == '/' || *at == '\\';
}

const char *os_last_slash(const char *path) {
  for (const char *at = path + strlen(path); at > path; at--)
    if (at[-1] == '/' || at[-1] == '\\' || (at - path == 2 && is_drive(path))) return at - 1;
  return NULL;
}

char os_path_separator(void) { return ';'; }

/* The file itself, which nobody can shorten while it is mapped. */
void *os_view_new(int handle, size_t bytes) {
  HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(handle), NULL, PAGE_READONLY, 0, 0, NULL);
  void *view = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes) : NULL;
  if (!view) failed();
  if (mapping) CloseHandle(mapping);
  return view;
}

ptrdiff_t os_view_read(int handle, void *into, size_t n, size_t at) { return (ptrdiff_t)n; }

void os_view_free(void *view, size_t bytes) { UnmapViewOfFile(view); }

/* ---- memory, time, threads ---- */

void *os_shared_new(size_t bytes) { return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

void os_shared_free(void *memory, size_t bytes) {
  if (memory) VirtualFree(memory, 0, MEM_RELEASE);
}

int64_t os_now_ns(void) {
  static const int64_t SECOND_NS = 1000000000;
  LARGE_INTEGER count, rate;
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&rate);
  return count.QuadPart / rate.QuadPart * SECOND_NS + count.QuadPart % rate.QuadPart * SECOND_NS / rate.QuadPart;
}

/* The times of threads come in steps of 16 ms. */
int64_t os_thread_time_ns(void) { return os_now_ns(); }

void os_nap(int64_t ns) { Sleep((DWORD)((ns + 999999) / 1000000)); }

/* The C library searches byte by byte. */
void os_read_through(const void *bytes, size_t n) {
  const uint64_t *at = bytes;
  uint64_t sum[16] = {0};
  for (size_t k = 0; k + 16 <= n / sizeof *at; k += 16)
    for (int lane = 0; lane < 16; lane++) sum[lane] ^= at[k + lane];
  volatile uint64_t read = sum[0];
  for (int lane = 1; lane < 16; lane++) read = read ^ sum[lane];
}

int os_nap_slack(int slack_ns) { return slack_ns; }

void os_condition_new(pthread_cond_t *out) { pthread_cond_init(out, NULL); }

void os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t max_ns) {
  struct timespec max = {.tv_sec = max_ns / 1000000000, .tv_nsec = (long)(max_ns % 1000000000)};
  pthread_cond_timedwait_relative_np(condition, lock, &max);
}

void os_signals_hold(os_signals *before) {}

void os_signals_release(const os_signals *before) {}

bool os_locale_enter(void **own, void **before) {
  if (strcmp(localeconv()->decimal_point, ".") == 0) return false;
  *own = (void *)(intptr_t)_configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
  *before = _strdup(setlocale(LC_NUMERIC, NULL));
  setlocale(LC_NUMERIC, "C");
  return true;
}

void os_locale_leave(void *own, void *before) {
  if (before) setlocale(LC_NUMERIC, before);
  free(before);
  _configthreadlocale((int)(intptr_t)own);
}

const char *os_signal_name(int number) { return "a signal"; }

/* ---- the machine ---- */

int os_cores(void) {
  uint64_t word = 0;
  os_affinity(&word, sizeof word);
  int n = (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return n <= 64 && word ? __builtin_popcountll(word) : n;
}

int64_t os_memory_bytes(void) {
  MEMORYSTATUSEX is = {.dwLength = sizeof is};
  return GlobalMemoryStatusEx(&is) ? (int64_t)is.ullTotalPhys : 0;
}

double os_clock_hz(void) {
  static const char CORE[] = "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";
  DWORD mhz = 0, n = sizeof mhz;
  return RegGetValueA(HKEY_LOCAL_MACHINE, CORE, "~MHz", RRF_RT_REG_DWORD, NULL, &mhz, &n) == 0 ? 1e6 * mhz : 0;
}

void os_machine_id(char *into, size_t n) {}

bool os_affinity(uint64_t *words, size_t bytes) {
  DWORD_PTR own = 0, all = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all)) return false;
  words[0] = own;
  return own != 0;
}

void os_set_affinity(const uint64_t *words, size_t bytes) {
  SetProcessAffinityMask(GetCurrentProcess(), (DWORD_PTR)words[0]);
}

/* ---- shared libraries ---- */

void *os_library_load(const char *path, bool open) {
  wchar_t *name = os_wide(path);
  for (wchar_t *at = name; at && *at; at++)
    if (*at == L'/') *at = L'\\';
  HMODULE library = name ? LoadLibraryExW(name, NULL, os_is_absolute(path) ? LOAD_WITH_ALTERED_SEARCH_PATH : 0) : NULL;
  free(name);
  return library;
}

void *os_library_entry(void *library, const char *name) { return (void *)(intptr_t)GetProcAddress(library, name); }

const char *os_library_error(void) {
  static _Thread_local char text[64];
  snprintf(text, sizeof text, "error %lu of Windows", GetLastError());
  return text;
}

/* ---- regular expressions: the C library has none ---- */

os_pattern *os_pattern_new(const char *extended) {
  errno = ENOSYS;
  return NULL;
}

bool os_pattern_fits(const os_pattern *pattern, const char *text) { return false; }

void os_pattern_free(os_pattern *pattern) {}
