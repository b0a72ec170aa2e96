#!/usr/bin/env bash
# Installs the built tree into a folder, moves that elsewhere, and from there builds a program and a module that know
# nothing of the source tree: consumer_test.sh CMAKE BUILD_FOLDER CONSUMER_FOLDER COMPILER FLAGS
set -euo pipefail
cmake=$1 build=$2 consumer=$3 compiler=$4 flags=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
say() { echo "== $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

say "install, and move what was installed"
"$cmake" --install "$build" --prefix "$folder/first" >/dev/null
mv "$folder/first" "$folder/attnlab"
attnlab=$folder/attnlab/bin/attnlab
"$attnlab" --version

configure() {  # SOURCE BUILD
  "$cmake" -S "$1" -B "$2" -DCMAKE_PREFIX_PATH="$folder/attnlab" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" >"$folder/log" 2>&1 &&
    "$cmake" --build "$2" >>"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "building $1"; }
}

say "a program"
configure "$consumer" "$folder/program"
"$folder/program/consumer"

say "a module of one file"
cd "$folder"
"$attnlab" new attention my_attention --out module
[ "$(wc -l <module/my_attention.cpp)" -le 80 ] || fail "the module has more than 80 lines"
"$attnlab" new attention my_attention --out module && fail "a file was overwritten"
configure module module/build
cp module/build/libmy_attention.so .

say "listed"
"$attnlab" --load ./libmy_attention.so list attention | grep -A1 my_attention
"$attnlab" list attention | grep my_attention && fail "listed without being loaded"

say "configurable from YAML"
cat >good.yaml <<'YAML'
data: {task: {kind: reverse}}
model: {width: 16, heads: 2, feed_forward: 16, layers: 1, attention: {kind: my_attention, sharpness: 0.5}}
train: {max_steps: 3, batch_tokens: 64}
YAML
"$attnlab" --load ./libmy_attention.so config check good.yaml
"$attnlab" --load ./libmy_attention.so config show good.yaml | grep 'sharpness: 0.5'
code=0
"$attnlab" --load ./libmy_attention.so config check good.yaml --set model.attention.sharpnes=1 2>problems || code=$?
cat problems
[ "$code" = 2 ] || fail "a misspelt key gave exit code $code, expected 2"
grep -q sharpness problems || fail "a misspelt key got no near match"
code=0
"$attnlab" config check good.yaml 2>/dev/null || code=$?
[ "$code" = 2 ] || fail "a kind that is not loaded gave exit code $code, expected 2"

say "checked by the property tests"
"$attnlab" --load ./libmy_attention.so check attention my_attention

say "trains"
"$attnlab" --load ./libmy_attention.so run good.yaml --out run >/dev/null

say "a run knows its module"
"$attnlab" eval run --load ./libmy_attention.so 2>same >/dev/null
grep -q "made by other code" same && fail "the same module counts as another one"
printf x >>libmy_attention.so
"$attnlab" eval run --load ./libmy_attention.so 2>other >/dev/null
grep -q "libmy_attention.so is another one" other || fail "a changed module goes unnoticed"
say "done"
