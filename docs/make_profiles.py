"""Write the parsed form of the profiles beside them. A test fails when it is stale.

Run it from the repository: `make docs`.
"""

from __future__ import annotations

from pathlib import Path

from schemaguard import profiles


def main() -> None:
    """Write what differs, and remove what no profile has any more."""
    folder = Path(profiles.__file__).parent
    made = profiles.parsed_files()
    for path in folder.glob("*.json"):
        if path.name not in made:
            path.unlink()
    for name, content in made.items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
