"""Template filter `markdown`: HTML from the Markdown texts of organisers.

HTML elements outside a list of harmless ones are removed.
"""

from __future__ import annotations

from functools import lru_cache

import nh3
from django import template
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

register = template.Library()
ELEMENTS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
HIGHEST = 3
"""Level of the highest headings: the page's own headings are above them."""
# Line ends stay as written. Images would come from other sites.
_PARSER = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")


@register.filter("markdown")
@lru_cache(maxsize=256)
def to_html(text: str) -> SafeString:
    """Render Markdown (CommonMark with tables) as safe HTML: HTML tags in it are shown as text, images as links."""
    tokens = _PARSER.parse(text)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    levels = sorted({int(token.tag[1]) for token in headings})
    for token in headings:
        token.tag = f"h{min(HIGHEST + levels.index(int(token.tag[1])), 6)}"
    html = nh3.clean(
        _PARSER.renderer.render(tokens, _PARSER.options, {}),
        tags=ELEMENTS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener",
    )
    # The sanitised HTML has these elements without attributes. A keyboard must reach what scrolls.
    html = html.replace(
        "<table>",
        '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table class="board board-plain">',
    )
    html = html.replace("</table>", "</table></div>").replace("<th>", '<th scope="col">')
    return SafeString(html.replace("<pre>", '<pre tabindex="0">'))
