"""A folder of scenarios measured again, from its files and the graph's own lines alone."""

import csv
import json
from collections import Counter
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property

REVERSED = "(-1)"


class Folder:
    """types: {entity: types}; graph: paths of files of triples."""

    def __init__(self, folder, graph, types):
        self.folder, self.types = folder, types
        self.triples = {tuple(line.split("\t")) for path in graph for line in path.read_text().splitlines()}
        self.linked = {(s, o) for s, _, o in self.triples}
        self.next = {}
        for s, p, o in self.triples:
            self.next.setdefault((s, p), set()).add(o)
            self.next.setdefault((o, REVERSED + p), set()).add(s)
        self.gold = [json.loads(line) for line in (folder / "gold.jsonl").read_text().splitlines()]
        self.origins = {one["id"]: one for one in map(json.loads, (folder / "origins.jsonl").read_text().splitlines())}
        self.recipe = json.loads((folder / "recipe.json").read_text())

    @cached_property
    def clusters(self):
        """{popularity: {(subject, object): cluster}}."""
        found = {}
        for row in self.rows("clusters.tsv"):
            found.setdefault(row["Popularity"], {})[row["Subject"], row["Object"]] = int(row["Cluster"])
        return found

    def rows(self, name):
        with (self.folder / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    def scenarios(self):
        """{scenario: its gold lines}."""
        found = {}
        for line in self.gold:
            found.setdefault(line["slices"]["scenario"], []).append(line)
        return found

    def check(self):
        """Everything that is promised of every scenario; returns how many there are."""
        assert len({line["id"] for line in self.gold}) == len(self.gold) == len(self.origins)
        truth = {}
        for line in self.gold:
            assert truth.setdefault((line["subject"], line["object"]), line["label"]) == line["label"]
        for name, lines in self.scenarios().items():
            self.check_scenario(name, lines)
        return len(self.scenarios())

    def check_scenario(self, name, lines):
        given = self.recipe["parameters"]
        slices = lines[0]["slices"]
        assert all(line["slices"] == slices for line in lines)
        true = [line for line in lines if line["label"]]
        false = [line for line in lines if not line["label"]]
        size, ratio = Decimal(given["size"]), Decimal(given["ratio"])
        assert len(true) == (size * ratio / (1 + ratio)).to_integral_value(ROUND_CEILING)
        assert len(true) + len(false) == size
        assert len({(line["subject"], line["object"]) for line in lines}) == size
        relation = given["relation"]
        for line in true:
            assert (line["subject"], relation, line["object"]) in self.triples
        for line in false:
            self.check_false(line, relation)
        transparency = Decimal(str(slices["transparency"]))
        plausible = sum(self.origins[line["id"]]["origin"] != "unrelated" for line in false)
        assert plausible == ((1 - transparency) * len(false)).to_integral_value(ROUND_FLOOR)
        if "homogeneity" in slices:
            self.check_published(name, lines)
            self.check_alike(slices, true)

    def check_false(self, line, relation):
        subject, object_, origin = line["subject"], line["object"], self.origins[line["id"]]
        assert line["relation"] == relation
        assert subject != object_
        assert (subject, relation, object_) not in self.triples
        assert (object_, relation, subject) not in self.triples
        if origin["origin"] == "unrelated":
            assert (subject, object_) not in self.linked
            assert (object_, subject) not in self.linked
            assert (subject, relation) in self.next
            assert (object_, REVERSED + relation) in self.next
            return
        x, y = origin["source"]
        assert (x, relation, y) in self.triples
        assert (subject == x) != (object_ == y)
        replaced, by = (y, object_) if subject == x else (x, subject)
        want, have = set(self.types.get(replaced, ())), set(self.types.get(by, ()))
        if origin["origin"] == "walks":
            assert len(want & have) >= min(4, len(want))
        else:
            assert want == have
        assert 1 <= len(origin["path"]) <= 3
        here = {subject}
        for step in origin["path"]:
            assert step.removeprefix(REVERSED) != relation
            here = set().union(*(self.next.get((entity, step), ()) for entity in here))
        assert object_ in here

    def check_published(self, name, lines):
        """The published layout says the same."""
        rows = self.rows(f"{self.recipe['parameters']['kind']}_{name.replace(' ', '_')}_scenario.tsv")
        found = {(row["Subject"], row["Object"]): (row["Label"], row["Origin_Relation"]) for row in rows}
        for line in lines:
            origin = self.origins[line["id"]]
            path = "No" if line["label"] else ",".join(origin.get("path", ())) or "*"
            assert found.pop((line["subject"], line["object"])) == ("1" if line["label"] else "-1", path)
        assert not found

    def check_alike(self, slices, true):
        clusters = self.clusters[slices["popularity"]]
        sizes = Counter(clusters.values())
        assert [n for _, n in sorted(sizes.items())] == sorted(sizes.values(), reverse=True)
        wanted = int((Decimal(str(slices["homogeneity"])) * len(true)).to_integral_value(ROUND_FLOOR))
        used, held = set(), 0
        for number in sorted(sizes):
            if held >= wanted:
                break
            used.add(number)
            held += sizes[number]
        found = Counter(clusters[line["subject"], line["object"]] for line in true)
        assert abs(sum(found[number] for number in used) - wanted) <= 1
        rest = [found[number] for number in sizes if number not in used]
        most = max(rest, default=0)
        assert all(found[number] >= min(sizes[number], most - 1) for number in sizes if number not in used)
