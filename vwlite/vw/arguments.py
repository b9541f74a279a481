"""Vowpal Wabbit's arguments: what there is, how they are spelled, and its own words for bad ones."""

import re
import shlex
from dataclasses import dataclass
from typing import Any

from vwlite.vw.messages import Critical, Refused

# name, letter, type, whether a model keeps it | what it does
_TABLE = """
active - bool keep | learn from the labels that are worth asking for
adaptive - bool keep | rates of their own for features that were seen often
adax - bool | adaptive rates by the features alone, not by their gradients
affix - str keep | make features of prefixes (+2a) and suffixes (-3b) of names
alg - str keep | which boosting: BBM, logistic or adaptive
audit a bool | print the features of each example with their weights
audit_regressor - str keep | write the names of the weights of a model to a file
autolink - uint keep | powers of the prediction up to this become features
baseline - bool keep | a model of the constant that learns at a rate of its own
batch_sz - uint | examples between two choices of monomials
batch_sz_no_doubling - bool | the number of these examples stays the same
bfgs - bool keep | minimise the loss of all data by L-BFGS
binary - bool keep | predict -1 or 1 and count wrong ones
bit_precision b uint | bits of the hash, and so of the table of weights
boosting - int keep | online boosting of so many weak learners
bootstrap - uint keep | so many models, each with random importances
bs_type - str keep | how they predict: mean or vote
cache c bool | use a cache: FILE.cache beside the data
cache_file - list[str] | use this cache
cb_force_legacy - bool | changes nothing here
chain_hash - bool keep | hash the keys and texts of JSON one after the other
check_enabled - bool keep | changes nothing here
classweight - list[str] | multiply the importance of classes: CLASS:WEIGHT,...
coin - bool keep | learn by betting on coins, without a rate
compete - bool | marginals compete with the features they replace
compressed - bool | changes nothing: data are decompressed by themselves
confidence - bool keep | predict how sure a prediction is, too
confidence_after_training - bool | its confidence after the example was learned
conjugate_gradient - bool keep | minimise the loss of all data by conjugate gradients
constant C float | the weight with which the constant begins
cs_absolute_loss - bool | count whole costs, not what they are above the least
csoaa - uint keep | a regression of the cost of each of so many classes
csoaa_ldf - str keep | the same over examples with a line for each class: m or mc
csoaa_rank - bool keep | rank the classes instead of choosing one
csv - bool | the data are CSV
csv_header - str | the names of the columns
csv_no_file_header - bool | the first line is no header
csv_ns_value - str | factors of namespaces: NAME:NUMBER,...
csv_separator - str | what separates the columns
cubic - list[str] keep | cross three namespaces by their first letters
data d str | the file to read
decay - float | how fast marginals forget
decay_learning_rate - float | multiply the rate by this after each pass
dictionary - list[str] keep | features for names, from a file: NAMESPACE:FILE
dictionary_path - list[str] | where to look for dictionaries
direct - bool | active learning that asks itself
dont_output_best_constant - bool | no best constant in the summary
driver_output - str | where rows and summary go: stderr or stdout
driver_output_off - bool | no rows, no summary
dropout - bool keep | leave hidden units out at random
dry_run - bool | build everything and read no data
early_terminate - ulong | stop after so many passes without progress
ect - ulong keep | an error-correcting tournament of so many classes
error - ulong keep | errors that the tournament survives
example_queue_limit - long | examples that wait between the threads
examples - long | read so many lines at most
expectile_q - float | q of the expectile loss
feature_limit - list[str] | features at most: N, or aN for namespace a
feature_mask - str | only weights that are not 0 in this model
fepsilon - float | the wealth with which FreeGrad begins
final_regressor f str | where to write the model
foreground - bool | changes nothing here
freegrad - bool keep | FreeGrad, which needs no rate
ftrl - bool keep | proximal FTRL
ftrl_alpha - float | alpha of --ftrl, --pistol or --coin
ftrl_beta - float | beta of --ftrl, --pistol or --coin
gamma - float | how much better than chance a weak learner is
global_only - bool keep | the baseline is the constant alone
hash - str keep | what to hash: strings or all
hash_seed - uint keep | where hashing begins
help h bool | show this
hessian_on - bool | use the curvature of the loss
hexfloat_weights - bool | weights of readable models in hexadecimal
holdout_after - uint | hold out what follows so many lines
holdout_off - bool | hold nothing out
holdout_period - uint | hold out every so many lines
id - str | a text that the model keeps
ignore - list[str] keep | leave these namespaces out
ignore_linear - list[str] keep | leave them out, except in interactions
indexing - uint keep | whether classes count from 0 or from 1
initial_denominator - float | with which marginals begin
initial_numerator - float | with which marginals begin
initial_regressor i list[str] | the model to begin with
initial_t - float | with what time learning begins
initial_weight - float | with what all weights begin
inpass - bool keep | the network has a direct path from features to output
input_feature_regularizer - str | strengths of weights, from a file
interact - str keep | multiply the features of two namespaces one by one
interactions - list[str] keep | cross any number of namespaces
invariant - bool keep | steps that do not pass the label
invert_hash - str | write the readable model with the names of features
json - bool | the data are JSON, a line for each example
keep - list[str] keep | use only these namespaces
kill_cache k bool | make the cache anew
l1 - float | l1 regularization
l1_state - float | how far weights are drawn to 0 already
l2 - float | l2 regularization
l2_state - float | how much weights have shrunk already
ldf_override - str | another kind for --csoaa_ldf
learning_rate l float keep | the learning rate
leave_duplicate_interactions - bool | keep interactions that are there twice
limit_output - ulong | log lines at most
link - str keep | what the prediction goes through: identity, logistic, glf1, poisson
log_level - str | which log lines are shown: info, warn, error, critical, off
log_output - str | where they go: stdout or stderr
logistic_max - float | the largest label of the logistic loss
logistic_min - float | the least label of the logistic loss
loss_function - str | squared, classic, logistic, hinge, quantile, expectile or poisson
lr_multiplier - float | the rate of the baseline over that of the others
lrq - list[str] keep | crosses of low rank: two namespaces and the rank
lrqdropout - bool keep | leave some of them out at random
lrqfa - str keep | a factorization machine: namespaces and the rank
marginal - str keep | replace features of these namespaces by the mean label
max_prediction - float | the largest prediction
meanfield - bool | a network for --dropout that leaves nothing out
mellowness - float keep | how seldom labels are asked for
mem - int | steps that --bfgs remembers
min_prediction - float | the least prediction
multilabel_oaa - ulong keep | any of so many classes, each on its own
multitask - bool keep | the hidden units are shared
named_labels - str keep | the names of the classes, with commas between
ngram - list[str] | runs of features: N, or aN for namespace a
nn - uint keep | a network with so many hidden units
no_bias_regularization - bool | the constant is not regularized
no_daemon - bool | changes nothing here
no_stdin - bool | read nothing from standard input
noconstant - bool keep | no constant feature
noop - bool keep | learn nothing
normal_weights - bool | weights begin with normal random numbers
normalized - bool keep | rates that fit the scale of features
num_children - uint | changes nothing here
oaa - ulong keep | one against all, of so many classes
oaa_subsample - ulong | learn of so many other classes only
onethread - bool | words of a line come when it is learned
output_feature_regularizer_binary - str | where to write the strengths of weights
output_feature_regularizer_text - str | the same to be read
passes - ulong | how often to go through the data
per_model_save_load - bool | changes nothing here
permutations - bool | cross a namespace with itself in any order
pistol - bool keep | PiSTOL, which needs no rate
port_file - str | changes nothing here
power_t - float keep | how fast rates fall
predict_only_model - bool | a model of weights alone, that cannot be continued
predictions p str | where to write predictions
preserve_performance_counters - bool | go on with the counts of the model
print - bool | print examples instead of learning them
probabilities - bool | predict the probabilities of classes
progress P str | rows: N by a number, N.0 by a factor
quadratic q list[str] keep | cross two namespaces by their first letters
quantile_tau - float | tau of the quantile loss
quiet - bool | no rows, no summary, no log lines
random_seed - ulong | where random numbers begin
random_weights - bool | weights begin with random numbers
raw_predictions r str | where to write scores before any link or clipping
readable_model - str | where to write the model as text
redefine - list[str] keep | other letters for namespaces: N:=S
replay_b - ulong keep | learn from a buffer of so many examples, below
replay_b_count - ulong | how many of them for each example
replay_c - ulong keep | the same, over --csoaa
replay_c_count - ulong | how many of them for each example
replay_m - ulong keep | the same, below --oaa
replay_m_count - ulong | how many of them for each example
restart - bool | FreeGrad begins anew where its bets are too small
ring_size - int | the same as --example_queue_limit
save_per_pass - bool | write a model after each pass
save_resume - bool | changes nothing: models can be continued
sched_exponent - float | how many monomials there are
scores - bool | predict the scores of classes
sgd - bool keep | plain gradient descent
simulation - bool | active learning with labels that are there
skips - list[str] | gaps in runs of features: N, or aN
sort_features - bool | sort features, and keep one of equal ones
span_server_port - int | changes nothing here
sparse_l2 - float | l2 regularization of features when they are seen
sparse_weights - bool | changes nothing: tables are sparse
spelling - list[str] keep | make features of how names are spelled
stage_poly - bool keep | find monomials that help
stage_size - int | passes between two whole gradients
strict_parse - bool | malformed lines are critical
svrg - bool keep | stochastic variance-reduced gradients
termination - float | stop where the loss falls by less than this part
testonly t bool | predict only
top - uint keep | the so many lines with the highest scores
truncated_normal_weights - bool | the same without those far from 0
unweighted_marginals - bool | importances do not count in marginals
update_before_learn - bool | marginals learn before they predict
version - bool | show the version of Vowpal Wabbit that this is like
wap_ldf - str keep | weighted all pairs over examples of several lines
"""

