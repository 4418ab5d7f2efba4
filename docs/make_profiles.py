"""Write the parsed form of the profiles beside them, the schema of their format, and their list.

A test fails when one of them is stale.

Run it from the repository: `make docs`.
"""

from __future__ import annotations

from json import dumps
from pathlib import Path

from schemaguard import profiles
from schemaguard.measured import READINGS
from schemaguard.profiles.schema import profile_schema

PAGE = Path(__file__).resolve().parent / "profiles.md"


def listed(page: str) -> str:
    """The page with its two generated tables as they have to be."""
    rows = ["| name | what | basis, unless a rule says otherwise | source |", "|---|---|---|---|"]
    for name in profiles.names():
        known = profiles.load(name)
        rows.append(f"| `{name}` | {known.title} | {known.basis} | {known.source} |")
    readings = ["| reading | counts |", "|---|---|"]
    readings += [f"| `{name}` | {meaning} |" for name, meaning in READINGS.items()]
    for mark, lines in (("profiles", rows), ("readings", readings)):
        begin, end = f"<!-- {mark}: made by `make docs` -->\n", f"<!-- end of {mark} -->"
        before, rest = page.split(begin)
        page = before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    return page


def main() -> None:
    """Write what differs, and remove what no profile has any more."""
    folder = Path(profiles.__file__).parent
    made = profiles.parsed_files()
    made["profile.schema.json"] = dumps(profile_schema(), indent=1) + "\n"
    for path in folder.glob("*.json"):
        if path.name not in made:
            path.unlink()
    for name, content in made.items():
        (folder / name).write_text(content, encoding="utf-8")
    PAGE.write_text(listed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
