#!/usr/bin/env bash
# Draws the gallery: a small picture of how every scene and some examples end, in
# assets/pictures/gallery, and the table of them in the guide. New scenes are
# taken along. Names on the command line draw only those.
set -euo pipefail
cd "$(dirname "$0")/.."

out=assets/pictures/gallery
page=src/guide/gallery.md
examples=(droplets float colliders god_game)
most=$((150 * 1024))
most_of_all=$((2 * 1024 * 1024))
columns=3

target=${CARGO_TARGET_DIR:-target}/debug/examples
export BEVY_ASSET_ROOT=$PWD
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$(mktemp -d)}
unset DISPLAY

# `colliders` belongs to a member of the workspace.
cargo build --locked --workspace --example sandbox "${examples[@]/#/--example=}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# draw NAME PROGRAM OPTION...
draw() {
    local name=$1
    shift
    if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then
        return
    fi
    "$@" --headless --smooth --palette --size 480x270 --out "$work/$name"
    cp "$work/$name/end.png" "$out/$name.png"
}

wanted=("$@")
"$target/sandbox" --list-scenes >"$work/scenes"
# A scene's name stands at the start of a line, what it shows below it.
mapfile -t scenes < <(grep -v '^ ' "$work/scenes")
for scene in "${scenes[@]}"; do
    draw "$scene" "$target/sandbox" --scene "$scene"
done
for example in "${examples[@]}"; do
    options=()
    [ "$example" = god_game ] && options=(--autoplay)
    draw "$example" "$target/$example" "${options[@]}"
done

# The table in the guide.
cell() {
    [ -f "$out/$1.png" ] && printf '![%s](../../%s/%s.png)<br>`%s`\n' "$2" "$out" "$1" "$3"
}
{
    for scene in "${scenes[@]}"; do
        title=$(grep -A 1 -x "$scene" "$work/scenes" | sed -n '2s/^ *\([^.]*\)\..*/\1/p')
        cell "$scene" "$title" "--scene $scene"
    done
    for example in "${examples[@]}"; do
        option="--example $example"
        [ "$example" = colliders ] && option="-p physics_tests $option"
        cell "$example" "The example $example" "$option"
    done
} >"$work/cells" || true
{
    printf '| %.0s' $(seq "$columns"); echo '|'
    printf '|---%.0s' $(seq "$columns"); echo '|'
    paste -d '|' $(printf -- '- %.0s' $(seq "$columns")) <"$work/cells" | sed 's/^/|/; s/$/|/'
} >"$work/table"
awk -v table="$work/table" '
    /<!-- gallery -->/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
    /<!-- end of gallery -->/ { skip = 0 }
    !skip
' "$page" >"$work/page"
cp "$work/page" "$page"

# Small files: a clone should not be slow for them.
total=0
for picture in "$out"/*.png; do
    size=$(stat -c %s "$picture")
    total=$((total + size))
    if [ "$size" -gt "$most" ]; then
        echo "error: $picture has $size bytes, more than $most" >&2
        exit 1
    fi
done
echo "gallery: $(ls "$out"/*.png | wc -l) pictures, $total bytes"
if [ "$total" -gt "$most_of_all" ]; then
    echo "error: more than $most_of_all bytes in all" >&2
    exit 1
fi
