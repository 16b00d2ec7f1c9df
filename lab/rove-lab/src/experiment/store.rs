//! Finished runs on disk, so that an interrupted sweep resumes without repeating them.
//!
//! Each run is a line of JSON, written when the run has ended. A run is known by everything that decides its result:
//! the program, the scenario, and its conditions.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path as FilePath;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use rove_host::program::own_file;
use rove_platform::clock::unix_seconds;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::experiment::conditions::Samples;
use rove_runs::parallel::tell_progress;

/// The log of the progress, beside the file of the runs.
const LOG: &str = "figures.log";

/// Runs that have ended, by a digest of all that decides their results.
#[derive(Debug)]
pub(crate) struct Store {
    /// A digest of the program, because another program may have other results.
    program: String,
    known: BTreeMap<String, Samples>,
    /// How many results were taken from the store.
    hits: AtomicUsize,
    file: Mutex<Lines<File>>,
    log: Mutex<File>,
}

/// Appends whole lines to a file.
#[derive(Debug)]
struct Lines<W> {
    output: W,
    /// Whether the file may end in a part of a line, after a write that failed.
    is_torn: bool,
}

impl<W: Write> Lines<W> {
    fn append(&mut self, line: &str) -> io::Result<()> {
        let begin = if self.is_torn { "\n" } else { "" };
        self.is_torn = true;
        self.output.write_all(format!("{begin}{line}\n").as_bytes())?;
        self.is_torn = false;
        Ok(())
    }
}

#[derive(Deserialize, Serialize)]
struct Line {
    run: String,
    samples: Samples,
}

impl Store {
    /// Opens the file of finished runs, or creates it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or written.
    pub(crate) fn open(file: &FilePath) -> Result<Self> {
        let shown = file.display();
        let text = if file.exists() {
            fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?
        } else {
            String::new()
        };
        // An interrupt may have cut off the last line. It does not parse, so its run counts as not finished.
        let known = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let known = known.map(|line| (line.run, line.samples)).collect();
        let opened = |file: &FilePath| {
            let handle = OpenOptions::new().create(true).append(true).open(file);
            handle.with_context(|| format!("cannot write {}", file.display()))
        };
        let log = opened(&file.with_file_name(LOG))?;
        let is_torn = !text.is_empty() && !text.ends_with('\n');
        let lines = Lines { output: opened(file)?, is_torn };
        let program = own_file()
            .and_then(fs::read)
            .map(|bytes| digest(&[&bytes]))
            .context("cannot read this program's own file, which results are kept under")?;
        let hits = AtomicUsize::new(0);
        Ok(Self { program, known, hits, file: Mutex::new(lines), log: Mutex::new(log) })
    }

    /// Shows the progress to a person who waits. The log gets a line for each twentieth of the runs.
    pub(crate) fn tell_progress(&self, figure: &str, done: usize, all: usize) {
        tell_progress(&format!("{figure}: "), done, all);
        if done * 20 / all != (done - 1) * 20 / all {
            let line = format!("{} {figure}: {done} of {all} runs\n", unix_seconds());
            let mut log = self.log.lock().expect("no worker panics while it holds this");
            // Errors do not matter: the log is for people, and the figures do not depend on it.
            let _ = log.write_all(line.as_bytes());
        }
    }

    /// Returns the key of a run's result, made from everything that decides the result.
    pub(crate) fn key(&self, decides: &[&str]) -> String {
        let parts: Vec<&[u8]> = core::iter::once(self.program.as_str())
            .chain(decides.iter().copied())
            .map(str::as_bytes)
            .collect();
        digest(&parts)
    }

    /// Returns the result of a run that has ended, and counts it as a hit.
    pub(crate) fn get(&self, key: &str) -> Option<&Samples> {
        let samples = self.known.get(key);
        self.hits.fetch_add(usize::from(samples.is_some()), Ordering::Relaxed);
        samples
    }

    /// Returns how many results were taken from the store since the last call.
    pub(crate) fn take_hits(&self) -> usize {
        self.hits.swap(0, Ordering::Relaxed)
    }

    /// Keeps the result of a run, unless the controller's program has failed: the fault may be this computer's.
    ///
    /// # Errors
    ///
    /// Returns an error if the result cannot be written.
    pub(crate) fn keep(&self, key: &str, samples: &Samples) -> Result<()> {
        if samples.fault.is_some() {
            return Ok(());
        }
        let line = Line { run: key.to_owned(), samples: samples.clone() };
        let text = serde_json::to_string(&line).context("cannot write a result as JSON")?;
        let mut file = self.file.lock().expect("no worker panics while it holds this");
        file.append(&text).context("cannot keep a result")
    }

    /// Keeps the finished runs of a worker that are not known yet, as [`Self::keep`] does.
    pub(crate) fn keep_all(&self, lines: &str) -> Result<()> {
        let mut lines = lines.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        lines.try_for_each(|Line { run, samples }| {
            if self.known.contains_key(&run) { Ok(()) } else { self.keep(&run, &samples) }
        })
    }
}

/// Returns a digest of parts, which no other division of the same bytes has.
pub(crate) fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for so many bytes. After a write has failed, somebody makes room.
    struct Disk(Vec<u8>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.1);
            if count == 0 {
                self.1 = usize::MAX;
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.extend(&bytes[..count]);
            self.1 -= count;
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_after_one_that_a_full_disk_cut_off_stands_alone() {
        let mut lines = Lines { output: Disk(Vec::new(), 5), is_torn: false };
        assert!(lines.append("abc").is_ok() && lines.append("def").is_err());
        assert!(lines.append("ghi").is_ok() && lines.append("jkl").is_ok());
        assert_eq!(lines.output.0, b"abc\nd\nghi\njkl\n");
    }

    #[test]
    fn results_are_there_again_but_for_a_line_that_was_cut_off() {
        let directory = std::env::temp_dir().join(format!("rove-lab-store-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let file = directory.join("runs.jsonl");
        let samples = Samples {
            times: vec![1_500_000, 2],
            missing: 1,
            figures: vec![7],
            pairs: vec![[3, 4]],
            ..Samples::default()
        };
        let store = Store::open(&file).expect("new");
        let (first, second) = (store.key(&["a", "b"]), store.key(&["ab", ""]));
        assert_ne!(first, second);
        store.keep(&first, &samples).expect("kept");
        store.keep(&second, &samples).expect("kept");
        drop(store);
        let text = fs::read_to_string(&file).expect("text");
        fs::write(&file, &text[..text.len() - 9]).expect("cut off");
        let store = Store::open(&file).expect("again");
        assert_eq!(store.get(&first), Some(&samples));
        assert_eq!(store.get(&second), None);
        store.keep(&second, &samples).expect("kept");
        drop(store);
        let store = Store::open(&file).expect("again");
        assert_eq!(store.get(&second), Some(&samples));
        let text = fs::read_to_string(&file).expect("text");
        store.keep_all(&format!("{text}{}", text.replace(&first, "third"))).expect("kept");
        drop(store);
        let more = fs::read_to_string(&file).expect("text");
        assert_eq!(more.lines().count(), text.lines().count() + 1, "{more}");
        assert!(Store::open(&file).expect("again").get("third").is_some());
        fs::remove_dir_all(&directory).expect("our own directory");
    }
}
