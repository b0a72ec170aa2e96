"""The Transformer that `attnlab bench` measures, as one would write it in PyTorch: pre-norm, tied embeddings, fused
attention. Shared by the peers' scripts."""
import torch
import torch.nn.functional as F
from torch import nn


class Sizes:
    """What fixes a model. `dropout` acts on residuals, attention weights and inside the MLP; `embedding_dropout` on the
    embedded tokens. A language model has a decoder only."""

    def __init__(self, layers, width, heads, feed_forward, vocabulary, dropout, embedding_dropout=0.0,
                 language_model=False, sinusoids=False):
        self.layers, self.width, self.heads, self.feed_forward = layers, width, heads, feed_forward
        self.vocabulary, self.dropout, self.embedding_dropout = vocabulary, dropout, embedding_dropout
        self.language_model, self.sinusoids = language_model, sinusoids


class Attention(nn.Module):
    def __init__(self, sizes, causal):
        super().__init__()
        width = sizes.width
        self.heads, self.rate, self.causal = sizes.heads, sizes.dropout, causal
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def split(self, rows):
        batch, length, width = rows.shape
        return rows.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, rows, memory, visible):
        key, value = self.key_value(memory).chunk(2, dim=-1)
        mixed = F.scaled_dot_product_attention(
            self.split(self.query(rows)), self.split(key), self.split(value), attn_mask=visible,
            is_causal=self.causal, dropout_p=self.rate if self.training else 0.0)
        return self.output(mixed.transpose(1, 2).reshape(rows.shape))


class Layer(nn.Module):
    def __init__(self, sizes, causal, cross):
        super().__init__()
        width = sizes.width
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if cross else 2))
        self.self_attention = Attention(sizes, causal)
        self.cross_attention = Attention(sizes, False) if cross else None
        activation = nn.GELU(approximate="tanh") if sizes.language_model else nn.ReLU()
        self.mlp = nn.Sequential(nn.Linear(width, sizes.feed_forward), activation, nn.Dropout(sizes.dropout),
                                 nn.Linear(sizes.feed_forward, width))
        self.drop = nn.Dropout(sizes.dropout)

    def forward(self, rows, visible=None, memory=None, memory_visible=None):
        normed = self.norms[0](rows)
        rows = rows + self.drop(self.self_attention(normed, normed, visible))
        if self.cross_attention is not None:
            rows = rows + self.drop(self.cross_attention(self.norms[1](rows), memory, memory_visible))
        return rows + self.drop(self.mlp(self.norms[-1](rows)))


def sinusoids(length, width):
    steps = torch.exp(torch.arange(0, width, 2) * (-9.210340371976184 / width))
    angles = torch.arange(length)[:, None] * steps
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class Transformer(nn.Module):
    LONGEST = 1024

    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.width)
        nn.init.normal_(self.embedding.weight, 0.0, sizes.width**-0.5)
        if sizes.sinusoids:
            self.register_buffer("positions", sinusoids(self.LONGEST, sizes.width))
        else:
            self.positions = nn.Parameter(torch.randn(self.LONGEST, sizes.width) * sizes.width**-0.5)
        cross = not sizes.language_model
        self.encoder = nn.ModuleList(Layer(sizes, False, False) for _ in range(sizes.layers if cross else 0))
        self.decoder = nn.ModuleList(Layer(sizes, True, cross) for _ in range(sizes.layers))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(sizes.width), nn.LayerNorm(sizes.width)
        self.drop = nn.Dropout(sizes.embedding_dropout)

    def embed(self, tokens):
        return self.drop(self.embedding(tokens) * self.sizes.width**0.5 + self.positions[: tokens.shape[1]])

    def forward(self, source, target, source_visible=None):
        memory = None
        if len(self.encoder) > 0:
            memory = self.embed(source)
            for layer in self.encoder:
                memory = layer(memory, source_visible)
            memory = self.encoder_norm(memory)
        rows = self.embed(target)
        for layer in self.decoder:
            rows = layer(rows, None, memory, source_visible)
        return F.linear(self.decoder_norm(rows), self.embedding.weight)


class Trainer:
    """One optimiser step, by the usual means. `setting`: eager, fused, compile or compile+fused."""

    def __init__(self, model, setting, bf16, smoothing, padding=-100):
        self.model, self.bf16, self.smoothing, self.padding = model, bf16, smoothing, padding
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused="fused" in setting)
        self.loss = torch.compile(self.loss_of) if "compile" in setting else self.loss_of

    def loss_of(self, source, target, labels, visible):
        logits = self.model(source, target, visible)
        return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=self.padding,
                               label_smoothing=self.smoothing)

    def step(self, source, target, labels, visible=None):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
            loss = self.loss(source, target, labels, visible)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()
