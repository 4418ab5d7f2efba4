#!/usr/bin/env bash
# The script of action.yml. Installs the action's own checkout, so that the ref pins the version; checks
# once for the annotations, once for the SARIF log, once for the step summary; ends with the status of
# the first.
set -uo pipefail

environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"$SCHEMAGUARD_PYTHON" -m venv "$environment" || exit 2
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "$SCHEMAGUARD_SOURCE[yaml]" || exit 2

# One argument a line; empty lines are none.
arguments=()
while IFS= read -r line; do
  [ -z "$line" ] || arguments+=("$line")
done <<<"${SCHEMAGUARD_ARGS:-}"
paths=()
while IFS= read -r line; do
  [ -z "$line" ] || paths+=("$line")
done <<<"${SCHEMAGUARD_PATHS:-.}"

check() {
  "$environment/bin/schemaguard" check "$@" "${arguments[@]}" -- "${paths[@]}"
}

check --output-format github
status=$?
if [ "$status" -gt 1 ]; then
  exit "$status"
fi
check --output-format sarif --output-file "$SCHEMAGUARD_SARIF" --exit-zero || exit 2
check --output-format markdown --exit-zero >>"${GITHUB_STEP_SUMMARY:-/dev/null}" || exit 2
echo "sarif-file=$SCHEMAGUARD_SARIF" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
