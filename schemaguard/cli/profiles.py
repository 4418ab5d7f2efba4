"""`schemaguard profiles`: what there is, and what one of them says, with where it is from."""

from __future__ import annotations

import json

from schemaguard import config as configuration
from schemaguard import profiles
from schemaguard.cli.output import Output
from schemaguard.errors import printable
from schemaguard.profiles.needs import looking_at
from schemaguard.rules import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.profiles import Grounds, Profile, Remark


#: Whose the sentences of findings are: a profile says who refuses, not in which words.
_WORDS = (
    "of findings, schemaguard's; rules that the profile dynamo has too say it in Dynamo's words"
)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "List the profiles, those of the configuration last; `profiles show NAME` is one of them: "
        "each number with its basis, source and date."
    )
    parser.add_argument("action", nargs="?", choices=("list", "show"), default="list")
    parser.add_argument("name", nargs="?", metavar="NAME", help="plain or dated name")
    parser.add_argument(
        "--output-format", "--output", dest="output", choices=("text", "json"), default="text"
    )
    parser.add_argument("--config", metavar="FILE", help="this file, instead of the nearest")
    parser.add_argument("--isolated", action="store_true", help="no configuration file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the list or the profile."""
    if (options.action == "show") != (options.name is not None):
        raise configuration.ConfigError("usage: schemaguard profiles [list | show NAME]")
    if options.config is not None:
        config = configuration.load(options.config)
    elif options.isolated:
        config = configuration.Config(None, ".")
    else:
        config = configuration.discover([])
    shown = (
        [configuration.profile_of(name, config) for name in (*profiles.names(), *config.profiles)]
        if options.name is None
        else [configuration.profile_of(options.name, config)]
    )
    with Output(None) as output:
        if options.output == "json":
            tables = [_as_json(profile) for profile in shown]
            what = tables if options.name is None else tables[0]
            output.write(json.dumps(what, indent=2) + "\n")
        elif options.name is None:
            width = max(len(profile.id) for profile in shown)
            for profile in shown:
                output.write(f"{profile.id:<{width}}  {profile.basis:<10}  {profile.title}\n")
        else:
            output.write("".join(f"{line}\n" for line in _page(shown[0])))
    return 0


def _as_json(profile: Profile) -> dict[str, Any]:
    fields: dict[str, Any] = {name: getattr(profile, name) for name in sorted(profile.__slots__)}
    fields["lists"] = {name: list(members) for name, members in profile.lists.items()}
    fields["budgets"] = dict(profile.budgets)
    fields["severities"] = dict(profile.severities)
    fields["settings"] = {
        code: [dict(setting.values) for setting in settings]
        for code, settings in profile.settings.items()
    }
    fields["grounds"] = {code: _grounds(grounds) for code, grounds in profile.grounds.items()}
    fields["remarks"] = {
        table: [_remark(remark) for remark in remarks] for table, remarks in profile.remarks.items()
    }
    return fields


def _grounds(grounds: Grounds) -> dict[str, str]:
    return {"basis": grounds.basis, "source": grounds.source, "date": grounds.date}


def _remark(remark: Remark) -> dict[str, Any]:
    return {
        "keyword": remark.keyword,
        "unless": list(remark.unless),
        "types": sorted(remark.types),
        "beside": list(remark.beside),
        "root": remark.root,
        "why": remark.why,
        **_grounds(remark.grounds),
    }


def _page(profile: Profile) -> Iterator[str]:
    basis = f"{profile.basis}, {profile.date}"
    yield f"{profile.id}: {profile.title}"
    yield f"  basis:  {profile.basis}"
    yield f"  date:   {profile.date}"
    yield f"  source: {profile.source}"
    yield f"  words:  {_WORDS}"
    if profile.budgets:
        yield ""
        yield "Budgets"
    for name, limit in profile.budgets.items():
        yield f"  {name:<22} {limit:>12,}  {_grounds_of(profile, name, 'budgets')}"
    for name, members in profile.lists.items():
        yield ""
        yield f"Keywords: {name} ({_grounds_of(profile, name, 'keywords')})"
        yield from (f"  {printable(member)}" for member in members)
    for table, remarks in profile.remarks.items():
        if remarks:
            yield ""
            yield f"Keywords: {table}"
        for remark in remarks:
            said = printable(f"{remark.keyword}{_when(remark)}")
            yield f"  {said:<40}  {_where_from(remark.grounds)}"
    yield ""
    yield "Rules"
    for code, severity in profile.severities.items():
        grounds = profile.grounds.get(code)
        where = _where_from(grounds) if grounds else basis
        yield f"  {code}  {severity:<7}  {RULES[code].name:<28}  {where}"
        for setting in profile.settings.get(code, ()):
            for name, value in setting.values.items():
                yield f"           {name} = {json.dumps(value)}"


def _grounds_of(profile: Profile, name: str, table: str) -> str:
    """How a budget or list is known: as the rule that looks at it."""
    active = [code for code in looking_at(name, table) if code in profile.severities]
    if not active:
        return "without effect: no rule of this profile looks at it"
    grounds = profile.grounds.get(active[0])
    return _where_from(grounds) if grounds else f"{profile.basis}, {profile.date}"


def _where_from(grounds: Grounds) -> str:
    return f"{grounds.basis}, {grounds.date}: {grounds.source}"


def _when(remark: Remark) -> str:
    said = ""
    if remark.types:
        said += f", in {'/'.join(sorted(remark.types))}"
    if remark.unless:
        said += f", unless {json.dumps(list(remark.unless))[1:-1]}"
    if remark.beside:
        said += f", beside {'/'.join(remark.beside)}"
    return said + (", at the root" if remark.root else "")
