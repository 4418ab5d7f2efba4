"""The page of an audit: read, clicked and typed at in a browser, with names that attack it.

Screenshots are left in tests/artefacts/.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
from html.parser import HTMLParser

import chromium
import pytest
from command import call, run
from conftest import ROOT

pytest.importorskip("xgrammar")

from schemaguard.grammar.audit import AuditedConstraint, AuditResult, TokenPath
from schemaguard.grammar.audit.page import Page

ARTEFACTS = ROOT / "tests" / "artefacts"

PWN = "window.pwned=1"
LEAK = {"type": "number", "multipleOf": 0.25}
LONG = "n" * 10_000
#: Each is the name of a property that leaks.
NAMES = [
    f"</script><script>{PWN}</script>",
    f'"><img src=x onerror={PWN}>',
    "<!--<script ",
    "</SCRIPT x",
    f"${{{PWN}}}",
    "__proto__",
    "constructor",
    "\u202egpj.exe\u2066",
    "\x1b[31m\x1b]0;title\x07",
    "\u2028\u2029\0",
    "10",
    "2",
    LONG,
]


def closed(properties, **more):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **more,
    }


def tool(name, schema):
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def hostile(port):
    outside = f'<img src="http://127.0.0.1:{port}/x"><link rel=stylesheet href=//127.0.0.1:{port}>'
    properties = {
        name: {**LEAK, "title": outside, "description": f"<script>{PWN}</script>"} for name in NAMES
    }
    # Not required, so that a witness holds the one name that it is about.
    leaky = {"type": "object", "properties": properties, "additionalProperties": False}
    narrow = closed({"a": {"type": "string", "pattern": "bar", "title": "&lt;b&gt;"}})
    never = closed({"a": {"type": "string", "pattern": r"^(a[^\s\S]|b)$"}})
    return {
        "model": outside,
        "messages": [],
        "tools": [
            tool(f"</script><script>{PWN}</script>{outside}", leaky),
            tool("narrow", narrow),
            tool("never", never),
            tool("sound", closed({"n": {"type": "integer"}})),
            tool("remote", {"$ref": "http://127.0.0.1/x"}),
        ],
    }


@pytest.fixture(scope="module")
def listener():
    """A server that nothing should ever ask."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        yield server


