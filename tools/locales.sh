#!/bin/sh
# Makes the locales that tests run under in a folder (build/locales), where LOCPATH finds them: numbers with a comma
# (de_DE), letters whose capitals are others (tr_TR), a decimal sign of two bytes (ps_AF). Without root; nothing of the
# system changes. Does nothing where they are there, or where their sources are not.
set -eu
folder=${1:-build/locales}
command -v localedef >/dev/null 2>&1 && [ -e /usr/share/i18n/locales/de_DE ] || exit 0
mkdir -p "$folder"
for name in de_DE tr_TR ps_AF; do
  [ -d "$folder/$name.UTF-8" ] || localedef -i "$name" -f UTF-8 "$folder/$name.UTF-8" >/dev/null 2>&1 || true
done
