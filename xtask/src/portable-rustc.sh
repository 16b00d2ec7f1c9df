#!/bin/sh
# cargo calls this in place of the compiler for the workspace's own crates (`RUSTC_WORKSPACE_WRAPPER`).
exec "$@" --cfg rove_portable
