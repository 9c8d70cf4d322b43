"""Configuration of the documentation site: Sphinx with MyST and Furo, built from the Markdown files of this folder."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "sphinx")]
# The API reference reads the site's OpenAPI schema; it opens no database. Its examples have an address of no site.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
os.environ.setdefault("HOLDOUT_BASE_URL", "https://board.example")

from evaluator import __version__  # noqa: E402

project = "Holdout"
author = "the Holdout authors"
version = release = __version__
language = "en"
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "generated_reference", "built_pages"]
exclude_patterns = ["sphinx", "examples/*/fixture", "examples/*/holdout_*"]
nitpicky = True
# Single backticks in docstrings are names in code.
default_role = "code"
highlight_language = "none"
# They would turn the two hyphens of options into a dash.
smartquotes = False

# Anchors are those of GitHub, which the files' links use.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "none"
add_module_names = False

html_theme = "furo"
html_title = "Holdout documentation"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_favicon = "../leaderboard/static/img/favicon.svg"
# Everything is served from the site itself: its fonts are copied, and no page loads anything from elsewhere.
html_static_path = [
    "sphinx/docs.css",
    "../leaderboard/static/vendor/source-sans-3",
    "../leaderboard/static/vendor/source-serif-4",
]
html_css_files = ["docs.css"]
html_theme_options = {
    "top_of_page_buttons": [],
    # The site's colours (leaderboard/static/css/holdout.css).
    "light_css_variables": {
        "color-background-primary": "#fbfaf7",
        "color-background-secondary": "#f3f1ec",
        "color-background-border": "#e0dcd2",
        "color-foreground-primary": "#1d1f1e",
        "color-foreground-secondary": "#5b5f5c",
        "color-foreground-muted": "#5b5f5c",
        "color-foreground-border": "#8d8f88",
        "color-brand-primary": "#0f5c60",
        "color-brand-content": "#0f5c60",
        "color-brand-visited": "#0f5c60",
        "color-highlight-on-target": "#e3efee",
        "color-api-name": "#0f5c60",
        "color-api-pre-name": "#0f5c60",
    },
    "dark_css_variables": {
        "color-background-primary": "#131615",
        "color-background-secondary": "#1a1e1d",
        "color-background-border": "#303634",
        "color-foreground-primary": "#e9e8e3",
        "color-foreground-secondary": "#a9ada8",
        "color-foreground-muted": "#a9ada8",
        "color-foreground-border": "#7b827e",
        "color-brand-primary": "#77c9c5",
        "color-brand-content": "#77c9c5",
        "color-brand-visited": "#77c9c5",
        "color-highlight-on-target": "#1b3132",
        "color-api-name": "#77c9c5",
        "color-api-pre-name": "#77c9c5",
    },
}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
