#!/bin/sh
# Records the traces named, or all: record.sh [NAME...]. README.md says what is needed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
lab=${ROVE_LAB:-rove-lab}
[ $# -gt 0 ] || set -- $(cd "$here/scripts" && ls | sed 's/\.txt$//')
for name in "$@"; do
    script=$here/scripts/$name.txt
    header() { sed -n "s/^# $1: //p" "$script"; }
    place=$(mktemp -d)
    cp -a "$here/home" "$place/home"
    code=0
    (cd "$place/home" && env -i HOME="$place/home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
        TERM=xterm-256color SHELL=/bin/bash PS1='user@host:\w$ ' HISTFILE= \
        "$lab" record -o "$place/trace" --with-secrets --size "$(header size)" \
        --seed "$(header seed)" --script "$script" -- sh -c "exec $(header command)") || code=$?
    cp "$place/trace" "$here/$name.jsonl"
    echo "$name: exit code $code, $(wc -c <"$here/$name.jsonl") bytes"
    rm -rf "$place"
done
