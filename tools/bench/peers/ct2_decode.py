#!/usr/bin/env python3
"""CTranslate2 decodes random sentences to a fixed length with random weights; the peer of `attnlab bench decode`."""
import argparse
import json
import statistics
import tempfile
import time

import ctranslate2
import numpy
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import Activation

SPECIAL = ["<unk>", "<s>", "</s>"]


class Weights:
    """Random weights in the places of a CTranslate2 model."""

    def __init__(self, options):
        self.options, self.random = options, numpy.random.default_rng(0)

    def matrix(self, rows, columns):
        return (self.random.standard_normal((rows, columns)) / columns**0.5).astype(numpy.float32)

    def linear(self, place, rows, columns):
        place.weight, place.bias = self.matrix(rows, columns), numpy.zeros(rows, numpy.float32)

    def norm(self, place):
        place.gamma = numpy.ones(self.options.d, numpy.float32)
        place.beta = numpy.zeros(self.options.d, numpy.float32)

    def attention(self, place, shapes):
        self.norm(place.layer_norm)
        for linear, rows in zip(place.linear, shapes):
            self.linear(linear, rows * self.options.d, self.options.d)

    def model(self):
        options = self.options
        spec = TransformerSpec.from_config(options.layers, options.heads, pre_norm=True, activation=Activation.RELU)
        table = self.matrix(options.vocab, options.d)
        spec.encoder.embeddings[0].weight = table
        spec.decoder.embeddings.weight = table.copy()
        for side in (spec.encoder, spec.decoder):
            side.scale_embeddings = True
            side.position_encodings.encodings = numpy.zeros((256, options.d), numpy.float32)
            self.norm(side.layer_norm)
            for layer in side.layer:
                self.attention(layer.self_attention, [3, 1])
                if side is spec.decoder:
                    self.attention(layer.attention, [1, 2, 1])
                self.norm(layer.ffn.layer_norm)
                self.linear(layer.ffn.linear_0, options.ff, options.d)
                self.linear(layer.ffn.linear_1, options.d, options.ff)
        self.linear(spec.decoder.projection, options.vocab, options.d)
        spec.decoder.projection.weight = table.copy()
        return spec


def main():
    parser = argparse.ArgumentParser()
    for name, default in [("layers", 3), ("d", 256), ("heads", 4), ("ff", 1024), ("vocab", 8000), ("sentences", 256),
                          ("source-length", 16), ("target-length", 16), ("batch", 64), ("beam", 5), ("threads", 2),
                          ("repeat", 5)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--compute-type", default="float32")
    options = parser.parse_args()
    words = [f"w{i}" for i in range(options.vocab - len(SPECIAL))]
    spec = Weights(options).model()
    spec.register_source_vocabulary(SPECIAL + words)
    spec.register_target_vocabulary(SPECIAL + words)
    spec.config.add_source_eos = True
    random = numpy.random.default_rng(1)
    sources = [[words[i] for i in random.integers(0, len(words), options.source_length)]
               for _ in range(options.sentences)]
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        spec.validate()
        spec.save(folder)
        translator = ctranslate2.Translator(folder, device="cpu", intra_threads=options.threads,
                                            compute_type=options.compute_type)
        for _ in range(1 + options.repeat):
            start = time.perf_counter()
            results = translator.translate_batch(
                sources, max_batch_size=options.batch, beam_size=options.beam,
                min_decoding_length=options.target_length, max_decoding_length=options.target_length)
            seconds.append(time.perf_counter() - start)
    seconds = seconds[1:]
    written = sum(len(result.hypotheses[0]) for result in results)
    median = statistics.median(seconds)
    print(json.dumps({"peer": f"ctranslate2 {ctranslate2.__version__}", **vars(options), "median_s": median,
                      "min_s": min(seconds), "max_s": max(seconds), "target_tokens": written,
                      "tokens_per_s": round(written / median)}))


if __name__ == "__main__":
    main()
