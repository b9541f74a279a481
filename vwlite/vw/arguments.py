"""Vowpal Wabbit's options: names, types, parsing, and its messages for invalid ones.

The options of reductions are in `layers/table.py`.
"""

import os
import re
from dataclasses import dataclass
from typing import Any

from vwlite.vw.layers.table import REDUCTIONS
from vwlite.vw.messages import Critical, Refused

MODELS = 1 << 22  # maximum: each takes a step of Python for each example

# name, letter, type, properties | help
#
#   keep              stored in the model
#   needs:A,B&C       has no effect without --A, or --B and --C: Vowpal Wabbit prints a warning
#   quietly:A         the same without a warning
#   only:A            refused without --A
#   excludes:A,B      refused with --A or --B
#   loss:L            critical with another loss
#   of:X,Y            the allowed strings
#   N..M              the allowed numbers, so that an example takes finite time. 0 models predict nothing; Vowpal Wabbit
#                     crashes or hangs for most numbers outside. The plan of --ect takes errors^2 steps
#   0:off             0 means not given
#   unshared          the classes of --oaa cannot be stored side by side in the table: there are other models, the
#                     classes share something, or weights are looked up by key
_TABLE = """
adaptive - bool keep | per-feature learning rates, from the sums of squared gradients
adax - bool | adaptive rates from feature values, not from gradients
affix - str keep | add prefixes (+2a) and suffixes (-3b) of names as features
audit a bool unshared | print the features of each example with their weights
audit_regressor - str keep unshared excludes:audit,final_regressor,predictions,raw_predictions,invert_hash,readable_model | write the names of the weights of a model to a file
bit_precision b uint | number of hash bits; the table has 2^B weights
cache c bool | use a cache: FILE.cache beside the data
cache_file - list[str] | use this cache
cb_force_legacy - bool | no effect
chain_hash - bool keep quietly:json | hash the keys and strings of JSON in sequence
check_enabled - bool keep | no effect
coin - bool keep | coin betting, without a learning rate
compressed - bool | no effect: compressed data are detected
constant C float 0:off unshared | initial weight of the constant (intercept)
csv - bool | the data are CSV
csv_header - str quietly:csv | the names of the columns
csv_no_file_header - bool quietly:csv | the first line is not a header
csv_ns_value - str quietly:csv | factors of namespaces: NAME:NUMBER,...
csv_separator - str quietly:csv | column separator
cubic - list[str] keep | cross three namespaces by their first letters
daemon - bool | with -t: predict lines that come over TCP, on 127.0.0.1
data d str | the file to read
decay_learning_rate - float | multiply the rate by this after each pass
dictionary - list[str] keep | features for names, from a file: NAMESPACE:FILE
dictionary_path - list[str] | folders of dictionaries
dont_output_best_constant - bool | no best constant in the summary
driver_output - str of:stderr,stdout | where rows and summary go: stderr or stdout
driver_output_off - bool | no rows, no summary
dry_run - bool | build everything and read no data
early_terminate - ulong | stop after N passes without improvement
example_queue_limit - long | size of the queue between threads
examples - long | read at most N lines
expectile_q - float loss:expectile | q of the expectile loss
feature_limit - list[str] unshared | maximum number of features: N, or aN for namespace a
feature_mask - str unshared | use only weights that are nonzero in this model
fepsilon - float needs:freegrad | initial wealth of FreeGrad
final_regressor f str | where to write the model
foreground - bool | with --daemon: stay in the foreground
freegrad - bool keep excludes:project,flipschitz_const | FreeGrad, without a learning rate
ftrl - bool keep | proximal FTRL
ftrl_alpha - float needs:ftrl,pistol,coin | alpha of --ftrl, --pistol or --coin
ftrl_beta - float needs:ftrl,pistol,coin | beta of --ftrl, --pistol or --coin
hash - str keep of:all,strings | what to hash: strings or all
hash_seed - uint keep | seed of the hash
help h bool | show this
hexfloat_weights - bool | weights of readable models in hexadecimal
holdout_after - uint | hold out the lines after line N
holdout_off - bool | hold nothing out
holdout_period - uint | hold out every Nth line
id - str | a string to store in the model
ignore - list[str] keep | ignore these namespaces
ignore_linear - list[str] keep unshared | ignore them, except in interactions
initial_regressor i list[str] | initial model
initial_t - float | initial time of the rate decay
initial_weight - float 0:off unshared | initial value of all weights
interactions - list[str] keep | cross any number of namespaces
invariant - bool keep | importance-invariant steps
invert_hash - str unshared | write the readable model with feature names
json - bool | the data are JSON, a line for each example
keep - list[str] keep | use only these namespaces
kill_cache k bool | rebuild the cache
l1 - float 0:off unshared | l1 regularization
l1_state - float | accumulated l1 gravity of the initial weights
l2 - float 0:off unshared | l2 regularization
l2_state - float | accumulated l2 contraction of the initial weights
learning_rate l float keep | the learning rate
leave_duplicate_interactions - bool | keep duplicate interactions
limit_output - ulong | maximum number of log lines
link - str keep of:glf1,identity,logistic,poisson | link of predictions: identity, logistic, glf1, poisson
log_level - str of:critical,error,info,off,warn | level of log lines: info, warn, error, critical, off
log_output - str of:compat,stderr,stdout | output of log lines: stdout or stderr
logistic_max - float loss:logistic | the largest label of the logistic loss
logistic_min - float loss:logistic | the smallest label of the logistic loss
loss_function - str of:classic,expectile,hinge,logistic,poisson,quantile,squared | squared, classic, logistic, hinge, quantile, expectile or poisson
max_prediction - float | the largest prediction
min_prediction - float | the smallest prediction
named_labels - str keep | names of classes, separated by commas
ngram - list[str] | n-grams of features: N, or aN for namespace a
no_daemon - bool | no effect
no_stdin - bool | read nothing from standard input
noconstant - bool keep | no constant feature (intercept)
normal_weights - bool unshared | normal random initial weights
normalized - bool keep | learning rates adapted to the scale of features
num_children - uint 1..100000 | with --daemon: clients at a time (10)
onethread - bool | warnings of a line are printed when it is learned
passes - ulong | number of passes
per_model_save_load - bool | no effect
permutations - bool | cross a namespace with itself in any order
pid_file - str | start --daemon, and write its process number to this file
pistol - bool keep | PiSTOL, without a learning rate
port - uint 0..65535 | start --daemon on this port (26542); 0: any that is free
port_file - str | with --daemon: write its port to this file
power_t - float keep | exponent of the rate decay
predict_only_model - bool | a model with weights only, which cannot be continued
predictions p str | where to write predictions
preserve_performance_counters - bool | continue the counters of the model
progress P str | rows: N by a number, N.0 by a factor
quadratic q list[str] keep | cross two namespaces by their first letters
quantile_tau - float loss:quantile | tau of the quantile loss
quiet - bool | no rows, no summary, no log lines
random_seed - ulong | random seed
random_weights - bool unshared | random initial weights
raw_predictions r str unshared | where to write scores before link and clipping
readable_model - str | where to write the model as text
redefine - list[str] keep | rename namespaces: N:=S
restart - bool needs:freegrad | restart FreeGrad where its bets are too small
ring_size - int | the same as --example_queue_limit
save_per_pass - bool | write a model after each pass
save_resume - bool | no effect: models can always be continued
sgd - bool keep | unmodified gradient descent
skips - list[str] | gaps in n-grams: N, or aN
sort_features - bool unshared | sort features and remove duplicates
span_server_port - int | no effect
sparse_l2 - float 0:off unshared | l2 regularization of the features of each example
sparse_weights - bool | no effect: tables are always sparse
spelling - list[str] keep | add spelling features of names
strict_parse - bool | malformed lines are critical
testonly t bool | predict only
truncated_normal_weights - bool unshared | the same, truncated at two standard deviations
version - bool | show the corresponding version of Vowpal Wabbit
"""  # noqa: E501

