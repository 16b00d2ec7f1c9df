#!/bin/sh
# Seeds are kept one a line, in base64: seeds.sh unpack NAME..., or seeds.sh pack NAME...
# between seeds/NAME and the folder corpus/NAME, in which fuzzers look for them.
set -eu
cd "$(dirname "$0")"
[ $# -gt 1 ] || { sed -n '2,3s/^# //p' "$0"; exit 2; }
how=$1
shift
for name in "$@"; do
    case $how in
    unpack)
        mkdir -p "corpus/$name"
        while read -r seed; do
            printf %s "$seed" | base64 -d >"corpus/$name/seed-$(printf %s "$seed" | sha1sum | cut -c1-16)"
        done <"seeds/$name"
        ;;
    pack) for file in corpus/"$name"/*; do base64 -w0 "$file" && echo; done | LC_ALL=C sort -u >"seeds/$name" ;;
    *) echo "seeds.sh: $how is neither pack nor unpack" >&2 && exit 2 ;;
    esac
done
