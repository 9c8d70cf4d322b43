"""Importer of BUCKLE (Huynh & Papotti 2019): fact checking in scenarios, which are files of sampled claims.

There is a phase for each relation and ratio of true to false claims. Boards have a matrix of scores by transparency and
homogeneity of the scenario, and a table by popularity of the entities.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from leaderboard.benchmarks.manifest import Manifest, PhasePart, SplitPart
from leaderboard.hosting.importers.buckle_files import POPULARITY, Pair, Scenario, scenarios
from leaderboard.hosting.importers.choices import Choices, Imported, reported
from leaderboard.hosting.importers.published import GoldLine, Origins
from leaderboard.hosting.importers.salted import Salt

CROSS = {"cross": "transparency,homogeneity"}


def prepare(published: Path, work: Path, choices: Choices) -> Imported:
    """Import the test scenarios of each relation and ratio of true to false claims as a hidden split.

    The train scenarios become a public split for each relation and ratio.

    Claims get salted ids and are sorted by these ids, so that the published order, which reveals labels, is lost. The
    columns that reveal labels are dropped.

    published: folder of the published files. work: folder for the files that the importer writes.
    """
    salt, origins, splits, phases, remarks = Salt(choices.salt), Origins(), [], [], []
    parts: dict[tuple[str, str, bool], list[Scenario]] = defaultdict(list)
    for scenario in scenarios(published):
        parts[scenario.relation, scenario.ratio, scenario.train].append(scenario)
    for (relation, ratio, train), files in sorted(parts.items(), key=lambda part: (part[0][:2], not part[0][2])):
        name = f"{_slug(relation)}-r{ratio.replace('.', '-')}{'-train' if train else ''}"
        origins.write(work / f"{name}.jsonl", _lines(files, salt))
        splits.append(choices.split(name, "train" if train else "test", gold_public=train))
        choices.say(f"{name}: {len(files)} scenarios, {sum(len(file.claims) for file in files):,} claims")
        if not train:
            phases.append(_phase(choices, name, relation, ratio, files))
            remarks.append(_repetition(relation, ratio, files))
    remarks += _overlaps(parts)
    for remark in remarks:
        choices.say(f"warning: {remark}")
    return Imported(manifest=_manifest(choices, splits, phases, remarks), origins=origins, id_map=salt.ids)


def slices_of(scenario: Scenario, others: Iterable[Scenario]) -> dict[str, Any]:
    """Return the slices of a scenario's claims, value by dimension.

    The dimensions are chosen so that scenarios in one table of the board differ only in the table's dimensions. The
    table of transparency and homogeneity contains the scenarios whose entities were not chosen by popularity. The
    popularity table contains the pairs of transparency and homogeneity for which the split has scenarios of popular,
    non-popular and random entities. others: all scenarios of the split.
    """
    slices: dict[str, Any] = {"relation": scenario.relation, "scenario": scenario.label}
    if scenario.popularity in ("random", ""):
        slices |= {"transparency": scenario.transparency, "homogeneity": scenario.homogeneity}
    flavours = {other.popularity for other in others if other.setting == scenario.setting}
    if scenario.popularity and flavours >= {name for name in POPULARITY.values() if name}:
        slices["popularity"] = scenario.popularity
    return slices


def _lines(files: Sequence[Scenario], salt: Salt) -> list[GoldLine]:
    content = []
    for file in files:
        slices = slices_of(file, files)
        for claim in file.claims:
            subject, object_ = claim.pair
            gold = {
                "id": salt.id(f"{file.relation}/{file.path.name}:{claim.line}"),
                "subject": subject,
                "relation": file.relation,
                "object": object_,
                "label": claim.holds,
                # The claims on one pair in several scenarios depend on each other, so they are one group.
                "group": salt.group(f"{file.relation}\t{subject}\t{object_}"),
                "slices": slices,
            }
            content.append((msgspec.json.encode(gold), file.path, claim.line))
    content.sort(key=lambda item: item[0])  # each line begins with its salted id
    return content


def _slug(relation: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", relation).lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:60] or "relation"


def _phase(choices: Choices, name: str, relation: str, ratio: str, files: Sequence[Scenario]) -> PhasePart:
    has_matrix = any("transparency" in slices_of(file, files) for file in files)
    title = f"{relation}, ratio {ratio}"
    return choices.phase(slug=name, title=title, split=name, options=CROSS if has_matrix else {})


def _repetition(relation: str, ratio: str, files: Sequence[Scenario]) -> str:
    """Return a sentence with the AUROC of a trivial score: the number of files in which a claim's entity pair occurs.

    The AUROC is above 0.5 if the pairs of true claims recur in more scenarios than those of false claims.
    """
    times = Counter(claim.pair for file in files for claim in file.claims)
    seen = Counter((times[claim.pair], claim.holds) for file in files for claim in file.claims)
    true, false = (sum(n for (_, holds), n in seen.items() if holds is side) for side in (True, False))
    wins = sum(
        n * m * (1.0 if often > other else 0.5 if often == other else 0.0)
        for (often, holds), n in seen.items()
        for (other, counter), m in seen.items()
        if holds and not counter
    )
    note = (
        f", and how often a pair recurs gives an AUROC of {wins / (true * false):.2f} alone" if true and false else ""
    )
    return f"{relation}, ratio {ratio}: {true + false:,} claims are {len(times):,} pairs{note}."


def _overlaps(parts: dict[tuple[str, str, bool], list[Scenario]]) -> list[str]:
    pairs: dict[tuple[str, bool], set[Pair]] = defaultdict(set)
    for (relation, _, train), files in parts.items():
        pairs[relation, train].update(claim.pair for file in files for claim in file.claims)
    return [
        f"{relation}: {len(tested & pairs[relation, True]):,} of {len(tested):,} test pairs are in training files, "
        "with their labels."
        for (relation, train), tested in sorted(pairs.items())
        if not train and tested & pairs.get((relation, True), set())
    ]


def _manifest(choices: Choices, splits: list[SplitPart], phases: list[PhasePart], remarks: list[str]) -> Manifest:
    return Manifest(
        slug=choices.slug or "buckle",
        title=choices.title or "BUCKLE",
        task="fact-checking",
        summary="Distinguish true triples of a knowledge graph from false ones, in scenarios from easy to hard.",
        description=[
            "A scenario has claims of one relation. Transparency is the share of false claims whose entities were "
            "paired at random; the entities of other false claims are linked in the graph like those of true claims, "
            "so they are hard to recognise. Homogeneity is the share of true claims from the largest clusters of "
            "similar entities. Popularity is how the entities were chosen: with many facts in the graph, with few, or "
            "at random.",
            "Each relation has a phase for each ratio of true to false claims (0.2 is one to five). The matrix of "
            "transparency and homogeneity has the scenarios whose entities were not chosen by popularity. The "
            "popularity table has the settings that were published for popular, non-popular and random entities. The "
            "slices by scenario have the score on each published file.",
            *([f"What the published files reveal: {' '.join(remarks)}"] if remarks else []),
        ],
        rules="Judge each claim by itself: do not use how often it recurs, or in which scenarios it is. "
        "The labels of these claims are published elsewhere: say on which data your system was trained.",
        licence="None stated; the triples are DBpedia's (CC BY-SA 3.0)",
        citation=(
            "Viet-Phi Huynh, Paolo Papotti. A Benchmark for Fact Checking Algorithms Built on Knowledge Bases. "
            "CIKM 2019."
        ),
        source="The published scenario files of BUCKLE.",
        public=choices.public,
        splits=splits,
        phases=phases,
        reported=reported("buckle"),
    )
