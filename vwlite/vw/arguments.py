"""Vowpal Wabbit's arguments: what there is, how they are spelled, and its own words for bad ones.

Those of reductions stand in `layers/table.py`.
"""

import os
import re
from dataclasses import dataclass
from typing import Any

from vwlite.vw.layers.table import REDUCTIONS
from vwlite.vw.messages import Critical, Refused

MODELS = 1 << 22  # at most: each takes a step of Python for each example

# name, letter, type, then what is known of it | what it does
#
#   keep              a model keeps it
#   needs:A,B&C       without --A, or --B and --C, it means nothing: Vowpal Wabbit says so, and ignores it
#   quietly:A         the same without a word
#   only:A            refused without --A
#   excludes:A,B      refused with --A or --B
#   loss:L            critical with another loss
#   of:X,Y            the texts that it can be
#   N..M              the numbers that it can be, so that an example comes to its end. 0 models predict nothing; Vowpal
#                     Wabbit crashes for most of these, or does not come back. The plan of --ect takes errors^2 steps
#   0:off             0 is as if it was not given
#   apart             with it the classes of --oaa are models among others, or share something, or weights are asked for
#                     by their keys, so that they cannot lie side by side in the table
_TABLE = """
adaptive - bool keep | rates of their own for features that were seen often
adax - bool | adaptive rates by the features alone, not by their gradients
affix - str keep | make features of prefixes (+2a) and suffixes (-3b) of names
audit a bool apart | print the features of each example with their weights
audit_regressor - str keep apart excludes:audit,final_regressor,predictions,raw_predictions,invert_hash,readable_model | write the names of the weights of a model to a file
bit_precision b uint | bits of the hash, and so of the table of weights
cache c bool | use a cache: FILE.cache beside the data
cache_file - list[str] | use this cache
cb_force_legacy - bool | changes nothing here
chain_hash - bool keep quietly:json | hash the keys and texts of JSON one after the other
check_enabled - bool keep | changes nothing here
coin - bool keep | learn by betting on coins, without a rate
compressed - bool | changes nothing: data are decompressed by themselves
constant C float 0:off apart | the weight with which the constant begins
csv - bool | the data are CSV
csv_header - str quietly:csv | the names of the columns
csv_no_file_header - bool quietly:csv | the first line is no header
csv_ns_value - str quietly:csv | factors of namespaces: NAME:NUMBER,...
csv_separator - str quietly:csv | what separates the columns
cubic - list[str] keep | cross three namespaces by their first letters
data d str | the file to read
decay_learning_rate - float | multiply the rate by this after each pass
dictionary - list[str] keep | features for names, from a file: NAMESPACE:FILE
dictionary_path - list[str] | where to look for dictionaries
dont_output_best_constant - bool | no best constant in the summary
driver_output - str of:stderr,stdout | where rows and summary go: stderr or stdout
driver_output_off - bool | no rows, no summary
dry_run - bool | build everything and read no data
early_terminate - ulong | stop after so many passes without progress
example_queue_limit - long | examples that wait between the threads
examples - long | read so many lines at most
expectile_q - float loss:expectile | q of the expectile loss
feature_limit - list[str] apart | features at most: N, or aN for namespace a
feature_mask - str apart | only weights that are not 0 in this model
fepsilon - float needs:freegrad | the wealth with which FreeGrad begins
final_regressor f str | where to write the model
foreground - bool | changes nothing here
freegrad - bool keep excludes:project,flipschitz_const | FreeGrad, which needs no rate
ftrl - bool keep | proximal FTRL
ftrl_alpha - float needs:ftrl,pistol,coin | alpha of --ftrl, --pistol or --coin
ftrl_beta - float needs:ftrl,pistol,coin | beta of --ftrl, --pistol or --coin
hash - str keep of:all,strings | what to hash: strings or all
hash_seed - uint keep | where hashing begins
help h bool | show this
hexfloat_weights - bool | weights of readable models in hexadecimal
holdout_after - uint | hold out what follows so many lines
holdout_off - bool | hold nothing out
holdout_period - uint | hold out every so many lines
id - str | a text that the model keeps
ignore - list[str] keep | leave these namespaces out
ignore_linear - list[str] keep apart | leave them out, except in interactions
initial_regressor i list[str] | the model to begin with
initial_t - float | with what time learning begins
initial_weight - float 0:off apart | with what all weights begin
interactions - list[str] keep | cross any number of namespaces
invariant - bool keep | steps that do not pass the label
invert_hash - str apart | write the readable model with the names of features
json - bool | the data are JSON, a line for each example
keep - list[str] keep | use only these namespaces
kill_cache k bool | make the cache anew
l1 - float 0:off apart | l1 regularization
l1_state - float | how far weights are drawn to 0 already
l2 - float 0:off apart | l2 regularization
l2_state - float | how much weights have shrunk already
learning_rate l float keep | the learning rate
leave_duplicate_interactions - bool | keep interactions that are there twice
limit_output - ulong | log lines at most
link - str keep of:glf1,identity,logistic,poisson | what the prediction goes through: identity, logistic, glf1, poisson
log_level - str of:critical,error,info,off,warn | which log lines are shown: info, warn, error, critical, off
log_output - str of:compat,stderr,stdout | where they go: stdout or stderr
logistic_max - float loss:logistic | the largest label of the logistic loss
logistic_min - float loss:logistic | the least label of the logistic loss
loss_function - str of:classic,expectile,hinge,logistic,poisson,quantile,squared | squared, classic, logistic, hinge, quantile, expectile or poisson
max_prediction - float | the largest prediction
min_prediction - float | the least prediction
named_labels - str keep | the names of the classes, with commas between
ngram - list[str] | runs of features: N, or aN for namespace a
no_daemon - bool | changes nothing here
no_stdin - bool | read nothing from standard input
noconstant - bool keep | no constant feature
normal_weights - bool apart | weights begin with normal random numbers
normalized - bool keep | rates that fit the scale of features
num_children - uint | changes nothing here
onethread - bool | words of a line come when it is learned
passes - ulong | how often to go through the data
per_model_save_load - bool | changes nothing here
permutations - bool | cross a namespace with itself in any order
pistol - bool keep | PiSTOL, which needs no rate
port_file - str | changes nothing here
power_t - float keep | how fast rates fall
predict_only_model - bool | a model of weights alone, that cannot be continued
predictions p str | where to write predictions
preserve_performance_counters - bool | go on with the counts of the model
progress P str | rows: N by a number, N.0 by a factor
quadratic q list[str] keep | cross two namespaces by their first letters
quantile_tau - float loss:quantile | tau of the quantile loss
quiet - bool | no rows, no summary, no log lines
random_seed - ulong | where random numbers begin
random_weights - bool apart | weights begin with random numbers
raw_predictions r str apart | where to write scores before any link or clipping
readable_model - str | where to write the model as text
redefine - list[str] keep | other letters for namespaces: N:=S
restart - bool needs:freegrad | FreeGrad begins anew where its bets are too small
ring_size - int | the same as --example_queue_limit
save_per_pass - bool | write a model after each pass
save_resume - bool | changes nothing: models can be continued
sgd - bool keep | plain gradient descent
skips - list[str] | gaps in runs of features: N, or aN
sort_features - bool apart | sort features, and keep one of equal ones
span_server_port - int | changes nothing here
sparse_l2 - float 0:off apart | l2 regularization of features when they are seen
sparse_weights - bool | changes nothing: tables are sparse
spelling - list[str] keep | make features of how names are spelled
strict_parse - bool | malformed lines are critical
testonly t bool | predict only
truncated_normal_weights - bool apart | the same without those far from 0
version - bool | show the version of Vowpal Wabbit that this is like
"""  # noqa: E501