# What Vowpal Wabbit has and this program does not, by what it belongs to.
_ABSENT = {
    "contextual bandits":
        "action_cache_slack all_slots_loss automl automl_significance_level bag bandwidth baseline_challenger_cb "
        "bern_hyper beta_scale block_size bonferroni_denominator cats cats_pdf cats_tree cb cb_adf cb_c_alpha cb_c_tau "
        "cb_discrete cb_dro cb_dro_alpha cb_dro_tau cb_dro_wmax cb_explore cb_explore_adf cb_explore_pdf cb_max_cost "
        "cb_min_cost cb_sample cb_to_cbadf cb_type cbify cbify_cs cbify_ldf cbify_reg cbzo ccb_explore_adf "
        "ccb_no_slot_index challenger_epsilon choices_lambda clip_p constant_epsilon corrupt_prob_warm_start "
        "corrupt_type_warm_start cover csv_trace debug_reversed_learn default_lease elim epsilon epsilon_decay "
        "epsilon_decay_audit epsilon_decay_significance_level eval exclude_eval experimental_igl explore_eval first "
        "first_only fixed_significance_level flip_loss_sign gamma_exponent gamma_scale get_pmf graph_feedback "
        "greedify initial_epsilon interaction interaction_type interaction_update large_action_space "
        "las_hint_explicit_simd learn loss_01_ratio loss_option loss_report loss0 loss1 max_actions max_value "
        "min_champ_examples min_scope min_value model_count multiplier multiworld_test no_predict nounif opt_func "
        "oracle_type overwrite_label pmf_to_pdf policy priority_challengers priority_type psi radius rank_all regcb "
        "regcbopt reward_as_cost rnd rnd_alpha rnd_invlambda sample_pdf shift_model_bounds sim_bandit slates softmax "
        "spanner_c squarecb swap_resistance synthcover synthcoverpsi synthcoversize target_rate thread_pool_size "
        "tol_x tree_bandwidth two_pass_svd verbose_metrics warm_cb warm_cb_cs warm_start warm_start_update",
    "learning to search":
        "search search_active_verify search_allowed_transitions search_alpha search_beta search_history_length "
        "search_interpolation search_linear_ordering search_metatask search_neighbor_features search_no_caching "
        "search_passes_per_policy search_perturb_oracle search_rollin search_rollout search_rollout_num_steps "
        "search_save_every_k_runs search_subsample_time search_task search_total_nb_policies "
        "search_trained_nb_policies search_xv",
    "topic models": "lda math-mode lda_D lda_alpha lda_epsilon lda_rho minibatch metrics",
    "kernel machines": "ksvm kernel degree lambda para_active pool_greedy pool_size reprocess subsample",
    "trees of classes":
        "log_multi max_candidates max_depth max_number_of_labels memory_tree leaf_example_multiplier learn_at_leaf "
        "dream_at_update dream_repeats online oas kary_tree plt plt_force_load_legacy_model threshold top_K top_k "
        "no_progress node_only randomized_routing recall_tree emt emt_initial emt_leaf emt_router emt_scorer emt_tree",
    "active learning with covers or costs":
        "active_cover oracular cs_active csa_debug cost_max cost_min domination max_labels min_labels range_c",
    "matrix factorization": "rank new_mf",
    "the online Newton method":
        "OjaNewton alpha alpha_inverse epoch_size learning_rate_cnt normalize random_init sketch_size",
    "FreeGrad's projection": "project flipschitz_const lambda_scheme",
    "daemons, which answer over a network": "daemon port pid_file",
    "clusters of machines": "span_server total node unique_id sendto",
    "offset trees": "ot",
    "data in other formats than text, JSON and CSV": "dsjson flatbuffer ignore_features_dsjson_experimental",
    "reports in JSON":
        "extra_metrics dump_json_weights_experimental dump_json_weights_include_extra_online_state_experimental "
        "dump_json_weights_include_feature_names_experimental",
    "interactions by whole names": "experimental_full_name_interactions",
    "passes over a growing beginning of the data": "initial_pass_length",
}  # fmt: skip
_BELONGS = {name: what for what, names in _ABSENT.items() for name in names.split()}

