# Sourced by scripts here that take DATA_FOLDER SOURCE TARGET and options of preorder_recipes.run: sets data, source, target and
# python, and leaves the options.
set -euo pipefail
if [ $# -lt 3 ]; then
    echo "usage: recipes/$(basename "$0") DATA_FOLDER SOURCE TARGET [OPTION_OF_RECIPES.RUN ...]" >&2
    exit 2
fi
data=$1 source=$2 target=$3
shift 3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-$root/.venv/bin/python}
export PYTHONPATH=$root
