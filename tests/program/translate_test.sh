#!/bin/sh
# attnlab translate and eval on a small run of their own: as many lines out as in, n-best lists, the scores that the run
# itself found, and exit codes.
#     tests/program/translate_test.sh ATTNLAB
set -eu
attnlab=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
exits_with() { # code, then the command
  wanted=$1
  shift
  code=0
  "$@" > out 2> err < in || code=$?
  [ "$code" = "$wanted" ] || fail "$* exits with $code, not $wanted: $(cat err)"
}

cat > small.yaml << YAML
name: small
precision: f32
data: {task: {kind: reverse, symbols: 6, max_length: 6, train: 2000, valid: 40, test: 60}}
model: {width: 32, heads: 2, feed_forward: 64, layers: 1, dropout: 0.0}
train: {learning_rate: 5e-3, max_steps: 150, batch_tokens: 512, checkpoint_every: 50, average_last: 2}
decode: {beam: 3}
YAML
"$attnlab" run small.yaml --out run > run.txt 2> run.log

printf '1 2 3\n\n4\n   \n5 5 0 1' > in
exits_with 0 "$attnlab" translate run
[ "$(wc -l < out)" = 5 ] || fail "5 lines in, other than 5 out"
[ -z "$(sed -n 2p out)$(sed -n 4p out)" ] || fail "an empty line gives no empty line"
[ -n "$(sed -n 5p out)" ] || fail "the last line, without an end, was lost"

exits_with 0 "$attnlab" translate run --beam 4 --n-best 2
cut -d' ' -f1 out | tr '\n' ' ' | grep -qx '0 0 1 2 2 3 4 4 ' || fail "n-best indices: $(cut -d' ' -f1 out | tr '\n' ' ')"
grep -qE '^0 \|\|\| [0-9 ]* \|\|\| -[0-9.]+$' out || fail "n-best lines: $(head -1 out)"

exits_with 0 "$attnlab" translate run --sample --seed 4
cp out first
exits_with 0 "$attnlab" translate run --sample --seed 4
cmp -s out first || fail "a seed gives other samples the second time"

# What the run wrote for its test set, eval decodes again, and finds the same score.
exits_with 0 "$attnlab" eval run --json --outputs again
cmp -s again/test.txt run/outputs/test.txt || fail "eval decodes otherwise than the run did"
score=$(sed -n 's/.*"exact_match": \([0-9.]*\).*/\1/p' out)
grep -q "\"test_exact_match\": $score\b" run/result.json || fail "eval says $score, result.json: $(cat run/result.json)"
exits_with 0 "$attnlab" eval run/checkpoints/last --split valid --beam 1
grep -q perplexity out || fail "no perplexity in the table"

exits_with 2 "$attnlab" eval run --split nothing
exits_with 2 "$attnlab" translate run --n-best 9
grep -q -e '--n-best 9: .* 3 .*--beam 9' err || fail "the message does not say what to do: $(cat err)"
exits_with 2 "$attnlab" translate run --beam 2 --n-best 3
exits_with 0 "$attnlab" translate run --sample --n-best 4
exits_with 2 "$attnlab" translate run --sample --top-p 1.5
grep -q -e '--top-p' err || fail "the message does not name the flag: $(cat err)"
exits_with 2 "$attnlab" translate run --sample --temperature -1
exits_with 2 "$attnlab" translate run --set decode.baem=2
exits_with 1 "$attnlab" translate nothing
printf 'a\0b\n' > in
exits_with 3 "$attnlab" translate run
printf '1\n\377\n' > in
exits_with 3 "$attnlab" translate run
grep -q 'stdin:2' err || fail "the message does not name the line: $(cat err)"
: > in
exits_with 0 "$attnlab" translate run
[ ! -s out ] || fail "nothing in, something out"
truncate -s 64 run/checkpoints/*/model.safetensors
exits_with 1 "$attnlab" translate run
echo "translate and eval keep their contract"