# Options of unsupported learners, in the same format. Most need such a learner; they have no effect.
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

# Unsupported options of Vowpal Wabbit, by learner.
_UNSUPPORTED = {
    "contextual bandits":
        "automl baseline_challenger_cb cats cats_pdf cats_tree cb cb_adf cb_dro cb_explore cb_explore_adf "
        "cb_explore_pdf cb_sample cbify cbify_ldf cbzo ccb_explore_adf epsilon_decay experimental_igl explore_eval "
        "get_pmf large_action_space multiworld_test pmf_to_pdf regcbopt sample_pdf slates warm_cb",
    "learning to search": "search_task",
    "topic models": "lda",
    "kernel machines": "ksvm",
    "class trees": "emt log_multi memory_tree plt recall_tree",
    "active learning with covers or costs": "active_cover cs_active",
    "matrix factorization": "rank new_mf",
    "the online Newton method": "OjaNewton",
    "clusters of machines": "span_server total node unique_id sendto",
    "offset trees": "ot",
}
_BELONGS = {name: what for what, names in _UNSUPPORTED.items() for name in names.split()}
_INSTEAD = {
    "dsjson": "use text, --json or --csv",
    "flatbuffer": "use text, --json or --csv",
    "extra_metrics": "it reports the calls of Vowpal Wabbit's internals; see the summary",
    "dump_json_weights_experimental": "use --readable_model or --invert_hash to write the weights as text",
    "experimental_full_name_interactions": "-q, --cubic and --interactions cross namespaces by their first letters",
    "initial_pass_length": "each pass reads all data; --examples limits the number of lines",
}

