#!/usr/bin/env bash
# Makes HTML of the manual: all README.md pages, and the reference from the docstrings of the public headers.
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

# The pages in the order of the navigation, with their names there; then whatever pages there are besides
pages=() names=()
add_page() {
  if [ -e "$1" ]; then pages+=("$1") names+=("$2"); fi
}
add_page README.md "Shellac"
add_page examples/README.md "Examples"
add_page src/capture/README.md "Any application, matrix-free"
add_page src/formulas/README.md "Operators"
add_page src/multigrid/README.md "Multigrid"
add_page src/burgers/README.md "Burgers' equation"
add_page src/sums/README.md "Sums over particles"
add_page src/python/README.md "Python"
add_page src/device/README.md "GPUs"
add_page src/options/README.md "Options"
add_page tests/bench/README.md "Figures"
add_page src/README.md "Architecture"
shopt -s nullglob
for page in */README.md */*/README.md */*/*/README.md; do
  case " ${pages[*]} " in *" $page "*) continue ;; esac
  case $page in build*/* | dist/*) continue ;; esac
  add_page "$page" "$(sed -n 's/^# *//p;T;q' "$page")"
done

files=$(python3 makefiles/check_pages.py "$source" "${pages[@]}")

mkdir -p "$out/.work"
trap 'rm -rf "$out/.work"' EXIT
python3 makefiles/reference.py include/shellac.h include/shellac/*.h include/shellac/*.hpp > "$out/.work/reference.md"

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
    echo '<nav><ul>'
    for i in "${!pages[@]}" reference; do
      if [ "$i" = reference ]; then target=reference.html name=Reference; else target=${pages[$i]%README.md}index.html name=${names[$i]}; fi
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

for i in "${!pages[@]}"; do
  html "${pages[$i]%README.md}index.html" "${names[$i]}" "${pages[$i]}"
done
html reference.html "Reference" "$out/.work/reference.md" --toc --toc-depth 3

for file in $files; do
  mkdir -p "$(dirname "$out/$file")"
  cp "$file" "$out/$file"
done
echo "$((${#pages[@]} + 1)) pages: $out/index.html"