# What belongs to a learner that is not here, in such rows; most need one of those. It changes nothing.
_IDLE_TABLE = """
action_cache_slack - uint keep needs:cb_explore_adf&large_action_space
all_slots_loss - bool needs:ccb_explore_adf
alpha - float needs:memory_tree,active_cover,OjaNewton
alpha_inverse - float needs:OjaNewton
automl_significance_level - float keep needs:automl
bag - uint keep needs:bag&cb_explore_adf,cb_explore
bandwidth - float keep needs:cats,pmf_to_pdf,ksvm
bern_hyper - float needs:recall_tree
beta_scale - float needs:active_cover
block_size - uint needs:cb_explore_adf&large_action_space
bonferroni_denominator - uint keep needs:epsilon_decay
cb_c_alpha - float keep needs:baseline_challenger_cb
cb_c_tau - float keep needs:baseline_challenger_cb
cb_discrete - bool keep needs:cbify
cb_dro_alpha - float keep needs:cb_dro
cb_dro_tau - float keep needs:cb_dro
cb_dro_wmax - float keep needs:cb_dro
cb_max_cost - float keep needs:cb_explore_adf&squarecb,cb_explore_adf&regcb
cb_min_cost - float keep needs:cb_explore_adf&squarecb,cb_explore_adf&regcb
cb_to_cbadf - uint
cb_type - str keep needs:ccb_explore_adf,cb_explore_adf&cover,cb_explore_adf&squarecb,cb_explore_adf&regcb,cb_adf,cb
cbify_cs - bool needs:cbify
cbify_reg - bool needs:cbify
ccb_no_slot_index - bool keep needs:ccb_explore_adf
challenger_epsilon - bool keep needs:epsilon_decay
choices_lambda - uint needs:warm_cb
clip_p - float keep needs:cb_adf
constant_epsilon - bool keep needs:epsilon_decay
corrupt_prob_warm_start - float needs:warm_cb
corrupt_type_warm_start - int needs:warm_cb
cost_max - float needs:cs_active
cost_min - float needs:cs_active
cover - uint keep needs:cb_explore_adf&cover,cb_explore,active_cover
csa_debug - bool needs:cs_active
csv_trace - bool needs:automl
debug_reversed_learn - bool needs:automl
default_lease - uint keep needs:automl
degree - int keep needs:ksvm
domination - int needs:cs_active
dream_at_update - int needs:memory_tree
dream_repeats - uint needs:memory_tree
dump_json_weights_include_extra_online_state_experimental - bool
dump_json_weights_include_feature_names_experimental - bool
elim - bool keep needs:cb_explore_adf&squarecb
emt_initial - str keep needs:emt
emt_leaf - uint keep needs:emt
emt_router - str keep needs:emt
emt_scorer - str keep needs:emt
emt_tree - uint keep needs:emt
epoch_size - uint needs:OjaNewton
epsilon - float keep needs:cb_explore_pdf,warm_cb,bag&cb_explore_adf,cb_explore_adf&cover,cb_explore_adf&first,cb_explore_adf&synthcover,cb_explore_adf&squarecb,cb_explore_adf&rnd,cb_explore_adf&softmax,cb_explore_adf,cb_explore
epsilon_decay_audit - str needs:epsilon_decay
epsilon_decay_significance_level - float keep needs:epsilon_decay
eval - bool keep needs:cb
exclude_eval - bool needs:multiworld_test
first - uint keep needs:cb_explore_adf&first,cb_explore
first_only - bool keep needs:cb_explore_pdf,pmf_to_pdf,bag&cb_explore_adf,cb_explore_adf&cover,cb_explore_adf&regcb,cb_explore_adf
fixed_significance_level - bool keep needs:automl
flip_loss_sign - bool keep needs:cbify
flipschitz_const - float needs:freegrad
gamma_exponent - float keep needs:cb_explore_adf&squarecb,cb_explore_adf&graph_feedback
gamma_scale - float keep needs:cb_explore_adf&squarecb,cb_explore_adf&graph_feedback
graph_feedback - bool keep needs:cb_explore_adf&graph_feedback
greedify - bool keep needs:bag&cb_explore_adf
ignore_features_dsjson_experimental - list[str] keep
initial_epsilon - float keep needs:epsilon_decay
interaction - uint needs:warm_cb
interaction_type - str keep needs:automl
interaction_update - bool needs:warm_cb
kary_tree - uint keep needs:plt
kernel - str keep needs:ksvm
lambda - float keep needs:cb_explore_adf&softmax
lambda_scheme - int needs:warm_cb
las_hint_explicit_simd - bool needs:cb_explore_adf&large_action_space
lda_D - float needs:lda
lda_alpha - float keep needs:lda
lda_epsilon - float needs:lda
lda_rho - float keep needs:lda
leaf_example_multiplier - uint needs:memory_tree
learn - uint needs:multiworld_test
learn_at_leaf - bool needs:memory_tree
learning_rate_cnt - float needs:OjaNewton
loss0 - float needs:cbify_ldf,cbify,warm_cb
loss1 - float needs:cbify_ldf,cbify,warm_cb
loss_01_ratio - float needs:cbify
loss_option - int needs:cbify
loss_report - int needs:cbify
math-mode - int needs:lda
max_actions - uint keep needs:cb_explore_adf&large_action_space
max_candidates - uint keep needs:recall_tree
max_depth - uint keep needs:recall_tree
max_labels - uint needs:cs_active
max_number_of_labels - uint needs:memory_tree
max_value - float keep needs:cbify,cats,cb_explore_pdf,pmf_to_pdf
metrics - bool needs:lda
min_champ_examples - uint keep needs:epsilon_decay
min_labels - uint needs:cs_active
min_scope - uint keep needs:epsilon_decay
min_value - float keep needs:cbify,cats,cb_explore_pdf,pmf_to_pdf
minibatch - uint needs:lda
model_count - uint keep needs:epsilon_decay
multiplier - float needs:explore_eval
no_predict - bool needs:ccb_explore_adf,cb_adf
no_progress - bool needs:log_multi
node_only - bool keep needs:recall_tree
normalize - str needs:OjaNewton
nounif - bool keep needs:cb_explore_adf&cover,cb_explore
oas - bool needs:memory_tree
online - bool needs:memory_tree
opt_func - str keep needs:epsilon_decay,automl
oracle_type - str keep needs:automl
oracular - bool needs:active_cover
overwrite_label - uint needs:warm_cb
para_active - bool needs:ksvm
plt_force_load_legacy_model - bool needs:plt
policy - str keep needs:cbzo
pool_greedy - bool needs:ksvm
pool_size - uint needs:ksvm
priority_challengers - int keep needs:automl
priority_type - str keep needs:automl
project - bool needs:freegrad
psi - float keep needs:cb_explore_adf&cover,cb_explore
radius - float needs:cbzo,freegrad
random_init - str needs:OjaNewton
randomized_routing - bool keep needs:recall_tree
range_c - float needs:cs_active
rank_all - bool keep needs:cb_adf
regcb - bool keep needs:cb_explore_adf&regcb
reprocess - uint needs:ksvm
reward_as_cost - bool keep needs:epsilon_decay,automl
rnd - uint keep needs:cb_explore_adf&rnd
rnd_alpha - float keep needs:cb_explore_adf&rnd
rnd_invlambda - float keep needs:cb_explore_adf&rnd
search - uint keep needs:search_task
search_active_verify - float needs:search_task
search_allowed_transitions - str needs:search_task
search_alpha - float needs:search_task
search_beta - float needs:search_task
search_history_length - uint keep needs:search_task
search_interpolation - str keep needs:search_task
search_linear_ordering - bool needs:search_task
search_metatask - str keep needs:search_task
search_neighbor_features - str keep needs:search_task
search_no_caching - bool needs:search_task
search_passes_per_policy - uint needs:search_task
search_perturb_oracle - float needs:search_task
search_rollin - str needs:search_task
search_rollout - str needs:search_task
search_rollout_num_steps - uint needs:search_task
search_save_every_k_runs - uint needs:search_task
search_subsample_time - float needs:search_task
search_total_nb_policies - uint needs:search_task
search_trained_nb_policies - uint needs:search_task
search_xv - bool needs:search_task
shift_model_bounds - uint keep needs:epsilon_decay
sim_bandit - bool needs:warm_cb
sketch_size - int needs:OjaNewton
softmax - bool keep needs:cb_explore_adf&softmax
spanner_c - float keep needs:cb_explore_adf&large_action_space
squarecb - bool keep needs:cb_explore_adf&squarecb
subsample - uint needs:ksvm
swap_resistance - uint needs:log_multi
synthcover - bool keep needs:cb_explore_adf&synthcover
synthcoverpsi - float keep needs:cb_explore_adf&synthcover
synthcoversize - uint keep needs:cb_explore_adf&synthcover
target_rate - float needs:explore_eval
thread_pool_size - uint needs:cb_explore_adf&large_action_space
threshold - float needs:plt
tol_x - float keep needs:epsilon_decay,automl
top_K - int needs:memory_tree
top_k - uint needs:plt
tree_bandwidth - uint keep needs:cats_tree
two_pass_svd - bool needs:cb_explore_adf&large_action_space
verbose_metrics - bool needs:automl
warm_cb_cs - bool needs:warm_cb
warm_start - uint needs:warm_cb
warm_start_update - bool needs:warm_cb
"""  # noqa: E501

