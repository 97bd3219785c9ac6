"""Elements of HTML: what is text is escaped, what is HTML is not."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from preorder.analysis.page.html import Markup, element, join


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.attributes = [], "", {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.update(attrs)

    def handle_data(self, data):
        self.text += data


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_is_read_back(text):
    reader = Reader()
    reader.feed(element("p", text, title=text))
    reader.close()
    assert (reader.tags, reader.text, reader.attributes) == (["p"], text, {"title": text})


def test_elements():
    assert element("p", "a<b", element("b", "&"), class_="x") == '<p class="x">a&lt;b<b>&amp;</b></p>'
    assert element("details", open=True) == "<details open></details>"
    assert element("details", open=False, aria_label="“") == '<details aria-label="“"></details>'
    assert element("meta", http_equiv="x") == '<meta http-equiv="x">'
    assert join("<", Markup("<br>")) == "&lt;<br>"
