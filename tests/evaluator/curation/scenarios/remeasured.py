"""Independent checks of a folder of scenarios, from its files and the graph's lines."""

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
        self.origins = {
            origin["id"]: origin for origin in map(json.loads, (folder / "origins.jsonl").read_text().splitlines())
        }
        self.recipe = json.loads((folder / "recipe.json").read_text())

    @cached_property
    def clusters(self):
        """{popularity: {(subject, object): cluster}}."""
        cluster_of = {}
        for row in self.rows("clusters.tsv"):
            cluster_of.setdefault(row["Popularity"], {})[row["Subject"], row["Object"]] = int(row["Cluster"])
        return cluster_of

    def rows(self, name):
        with (self.folder / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    def scenarios(self):
        """{scenario: its gold lines}."""
        lines_of = {}
        for line in self.gold:
            lines_of.setdefault(line["slices"]["scenario"], []).append(line)
        return lines_of

    def check(self):
        """Check all promised properties of every scenario; return the number of scenarios."""
        assert len({line["id"] for line in self.gold}) == len(self.gold) == len(self.origins)
        truth = {}
        for line in self.gold:
            assert truth.setdefault((line["subject"], line["object"]), line["label"]) == line["label"]
        for name, lines in self.scenarios().items():
            self.check_scenario(name, lines)
        return len(self.scenarios())

    def check_scenario(self, name, lines):
        parameters = self.recipe["parameters"]
        slices = lines[0]["slices"]
        assert all(line["slices"] == slices for line in lines)
        true = [line for line in lines if line["label"]]
        false = [line for line in lines if not line["label"]]
        size, ratio = Decimal(parameters["size"]), Decimal(parameters["ratio"])
        assert len(true) == (size * ratio / (1 + ratio)).to_integral_value(ROUND_CEILING)
        assert len(true) + len(false) == size
        assert len({(line["subject"], line["object"]) for line in lines}) == size
        relation = parameters["relation"]
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
        reached = {subject}
        for step in origin["path"]:
            assert step.removeprefix(REVERSED) != relation
            reached = set().union(*(self.next.get((entity, step), ()) for entity in reached))
        assert object_ in reached

    def check_published(self, name, lines):
        """Check that the published layout has the same content."""
        rows = self.rows(f"{self.recipe['parameters']['kind']}_{name.replace(' ', '_')}_scenario.tsv")
        published = {(row["Subject"], row["Object"]): (row["Label"], row["Origin_Relation"]) for row in rows}
        for line in lines:
            origin = self.origins[line["id"]]
            path = "No" if line["label"] else ",".join(origin.get("path", ())) or "*"
            assert published.pop((line["subject"], line["object"])) == ("1" if line["label"] else "-1", path)
        assert not published

    def check_alike(self, slices, true):
        clusters = self.clusters[slices["popularity"]]
        sizes = Counter(clusters.values())
        assert [n for _, n in sorted(sizes.items())] == sorted(sizes.values(), reverse=True)
        target = int((Decimal(str(slices["homogeneity"])) * len(true)).to_integral_value(ROUND_FLOOR))
        full_clusters, n_facts = set(), 0
        for number in sorted(sizes):
            if n_facts >= target:
                break
            full_clusters.add(number)
            n_facts += sizes[number]
        counts = Counter(clusters[line["subject"], line["object"]] for line in true)
        assert abs(sum(counts[number] for number in full_clusters) - target) <= 1
        rest = [counts[number] for number in sizes if number not in full_clusters]
        most = max(rest, default=0)
        assert all(counts[number] >= min(sizes[number], most - 1) for number in sizes if number not in full_clusters)
