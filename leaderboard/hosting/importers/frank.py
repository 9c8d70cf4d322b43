"""Importer of FRANK (Pagnoni et al. 2021): generated summaries with human ratings of factuality.

Submissions are metrics' scores of the summaries, which are correlated with the ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from leaderboard.benchmarks.manifest import Manifest
from leaderboard.hosting.importers.choices import Choices, Imported, reported
from leaderboard.hosting.importers.published import GoldLine, Origins, PublishedFileError, demand, find, lines, records
from leaderboard.hosting.importers.salted import Salt, salted

RATINGS = ("human_annotations.json",)
TEXTS = ("benchmark_data.json",)
OUTPUTS = ("baseline_factuality_metrics_outputs.json",)
ABOUT = frozenset({"hash", "model_name", "dataset", "split"})
"""Keys of a published line of metrics' outputs that are no metric."""
CONVERTED = ("gold.jsonl",)
SPLIT = "rated"
CROSS = {"cross": "split,dataset"}
AGREEMENT = "Krippendorff's alpha was .6897 on Actors and .7530 on the random ones"
"""Agreement between the raters of the reported correlations (Goodrich et al. 2019)."""

Key = tuple[str, str]
"""(hash of the article, name of the model that summarised it)."""


class Rating(msgspec.Struct):
    """The used fields of a published human rating. factuality: fraction of the summary's sentences without an error.

    hash: of the article. model_name: of the model that wrote the summary.
    """

    hash: str | int
    model_name: str
    dataset: str
    split: str
    factuality: float = msgspec.field(name="Factuality")

    @property
    def key(self) -> Key:
        return str(self.hash), self.model_name


class Summary(msgspec.Struct):
    """A model's summary of an article, and the human reference summary. hash: of the article."""

    hash: str | int
    model_name: str
    summary: str
    reference: str

    @property
    def key(self) -> Key:
        return str(self.hash), self.model_name


class Line(msgspec.Struct):
    """The used fields of a line in a published file that already is in the gold format."""

    id: str | int
    slices: dict[str, Any] = {}
    system: str = ""
    group: str | int | None = None

    @property
    def article(self) -> str:
        """The article's hash, taken from an id of the form `hash:model`.

        Empty if the line already has a group, or if the id does not end in the line's system.
        """
        article, _, model = str(self.id).rpartition(":")
        return article if self.group is None and model and model == self.system else ""


def prepare(published: Path, work: Path, choices: Choices) -> Imported:
    """Import all rated summaries as one hidden split.

    Ids are `hash:model`, as in published outputs of metrics, or salted with `choices.salt_ids`.

    published: folder of the published files. work: folder for the files that the importer writes.
    """
    salt, origins = Salt(choices.salt) if choices.salt_ids else None, Origins()
    if find(published, RATINGS) is None and (source := find(published, CONVERTED)) is not None:
        content, crossed = _converted(source, salt)
    else:
        source = demand(published, RATINGS)
        content, crossed = _rated(source, _summaries(published, choices), salt), True
    if not content:
        raise PublishedFileError(f"{source.name}: found no ratings, expected one for each summary")
    if salt is not None:
        content.sort(key=lambda item: item[0])  # each line begins with its salted id
    choices.say(f"{source.name}: {len(content):,} rated summaries")
    origins.write(work / f"{SPLIT}.jsonl", content)
    if choices.predictions is not None:
        _write_predictions(published, choices.predictions, rated=_ids(content), salt=salt, say=choices.say)
    ids = salt.ids if salt is not None else {}
    return Imported(manifest=_manifest(choices, CROSS if crossed else {}), origins=origins, id_map=ids)


def _rated(source: Path, summaries: dict[Key, Summary], salt: Salt | None) -> list[GoldLine]:
    content, first = [], dict[Key, int]()
    for number, rating in records(source, Rating):
        location = f"{source.name}:{number}"
        if first.setdefault(rating.key, number) != number:
            known = first[rating.key]
            raise PublishedFileError(
                f"{location}: {':'.join(rating.key)} is already rated on line {known}, expected one rating"
            )
        name, article = ":".join(rating.key), str(rating.hash)
        gold: dict[str, Any] = {"id": salt.id(name) if salt else name, "human": rating.factuality}
        gold["system"] = rating.model_name
        if summaries:
            summary = summaries.get(rating.key)
            if summary is None:
                raise PublishedFileError(f"{location}: found no summary of {name} in {TEXTS[0]}, expected one")
            gold |= {"generated": summary.summary, "reference": summary.reference}
        gold["group"] = salt.group(article) if salt else article
        gold["slices"] = {"split": rating.split, "dataset": rating.dataset}
        content.append((msgspec.json.encode(gold), source, number))
    return content


