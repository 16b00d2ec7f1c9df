#!/usr/bin/env bash
# cargo calls this in place of the compiler for the workspace's own crates (`RUSTC_WORKSPACE_WRAPPER`). Debian's sh would
# drop variables whose names have a hyphen, such as CARGO_BIN_EXE_rove-lab.
exec "$@" --cfg rove_portable
