//! The logs of a run: each direction in Mahimahi's form and in rove's. A thread writes them, so that no link waits.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, ensure};
use rove_link::{Event, mahimahi_header};
use rove_units::Instant;

/// Most batches of events that wait for the log's writer. Chosen: six seconds of a stalled disk.
const BATCHES_MAX: usize = 128;

/// The names of the two directions, as files and tables have them.
pub const DIRECTIONS: [&str; 2] = ["uplink", "downlink"];

/// The four files of a log, which a thread writes.
#[derive(Debug)]
pub(super) struct Log {
    batches: SyncSender<(usize, Vec<Event>)>,
    writer: JoinHandle<io::Result<()>>,
    missed: u64,
    name: PathBuf,
}

impl Log {
    /// Creates `NAME.uplink.log` and `NAME.downlink.log` in Mahimahi's form, and `NAME.uplink.events` and
    /// `NAME.downlink.events` in rove's. `links` describes each direction.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be made.
    pub(super) fn create(name: &Path, links: [String; 2]) -> Result<Self> {
        let mut files = Vec::with_capacity(DIRECTIONS.len());
        for (direction, link) in DIRECTIONS.into_iter().zip(links) {
            let mut theirs = create(name, direction, "log")?;
            let mut ours = create(name, direction, "events")?;
            let header = mahimahi_header(direction, &link, Instant::ZERO);
            let written = theirs.write_all(header.as_bytes()).and_then(|()| {
                writeln!(
                    ours,
                    "# link: {direction}\n# {link}\n# times in nanoseconds, sizes in bytes"
                )
            });
            written.with_context(|| format!("cannot write the log {}", name.display()))?;
            files.push([theirs, ours]);
        }
        let (batches, received) = sync_channel(BATCHES_MAX);
        let writer = thread::Builder::new()
            .name("log".into())
            .spawn(move || write_all(files, &received))
            .context("cannot start a thread")?;
        Ok(Self { batches, writer, missed: 0, name: name.to_owned() })
    }

    /// Writes events of a direction, or counts them as missed if the disk does not keep up.
    pub(super) fn write(&mut self, direction: usize, events: Vec<Event>) {
        let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
        if count > 0 && self.batches.try_send((direction, events)).is_err() {
            self.missed += count;
        }
    }

    /// Waits until all events are written.
    ///
    /// # Errors
    ///
    /// Returns an error if an event is missing or could not be written.
    pub(super) fn finish(self) -> Result<()> {
        let Self { batches, writer, missed, name } = self;
        drop(batches);
        let shown = name.display();
        let written =
            writer.join().map_err(|_| anyhow!("the writer of the log {shown} has failed"))?;
        written.with_context(|| format!("cannot write the log {shown}"))?;
        ensure!(missed == 0, "the log {shown} lacks {missed} events: the disk did not keep up");
        Ok(())
    }
}

fn create(name: &Path, direction: &str, ending: &str) -> Result<BufWriter<File>> {
    let mut path = name.as_os_str().to_owned();
    path.push(format!(".{direction}.{ending}"));
    let file = File::create(&path)
        .with_context(|| format!("cannot write the log {}", Path::new(&path).display()))?;
    Ok(BufWriter::new(file))
}

fn write_all(
    mut files: Vec<[BufWriter<File>; 2]>,
    batches: &Receiver<(usize, Vec<Event>)>,
) -> io::Result<()> {
    for (direction, events) in batches {
        let [theirs, ours] = files.get_mut(direction).expect("a direction is one of two");
        for event in events {
            writeln!(ours, "{}", event.line())?;
            if let Some(line) = event.mahimahi_line(Instant::ZERO) {
                writeln!(theirs, "{line}")?;
            }
        }
    }
    files.iter_mut().flatten().try_for_each(Write::flush)
}