_FILE = "options_cli.cc"
_CODES = {"uint": "j", "ulong": "m", "int": "i", "long": "l", "float": "f"}
_BITS = {"uint": 32, "ulong": 64, "int": 32, "long": 64}
_LARGEST = 3.4028235677973366e38  # from here on a number is none of 32 bits
_WHOLE = re.compile(r"\s*[-+]?\d{1,30}", re.ASCII)
_DECIMAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)

MODELS = 1 << 22  # at most: each takes a step of Python for each example

# The least and the largest number that an option can be, so that an example comes to its end. 0 models predict
# nothing; Vowpal Wabbit crashes for most of these, or does not come back. The plan of --ect takes errors^2 steps.
RANGES = {
    "autolink": (0, MODELS), "boosting": (0, MODELS), "bootstrap": (1, MODELS), "csoaa": (1, MODELS),
    "ect": (1, MODELS), "error": (0, 1000), "multilabel_oaa": (1, MODELS), "nn": (0, MODELS - 1), "oaa": (1, MODELS),
    "replay_b_count": (0, MODELS), "replay_c_count": (0, MODELS), "replay_m_count": (0, MODELS),
}  # fmt: skip

CHOICES = {
    "alg": ["BBM", "adaptive", "logistic"],
    "bs_type": ["mean", "vote"],
    "csoaa_ldf": ["m", "mc", "multiline", "multiline-classifier"],
    "driver_output": ["stderr", "stdout"],
    "hash": ["all", "strings"],
    "link": ["glf1", "identity", "logistic", "poisson"],
    "log_level": ["critical", "error", "info", "off", "warn"],
    "log_output": ["compat", "stderr", "stdout"],
    "loss_function": ["classic", "expectile", "hinge", "logistic", "poisson", "quantile", "squared"],
    "wap_ldf": ["m", "mc", "multiline", "multiline-classifier"],
}


