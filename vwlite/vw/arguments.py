"""Vowpal Wabbit's arguments: what there is, how they are spelled, and its own words for bad ones."""

import re
import shlex
from dataclasses import dataclass
from typing import Any

from vwlite.vw.words import Critical, Refused

# name, letter, type, and whether a model keeps it
_TABLE = """
active - bool keep
adaptive - bool keep
adax - bool
affix - str keep
alg - str keep
audit a bool
audit_regressor - str keep
autolink - uint keep
baseline - bool keep
batch_sz - uint
batch_sz_no_doubling - bool
bfgs - bool keep
binary - bool keep
bit_precision b uint
boosting - int keep
bootstrap - uint keep
bs_type - str keep
cache c bool
cache_file - list[str]
chain_hash - bool keep
check_enabled - bool keep
classweight - list[str]
coin - bool keep
compete - bool
compressed - bool
confidence - bool keep
confidence_after_training - bool
conjugate_gradient - bool keep
constant C float
cs_absolute_loss - bool
csoaa - uint keep
csoaa_ldf - str keep
csoaa_rank - bool keep
csv - bool
csv_header - str
csv_no_file_header - bool
csv_ns_value - str
csv_separator - str
cubic - list[str] keep
data d str
decay - float
decay_learning_rate - float
dictionary - list[str] keep
dictionary_path - list[str]
direct - bool
dont_output_best_constant - bool
driver_output - str
driver_output_off - bool
dropout - bool keep
early_terminate - ulong
ect - ulong keep
error - ulong keep
example_queue_limit - long
examples - long
expectile_q - float
feature_limit - list[str]
feature_mask - str
fepsilon - float
final_regressor f str
freegrad - bool keep
ftrl - bool keep
ftrl_alpha - float
ftrl_beta - float
gamma - float
global_only - bool keep
hash - str keep
hash_seed - uint keep
help h bool
hessian_on - bool
hexfloat_weights - bool
holdout_after - uint
holdout_off - bool
holdout_period - uint
id - str
ignore - list[str] keep
ignore_linear - list[str] keep
indexing - uint keep
initial_denominator - float
initial_numerator - float
initial_regressor i list[str]
initial_t - float
initial_weight - float
inpass - bool keep
input_feature_regularizer - str
interact - str keep
interactions - list[str] keep
invariant - bool keep
invert_hash - str
json - bool
keep - list[str] keep
kill_cache k bool
l1 - float
l1_state - float
l2 - float
l2_state - float
ldf_override - str
learning_rate l float keep
leave_duplicate_interactions - bool
limit_output - ulong
link - str keep
log_level - str
log_output - str
logistic_max - float
logistic_min - float
loss_function - str
lr_multiplier - float
lrq - list[str] keep
lrqdropout - bool keep
lrqfa - str keep
marginal - str keep
max_prediction - float
meanfield - bool
mellowness - float keep
mem - int
min_prediction - float
multilabel_oaa - ulong keep
multitask - bool keep
named_labels - str keep
ngram - list[str]
nn - uint keep
no_bias_regularization - bool
no_daemon - bool
no_stdin - bool
noconstant - bool keep
noop - bool keep
normal_weights - bool
normalized - bool keep
oaa - ulong keep
oaa_subsample - ulong
onethread - bool
output_feature_regularizer_binary - str
output_feature_regularizer_text - str
passes - ulong
permutations - bool
pistol - bool keep
power_t - float keep
predict_only_model - bool
predictions p str
preserve_performance_counters - bool
probabilities - bool
progress P str
quadratic q list[str] keep
quantile_tau - float
quiet - bool
random_seed - ulong
random_weights - bool
raw_predictions r str
readable_model - str
redefine - list[str] keep
replay_b - ulong keep
replay_b_count - ulong
replay_c - ulong keep
replay_c_count - ulong
replay_m - ulong keep
replay_m_count - ulong
restart - bool
ring_size - int
save_per_pass - bool
save_resume - bool
sched_exponent - float
scores - bool
sgd - bool keep
simulation - bool
skips - list[str]
sort_features - bool
sparse_l2 - float
sparse_weights - bool
spelling - list[str] keep
stage_poly - bool keep
stage_size - int
strict_parse - bool
svrg - bool keep
termination - float
testonly t bool
top - uint keep
truncated_normal_weights - bool
unweighted_marginals - bool
update_before_learn - bool
version - bool
wap_ldf - str keep
"""

