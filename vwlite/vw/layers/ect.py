"""Error correcting tournaments: --ect. Beygelzimer, Langford, Ravikumar. Error-Correcting Tournaments, ALT 2009.

The classes meet in pairs. A class that loses continues in the next tournament, and is out after one more defeat than
errors are allowed. A last elimination is held among the winners of the tournaments. Each match is a linear model.
"""

from dataclasses import dataclass

from vwlite.vw.arguments import Arguments
from vwlite.vw.layers.base import Current, Layer
from vwlite.vw.setup import Setup


def circuit_width(k: int, errors: int) -> int:
    """The number of linear models of a circuit of k classes."""
    return (k - 1) * (errors + 1) + errors if k > 1 else 1


@dataclass(slots=True)
class Match:
    """A class or a match: the next match of its winner and of its loser, and its two players. 0: none."""

    tournament: int
    left: int = 0
    right: int = 0
    winner: int = 0
    loser: int = 0
    last: bool = False  # of its tournament


class Circuit:
    """The plan of all matches. The first k are the classes themselves."""

    def __init__(self, k: int, errors: int) -> None:
        self.k, self.errors = k, errors
        self.matches = [Match(0) for _ in range(k)]
        self.finals: list[int] = []  # the last match of each tournament
        tournaments: list[list[int]] = [list(range(k)), *([] for _ in range(errors))]
        while k > 1 and any(tournaments):
            tournaments = self._round(tournaments)
        self.pairs = (k - 1) * (errors + 1)
        self.height = errors.bit_length() if k > 1 else 0
        self.width = circuit_width(k, errors)

    def _round(self, tournaments: list[list[int]]) -> list[list[int]]:
        """One round of every tournament; returns the players that remain in each."""
        following: list[list[int]] = [[] for _ in tournaments]
        for i, players in enumerate(tournaments):
            lowest = i + 1 == len(tournaments)
            for left, right in zip(players[::2], players[1::2], strict=False):
                match, place = Match(i, left, right), len(self.matches)
                self.matches.append(match)
                for player in (self.matches[left], self.matches[right]):
                    if player.tournament == i:
                        player.winner = place
                    else:
                        player.loser = place
                if self.matches[left].last:
                    self.matches[left].winner = place
                if len(players) == 2 and (i == 0 or not tournaments[i - 1]):
                    match.last = True
                    if not lowest:
                        following[i + 1].append(place)
                    self.finals.append(place)
                else:
                    following[i].append(place)
                if not lowest:
                    following[i + 1].append(place)
            if len(players) % 2:
                following[i].append(players[-1])
        return following


class Ect(Layer):
    """Predicts the class that wins."""

    option = name = "ect"
    kind = output = "MULTICLASS"
    ensemble = True
    predicts_first = True

    @classmethod
    def models(cls, a: Arguments) -> int:
        return circuit_width(a["ect"], a.get("error", 0))

    def __init__(self, base: Layer, s: Setup) -> None:
        super().__init__(base, s)
        self.circuit = Circuit(s.arguments["ect"], s.arguments.get("error", 0))
        self.boundary = 0.5 if s.link == "logistic" else 0.0

    def predict(self, e: Current) -> None:
        circuit = self.circuit
        e.prediction = 1
        if circuit.k == 1:
            return
        e.label = float("nan")
        winner = 0
        for i in reversed(range(circuit.height)):
            other = winner | 1 << i
            if other <= circuit.errors:
                self.predict_with(e, circuit.pairs + other - 1)
                if e.prediction > self.boundary:
                    winner = other
        place = circuit.finals[winner]
        while place >= circuit.k:
            self.predict_with(e, place - circuit.k)
            match = circuit.matches[place]
            place = match.right if e.prediction > self.boundary else match.left
        e.prediction = place + 1

    def learn(self, e: Current) -> None:
        circuit = self.circuit
        if circuit.k == 1:
            return
        if not 1 <= e.target <= circuit.k:
            self.streams.warn(
                f"ect_train: label {e.target} is not in {{1, {circuit.k}}}, skipping example. This may indicate a data "
                "format issue."
            )
            return
        self._learn_finals(e, self._learn_matches(e))
        e.label = float("nan")

    def _learn_matches(self, e: Current) -> list[bool]:
        """Learn the matches of the class, whose path the predictions decide; returns the tournaments it wins."""
        circuit, won = self.circuit, []
        place = circuit.matches[e.target - 1].winner
        left = circuit.matches[place].left == e.target - 1
        while True:
            match = circuit.matches[place]
            e.label = -1.0 if left else 1.0
            self.learn_with(e, place - circuit.k)
            weight, e.weight = e.weight, 0.0
            self.learn_with(e, place - circuit.k)
            e.weight = weight
            wins = (e.prediction - self.boundary) * e.label > 0
            following = match.winner if wins else match.loser
            if match.last:
                won.append(wins)
            else:
                left = circuit.matches[following].left == place
                if not wins and following == 0:
                    won.append(False)
            place = following
            if place == 0:
                return won

    def _learn_finals(self, e: Current, won: list[bool]) -> None:
        """Learn the last elimination. The example keeps the weight of it, as in Vowpal Wabbit."""
        circuit = self.circuit
        for i in range(circuit.height):
            j = 0
            while j < len(won) // 2:
                left, right = won[2 * j], won[2 * j + 1]
                won[j] = left
                if left != right:
                    e.label = -1.0 if left else 1.0
                    e.weight = float(1 << (circuit.height - i - 1))
                    self.learn_with(e, circuit.pairs + j * (1 << (i + 1)) + (1 << i) - 1)
                    if e.prediction > self.boundary:
                        won[j] = right
                if len(won) % 2:
                    won[len(won) // 2] = won[-1]
                del won[(1 + len(won)) // 2 :]
                j += 1