@dataclass(frozen=True)
class Option:
    """One option: its letter ("" for none), its type, and whether it is stored in models."""

    name: str
    letter: str
    type: str
    keep: bool
    help: str

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
        if self.name in CHOICES and text not in CHOICES[self.name]:
            choices = ", ".join(CHOICES[self.name])
            raise Critical(
                f"Error: '{text}' is not a valid choice for option --{self.name}. Please select from {{{choices}}}",
                "options.cc", 30,
            )  # fmt: skip
        return text

    def _bad(self, text: str) -> Critical:
        return Critical(f"Failed to convert {text} to {_CODES[self.type]}", _FILE, 46)


def _read_table() -> dict[str, Option]:
    options = {}
    for line in _TABLE.split("\n")[1:-1]:
        head, _, help = line.partition(" | ")
        name, letter, type, *keep = head.split()
        options[name] = Option(name, letter.strip("-"), type, bool(keep), help)
    return options


OPTIONS = _read_table()
LETTERS = {option.letter: option for option in OPTIONS.values() if option.letter}


def usage() -> str:
    """What `vwlite vw --help` prints: each option in a line."""
    rows = [("    --args FILE", "take the arguments of a run from a file; alone")]
    for option in OPTIONS.values():
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

    def kept(self) -> "Arguments":
        """Those that a model keeps."""
        kept = Arguments()
        kept.values = {name: value for name, value in self.values.items() if OPTIONS[name].keep}
        return kept


def split(arguments: list[str]) -> list[str]:
    """The arguments; for `--args FILE`, which stands alone, those in the file. A line of it is a run."""
    if len(arguments) != 2 or arguments[0] != "--args":
        return arguments
    path = arguments[1]
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            lines = f.read().splitlines()
    except OSError:
        raise Critical(f"Could not open file: {path}", "main.cc", 55) from None
    if len(lines) != 1:
        raise Refused(f"--args with {len(lines)} lines in {path}", "it takes a file of one line; start others yourself")
    line = f"{lines[0]} -f model.1 --no_stdin"
    print(line)
    try:
        return shlex.split(line)
    except ValueError as e:
        raise Critical(f"{path}: {e}", "main.cc", 60) from None


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


def _add(found: Arguments, option: Option, text: str) -> None:
    if option.type == "list[str]":
        found.values.setdefault(option.name, []).append(text)
        return
    value = option.read(text)
    found.values.setdefault(option.name, value)  # of several, the first counts
