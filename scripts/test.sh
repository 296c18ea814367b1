#!/usr/bin/env bash
# Runs every check of the project. Installs what it needs on Debian and Ubuntu:
# a software Vulkan driver and a virtual X server, so that what is drawn is
# tested on machines without a graphics card too.
set -euo pipefail
cd "$(dirname "$0")/.."

export RUST_BACKTRACE=${RUST_BACKTRACE:-0}
if [ "${CI:-}" = true ]; then
    # A fresh clone should not build Bevy again.
    export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/bevy_erode/target}
fi
target=${CARGO_TARGET_DIR:-target}

# Names and seconds of the steps, for the table at the end.
steps=()
seconds=()
current=
began=0

finish_step() {
    [ -z "$current" ] && return
    steps+=("$current")
    seconds+=($((SECONDS - began)))
    current=
}

step() {
    finish_step
    current=$1
    began=$SECONDS
    printf '\n== %s (%d s so far)\n' "$current" "$SECONDS"
}

# Prints the table, after a failure too: its last line is then the step that failed.
pictures=$(mktemp -d)
at_exit() {
    local code=$?
    finish_step
    printf '\n%7s  step\n' seconds
    for i in "${!steps[@]}"; do
        printf '%7d  %s\n' "${seconds[i]}" "${steps[i]}"
    done
    printf '%7d  in all\n' "$SECONDS"
    rm -rf "$pictures"
    exit "$code"
}
trap at_exit EXIT

