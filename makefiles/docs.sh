#!/usr/bin/env bash
# Makes HTML of the manual: all README.md pages, and the reference from the docstrings of the public headers; the latter
# also as manual pages, for man.
# usage: docs.sh [FOLDER]      (default: build/docs of the source tree); the front page is FOLDER/index.html
# Needs pandoc and Python 3. Fails where a page has a dead link.
set -euo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$source/build/docs}
for program in pandoc python3; do
  if ! command -v "$program" > /dev/null; then
    echo "docs: $program is missing; on Debian or Ubuntu: apt-get install $program" >&2
    exit 1
  fi
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$source"

# The pages in the order of the front page's contents, with their names there; then whatever pages there are besides
pages=(README.md) names=(Shellac)
while IFS=$'\t' read -r page name; do
  pages+=("$page") names+=("$name")
done < <(sed -nE 's/^\| \[([^]]+)\]\(([^)]+README\.md)\) \|.*/\2\t\1/p' README.md)
if [ "${#pages[@]}" -lt 2 ]; then
  echo "docs: README.md has no table of contents, lines that begin with | [name](folder/README.md) |" >&2
  exit 1
fi
shopt -s nullglob
for page in */README.md */*/README.md */*/*/README.md; do
  case " ${pages[*]} " in *" $page "*) continue ;; esac
  case $page in build*/* | dist/*) continue ;; esac
  pages+=("$page") names+=("$(sed -n 's/^# *//p;T;q' "$page")")
done

files=$(python3 makefiles/check_pages.py "$source" "${pages[@]}")

mkdir -p "$out/.work"
trap 'rm -rf "$out/.work"' EXIT
headers=(include/shellac.h include/shellac/*.h include/shellac/*.hpp)
python3 makefiles/reference.py "${headers[@]}" > "$out/.work/reference.md"
python3 makefiles/reference.py -man "$out/man" "${headers[@]}"
# the C++ interface explains itself
{
  echo "# shellac/stencil.hpp" && echo && echo '```cpp' && cat include/shellac/stencil.hpp && echo '```'
} > "$out/.work/stencil.md"

# Links from page to page: a README.md or its folder becomes that folder's index.html, a header its part of the reference.
cat > "$out/.work/links.lua" << 'LUA'
function Link(link)
  if link.target:match("^%a+:") or link.target:match("^#") then return nil end
  link.target = link.target:gsub("README%.md", "index.html"):gsub("/$", "/index.html")
  return link
end
LUA

# html PAGE TITLE FROM: writes the page below $out, with the navigation that suits its folder
html() {
  local page=$1 title=$2 from=$3 up i target name current
  up=$(tr -cd / <<< "$page" | sed 's,/,../,g')
  {
    echo '<nav><input id="search" type="search" placeholder="Search" aria-label="Search the manual"><ul id="found"></ul><ul>'
    for i in "${!names[@]}"; do
      target=${pages[$i]%README.md} name=${names[$i]}
      [[ $target == *.html ]] || target+=index.html
      current=
      if [ "$target" = "$page" ]; then current=' class="current"'; fi
      echo "<li><a href=\"$up$target\"$current>$name</a></li>"
    done
    echo '</ul></nav>'
  } > "$out/.work/navigation.html"
  mkdir -p "$(dirname "$out/$page")"
  pandoc -f gfm -t html5 --standalone --template makefiles/docs.html --lua-filter "$out/.work/links.lua" \
    -M "title=$title" -V "up=$up" --include-before-body "$out/.work/navigation.html" "${@:4}" -o "$out/$page" "$from"
}

sources=("${pages[@]}" "$out/.work/reference.md" "$out/.work/stencil.md")
pages+=(reference.html stencil.html) names+=("Reference (C)" "Reference (C++)")
for i in "${!pages[@]}"; do
  case ${pages[$i]} in
    reference.html) html reference.html "Reference (C)" "${sources[$i]}" --toc --toc-depth 3 ;;
    stencil.html) html stencil.html "Reference (C++)" "${sources[$i]}" ;;
    *) html "${pages[$i]%README.md}index.html" "${names[$i]}" "${sources[$i]}" ;;
  esac
done
python3 makefiles/search_index.py "$out" > "$out/search.js"

for file in $files; do
  mkdir -p "$(dirname "$out/$file")"
  cp "$file" "$out/$file"
done
echo "${#pages[@]} pages: $out/index.html; man -M $out/man PCSTENCILMG"
