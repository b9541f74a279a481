#!/bin/sh
# A stranger's machine: `tests/empty_root.sh ROOT WHEELS DIGESTS`, as root. ROOT is what
#     debootstrap --variant=minbase --include=python3,python3-venv bookworm ROOT
# makes, with --arch=arm64 for ARM, which runs under qemu-user-static. It has no compiler, no make and no git. The first
# two blocks of the README run there, with `vwlite` from the folder WHEELS, and the models of tests/digests.py must be
# those of the file DIGESTS, which `python -P tests/digests.py` of another build wrote.
set -e
root=$1
home=$root/home/stranger
rm -rf "$home"
mkdir -p "$home/vwlite/tests"
cp "$2"/*.whl "$home"
sort "$3" > "$home/digests"
cd "$(dirname "$0")/.."
cp -R README.md data "$home/vwlite"
cp -R tests/digests.py tests/support tests/reference "$home/vwlite/tests"
cp /etc/resolv.conf "$root/etc"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs"
awk '/^```sh$/ { blocks++; on = 1; next } /^```$/ { on = 0 } on && (blocks == 2 || blocks == 3)' README.md > "$home/blocks.sh"
cat > "$home/run.sh" << 'EOF'
set -e
for compiler in cc gcc clang; do ! command -v $compiler; done
cd ~/vwlite
python3 -m venv ~/environment
. ~/environment/bin/activate
sh -ex ~/blocks.sh
vwlite --version
python -P tests/digests.py | sort > ~/made
test "$(wc -l < ~/made)" -gt 50
comm -23 ~/made ~/digests | grep . && exit 1
echo "$(wc -l < ~/made) digests as in the other build"
EOF
chroot "$root" /usr/bin/env -i HOME=/home/stranger PATH=/usr/bin:/bin PIP_FIND_LINKS=/home/stranger \
    PIP_ONLY_BINARY=:all: PIP_DISABLE_PIP_VERSION_CHECK=1 sh /home/stranger/run.sh
