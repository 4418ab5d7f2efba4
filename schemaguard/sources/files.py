"""Which files to check: those that are named, and those that are found in folders.

In a git work tree the files of a folder are those that git knows or does not ignore, asked of git
itself: what `.gitignore` means is then what git means by it, nested files, `.git/info/exclude` and
global excludes included, and nothing has to be installed. Where git is not there, or does not
answer, folders are walked, and only what is hidden or well known not to be source is left out.
"""

from __future__ import annotations

import os
import re

from schemaguard import globs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: What is checked in a folder.
INCLUDE = ("*.json", "*.jsonl", "*.ndjson", "*.jsonc", "*.yaml", "*.yml", "*.toml")

#: What is left out of a folder, and with `force_exclude` of everything.
EXCLUDE = (
    ".git",
    ".hg",
    ".svn",
    ".tox",
    ".nox",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    "site-packages",
)

#: Seconds that git may take for one folder.
PATIENCE = 30.0
#: Files of one folder; beyond it the run would take minutes, and was not meant.
MAX_FILES = 1_000_000
#: Bytes that git may answer.
_MAX_ANSWER = 256 << 20


def find(
    paths: Iterable[str],
    *,
    include: Sequence[str] = INCLUDE,
    exclude: Sequence[str] = (),
    respect_gitignore: bool = True,
    force_exclude: bool = False,
    root: str = "",
) -> Iterator[str]:
    """The files that some paths name.

    Args:
        paths: files, taken whatever they are called; folders, gone through to the bottom.
        include: globs for files in folders. A glob without a slash is for a name at any depth, one
            with a slash for a path from `root`; `*` and `?` stop at slashes, `**` does not.
        exclude: globs, on top of `EXCLUDE`, for files and folders to leave out.
        respect_gitignore: leave out what git ignores, in folders.
        force_exclude: leave out what `exclude` names even when it is itself one of the paths.
        root: the folder that globs with a slash start from; "" is the current one.

    Yields:
        Paths: first as given, folders' files sorted; each file once. Symbolic links to files are
        followed, those to folders are not, so there are no loops.

    Raises:
        OSError: a folder cannot be listed. A path that is not there is yielded as it is: whoever
            opens it finds out.
    """
    wanted = _matcher(include)
    # Defaults hold below the path that was given: who names a folder in `.venv` means it.
    unwanted = _matcher(exclude)
    never = frozenset(EXCLUDE)
    seen: set[str] = set()
    for path in paths:
        if force_exclude and _is_excluded(path, root, unwanted, never):
            continue
        found: Iterable[str] = (path,)
        if os.path.isdir(path):
            found = _in_folder(path, wanted, unwanted, never, root, respect_gitignore)
        for file in found:
            same = os.path.normpath(file)
            if same not in seen:
                seen.add(same)
                yield file


def _in_folder(
    folder: str,
    wanted: Callable[[str, str], bool],
    unwanted: Callable[[str, str], bool],
    never: frozenset[str],
    root: str,
    respect_gitignore: bool,
) -> list[str]:
    known = _of_git(folder) if respect_gitignore else None
    base = _relative(folder, root)
    files: list[str] = []
    for relative in _walk(folder, base, unwanted, never) if known is None else known:
        name = relative.rpartition("/")[2]
        from_root = f"{base}/{relative}" if base else relative
        if not wanted(name, from_root) or unwanted(name, from_root):
            continue
        if known is not None and _has_bad_folder(relative, base, unwanted, never):
            continue
        file = os.path.join(folder, relative.replace("/", os.sep))
        if known is not None and not os.path.isfile(file):  # deleted, or a submodule
            continue
        files.append(file)
        if len(files) > MAX_FILES:
            raise OSError(None, f"more than {MAX_FILES:,} files", folder)
    files.sort(key=lambda file: file.replace(os.sep, "/").split("/"))
    return files


def _walk(
    folder: str, base: str, unwanted: Callable[[str, str], bool], never: frozenset[str]
) -> Iterator[str]:
    """Files below a folder, by path from it with slashes; hidden ones left out."""
    stack = [""]
    while stack:
        inner = stack.pop()
        with os.scandir(os.path.join(folder, inner) if inner else folder) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith(".") or name in never:
                    continue
                relative = f"{inner}/{name}" if inner else name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if not unwanted(name, f"{base}/{relative}" if base else relative):
                            stack.append(relative)
                    elif entry.is_file():
                        yield relative
                except OSError:  # a symbolic link that leads to itself
                    continue


def _has_bad_folder(
    relative: str, base: str, unwanted: Callable[[str, str], bool], never: frozenset[str]
) -> bool:
    """Whether a file of git's is hidden, or in a folder that is hidden or left out."""
    steps = relative.split("/")
    path = base
    for step in steps[:-1]:
        path = f"{path}/{step}" if path else step
        if step.startswith(".") or step in never or unwanted(step, path):
            return True
    return steps[-1].startswith(".")


def _is_excluded(
    path: str, root: str, unwanted: Callable[[str, str], bool], never: frozenset[str]
) -> bool:
    steps = _relative(path, root).split("/")
    for count, step in enumerate(steps, 1):
        if step in never or unwanted(step, "/".join(steps[:count])):
            return True
    return False


def _relative(path: str, root: str) -> str:
    """A path from the root, with slashes; as it is when it leads out of it."""
    try:
        relative = os.path.relpath(path, root or os.curdir)
    except ValueError:  # another drive
        relative = path
    relative = relative.replace(os.sep, "/")
    return "" if relative == "." else relative


def _matcher(patterns: Sequence[str]) -> Callable[[str, str], bool]:
    """What tells whether a name, or its path from the root, is meant by one of some globs."""
    name = _any_of(p for p in patterns if not globs.is_anchored(p))
    path = _any_of(p for p in patterns if globs.is_anchored(p))

    def matches(base: str, full: str) -> bool:
        return bool((name and name(base)) or (path and path(full)))

    return matches


def _any_of(patterns: Iterable[str]) -> Callable[[str], object] | None:
    found = "|".join(f"(?:{globs.regex(pattern)})" for pattern in patterns)
    return re.compile(found, re.DOTALL).fullmatch if found else None


# ------------------------------------------------------------------------------------------------
# git
# ------------------------------------------------------------------------------------------------


def _of_git(folder: str) -> list[str] | None:
    """Files below a folder that git does not ignore, by path from it; None if git cannot tell."""
    if not _in_work_tree(folder):
        return None
    import subprocess  # noqa: PLC0415  (only for folders)

    command = ["git", "-C", folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    # In a hook, these speak of the commit that is being made, perhaps in another repository.
    ours = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    # A repository is data: it must not name a program for git to run.
    command[1:1] = ["-c", "core.fsmonitor=false"]
    try:
        done = subprocess.run(  # noqa: S603  (no shell, the folder is an argument)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode != 0 or len(done.stdout) > _MAX_ANSWER:
        return None
    # While a merge goes on, git names a file once for each side.
    return [os.fsdecode(name) for name in dict.fromkeys(done.stdout.split(b"\0")) if name]


def _in_work_tree(folder: str) -> bool:
    """Whether a folder or one above it is git's; saves a process where none is."""
    here = os.path.abspath(folder)
    while True:
        if os.path.exists(os.path.join(here, ".git")):
            return True
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above