# What Vowpal Wabbit has and this program does not, by what it is.
_ABSENT = {
    "contextual bandits":
        "automl baseline_challenger_cb cats cats_pdf cats_tree cb cb_adf cb_dro cb_explore cb_explore_adf "
        "cb_explore_pdf cb_sample cbify cbify_ldf cbzo ccb_explore_adf epsilon_decay experimental_igl explore_eval "
        "get_pmf large_action_space multiworld_test pmf_to_pdf regcbopt sample_pdf slates warm_cb",
    "learning to search": "search_task",
    "topic models": "lda",
    "kernel machines": "ksvm",
    "trees of classes": "emt log_multi memory_tree plt recall_tree",
    "active learning with covers or costs": "active_cover cs_active",
    "matrix factorization": "rank new_mf",
    "the online Newton method": "OjaNewton",
    "daemons, which answer over a network": "daemon port pid_file",
    "clusters of machines": "span_server total node unique_id sendto",
    "offset trees": "ot",
}  # fmt: skip
_BELONGS = {name: what for what, names in _ABSENT.items() for name in names.split()}
_INSTEAD = {
    "dsjson": "it reads data in text, --json and --csv",
    "flatbuffer": "it reads data in text, --json and --csv",
    "extra_metrics": "that report counts the calls of Vowpal Wabbit's own parts; the summary tells what was learned",
    "dump_json_weights_experimental": "--readable_model and --invert_hash write the weights, as text",
    "experimental_full_name_interactions": "-q, --cubic and --interactions cross namespaces by their first letters",
    "initial_pass_length": "each pass goes over the whole data; --examples reads a beginning of it",
}

