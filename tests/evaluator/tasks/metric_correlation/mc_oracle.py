"""metric-correlation in plain loops over values and pairs, with exact fractions and one square root."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

from tests.evaluator.tasks.fact_checking.fc_oracle import cells


def pearson(x, y):
    """None where either is constant."""
    x, y = ([Fraction(value) for value in column] for column in (x, y))
    x, y = ([value - sum(column) / len(column) for value in column] for column in (x, y))
    spread = sum(a * a for a in x) * sum(b * b for b in y)
    return over_root(sum(a * b for a, b in zip(x, y, strict=True)), spread)


def over_root(numerator, squared):
    if not squared:
        return None
    with localcontext() as context:
        context.prec = 60
        context.Emax, context.Emin = 999999, -999999
        root = (Decimal(squared.numerator) / Decimal(squared.denominator)).sqrt()
        return float(Decimal(numerator.numerator) / Decimal(numerator.denominator) / root)


def ranks(column):
    return [Fraction(sum(b < a for b in column) + sum(b <= a for b in column) + 1, 2) for a in column]


def spearman(x, y):
    return pearson(ranks(x), ranks(y))


def kendall(x, y):
    difference = untied_x = untied_y = 0
    for (a, b), (c, d) in combinations(zip(x, y, strict=True), 2):
        difference += ((a > c) - (a < c)) * ((b > d) - (b < d))
        untied_x += a != c
        untied_y += b != d
    return over_root(Fraction(difference), Fraction(untied_x * untied_y))


def within(column, systems):
    """The column minus each system's mean. Each value is taken as the decimal number in a file, not as binary."""
    column = [Fraction(str(value)) for value in column]
    residuals = []
    for value, system in zip(column, systems, strict=True):
        own = [v for v, s in zip(column, systems, strict=True) if s == system and type(s) is type(system)]
        residuals.append(value - sum(own) / len(own))
    return residuals


def partial_spearman(x, y, systems):
    return spearman(within(x, systems), within(y, systems))


def partial_pearson(x, y, systems):
    return pearson(within(x, systems), within(y, systems))


def score(gold, predictions, *, partial=True):
    """{(measure, slice): (value, n)}. partial: with partial correlations, where every line names a system."""
    scores = {line["id"]: float(line["score"]) for line in predictions}
    named = partial and all("system" in line for line in gold)
    result = {}
    for key, indices in cells(gold, lambda _: {}).items():
        x = [float(gold[i]["human"]) for i in indices]
        y = [scores[gold[i]["id"]] for i in indices]
        values = {"spearman": spearman(x, y), "pearson": pearson(x, y), "kendall": kendall(x, y)}
        if named:
            systems = [gold[i]["system"] for i in indices]
            values["partial_spearman"] = partial_spearman(x, y, systems)
            values["partial_pearson"] = partial_pearson(x, y, systems)
        result |= {(name, key): (value, len(x)) for name, value in values.items()}
    return result
