"""Sphinx configuration."""

import evcrisp

project = "evcrisp"
author = "The evcrisp developers"
project_copyright = "2026, the evcrisp developers"
version = release = evcrisp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autosummary_generate = True
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "scripts"]
nitpicky = False

html_theme = "pydata_sphinx_theme"
html_title = "evcrisp"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_static_path = ["_static"]
