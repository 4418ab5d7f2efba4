"""What a finding is called across runs: it keeps the name when lines move."""

from __future__ import annotations

import hashlib

from schemaguard.render.common import relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.lint import Finding


class Fingerprints:
    """Fingerprints of the findings of one run, each of them unique.

    One is the SHA-256 of path, code and pointer (whole, however much of it is shown), and of how
    many findings with all three the same came before.
    """

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def of(self, path: str, finding: Finding) -> str:
        """The fingerprint of the run's next finding, 64 hexadecimal digits."""
        fields = f"{relative(path)}\0{finding.code}\0{finding.pointer}"
        named = hashlib.sha256(fields.encode("utf-8", "surrogatepass"))
        key = named.digest()
        before = self._seen[key] = self._seen.get(key, -1) + 1
        if before:
            named.update(b"\0%d" % before)
        return named.hexdigest()
