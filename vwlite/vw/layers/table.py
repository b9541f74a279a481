"""The reductions: a row for each, from the bottom of a learner up, as Vowpal Wabbit stacks them.

A row says where the class is, which is loaded for a run that asks for it, and what options belong to it; how a line of
an option is read stands in `vwlite.vw.arguments`. The first of them asks for the reduction; without it the others mean
nothing, unless they say themselves what they need. A class without options of its own names the one that asks for it;
if there is none, it decides itself whether it is wanted. What else goes with what, each class declares.
"""

import re
from typing import NamedTuple

_TABLE = """
bfgs:Bfgs
  bfgs - bool keep | minimise the loss of all data by L-BFGS
  hessian_on - bool | use the curvature of the loss
  mem - int | steps that --bfgs remembers
  termination - float | stop where the loss falls by less than this part
  no_bias_regularization - bool quietly:bfgs,conjugate_gradient | the constant is not regularized
  input_feature_regularizer - str only:bfgs,conjugate_gradient | strengths of weights, from a file
  output_feature_regularizer_binary - str quietly:bfgs,conjugate_gradient | where to write the strengths of weights
  output_feature_regularizer_text - str quietly:bfgs,conjugate_gradient | the same to be read
bfgs:ConjugateGradient
  conjugate_gradient - bool keep | minimise the loss of all data by conjugate gradients
svrg:Svrg
  svrg - bool keep | stochastic variance-reduced gradients
  stage_size - int | passes between two whole gradients
bottoms:Noop
  noop - bool keep | learn nothing
bottoms:Print
  print - bool | print examples instead of learning them
named:GenerateInteractions
baseline:Baseline
  baseline - bool keep | a model of the constant that learns at a rate of its own
  global_only - bool keep | the baseline is the constant alone
  lr_multiplier - float | the rate of the baseline over that of the others
replay:ReplayB
  replay_b - ulong keep 0:off | learn from a buffer of so many examples, below
  replay_b_count - ulong 0..MODELS | how many of them for each example
active:Active
  active - bool keep | learn from the labels that are worth asking for
  direct - bool | active learning that asks itself
  mellowness - float keep needs:cb_explore_adf&squarecb,cb_explore_adf&regcb,cs_active,active_cover,active | how seldom labels are asked for
  simulation - bool needs:cs_active,active | active learning with labels that are there
confidence:Confidence
  confidence - bool keep | predict how sure a prediction is, too
  confidence_after_training - bool | its confidence after the example was learned
nn:Nn
  nn - uint keep 0..MODELS | a network with so many hidden units
  dropout - bool keep | leave hidden units out at random
  inpass - bool keep | the network has a direct path from features to output
  meanfield - bool | a network for --dropout that leaves nothing out
  multitask - bool keep | the hidden units are shared
marginal:Marginal
  marginal - str keep | replace features of these namespaces by the mean label
  compete - bool | marginals compete with the features they replace
  decay - float | how fast marginals forget
  initial_denominator - float | with which marginals begin
  initial_numerator - float | with which marginals begin
  unweighted_marginals - bool | importances do not count in marginals
  update_before_learn - bool | marginals learn before they predict
autolink:Autolink
  autolink - uint keep 0..MODELS | powers of the prediction up to this become features
lrq:Lrq
  lrq - list[str] keep | crosses of low rank: two namespaces and the rank
  lrqdropout - bool keep | leave some of them out at random
lrqfa:Lrqfa
  lrqfa - str keep | a factorization machine: namespaces and the rank
stage_poly:StagePoly
  stage_poly - bool keep | find monomials that help
  batch_sz - uint | examples between two choices of monomials
  batch_sz_no_doubling - bool | the number of these examples stays the same
  sched_exponent - float | how many monomials there are
scorer:ScorerLayer
interact:Interact
  interact - str keep | multiply the features of two namespaces one by one
bootstrap:Bootstrap
  bootstrap - uint keep 1..MODELS | so many models, each with random importances
  bs_type - str keep of:mean,vote | how they predict: mean or vote
boosting:Boosting
  boosting - int keep 0..MODELS | online boosting of so many weak learners
  alg - str keep of:BBM,adaptive,logistic | which boosting: BBM, logistic or adaptive
  gamma - float | how much better than chance a weak learner is
binary:Binary
  binary - bool keep | predict -1 or 1 and count wrong ones
classweight:ClassWeight
  classweight - list[str] | multiply the importance of classes: CLASS:WEIGHT,...
replay:ReplayM
  replay_m - ulong keep only:oaa 0:off | the same, below --oaa
  replay_m_count - ulong 0..MODELS | how many of them for each example
oaa:Oaa
  oaa - ulong keep 1..MODELS | one against all, of so many classes
  indexing - uint keep needs:csoaa,oaa | whether classes count from 0 or from 1
  oaa_subsample - ulong apart | learn of so many other classes only
  probabilities - bool needs:csoaa_ldf,plt,multilabel_oaa,oaa | predict the probabilities of classes
  scores - bool | predict the scores of classes
csoaa:Csoaa
  csoaa - uint keep 1..MODELS | a regression of the cost of each of so many classes
  cs_absolute_loss - bool | count whole costs, not what they are above the least
replay:ReplayC
  replay_c - ulong keep only:csoaa 0:off | the same, over --csoaa
  replay_c_count - ulong 0..MODELS | how many of them for each example
multilabel_oaa:MultilabelOaa
  multilabel_oaa - ulong keep 1..MODELS | any of so many classes, each on its own
ect:Ect
  ect - ulong keep 1..MODELS | an error-correcting tournament of so many classes
  error - ulong keep 0..1000 | errors that the tournament survives
classweight:MulticlassWeight classweight
ldf:Ldf
  csoaa_ldf - str keep of:m,mc,multiline,multiline-classifier | the same over examples with a line for each class: m or mc
  csoaa_rank - bool keep | rank the classes instead of choosing one
  ldf_override - str | another kind for --csoaa_ldf
ldf:WapLdf
  wap_ldf - str keep of:m,mc,multiline,multiline-classifier | weighted all pairs over examples of several lines
named:SharedFeatureMerger
top:Top
  top - uint keep | the so many lines with the highest scores
named:CountLabel
"""  # noqa: E501


class Reduction(NamedTuple):
    """One row: the class as MODULE:CLASS, the option that asks for it ("": none), the lines of its options."""

    place: str
    option: str
    lines: tuple[str, ...]


def _read(row: str) -> Reduction:
    head, *lines = row.split("\n  ")
    place, _, option = head.partition(" ")
    return Reduction(place, lines[0].partition(" ")[0] if lines else option, tuple(lines))


REDUCTIONS = tuple(map(_read, re.split(r"\n(?! )", _TABLE.strip())))