# What Vowpal Wabbit has and this program does not: bandits, search, topics, daemons, clusters, kernels and the like.
_ABSENT = ["OjaNewton", "action_cache_slack", "active_cover", "all_slots_loss", "alpha", "alpha_inverse",
"automl", "automl_significance_level", "bag", "bandwidth", "baseline_challenger_cb", "bern_hyper", "beta_scale",
"block_size", "bonferroni_denominator", "cats", "cats_pdf", "cats_tree", "cb", "cb_adf", "cb_c_alpha",
"cb_c_tau", "cb_discrete", "cb_dro", "cb_dro_alpha", "cb_dro_tau", "cb_dro_wmax", "cb_explore",
"cb_explore_adf", "cb_explore_pdf", "cb_force_legacy", "cb_max_cost", "cb_min_cost", "cb_sample", "cb_to_cbadf",
"cb_type", "cbify", "cbify_cs", "cbify_ldf", "cbify_reg", "cbzo", "ccb_explore_adf", "ccb_no_slot_index",
"challenger_epsilon", "choices_lambda", "clip_p", "constant_epsilon", "corrupt_prob_warm_start",
"corrupt_type_warm_start", "cost_max", "cost_min", "cover", "cs_active", "csa_debug", "csv_trace", "daemon",
"debug_reversed_learn", "default_lease", "degree", "domination", "dream_at_update", "dream_repeats", "dry_run",
"dsjson", "dump_json_weights_experimental", "dump_json_weights_include_extra_online_state_experimental",
"dump_json_weights_include_feature_names_experimental", "elim", "emt", "emt_initial", "emt_leaf", "emt_router",
"emt_scorer", "emt_tree", "epoch_size", "epsilon", "epsilon_decay", "epsilon_decay_audit",
"epsilon_decay_significance_level", "eval", "exclude_eval", "experimental_full_name_interactions",
"experimental_igl", "explore_eval", "extra_metrics", "first", "first_only", "fixed_significance_level",
"flatbuffer", "flip_loss_sign", "flipschitz_const", "foreground", "gamma_exponent", "gamma_scale", "get_pmf",
"graph_feedback", "greedify", "ignore_features_dsjson_experimental", "initial_epsilon", "initial_pass_length",
"interaction", "interaction_type", "interaction_update", "kary_tree", "kernel",
"ksvm", "lambda", "lambda_scheme", "large_action_space", "las_hint_explicit_simd", "lda", "lda_D", "lda_alpha",
"lda_epsilon", "lda_rho", "leaf_example_multiplier", "learn", "learn_at_leaf", "learning_rate_cnt", "log_multi",
"loss0", "loss1", "loss_01_ratio", "loss_option", "loss_report", "math", "max_actions", "max_candidates",
"max_depth", "max_labels", "max_number_of_labels", "max_value", "memory_tree", "metrics", "min_champ_examples",
"min_labels", "min_scope", "min_value", "minibatch", "model_count", "multiplier", "multiworld_test", "new_mf",
"no_predict", "no_progress", "node", "node_only", "normalize", "nounif", "num_children", "oas", "online",
"opt_func", "oracle_type", "oracular", "ot", "overwrite_label", "para_active", "per_model_save_load",
"pid_file", "plt", "plt_force_load_legacy_model", "pmf_to_pdf", "policy", "pool_greedy", "pool_size", "port",
"port_file", "print", "priority_challengers", "priority_type", "project", "psi", "radius", "random_init",
"randomized_routing", "range_c", "rank", "rank_all", "recall_tree", "regcb", "regcbopt", "reprocess",
"reward_as_cost", "rnd", "rnd_alpha", "rnd_invlambda", "sample_pdf", "search", "search_active_verify",
"search_allowed_transitions", "search_alpha", "search_beta", "search_history_length", "search_interpolation",
"search_linear_ordering", "search_metatask", "search_neighbor_features", "search_no_caching",
"search_passes_per_policy", "search_perturb_oracle", "search_rollin", "search_rollout",
"search_rollout_num_steps", "search_save_every_k_runs", "search_subsample_time", "search_task",
"search_total_nb_policies", "search_trained_nb_policies", "search_xv", "sendto", "shift_model_bounds",
"sim_bandit", "sketch_size", "slates", "softmax", "span_server", "span_server_port", "spanner_c", "squarecb",
"subsample", "swap_resistance", "synthcover", "synthcoverpsi", "synthcoversize", "target_rate",
"thread_pool_size", "threshold", "tol_x", "top_K", "top_k", "total", "tree_bandwidth", "two_pass_svd",
"unique_id", "verbose_metrics", "warm_cb", "warm_cb_cs", "warm_start", "warm_start_update"]

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
        name, letter, type, *keep = line.split()
        options[name] = Option(name, letter.strip("-"), type, bool(keep))
    return options


OPTIONS = _read_table()
LETTERS = {option.letter: option for option in OPTIONS.values() if option.letter}


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


def with_files(arguments: list[str]) -> list[str]:
    """The arguments with those of every `--args FILE` in its place."""
    out: list[str] = []
    at = 0
    while at < len(arguments):
        if arguments[at] == "--args" or arguments[at].startswith("--args="):
            _, _, path = arguments[at].partition("=")
            if not path:
                at += 1
                path = arguments[at] if at < len(arguments) else ""
            try:
                with open(path) as f:
                    out += shlex.split(f.read(), comments=False)
            except OSError:
                raise Critical(f"Could not open file: {path}", _FILE, 90) from None
        else:
            out.append(arguments[at])
        at += 1
    return out


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
            if name in _ABSENT:
                raise Refused(f"--{name}")
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
