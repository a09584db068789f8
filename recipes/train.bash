# What the recipes share: a run that exists already is resumed, so a recipe can be stopped and started again.
# Sourced by the recipes, which say `group` (a folder below runs/ and results/).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

train() { # name, then settings
  local folder="runs/$group/$1"
  if [ -f "$folder/config.json" ]; then
    .venv/bin/execlab train --resume "$folder"
  else
    .venv/bin/execlab train --threads 1 "${@:2}" --out "$folder"
  fi
  mkdir -p "results/$group"
  cp "$folder/report.json" "results/$group/$1.json"
}
