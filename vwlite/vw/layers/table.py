"""The reductions: a row for each, from the bottom of a learner up, as Vowpal Wabbit stacks them.

A row has the class, which is imported only when it is used, and its options, in the format of `vwlite.vw.arguments`.
The first option enables the reduction; without it the others have no effect, unless they have `needs` of their own. A
class without options names the option that enables it; if there is none, its method `enabled` decides. Classes declare
which others they are compatible with.
"""

import re
from typing import NamedTuple

_TABLE = """
bfgs:Bfgs
  bfgs - bool keep | minimise the loss of all data by L-BFGS
  hessian_on - bool | use the curvature of the loss
  mem - int | memory of --bfgs, in steps
  termination - float | stop if the relative decrease of the loss is smaller
  no_bias_regularization - bool quietly:bfgs,conjugate_gradient | the constant is not regularized
  input_feature_regularizer - str only:bfgs,conjugate_gradient | regularization strengths of weights, from a file
  output_feature_regularizer_binary - str quietly:bfgs,conjugate_gradient | where to write the regularization strengths
  output_feature_regularizer_text - str quietly:bfgs,conjugate_gradient | the same as text
bfgs:ConjugateGradient
  conjugate_gradient - bool keep | minimise the loss of all data by conjugate gradients
svrg:Svrg
  svrg - bool keep | stochastic variance-reduced gradients
  stage_size - int | passes between two full gradients
bottoms:Noop
  noop - bool keep | learn nothing
bottoms:Print
  print - bool | print examples instead of learning them
named:GenerateInteractions
baseline:Baseline
  baseline - bool keep | a model of the constant with its own learning rate
  global_only - bool keep | the baseline is the constant alone
  lr_multiplier - float | ratio of the baseline's learning rate to the others
replay:ReplayB
  replay_b - ulong keep 0:off | experience replay with a buffer of N examples
  replay_b_count - ulong 0..MODELS | replays for each example
active:Active
  active - bool keep | active learning: request useful labels
  direct - bool | active learning that requests labels itself
  mellowness - float keep needs:cb_explore_adf&squarecb,cb_explore_adf&regcb,cs_active,active_cover,active | the larger, the fewer labels are requested
  simulation - bool needs:cs_active,active | simulated active learning on labelled data
confidence:Confidence
  confidence - bool keep | also print the confidence of predictions
  confidence_after_training - bool | confidence after learning the example
nn:Nn
  nn - uint keep 0..MODELS | a neural network with N hidden units
  dropout - bool keep | dropout of hidden units
  inpass - bool keep | the network has a direct path from features to output
  meanfield - bool | --dropout without dropping units
  multitask - bool keep | the hidden units are shared
marginal:Marginal
  marginal - str keep | replace features of these namespaces by the mean label
  compete - bool | marginals compete with the features they replace
  decay - float | decay of marginals
  initial_denominator - float | initial value of marginals
  initial_numerator - float | initial value of marginals
  unweighted_marginals - bool | marginals ignore importances
  update_before_learn - bool | update marginals before predicting
autolink:Autolink
  autolink - uint keep 0..MODELS | add powers of the prediction up to N as features
lrq:Lrq
  lrq - list[str] keep | low-rank quadratic features: two namespaces and the rank
  lrqdropout - bool keep | dropout of these features
lrqfa:Lrqfa
  lrqfa - str keep | a factorization machine: namespaces and the rank
stage_poly:StagePoly
  stage_poly - bool keep | find useful monomials
  batch_sz - uint | examples between two selections of monomials
  batch_sz_no_doubling - bool | do not double this number
  sched_exponent - float | exponent of the number of monomials
scorer:ScorerLayer
interact:Interact
  interact - str keep | multiply the features of two namespaces pairwise
bootstrap:Bootstrap
  bootstrap - uint keep 1..MODELS | N models with random importances
  bs_type - str keep of:mean,vote | how to combine predictions: mean or vote
boosting:Boosting
  boosting - int keep 0..MODELS | online boosting of N weak learners
  alg - str keep of:BBM,adaptive,logistic | boosting algorithm: BBM, logistic or adaptive
  gamma - float | edge of a weak learner over chance
binary:Binary
  binary - bool keep | predict -1 or 1 and report the error rate
classweight:ClassWeight
  classweight - list[str] | multiply the importance of classes: CLASS:WEIGHT,...
replay:ReplayM
  replay_m - ulong keep only:oaa 0:off | replay below --oaa
  replay_m_count - ulong 0..MODELS | replays for each example
oaa:Oaa
  oaa - ulong keep 1..MODELS | one against all with N classes
  indexing - uint keep needs:csoaa,oaa | number of the first class: 0 or 1
  oaa_subsample - ulong unshared | learn N random other classes only
  probabilities - bool needs:csoaa_ldf,plt,multilabel_oaa,oaa | predict the probabilities of classes
  scores - bool | predict the scores of classes
csoaa:Csoaa
  csoaa - uint keep 1..MODELS | cost-sensitive one against all with N classes
  cs_absolute_loss - bool | use absolute costs, not differences from the smallest
replay:ReplayC
  replay_c - ulong keep only:csoaa 0:off | replay above --csoaa
  replay_c_count - ulong 0..MODELS | replays for each example
multilabel_oaa:MultilabelOaa
  multilabel_oaa - ulong keep 1..MODELS | multilabel one against all with N classes
ect:Ect
  ect - ulong keep 1..MODELS | error-correcting tournament with N classes
  error - ulong keep 0..1000 | errors that the tournament tolerates
classweight:MulticlassWeight classweight
ldf:Ldf
  csoaa_ldf - str keep of:m,mc,multiline,multiline-classifier | cost-sensitive, one line for each class (multiline): m or mc
  csoaa_rank - bool keep | rank the classes
  ldf_override - str | another kind for --csoaa_ldf
ldf:WapLdf
  wap_ldf - str keep of:m,mc,multiline,multiline-classifier | weighted all pairs, multiline
named:SharedFeatureMerger
top:Top
  top - uint keep | the N lines with the highest scores
named:CountLabel
"""  # noqa: E501


class Reduction(NamedTuple):
    """One row: the class as MODULE:CLASS, the option that enables it ("": none), the lines of its options."""

    place: str
    option: str
    lines: tuple[str, ...]


def _read(row: str) -> Reduction:
    head, *lines = row.split("\n  ")
    place, _, option = head.partition(" ")
    return Reduction(place, lines[0].partition(" ")[0] if lines else option, tuple(lines))


REDUCTIONS = tuple(map(_read, re.split(r"\n(?! )", _TABLE.strip())))