# Options that may be given several times with different values.
_OVERRIDDEN = (
    "action_cache_slack", "automl_significance_level", "default_lease", "epsilon", "l1_state", "l2_state", "lambda",
    "learning_rate", "max_actions", "oracle_type", "power_t", "priority_challengers", "priority_type", "rnd_alpha",
    "rnd_invlambda", "spanner_c", "synthcoverpsi", "synthcoversize",
)

_FILE = "options_cli.cc"
_CODES = {"uint": "j", "ulong": "m", "int": "i", "long": "l", "float": "f"}
_BITS = {"uint": 32, "ulong": 64, "int": 32, "long": 64}
_LARGEST = 3.4028235677973366e38  # numbers from here on exceed 32-bit floats
_WHOLE = re.compile(r"\s*[-+]?\d{1,30}", re.ASCII)
_DECIMAL = re.compile(r"\s*[-+]?(\d+(?:\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class VwOption:
    """One option: its letter ("" for none), its type, and the properties in its row of the table.

    help: "" for options of unsupported learners.
    """

    name: str
    letter: str
    type: str
    help: str
    keep: bool = False
    needs: tuple[str, ...] = ()  # one of these, else see `without`
    without: str = ""  # "warned of", "ignored" or "refused" if none of `needs` is given
    loss: str = ""
    choices: tuple[str, ...] = ()
    range: tuple[int, int] | None = None
    off_at_zero: bool = False
    unshared: bool = False
    excludes: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """The value of an argument. Critical, with Vowpal Wabbit's message, if it is invalid."""
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
            )
        return text

    def _bad(self, text: str) -> Critical:
        return Critical(f"Failed to convert {text} to {_CODES[self.type]}", _FILE, 46)


_WITHOUT = {"needs": "warned of", "quietly": "ignored", "only": "refused"}


def _read_row(row: str, needs: str = "") -> VwOption:
    """The option of a row. needs: the default of the property."""
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
        elif word in ("keep", "unshared"):
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
    """The output of `vwlite vw --help`: one line for each option."""
    rows = [("    --args FILE", "read the arguments from a file; the only option")]
    for option in OPTIONS.values():
        if not option.help:
            continue
        letter = f"-{option.letter}, " if option.letter else "    "
        rows.append((f"{letter}--{option.name}{'' if option.type == 'bool' else ' arg'}", option.help))
    width = max(len(name) for name, _ in rows)
    lines = "\n".join(f"  {name:<{width}}  {help}" for name, help in rows)
    return f"Usage: vwlite vw ARGUMENTS...\n\nThe supported options of Vowpal Wabbit:\n\n{lines}"


