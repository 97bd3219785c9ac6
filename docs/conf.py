"""The settings of Sphinx, for ``make docs``: the repository's pages as a site.

The pages lie where a reader of the repository finds them, some beside the code that they are about. So the
whole repository is the source, and a link between two pages is the same here and there. Nothing is fetched
from elsewhere, neither while the site is made nor by its pages.
"""

import os

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from preorder import __version__

project = "onmt-preorder"
version = release = __version__
html_title = f"{project} {version}"
html_theme = "furo"
html_copy_source = False

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/*",
    "docs/papers/*",
    "config/README.md",
    "recipes/*/*.md",
]
include_patterns += ["preorder/models/README.md"]
exclude_patterns = [".*", "build", "runs", "tests", "docs/example"]

myst_heading_anchors = 4
nb_execution_mode = "off"  # a test runs the notebook
autodoc_member_order = "bysource"
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # the types of parameters, which need not have a page


def link_folders(app: Sphinx, page: nodes.document) -> None:
    """Let links to a folder lead to its README, or be plain text where it has none.

    Any other link that leads nowhere stays as it is, and is an error.
    """
    name = app.env.docname
    for link in list(page.findall(addnodes.pending_xref)):
        folder = os.path.normpath(os.path.join(os.path.dirname(name), link["reftarget"]))
        if link["reftype"] != "myst" or not os.path.isdir(os.path.join(app.srcdir, folder)):
            continue
        readme = f"{folder}/README"
        if readme in app.env.found_docs:
            link.attributes.update({"refdomain": "doc", "reftarget": readme, "reftargetid": None})
        else:
            link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("doctree-read", link_folders)