@pytest.fixture(scope="module")
def audited(tmp_path_factory, listener):
    """What the command makes of the hostile request: path of the page."""
    folder = tmp_path_factory.mktemp("page")
    name = "<b>&\"'x.json"
    (folder / name).write_text(json.dumps(hostile(listener.getsockname()[1])), encoding="utf-8")
    options = ("--output-format", "html", "-o", "page.html", "--samples", "0")
    done = run("audit", name, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return folder / "page.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not (chromium.BINARY and chromium.DRIVER):
        pytest.skip(chromium.WHY_NOT)
    pytest.importorskip("selenium")
    made = chromium.start(tmp_path_factory.mktemp("profile"))
    yield made
    made.quit()


@pytest.fixture
def page(browser, audited):
    browser.get(audited.as_uri())
    return browser


def all_of(browser, selector):
    return browser.find_elements("css selector", selector)


def one(browser, selector):
    (found,) = all_of(browser, selector)
    return found


def texts(browser, selector):
    return [element.text for element in all_of(browser, selector)]


def row(browser, keyword, style, at=0):
    """A visible row of a keyword with a mark."""
    found = [e for e in all_of(browser, f".row.is-{style}") if f'"{keyword}"' in e.text]
    return found[at]


def press(browser, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def keep(browser, name):
    ARTEFACTS.mkdir(exist_ok=True)
    browser.save_screenshot(str(ARTEFACTS / f"{name}.png"))


def untouched(browser):
    """Nothing of what was audited ran, and nothing was asked for."""
    severe = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert severe == []
    assert browser.execute_script("return typeof window.pwned") == "undefined"
    assert all_of(browser, "img, link, iframe, object, body script + script + script") == []


def test_the_page_says_how_each_schema_stands(page):
    assert "xgrammar" in page.title or page.title.startswith("Audit of <b>&")
    verdicts = texts(page, ".schema .badge")
    assert [text.split()[-1] for text in verdicts] == [
        "leaks",
        "over-constrained",
        "dead-end",
        "exact",
        "refused",
    ]
    counts = {b.get_attribute("data-verdict"): b.text for b in all_of(page, ".filters button")}
    assert counts["dropped"].endswith(f"Dropped {len(NAMES)}")
    assert counts["over-constrained"].endswith("Over-constrained 1")
    keep(page, "audit")


def test_nothing_that_was_audited_runs_or_is_asked_for(page, audited, listener):
    chromium.requests(page)
    page.get(audited.as_uri())
    for card in all_of(page, ".schema h2 button"):
        if card.get_attribute("aria-expanded") == "false":
            card.click()
    for marked in all_of(page, ".row.is-dropped, .row.is-over-constrained"):
        page.execute_script("arguments[0].click()", marked)

    untouched(page)
    assert set(chromium.requests(page)) == {audited.as_uri()}
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    with pytest.raises(TimeoutError):
        listener.accept()


def test_the_policy_of_the_page_forbids_markup_code_and_requests(page, listener):
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    attempts = {
        "markup": "document.body.insertAdjacentHTML('beforeend', '<b id=forged>x</b>')",
        "code": "setTimeout('window.pwned = 1', 0)",
        "script": "const s = document.createElement('script'); s.textContent = 'window.pwned = 1';"
        "document.body.append(s)",
        "image": f"const i = new Image(); i.src = '{address}'; document.body.append(i)",
        "style": "const s = document.createElement('style'); s.textContent = 'body{color:red}';"
        "document.body.append(s); if (getComputedStyle(document.body).color != 'rgb(255, 0, 0)')"
        "throw new Error('ignored')",
    }
    for attempt in attempts.values():
        page.execute_script(f"try {{ {attempt} }} catch (error) {{}}")
    fetched = page.execute_async_script(
        f"fetch('{address}', {{mode: 'no-cors'}}).then(() => arguments[0](true), () => arguments[0](false))"
    )

    assert fetched is False
    assert all_of(page, "#forged") == []
    assert page.execute_script("return typeof window.pwned") == "undefined"
    assert page.execute_script("return getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    with pytest.raises(TimeoutError):
        listener.accept()
    page.get_log("browser")  # of refusals


def test_a_dropped_constraint_shows_its_witness_and_the_tokens_that_let_it_through(page):
    marked = row(page, "multipleOf", "dropped")
    assert "dropped" in marked.text
    marked.click()

    panel = one(page, "#panel")
    assert one(panel, "h2").text == "multipleOf"
    assert one(panel, ".badge").text == "✗ dropped"
    witness = json.loads(one(panel, ".witness").text)
    assert list(witness) == [NAMES[0]]
    assert witness[NAMES[0]] % 0.25
    tokens = texts(panel, ".tokens b")
    assert "".join(tokens[:-1]) == json.dumps(witness, separators=(",", ":"))
    assert tokens[-1] == "end"
    assert all_of(panel, ".tokens .no") == []
    counts = [int(text.split()[0]) for text in texts(panel, ".tokens li > span")]
    assert len(counts) == len(tokens)
    assert all(count > 0 for count in counts)
    assert marked.get_attribute("aria-selected") == "true"
    row(page, "multipleOf", "dropped", 1).click()
    assert marked.get_attribute("aria-selected") == "false"
    keep(page, "audit-dropped")
    untouched(page)


def test_an_over_constrained_one_shows_where_its_witness_was_refused(page):
    all_of(page, ".schema h2 button")[1].click()
    row(page, "pattern", "over-constrained").click()

    panel = one(page, "#panel")
    (witness,) = json.loads(one(panel, ".witness").text).values()
    assert "bar" in witness
    refused = one(panel, ".tokens .no")
    assert "refused" in refused.text
    assert refused == all_of(panel, ".tokens li")[-1]
    assert "Allowed there:" in panel.text
    keep(page, "audit-over-constrained")


def test_a_dead_end_shows_the_text_that_leads_there(page):
    all_of(page, ".schema h2 button")[2].click()
    one(page, ".body:not([hidden]) .link").click()

    assert one(page, "#panel .badge").text == "✗ dead-end"
    assert all_of(page, "#panel .tokens li")


def test_a_filter_leaves_what_has_the_verdict(page):
    one(page, "[data-verdict=over-constrained]").click()

    assert one(page, "[data-verdict=over-constrained]").get_attribute("aria-pressed") == "true"
    assert one(page, '[data-verdict=""]').get_attribute("aria-pressed") == "false"
    shown = [e for e in all_of(page, ".schema") if e.is_displayed()]
    assert [one(e, ".name").text for e in shown] == ["narrow"]
    shown[0].find_element("css selector", "h2 button").click()
    assert len(all_of(shown[0], ".row.marked")) == 1
    assert '"pattern": "bar"' in one(shown[0], ".row.marked").get_attribute("textContent")
    assert not any('"type"' in e.text for e in all_of(shown[0], ".row"))

    one(page, '[data-verdict=""]').click()
    assert len([e for e in all_of(page, ".schema") if e.is_displayed()]) == 5


def test_the_tree_is_in_the_order_of_the_keys_and_names_cannot_hide(page):
    names = [e.text.strip() for e in all_of(page, '.row[aria-level="3"] .key')]

    assert len(names) == len(NAMES)
    assert names[:7] == [f"{json.dumps(name)}:" for name in NAMES[:7]]
    assert names[7] == '"\\u202egpj.exe\\u2066":'
    assert "\\u001b[31m" in names[8]
    assert names[10:12] == ['"10":', '"2":']
    assert names[12].startswith('"nnnn')
    assert "more characters" in names[12]
    assert len(names[12]) < 200


def test_everything_can_be_done_with_the_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    focused = "return document.activeElement"
    press(page, Keys.TAB, Keys.TAB)
    assert page.execute_script(focused).get_attribute("data-verdict") == "dropped"
    press(page, Keys.SPACE)
    assert one(page, "[data-verdict=dropped]").get_attribute("aria-pressed") == "true"

    press(page, Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB)  # three filters, a heading, the tree
    assert page.execute_script(focused).tag_name == "button"
    press(page, Keys.TAB)
    root = page.execute_script(focused)
    assert (root.get_attribute("role"), root.get_attribute("aria-level")) == ("treeitem", "1")
    before = len(all_of(page, ".row"))
    press(page, Keys.ARROW_LEFT)
    assert page.execute_script(focused).get_attribute("aria-expanded") == "false"
    assert len(all_of(page, ".row")) == 1
    press(page, Keys.ARROW_RIGHT)
    assert len(all_of(page, ".row")) == before
    for _ in range(3):  # properties, the first property, its constraint
        press(page, Keys.ARROW_DOWN)
    assert '"multipleOf"' in page.execute_script(focused).text
    press(page, Keys.ENTER)
    assert one(page, "#panel h2").text == "multipleOf"
    assert '"multipleOf"' in page.execute_script(focused).text
    assert "multipleOf" in one(page, "[role=status]").get_attribute("textContent")
    press(page, Keys.ENTER)
    assert page.execute_script(focused) == one(page, "#panel")
    press(page, Keys.ESCAPE)
    assert one(page, "#panel h2").text == "Details"
    assert '"multipleOf"' in page.execute_script(focused).text
    press(page, Keys.ARROW_LEFT)
    assert page.execute_script(focused).get_attribute("aria-level") == "3"
    press(page, Keys.END)
    last = page.execute_script(focused)
    assert last == all_of(page, ".row")[-1]
    press(page, Keys.HOME)
    assert page.execute_script(focused).get_attribute("aria-level") == "1"
    assert len(all_of(page, '.row[tabindex="0"]')) == 1


def test_colour_is_never_the_only_sign(page):
    for marked in all_of(page, ".row.marked"):
        style = re.search(r"is-([a-z-]+)", marked.get_attribute("class"))[1]
        assert style in marked.text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_told_from_its_ground(page, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        row(page, "multipleOf", "dropped").click()
        for card in all_of(page, ".schema h2 button")[1:]:
            card.click()
        ratios = page.execute_script(CONTRAST)
        keep(page, f"audit-{scheme}")
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    assert len(ratios) > 100
    # WCAG 2.2, 1.4.3 (AA).
    assert [ratio for ratio in ratios if ratio[0] < 4.5] == []


#: Contrast ratio and text of every element with text of its own, by WCAG's formula.
CONTRAST = r"""
const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
const linear = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
const light = (c) => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = parts(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
}
return [...document.querySelectorAll("body *:not(script)")].filter((element) =>
  element.getClientRects().length
  && [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
).map((element) => {
  const one = light(parts(getComputedStyle(element).color)), other = light(ground(element));
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  return [ratio, element.textContent.slice(0, 40)];
});
"""


def test_a_narrow_window_has_the_details_at_the_bottom(page):
    page.set_window_size(500, 900)
    try:
        marked = row(page, "multipleOf", "dropped")
        page.execute_script("arguments[0].click()", marked)
        panel = one(page, "#panel")
        width = page.execute_script("return window.innerWidth")
        assert panel.rect["x"] == 0
        assert panel.rect["width"] >= width - 20
        assert page.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
        keep(page, "audit-narrow")
    finally:
        page.set_window_size(1400, 1000)


def made(count, witness='{"p0":0.1}'):
    """A page of a schema with so many properties, each of which leaks."""
    schema = closed({f"p{index}": LEAK for index in range(count)})
    path = TokenPath(tokens=[*'{"p0":0.1}', ""], choices=[1] * 11, refused=False)
    rows = [
        AuditedConstraint(
            pointer=f"/properties/p{index}",
            keyword="multipleOf",
            verdict="dropped",
            witness=witness,
            reason="broken in 1 way, 1 of which can be written",
            path=path,
        )
        for index in range(count)
    ]
    result = AuditResult(
        verdict="leaks", reason="many", engine="e", style="json", seed=0, constraints=rows
    )
    page = Page()
    page.add("large.json", "large", "", schema, result)
    return page.text()


def test_a_schema_of_5000_properties_can_be_used(browser, tmp_path):
    path = tmp_path / "large.html"
    path.write_text(made(5_000), encoding="utf-8")
    assert path.stat().st_size < 3_000_000
    browser.get(path.as_uri())
    at_most = 1_000

    assert 100 < len(all_of(browser, ".row")) < at_most
    assert one(browser, "[data-verdict=dropped]").text.endswith("5,000")
    one(browser, "[data-verdict=dropped]").click()
    assert 100 < len(all_of(browser, ".row")) < at_most
    before = len(all_of(browser, '.row[aria-level="3"]'))
    more = one(browser, ".row.more")
    assert "4,800 more" in more.text
    browser.execute_script("arguments[0].click()", more)
    assert len(all_of(browser, '.row[aria-level="3"]')) == before + 200
    assert "4,600 more" in one(browser, ".row.more").text
    # From the first click to the picture, in milliseconds of the page's own clock.
    took = browser.execute_async_script(
        "const done = arguments[0], start = performance.now();"
        "document.querySelector('[data-verdict=enforced]').click();"
        "document.querySelector('[data-verdict=dropped]').click();"
        "requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));"
    )
    assert took < 5_000


class Scripts(HTMLParser):
    """What a parser of HTML makes of a page: its scripts and styles, and all of its tags."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.inside, self.found = [], None, {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.inside = (tag, dict(attributes).get("id")) if tag in ("script", "style") else None
        if dict(attributes).get("http-equiv"):
            self.policy = dict(attributes)["content"]

    def handle_endtag(self, _tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.found[self.inside] = self.found.get(self.inside, "") + data


def test_the_page_holds_its_data_in_one_element_and_allows_itself_and_nothing_else(audited):
    read = Scripts(audited.read_text(encoding="utf-8"))

    assert read.tags.count("script") == 2
    assert not {"img", "link", "iframe", "object"} & set(read.tags)
    rules = dict(rule.strip().split(" ", 1) for rule in read.policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in read.policy
    for kind in ("script", "style"):
        text = read.found[kind, None]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    data = json.loads(read.found["script", "audit"])
    assert [schema["verdict"] for schema in data] == [
        "leaks",
        "over-constrained",
        "dead-end",
        "exact",
        "refused",
    ]


def test_the_same_input_makes_the_same_page(tmp_path, capfd):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(closed({"a": LEAK})), encoding="utf-8")

    first, again = (call(capfd, "audit", path, "--output-format", "html") for _ in range(2))

    assert first[:2] == again[:2]  # the engine says on standard error what time it is
    assert first[0] == 0, first[2]
    assert first[1].startswith("<!DOCTYPE html>")


def test_what_is_cut_is_counted():
    text = made(3, witness=json.dumps({"p0": "x" * 12_000}))

    data = json.loads(Scripts(text).found["script", "audit"])
    (witness,) = data[0]["texts"]
    assert len(witness[0]) < 2_100
    assert witness[0].endswith("… 10,010 more characters")


def test_trees_end_at_a_bound_and_say_so(monkeypatch):
    monkeypatch.setattr("schemaguard.grammar.audit.page.MAX_NODES", 100)
    schema = closed({f"p{index}": {} for index in range(102)})
    result = AuditResult(verdict="exact", reason="", engine="e", style="json", seed=0)
    page = Page()
    page.add("a.json", None, "", schema, result)

    (data,) = json.loads(Scripts(page.text()).found["script", "audit"])
    assert len(data["nodes"]) == 100
    # The root, its four keywords, and the properties, are 107.
    assert data["more"] == 7


def test_a_control_character_does_not_look_like_its_escape():
    text = made(1, witness='{"p0":"\\u0001\x01\n"}')

    (data,) = json.loads(Scripts(text).found["script", "audit"])
    assert data["texts"][0][0] == '{"p0":"\\u0001\\x01↵"}'
