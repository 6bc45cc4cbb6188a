#!/bin/sh
# Make sure that the browser tests have a browser: install chromium as root on Debian, else print a notice.
set -eu

if [ -n "${PSKCLUST_CHROMIUM:-}" ] || command -v chromium >/dev/null; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ]; then
    echo "Installing chromium for the browser tests."
    if apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; then
        exit 0
    fi
fi
echo "BROWSER TESTS ARE LEFT OUT: chromium was not found. On Debian: sudo apt-get install chromium." >&2
echo "Elsewhere, give the path of a Chromium: PSKCLUST_CHROMIUM=/path/to/chromium make test" >&2
