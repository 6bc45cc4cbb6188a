#!/bin/sh
# Make a virtual environment: make_venv.sh PYTHON FOLDER
# Debian ships Python without venv; as root, the script installs it.
set -eu
python=$1
folder=$2

if ! command -v "$python" >/dev/null; then
    echo "$python was not found. Install Python 3.11 or newer, or choose another: make PYTHON=python3.12" >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "$("$python" --version) is too old: pskclust needs 3.11 or newer. Choose one: make PYTHON=python3.12" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        apt-get install -qq -y python3-venv
    else
        echo "$python has no venv module. On Debian: sudo apt-get install python3-venv" >&2
        exit 1
    fi
fi
"$python" -m venv "$folder"