class Arguments:
    """Parsed arguments: values by option. Lists have every value in order; flags are True."""

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
        """Whether an option was given, with a value that does not turn it off."""
        value = self.values.get(name)
        return not (value is None or value is False or (value == 0 and OPTIONS[name].off_at_zero))

    def drop_idle(self) -> dict[str, Any]:
        """Remove and return options that have no effect without others, as Vowpal Wabbit does."""
        idle = {}
        for name in sorted(self.values):
            option = OPTIONS[name]
            if option.needs and option.without != "refused" and not self._has_one_of(option.needs):
                idle[name] = self.values.pop(name)
        if "bfgs" in self:
            self.values.pop("l1", None)  # Vowpal Wabbit accepts it here, but does not use it
        for option in OPTIONS.values():
            if option.name in self and option.without == "refused" and not self._has_one_of(option.needs):
                raise Refused(f"--{option.name} without --{' or --'.join(option.needs)}")
        return idle

    def _has_one_of(self, names: tuple[str, ...]) -> bool:
        return any(name in self for name in names) or (names == ("csoaa_ldf",) and "wap_ldf" in self)

    def check(self) -> None:
        """Critical for values that are invalid, alone or with the loss; Refused for unsupported ones."""
        loss = self.get("loss_function", "squared")
        for option in map(OPTIONS.__getitem__, self.values):
            if option.loss not in ("", loss):
                shown = f"Option '{option.name}' was"
                if option.loss == "logistic":
                    shown = "Options 'logistic_min' or 'logistic_max' were"
                raise Critical(
                    f"{shown} passed but the {option.loss} loss function is not being used. "
                    f"Selected loss function: {loss}", "loss_functions.cc", 520,
                )
        for name, value in self.values.items():
            least, most = OPTIONS[name].range or (value, value)
            if not least <= value <= most:
                raise Critical(f"--{name} {value}: must be a number from {least} to {most}", "options.cc", 30)
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
    """The arguments; for `--args FILE`, which must be the only one, those in the file (one line)."""
    if len(arguments) != 2 or arguments[0] != "--args":
        return arguments
    path = arguments[1]
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as f:
            lines = f.read().removesuffix("\n").split("\n")
    except OSError:
        raise Critical(f"Could not open file: {path}", "main.cc", 55) from None
    if lines == [""] and os.path.getsize(path) == 0:
        raise Refused(f"--args with an empty file, {path}", "the file must have one line of arguments")
    if len(lines) != 1:
        raise Refused(
            f"--args with {len(lines)} lines in {path}",
            "in Vowpal Wabbit all lines use the data of the first; start one run for each line",
        )
    line = f"{lines[0]} -f model.1 --no_stdin"
    print(line)
    return split_words(line)


def split_words(line: str) -> list[str]:
    """The words of a line, separated by spaces, except in quotes. A backslash escapes the next character; `\\n` is a
    line feed and `\\t` a tab. Empty words are ignored. Critical for an unbalanced quote."""
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
    """Parse arguments, typed or stored in a model. Critical if Vowpal Wabbit rejects them too, else Refused."""
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
                raise Refused(f"--{name}", f"it belongs to {_BELONGS[name]}")
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
                )
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
    first = found.values.setdefault(option.name, value)  # the first of several is used
    if first != value and option.name not in _OVERRIDDEN:
        raise Critical(f"Disagreeing option values for '{option.name}': '{first}' vs '{value}'", _FILE, 60)


def unescaped(text: str) -> str:
    """Namespaces may be spelled as \\\\xNN."""
    return re.sub(r"\\x([0-9a-fA-F]{2})", lambda match: chr(int(match.group(1), 16)), text)


def letters(values: list[str]) -> bytes:
    return "".join(unescaped(value) for value in values).encode("utf-8", "surrogateescape")
