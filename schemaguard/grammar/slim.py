"""xgrammar without torch and transformers, for a process that compiles and does nothing else.

`import xgrammar` takes 2 to 4 s and 550 MB, nearly all of it for packages that compiling never
calls: 0.25 s and 54 MB remain without them. They are kept away while `tvm_ffi` loads, which does
without torch when there is none, and stand as empty modules while xgrammar names their classes in
its signatures.

Only for a process of our own: the empty modules stay, and whoever imported torch later would get
one of them.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

#: What xgrammar imports for its signatures and never calls to compile.
REPLACED = ("torch", "transformers")

#: What it imports where it is there, to recognise tokenizers.
LEFT_OUT = ("sentencepiece", "tiktoken")


class _Nothing(ModuleType):
    """A module of which every attribute is a class without content."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__init__": lambda *_, **__: None})
        setattr(self, name, made)
        return made


def xgrammar() -> tuple[ModuleType, bool]:
    """The module, and whether the slim way worked; else it was imported with all it asks for.

    Raises:
        ImportError: xgrammar is not installed.
    """
    absent: dict[str, Any] = dict.fromkeys((*REPLACED, *LEFT_OUT))
    sys.modules.update(absent)  # None: `import` raises, as if it were not installed
    try:
        import tvm_ffi  # noqa: F401, PLC0415 - for what it does while it loads

        sys.modules.update({name: _Nothing(name) for name in REPLACED})
        import xgrammar as module  # noqa: PLC0415 - the point of this function
    except Exception:  # noqa: BLE001 - another version may need anything: then all of it
        for name in list(sys.modules):
            if name.split(".")[0] in (*absent, "tvm_ffi", "xgrammar"):
                del sys.modules[name]
        import xgrammar as module  # noqa: PLC0415

        return module, False
    return module, True
