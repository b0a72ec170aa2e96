"""A small body and its pretraining, for tests of what starts from pretrained weights."""

from support import SOURCE

BODY = f"""\
base: {SOURCE}/configs/frozen/body.yaml
precision: f32
model: {{width: 16, layers: 2, heads: 2, feed_forward: 32, positions: {{max_length: 24}}}}
"""
PRETRAIN = """\
base: body.yaml
name: pretrain
data: {task: {kind: made_up_words, block: 20, train: 200, valid: 20, test: 20}}
train: {max_steps: 10, batch_tokens: 200}
"""