install_packages() {
    local missing=()
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    command -v xvfb-run >/dev/null || missing+=(xvfb xauth)
    command -v xdotool >/dev/null || missing+=(xdotool)
    compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null || missing+=(mesa-vulkan-drivers)
    ldconfig -p 2>/dev/null | grep -q libvulkan.so.1 || missing+=(libvulkan1)
    # winit opens these at run time.
    ldconfig -p 2>/dev/null | grep -q libxkbcommon-x11.so.0 || missing+=(libxkbcommon-x11-0)
    ldconfig -p 2>/dev/null | grep -q libX11-xcb.so.1 || missing+=(libx11-xcb1)
    ldconfig -p 2>/dev/null | grep -q libXcursor.so.1 || missing+=(libxcursor1)
    ldconfig -p 2>/dev/null | grep -q libXi.so.6 || missing+=(libxi6)
    ldconfig -p 2>/dev/null | grep -q libXrandr.so.2 || missing+=(libxrandr2)
    [ ${#missing[@]} -eq 0 ] && return
    if ! command -v apt-get >/dev/null; then
        echo "please install: ${missing[*]} (or what your system calls them)" >&2
        return
    fi
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends \
        "${missing[@]}"
}

step "packages"
install_packages
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$(mktemp -d)}

step "format"
cargo fmt --all --check

# All members together (`--workspace`) give one set of features, so Bevy is built
# once for examples and tests. The main command builds without what members add:
# that set is only checked.
step "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo clippy --examples --locked -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --lib --no-deps --locked \
    --features gpu,picking,egui,io,avian,rapier

step "each feature builds alone"
# `--lib` leaves out dev-dependencies, which would turn features on again.
for features in "" render gpu picking egui serialize io cli avian rapier; do
    echo "features: ${features:-none}"
    cargo clippy --lib --locked --no-default-features --features "$features" -- -D warnings
done

cargo clippy --bin erode --locked --no-default-features --features cli -- -D warnings

step "examples"
cargo build --workspace --examples --locked
for example in droplets sandbox float colliders loading_screen river_network; do
    # As a newcomer without a display: drawn by whatever adapter there is.
    env -u DISPLAY "$target/debug/examples/$example" --headless --seconds 0.5 --size 320x180 \
        --out "$pictures/$example"
    test -s "$pictures/$example/start.png"
    test -s "$pictures/$example/end.png"
done
# Bodies roll for a while on ground that is dug, flooded and eroded: it fails if
# one falls through.
env -u DISPLAY VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent \
    "$target/debug/examples/colliders" --seconds 15 --out "$pictures/rolling"
# The same on the GPU's path, by whatever adapter there is.
env -u DISPLAY "$target/debug/examples/huge" --headless --cells 128 --seconds 0.3 --size 320x180 \
    --out "$pictures/huge" | tee "$pictures/huge.log"
test -s "$pictures/huge/end.png"
grep -q "erosion runs on" "$pictures/huge.log"
# The game is lost by doing nothing, and can be won.
for how in "" --autoplay; do
    env -u DISPLAY "$target/debug/examples/god_game" --headless $how --size 160x90 \
        --out "$pictures/god_game" | tee "$pictures/god_game$how.log"
done
grep -q "Lost: " "$pictures/god_game.log"
grep -q "Won: " "$pictures/god_game--autoplay.log"
# A server without default features computes the same bits on any threads and
# frames, and when it goes on from a save.
cargo build -p headless_server -p cli_tests --bins --locked
server=$target/debug/headless_server
"$server" --steps 2000 --threads 1 --frame-ms 20 >"$pictures/one"
"$server" --steps 2000 --threads 4 --frame-ms 77 >"$pictures/four"
"$server" --steps 1620 --save "$pictures/land.erode" >/dev/null
"$server" --steps 2000 --load "$pictures/land.erode" >"$pictures/loaded"
cat "$pictures/one"
diff "$pictures/one" "$pictures/four"
diff <(tail -n 2 "$pictures/one") <(tail -n 2 "$pictures/loaded")
# The baker, without renderer too.
erode=$target/debug/headless_erode
"$erode" generate ridged --size 256x256 --out "$pictures/land.png" --quiet
env -u DISPLAY "$erode" "$pictures/land.png" --model droplets --droplets 20000 --model thermal \
    --seconds 2 --out "$pictures/aged.png" --masks "$pictures/masks" \
    --preview "$pictures/aged_view.png" --json >"$pictures/bake.json"
grep -q state_hash "$pictures/bake.json"
test -s "$pictures/aged.png"
test -s "$pictures/masks/wear.png"
test -s "$pictures/aged_view.png"
"$erode" rivers "$pictures/aged.png" --out "$pictures/rivers.geojson" --fields "$pictures/fields" \
    --preview "$pictures/rivers.png"
test -s "$pictures/rivers.geojson"
test -s "$pictures/fields/basin.png"
test -s "$pictures/rivers.png"
# Every scene opens, and an unknown name is refused.
scenes=$("$target/debug/examples/sandbox" --list-scenes | grep '^[^ ]')
for scene in $scenes; do
    env -u DISPLAY VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent \
        "$target/debug/examples/sandbox" --scene "$scene" --seconds 0.5 --out "$pictures/$scene"
    test -s "$pictures/$scene/end.png"
done
if "$target/debug/examples/sandbox" --scene none_of_these 2>/dev/null; then
    echo "the sandbox opened a scene that is not there" >&2
    exit 1
fi
# Without any adapter the main example still simulates and writes reliefs.
env -u DISPLAY VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent \
    "$target/debug/examples/sandbox" --seconds 0.5 --cells 128 --out "$pictures/relief"
test -s "$pictures/relief/end.png"
# With a display it opens its window and stays there until it is closed.
if command -v xvfb-run >/dev/null; then
    code=0
    timeout 30 xvfb-run -a "$target/debug/examples/sandbox" --cells 128 --size 480x270 || code=$?
    if [ "$code" -ne 124 ]; then
        echo "the sandbox's window did not stay open: exit code $code" >&2
        exit 1
    fi
    # So does the README's quick start, which has no command line.
    code=0
    timeout 20 xvfb-run -a "$target/debug/examples/minimal" || code=$?
    if [ "$code" -ne 124 ]; then
        echo "the window of minimal did not stay open: exit code $code" >&2
        exit 1
    fi
fi

step "tests"
cargo test --workspace --doc --locked
if command -v cargo-nextest >/dev/null; then
    cargo nextest run --workspace --locked --no-fail-fast -E 'not binary(person)'
else
    # All but `person`.
    cargo test --workspace --locked --no-fail-fast --lib --bins --test '[!p]*' --test 'p[!e]*'
fi

step "the sandbox in a window"
# Alone: what is drawn needs all cores.
cargo test --workspace --locked --test person
