//! The sh script that runs on the host while a program is copied there. It prints facts about the host, reads the
//! program from its standard input, and renames the complete program to its final name.
//!
//! ```text
//! host                                            here
//!   ROVE INSTALL system Linux x86_64
//!   ROVE INSTALL found rove 0.1.0                   (if there is one already)
//!   ROVE INSTALL sum 9f86...                        (of that one)
//!   ROVE INSTALL other /usr/bin/rove                (what the PATH finds first)
//!   ROVE INSTALL ready
//!                                                 3949008 60303a... 0.1.0
//!                                                 the program, to the end of the stream
//!   ROVE INSTALL has 1048576                        (each second)
//!   ROVE INSTALL done    or    failed write No space left on device
//! ```
//! If standard input ends without a line, the script changes nothing.

/// Beginning of the lines that the script prints.
pub(super) const MARKER: &str = "ROVE INSTALL";

/// The folder that the program is copied to, as the user writes it.
pub(super) const FOLDER: &str = "~/.local/bin";

/// The part of the script that prints facts about the host. The host may lack all programs that compute a SHA-256.
const LOOK: &str = r#"d="$HOME/.local/bin"; r="$d/rove"; t="$d/.rove-install.$$";
has() { command -v "$1" >/dev/null 2>&1; };
sum() { if has sha256sum; then sha256sum <"$1"; elif has shasum; then shasum -a 256 <"$1";
elif has sha256; then sha256 -q <"$1"; elif has openssl; then openssl dgst -sha256 -r <"$1"; fi 2>/dev/null; };
say "system $(uname -s) $(uname -m)";
if [ -f "$r" ]; then "$r" --version </dev/null 2>/dev/null | { IFS= read -r v; say "found $v"; };
g=$(sum "$r"); say "sum ${g%% *}"; fi;
o=$(command -v rove); if [ -n "$o" ] && [ "$o" != "$r" ]; then say "other $o"; fi;
say ready; read -r size wanted version || exit 0;"#;

/// The part of the script that writes the program to a file with a temporary name. The script removes that file,
/// however the script ends.
///
/// The subshell that reports the progress starts before the traps are set. A shell that was just forked may lose a
/// signal for which its parent has a trap, and `wait` would then never return.
const TAKE: &str = r#"if e=$(mkdir -p "$d" 2>&1); then :; else fail "folder $e"; fi;
if [ -d "$r" ]; then fail "folder $r is a folder"; fi;
find "$d" -name ".rove-install.*" -mtime +1 -exec rm -f {} + 2>/dev/null;
( while sleep 1 </dev/null >/dev/null 2>&1 && kill -0 $$; do
if [ -f "$t" ]; then say "has $(($(wc -c <"$t")))"; fi; done ) 2>/dev/null & p=$!;
end() { if [ -n "$p" ]; then kill "$p"; wait "$p"; p=; fi 2>/dev/null; };
trap "end; rm -f \"\$t\"" EXIT; trap "exit 1" HUP INT TERM PIPE;
if e=$( { cat >"$t"; } 2>&1 ); then :; else fail "write $e"; fi; end;
n=$(($(wc -c <"$t"))); if [ "$n" -ne "$size" ]; then fail "size $n"; fi;"#;

/// The part of the script that checks the program and renames it to `rove`. If the host cannot compute a SHA-256, the
/// program computes its own SHA-256.
const CHECK: &str = r#"if e=$(chmod 755 "$t" 2>&1); then :; else fail "write $e"; fi;
g=$(sum "$t"); g=${g%% *}; if [ -n "$g" ] && [ "$g" != "$wanted" ]; then fail "sum $g"; fi;
e=$("$t" --version </dev/null 2>&1); s=$?; if [ "$s" -ne 0 ]; then fail "run $s $e"; fi;
case "$e" in "rove $version"*) ;; *) fail "run 0 $e";; esac;
if [ -z "$g" ]; then g=$("$t" install --own-sum </dev/null 2>/dev/null);
if [ "$g" != "$wanted" ]; then fail "sum $g"; fi; fi;
if e=$(mv -f "$t" "$r" 2>&1); then say done; else fail "write $e"; fi"#;

/// Returns the script on one line, because a line break cannot be quoted for csh and other shells alike.
pub(super) fn script() -> String {
    let says = format!(
        "umask 022; say() {{ echo \"{MARKER} $*\"; }}; fail() {{ say \"failed $*\"; exit 1; }};"
    );
    [says.as_str(), LOOK, TAKE, CHECK].join(" ").replace('\n', " ")
}

#[cfg(test)]
mod tests;
