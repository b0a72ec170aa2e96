"""From the rounds of a row to one ratio. A round is {"ours": [line, …], "peers": {setting: line}, "others": share}, where
a line is what a benchmark printed as JSON."""
import statistics
from dataclasses import dataclass


@dataclass
class Spread:
    """The median of some figures, the least and the greatest."""

    median: float
    low: float
    high: float
    count: int

    @staticmethod
    def of(values):
        values = list(values)
        return Spread(statistics.median(values), min(values), max(values), len(values)) if values else None


def settings_of(rounds):
    """Settings of the peer that ended well, and their seconds by round."""
    seconds = {}
    for number, one in enumerate(rounds):
        for setting, line in one.get("peers", {}).items():
            if "median_s" in line:
                seconds.setdefault(setting, {})[number] = line["median_s"]
    return seconds


def best_setting(rounds):
    """The setting with the least median, among those of most rounds; None if none ended well."""
    seconds = settings_of(rounds)
    if not seconds:
        return None
    most = max(len(by_round) for by_round in seconds.values())
    medians = {name: statistics.median(by_round.values()) for name, by_round in seconds.items() if len(by_round) == most}
    return min(medians, key=medians.get)


def contenders(rounds, within=1.15):
    """Settings worth another round: those whose best time is near the best of all."""
    best = {name: min(by_round.values()) for name, by_round in settings_of(rounds).items()}
    return [name for name, seconds in best.items() if seconds <= within * min(best.values())]


def peer_lines(rounds):
    """The lines of the best setting, by round, and its name."""
    name = best_setting(rounds)
    return name, {i: one["peers"][name] for i, one in enumerate(rounds) if "median_s" in one.get("peers", {}).get(name, {})}


def ratio(rounds, key="median_s", inverse=False):
    """How many times less of `key` we need than the peer's best setting, round by round; `inverse`: the other way."""
    _, lines = peer_lines(rounds)
    values = []
    for number, line in lines.items():
        ours = rounds[number]["ours"][0]
        if ours.get(key) and line.get(key):
            values.append(ours[key] / line[key] if inverse else line[key] / ours[key])
    return Spread.of(values)


def our_figure(rounds, key="median_s", line=0):
    """Our figure over all rounds."""
    return Spread.of(one["ours"][line][key] for one in rounds if len(one["ours"]) > line and key in one["ours"][line])


def others(rounds):
    """The most CPU that other programs took in a round, in CPUs; None if it was not noted."""
    shares = [one["others"] for one in rounds if "others" in one]
    return max(shares) if shares else None
