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
    "sphinx_gallery.gen_gallery",
]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autosummary_generate = True
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "scripts", "gallery", "plugin"]
nitpicky = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"/\d\d_\w+\.py$",  # run all of them
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": False,
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "remove_config_comments": True,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "evcrisp"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_static_path = ["_static"]