def _summaries(published: Path, choices: Choices) -> dict[Key, Summary]:
    source = find(published, TEXTS)
    if source is None:
        choices.say(f"found no {TEXTS[0]}: the inputs will have only ids")
        return {}
    summaries: dict[Key, Summary] = {}
    for number, summary in records(source, Summary):
        if summaries.setdefault(summary.key, summary) is not summary:
            raise PublishedFileError(
                f"{source.name}:{number}: {':'.join(summary.key)} is listed already, expected one summary"
            )
    return summaries


def _converted(source: Path, salt: Salt | None) -> tuple[list[GoldLine], bool]:
    """Import a published file that already is in the gold format; return (its gold lines, has the matrix).

    The board has a matrix if both dimensions in CROSS occur in the lines. Summaries of one article are one group: a
    line without a group gets the article's hash, taken from its id. salt: of the new ids; None: the ids are kept.
    """
    content, dimensions = [], set[str]()
    for number, raw, line in lines(source, Line):
        dimensions.update(line.slices)
        gold = raw
        if line.article:
            fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
            group = salt.group(line.article) if salt is not None else line.article
            gold = msgspec.json.encode({**fields, "group": group})
        content.append((gold if salt is None else salted(gold, salt), source, number))
    return content, dimensions >= {"split", "dataset"}


def _ids(content: list[GoldLine]) -> list[str]:
    return [str(msgspec.json.decode(line, type=Line).id) for line, _, _ in content]


def _manifest(choices: Choices, options: dict[str, str]) -> Manifest:
    return Manifest(
        slug=choices.slug or "frank",
        title=choices.title or "FRANK",
        task="metric-correlation",
        summary="Score generated summaries as people judged them: how much of a summary the article supports.",
        description=[
            "Nine summarisers wrote summaries of articles of CNN/Daily Mail and of the BBC (XSum). Three people looked "
            "at each sentence for errors of fact; a summary's rating is the share of its sentences without one. "
            "A submission has a metric's score of each summary.",
            "Good systems score well with people and with metrics, so a metric may agree with people only because it "
            "recognises good systems: partial correlations remove each system's mean. The slices are FRANK's own "
            "validation and test summaries and the two sources of articles; summaries of one article are resampled "
            "together.",
            "The articles themselves are in the published files, under the hash with which each id begins.",
            f"The correlations reported from a paper are of other texts, summaries of Wikipedia articles: {AGREEMENT}.",
        ],
        rules="The ratings are published elsewhere: say on which data your metric was tuned.",
        licence="MIT (annotations); articles as their sources state",
        citation=(
            "Artidoro Pagnoni, Vidhisha Balachandran, Yulia Tsvetkov. Understanding Factuality in Abstractive "
            "Summarization with FRANK: A Benchmark for Factuality Metrics. NAACL-HLT 2021."
        ),
        source="The published files of artidoro/frank.",
        source_url="https://github.com/artidoro/frank",
        public=choices.public,
        splits=[choices.split(SPLIT, "test")],
        phases=[choices.phase(slug=SPLIT, title="All rated summaries", split=SPLIT, options=options)],
        reported=reported("frank"),
    )


def _write_predictions(
    published: Path, target: Path, *, rated: Sequence[str], salt: Salt | None, say: Callable[[str], None]
) -> None:
    """Write a predictions file `METRIC.jsonl` to the folder `target` for each metric that scores every rated summary.

    published: folder of the published files, with the metrics' outputs. rated: ids of the rated summaries as in the
    gold. salt: the salt of these ids; None: they are not salted. say: called with each line of progress. Raises
    PublishedFileError if the outputs are missing or invalid, or if a file cannot be written or exists already.
    """
    source = demand(published, OUTPUTS)
    scores: dict[str, dict[str, float]] = {}
    for number, output in records(source, dict[str, Any]):
        if not {"hash", "model_name"} <= output.keys():
            raise PublishedFileError(
                f"{source.name}:{number}: found the keys {', '.join(output)}, expected hash and model_name too"
            )
        name = f"{output['hash']}:{output['model_name']}"
        public = salt.id(name) if salt else name
        for metric in output.keys() - ABOUT:
            if type(output[metric]) in (int, float):
                scores.setdefault(metric, {})[public] = output[metric]
    encode = msgspec.json.Encoder().encode_lines
    written = 0
    target.mkdir(parents=True, exist_ok=True)
    for metric, by_id in sorted(scores.items()):
        missing = len(set(rated) - by_id.keys())
        if missing:
            say(f"{metric}: {missing} of {len(rated)} summaries have no score; the metric is left out")
            continue
        path = target / f"{metric.lower().replace(' ', '_')}.jsonl"
        try:
            with path.open("xb") as file:
                file.write(encode([{"id": name, "score": by_id[name]} for name in rated]))
        except OSError as error:
            raise PublishedFileError(f"{path}: cannot be written: {error.strerror}") from error
        written += 1
    say(f"{source.name}: predictions of {written} metrics in {target}")
