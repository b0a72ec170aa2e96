#include "train/experiment_spec.h"

namespace attnlab {

void TrainSpec::fields(Fields& f) {
  f("learning_rate", learning_rate, above(0), "peak of the schedule; unset: the schedule's own");
  f.kind("optimizer", optimizer, "how gradients move the weights");
  f.kind("schedule", schedule, "learning rate against steps");
  f("max_steps", max_steps, at_least(1), "optimiser steps; overrides max_epochs", "steps");
  f("max_epochs", max_epochs, at_least(1), "passes over the training data", "epochs");
  f("batch_tokens", batch_tokens, at_least(1),
    "target tokens of one optimiser step, at most; with labels of whole examples: labels, one an example in "
    "most tasks",
    "tokens");
  f("accumulate", accumulate, at_least(1),
    "micro-batches that a step's batch is cut into: less memory, same gradient");
  f("clip", clip, at_least(0), "largest norm of the whole gradient; 0: no clipping");
  f("label_smoothing", label_smoothing, between(0, 1, upper_exclusive),
    "share of the target spread over other words");
  f.choice("smoothing_support", smoothing_support,
           {{"vocabulary", SmoothingSupport::vocabulary}, {"others", SmoothingSupport::others}},
           "where the smoothing mass goes: to all words, or to all but the right one");
  f("trainable", which.trainable,
    "what trains: patterns over parameter names, or all, head_only, layernorm_only, fpt, norms, norm_gains, "
    "norm_biases, input, positions, attention, mlp, lstm, adapters, last_attention, "
    "last_mlp");
  f("frozen", which.frozen, "what stays as it is all the same: patterns, or the same words");
  f.section("groups", groups, "parts with learning rates of their own");
  f("log_every", log_every, at_least(1), "steps between log lines", "steps");
  f("validate_every", validate_every, at_least(0), "steps between validations; 0: after each epoch", "steps");
  f("checkpoint_every", checkpoint_every, at_least(0), "steps between checkpoints; 0: after each epoch",
    "steps");
  f("keep_last", keep_last, at_least(1), "latest checkpoints kept");
  f("keep_best", keep_best, at_least(0), "best checkpoints kept");
  f("average_last", average_last, at_least(0),
    "scores use the mean of so many latest checkpoints; 0: the best one");
  f("validation_scores", validation_scores,
    "decode the validation split greedily at each validation and score it");
  f.section("early_stopping", early_stopping, "what is best, and when to stop");
  f.section("divergence", divergence, "what to do when numbers stop being finite");
  f("cache_features", cache_features,
    "where only the head trains: compute what it reads once, without dropout, and keep it in "
    "data.root/cache");
  f("overfit_one_batch", overfit_one_batch,
    "train on the first batch again and again: its loss must reach zero");
  f("find_nan", find_nan, "name the op and module that first made a NaN; slow");
}

void ExpectSpec::fields(Fields& f) {
  f("score", score, "score of the first metric that this config reaches");
  f("within", within, at_least(0), "how far below it a run may stay");
}

void LogSpec::fields(Fields& f) {
  f("tensorboard", tensorboard, "write event files for TensorBoard to tensorboard/ in the run folder");
}

void ExperimentSpec::fields(Fields& f) {
  f("name", name, "of the run; its folder is runs/NAME");
  f("seed", seed, at_least(0), "of initial weights, dropout, data order and generated data");
  f.choice("precision", precision,
           {{"auto", Precision::automatic},
            {"f32", Precision::f32},
            {"bf16", Precision::bf16},
            {"f64", Precision::f64}},
           "element type of activations; auto takes bf16 only where the CPU multiplies it");
  f("deterministic", deterministic,
    "the same bits for any number of threads; every kernel so far keeps this promise, so false changes "
    "nothing");
  f.section("data", data, "what there is to learn");
  f.section("model", model, "the Transformer");
  f.section("train", train, "how it learns");
  f.section("decode", decode, "how it writes");
  f.section("expect", expect, "the score to expect");
  f.section("log", log, "what a run writes for other programs");
}

}  // namespace attnlab