# Options that may be given several times with different values.
_OVERRIDDEN = (
    "action_cache_slack", "automl_significance_level", "default_lease", "epsilon", "l1_state", "l2_state", "lambda",
    "learning_rate", "max_actions", "oracle_type", "power_t", "priority_challengers", "priority_type", "rnd_alpha",
    "rnd_invlambda", "spanner_c", "synthcoverpsi", "synthcoversize",
)  # fmt: skip

_FILE = "options_cli.cc"
_CODES = {"uint": "j", "ulong": "m", "int": "i", "long": "l", "float": "f"}
_BITS = {"uint": 32, "ulong": 64, "int": 32, "long": 64}
_LARGEST = 3.4028235677973366e38  # from here on a number is none of 32 bits
_WHOLE = re.compile(r"\s*[-+]?\d{1,30}", re.ASCII)
_DECIMAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class VwOption:
    """One option: its letter ("" for none), its type, and what its row in the table says of it.

    help: "" for what belongs to a learner that is not here.
    """

    name: str
    letter: str
    type: str
    help: str
    keep: bool = False
    needs: tuple[str, ...] = ()  # one of these, whatever it is without them
    without: str = ""  # what it is without them: warned of, ignored, refused
    loss: str = ""
    choices: tuple[str, ...] = ()
    range: tuple[int, int] | None = None
    off_at_zero: bool = False
    apart: bool = False
    excludes: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """The value of an argument. Critical, in Vowpal Wabbit's words, if it is none."""
        if self.type in _BITS:
            number = int(text) if _WHOLE.fullmatch(text) else 1 << 99
            size = 1 << _BITS[self.type]
            signed = self.type in ("int", "long")
            if not (-size // 2 <= number < size // 2 if signed else -size < number < size):
                raise self._bad(text)
            return number if signed else number % size  # -1 is the largest one
        if self.type == "float":
            if not _DECIMAL.fullmatch(text) or not abs(float(text)) < _LARGEST:
                raise self._bad(text)
            return float(text)
        if self.choices and text not in self.choices:
            choices = ", ".join(self.choices)
            raise Critical(
                f"Error: '{text}' is not a valid choice for option --{self.name}. Please select from {{{choices}}}",
                "options.cc", 30,
            )  # fmt: skip
        return text

    def _bad(self, text: str) -> Critical:
        return Critical(f"Failed to convert {text} to {_CODES[self.type]}", _FILE, 46)


_WITHOUT = {"needs": "warned of", "quietly": "ignored", "only": "refused"}


def _read_row(row: str, needs: str = "") -> VwOption:
    """The option of a row. needs: what it needs if it does not say."""
    head, _, help = row.partition(" | ")
    name, letter, type, *words = head.split()
    known: dict[str, Any] = {"needs": (needs,), "without": _WITHOUT["needs"]} if needs else {}
    for word in words:
        key, _, value = word.partition(":")
        values = tuple(text.replace("&", ", ") for text in value.split(","))
        if key in _WITHOUT:
            known |= {"needs": values, "without": _WITHOUT[key]}
        elif key == "of":
            known["choices"] = values
        elif key == "excludes":
            known["excludes"] = values
        elif key == "loss":
            known["loss"] = value
        elif word == "0:off":
            known["off_at_zero"] = True
        elif word in ("keep", "apart"):
            known[word] = True
        else:
            least, _, most = word.partition("..")
            known["range"] = int(least), MODELS if most == "MODELS" else int(most)
    return VwOption(name, letter.strip("-"), type, help, **known)


def _read_table() -> dict[str, VwOption]:
    found = [*map(_read_row, filter(None, (_TABLE + _IDLE_TABLE).split("\n")))]
    for reduction in REDUCTIONS:
        for i, line in enumerate(reduction.lines):
            found.append(_read_row(line, reduction.option if i else ""))
    return {option.name: option for option in sorted(found, key=lambda option: option.name)}


OPTIONS = _read_table()
LETTERS = {option.letter: option for option in OPTIONS.values() if option.letter}


def usage() -> str:
    """What `vwlite vw --help` prints: each option in a line."""
    rows = [("    --args FILE", "take the arguments of a run from a file; alone")]
    for option in OPTIONS.values():
        if not option.help:
            continue
        letter = f"-{option.letter}, " if option.letter else "    "
        rows.append((f"{letter}--{option.name}{'' if option.type == 'bool' else ' arg'}", option.help))
    width = max(len(name) for name, _ in rows)
    lines = "\n".join(f"  {name:<{width}}  {help}" for name, help in rows)
    return f"Usage: vwlite vw ARGUMENTS...\n\nVowpal Wabbit's arguments, as far as they are here:\n\n{lines}"


class Arguments:
    """What was typed: values by option. Lists hold every value in order; flags are True."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.positional: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an option, or the default if it was not given."""
        return self.values.get(name, default)

    def flag(self, name: str) -> bool:
        """Whether a flag was given."""
        return bool(self.values.get(name, False))

    def on(self, name: str) -> bool:
        """Whether an option was given, and does not say itself that it is off."""
        value = self.values.get(name)
        return not (value is None or value is False or (value == 0 and OPTIONS[name].off_at_zero))

    def drop_idle(self) -> dict[str, Any]:
        """Take out options that mean nothing without others, as Vowpal Wabbit does; they, with their values."""
        idle = {}
        for name in sorted(self.values):
            option = OPTIONS[name]
            if option.needs and option.without != "refused" and not self._has_one_of(option.needs):
                idle[name] = self.values.pop(name)
        if "bfgs" in self:
            self.values.pop("l1", None)  # which Vowpal Wabbit takes there, and does not use
        for option in OPTIONS.values():
            if option.name in self and option.without == "refused" and not self._has_one_of(option.needs):
                raise Refused(f"--{option.name} without --{' or --'.join(option.needs)}")
        return idle

    def _has_one_of(self, names: tuple[str, ...]) -> bool:
        return any(name in self for name in names) or (names == ("csoaa_ldf",) and "wap_ldf" in self)

    def check(self) -> None:
        """Critical for values that an option cannot have, alone or with the loss; Refused for some others."""
        loss = self.get("loss_function", "squared")
        for option in map(OPTIONS.__getitem__, self.values):
            if option.loss not in ("", loss):
                shown = f"Option '{option.name}' was"
                if option.loss == "logistic":
                    shown = "Options 'logistic_min' or 'logistic_max' were"
                raise Critical(
                    f"{shown} passed but the {option.loss} loss function is not being used. "
                    f"Selected loss function: {loss}", "loss_functions.cc", 520,
                )  # fmt: skip
        for name, value in self.values.items():
            least, most = OPTIONS[name].range or (value, value)
            if not least <= value <= most:
                raise Critical(f"--{name} {value}: a number from {least} to {most} is needed", "options.cc", 30)
        for name in self.values:
            for other in OPTIONS[name].excludes:
                if other in self:
                    raise Refused(f"--{name} with --{other}")
        if len(self.get("initial_regressor", [])) > 1:
            raise Refused("-i with several models")
        if len(self.get("cache_file", [])) > 1:
            raise Refused("--cache_file with several files")
        if "initial_regressor" in self and "input_feature_regularizer" in self:
            raise Refused("-i with --input_feature_regularizer")


def split(arguments: list[str]) -> list[str]:
    """The arguments; for `--args FILE`, which stands alone, those in the file. A line of it is a run."""
    if len(arguments) != 2 or arguments[0] != "--args":
        return arguments
    path = arguments[1]
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as f:
            lines = f.read().removesuffix("\n").split("\n")
    except OSError:
        raise Critical(f"Could not open file: {path}", "main.cc", 55) from None
    if lines == [""] and os.path.getsize(path) == 0:
        raise Refused(f"--args with an empty file, {path}", "it takes one of a line of arguments")
    if len(lines) != 1:
        raise Refused(
            f"--args with {len(lines)} lines in {path}",
            "Vowpal Wabbit has each learn from the data of the first; start a run for each line",
        )
    line = f"{lines[0]} -f model.1 --no_stdin"
    print(line)
    return split_words(line)


def split_words(line: str) -> list[str]:
    """The words of a line: spaces part them, except in quotes; what follows a backslash stands for itself, but `n` for
    the end of a line and `t` for a tab. Empty words count for nothing. Critical for a quote without its end."""
    words, word, quote = [], "", ""
    letters = iter(line)
    for c in letters:
        if c == "\\":
            c = next(letters, "")
            if not c:
                raise Critical("unescape_char: unexpected end of string while unescaping", "parse_primitives.cc", 64)
            word += {"n": "\n", "t": "\t"}.get(c, c)
        elif c == (quote or " "):
            if not quote:
                words.append(word)
                word = ""
            quote = ""
        elif c in "\"'" and not quote:
            quote = c
        else:
            word += c
    if quote:
        raise Critical("unbalanced quotes in string", "parse_primitives.cc", 120)
    return [found for found in [*words, word] if found]


def parse(arguments: list[str]) -> Arguments:
    """Read what was typed, or a model keeps. Critical for what Vowpal Wabbit refuses, Refused for what only it has."""
    found = Arguments()
    at = 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        attached: str | None = None
        if word.startswith("--") and len(word) > 2:
            name, equals, rest = word[2:].partition("=")
            attached = rest if equals else None
            if name in _INSTEAD:
                raise Refused(f"--{name}", _INSTEAD[name])
            if name in _BELONGS:
                raise Refused(f"--{name}", f"it belongs to {_BELONGS[name]}, which only Vowpal Wabbit has")
            option = OPTIONS.get(name)
        elif word.startswith("-") and len(word) > 1 and not _is_number(word):
            option = LETTERS.get(word[1])
            if len(word) > 2:
                attached = word[2:].removeprefix("=")
        else:
            found.positional.append(word)
            continue
        if option is None:
            raise Critical(f"unrecognised option '{word}'", _FILE, 294)
        if option.type == "bool":
            if attached is not None:
                raise Critical(
                    f"Expected no value for {option.name} which is a boolean switch but found 1 values",
                    _FILE, 167,
                )  # fmt: skip
            found.values[option.name] = True
            continue
        if attached is None:
            if at == len(arguments):
                raise Critical(f"the required argument for option '--{option.name}' is missing", _FILE, 144)
            attached = arguments[at]
            at += 1
        _add(found, option, attached)
        if option.type == "list[str]":  # more values may follow
            while at < len(arguments) and not arguments[at].startswith("-"):
                _add(found, option, arguments[at])
                at += 1
    return found


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _add(found: Arguments, option: VwOption, text: str) -> None:
    if option.type == "list[str]":
        found.values.setdefault(option.name, []).append(text)
        return
    value = option.read(text)
    first = found.values.setdefault(option.name, value)  # of several, the first counts
    if first != value and option.name not in _OVERRIDDEN:
        raise Critical(f"Disagreeing option values for '{option.name}': '{first}' vs '{value}'", _FILE, 60)


def unescaped(text: str) -> str:
    """Namespaces may be spelled as \\\\xNN."""
    return re.sub(r"\\x([0-9a-fA-F]{2})", lambda match: chr(int(match.group(1), 16)), text)


def letters(values: list[str]) -> bytes:
    return "".join(unescaped(value) for value in values).encode("utf-8", "surrogateescape")
