"""HTML meta tags `citation_*` (Highwire) for the page of a benchmark that has a paper.

Reference managers and Google Scholar read them.
"""

from __future__ import annotations

import re

from django.conf import settings

from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Benchmark

_DOI = re.compile(r"https?://(?:dx\.)?doi\.org/(10\.[0-9]{4,9}/\S+)\Z")
_ARXIV = re.compile(r"https?://arxiv\.org/(?:abs|pdf)/([0-9]{4}\.[0-9]{4,5})(?:v[0-9]+)?(?:\.pdf)?\Z")


def paper_tags(benchmark: Benchmark) -> list[tuple[str, str]]:
    """Return (name, content) of each meta tag of a benchmark's page; none unless it is public and has a paper."""
    if benchmark.state != Benchmark.State.PUBLIC or not benchmark.paper_url:
        return []
    tags = [("citation_title", one_line(benchmark.title))]
    for organiser, _ in benchmark.organisers_with_links:
        author, _, institution = organiser.partition(",")
        tags.append(("citation_author", one_line(author)))
        if institution.strip():
            tags.append(("citation_author_institution", one_line(institution)))
    tags.append(("citation_publication_date", f"{benchmark.created_at:%Y/%m/%d}"))
    tags.append(("citation_abstract_html_url", settings.BASE_URL + benchmark.get_absolute_url()))
    is_pdf = benchmark.paper_url.endswith(".pdf")
    tags.append(("citation_pdf_url" if is_pdf else "citation_fulltext_html_url", benchmark.paper_url))
    for name, pattern in (("citation_doi", _DOI), ("citation_arxiv_id", _ARXIV)):
        if match := pattern.match(benchmark.paper_url):
            tags.append((name, match[1]))
    return tags
