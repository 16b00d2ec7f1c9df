#!/bin/sh
# A window of so many packets (20) for so many events (all). A third argument is the program's exit code.
answers=0
while [ "$answers" -lt "${2:-10000000}" ] && read -r line; do
    answers=$((answers + 1))
    echo "${1:-20}"
done
exit "${3:-5}"
