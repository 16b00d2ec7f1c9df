//! Measurements in real time: real programs, as `rove-lab compare` runs them, and flows of the kernel's TCP.

use anyhow::{Error, Result};

use crate::experiment::conditions::{Conditions, Samples};
use crate::experiment::measure::Measure;
#[cfg(not(target_os = "linux"))]
use crate::experiment::system::System;

#[cfg(target_os = "linux")]
pub(crate) use here::{Programs, is_interrupt};

#[cfg(target_os = "linux")]
mod here {
    use std::path::{Path, PathBuf};

    use clap::ValueEnum as _;
    use rove_congestion::Begin;
    use rove_replay::replay::script::Script;
    use rove_units::Duration;
    use rustix::system::uname;

    use super::*;
    use crate::compare::bulk::{BulkOptions, CongestionControl, require};
    use crate::compare::observed_client::{Interrupt, Interrupted, RunOptions};
    use crate::compare::peer::{Peer, rove_beside};
    use crate::compare::rights;
    use crate::compare::run;
    use crate::compare::{controlled, interrupts, kernel};
    use crate::experiment::conditions::nanos;
    use crate::experiment::measure::shared::{Controllers, controllers};
    use crate::experiment::measure::{flow_options, flow_samples};
    use crate::experiment::store::digest;
    use crate::experiment::system::System;
    use rove_flows::flow::FlowOptions;
    use rove_flows::flow::program::Limits;
    use rove_flows::flow::source::FULL;

    /// How long a far side may make no progress. Source: the default of `rove-lab compare`.
    const TIMEOUT: Duration = Duration::from_secs(120);

    /// How often Ctrl-C is typed in a session.
    const INTERRUPTIONS: u64 = 5;

    /// The right to run programs behind links, and the places of these programs.
    #[derive(Debug)]
    pub(crate) struct Programs {
        /// Whether the user has asked to stop, or why nothing can be run here.
        interrupt: Result<Interrupt, String>,
        /// Where rove is, or why it is not found.
        rove: Result<PathBuf, String>,
        /// For each peer whose programs are wanted, the kernel's release and a digest of the programs.
        versions: Vec<(Peer, String)>,
    }

    impl Programs {
        /// Acquires the rights and listens to signals if programs are wanted. Call this before there are threads.
        pub(crate) fn prepare(is_wanted: bool) -> Self {
            let interrupt = if is_wanted {
                rights::acquire().and_then(|()| Interrupt::listen())
            } else {
                Err(anyhow::anyhow!("runs in real time are left out"))
            };
            let told = |error: anyhow::Error| format!("{error:#}");
            let rove = rove_beside(None).map_err(told);
            let kernel = uname().release().to_string_lossy().into_owned();
            let version = |peer: &Peer| {
                let programs = peer.programs(rove.as_deref().unwrap_or(Path::new("rove")));
                let programs: Vec<&[u8]> = programs.iter().map(Vec::as_slice).collect();
                (*peer, format!("{kernel} {}", digest(&programs)))
            };
            let wanted = Peer::value_variants().iter().filter(|_| is_wanted);
            let versions = wanted.map(version).collect();
            Self { interrupt: interrupt.map_err(told), rove, versions }
        }

        /// Returns a text that differs between versions of the kernel and of a system's programs.
        pub(crate) fn version(&self, system: Option<System>) -> &str {
            let is_its = |it: &&(Peer, String)| system.is_some_and(|system| it.0 == peer(system));
            self.versions.iter().find(is_its).map_or("", |(_, version)| version)
        }

        /// Measures once. The inner error says why that is not possible here.
        ///
        /// # Errors
        ///
        /// Returns an error if the user interrupts.
        pub(crate) fn measure(
            &self,
            measure: Measure,
            conditions: &Conditions<'_>,
        ) -> Result<Result<Samples, String>> {
            let interrupt = match &self.interrupt {
                Ok(interrupt) => interrupt,
                Err(reason) => return Ok(Err(reason.clone())),
            };
            let path = conditions.path().clone().of_whole_packets();
            let system = conditions.system();
            let control = system.needs_control().then(|| congestion_control(system));
            if let Err(error) = control.map_or(Ok(()), require) {
                return Ok(Err(format!("{error:#}")));
            }
            if measure == Measure::Flow {
                return told(flow(conditions, &flow_options(conditions, &path), interrupt));
            }
            let rove = match &self.rove {
                Ok(rove) => rove,
                Err(reason) => return Ok(Err(reason.clone())),
            };
            let count = conditions.downloads;
            let bulk = BulkOptions { count, congestion_control: CongestionControl::default() };
            let options = RunOptions {
                peer: peer(system),
                ssh_control: control,
                rove,
                path: &path,
                seed: conditions.seed,
                pace: conditions.pace,
                preference: system.preference(),
                timeout: TIMEOUT,
                bulk: (count > 0).then_some(bulk),
                films: false,
            };
            if let Err(error) = options.peer.require(rove) {
                return Ok(Err(format!("{error:#}")));
            }
            told(match measure {
                Measure::Interrupt => interruptions(options, interrupt),
                _ => responses(conditions, options, interrupt),
            })
        }
    }

    /// Returns the samples. A failed run has its fault in place of samples. Only an interrupt by the user is an error.
    pub(super) fn told(measured: Result<Samples>) -> Result<Result<Samples, String>> {
        match measured {
            Ok(samples) => Ok(Ok(samples)),
            Err(error) if is_interrupt(&error) => Err(error),
            Err(error) => Ok(Ok(Samples { fault: Some(format!("{error:#}")), ..Samples::empty() })),
        }
    }

    /// Returns whether an error is that of a run whose user has interrupted.
    pub(crate) fn is_interrupt(error: &Error) -> bool {
        error.is::<Interrupted>()
    }

    fn flow(
        conditions: &Conditions<'_>,
        options: &FlowOptions,
        interrupt: &Interrupt,
    ) -> Result<Samples> {
        if conditions.system().is_kernels() {
            let control = congestion_control(conditions.system());
            let (report, invalid) = kernel::run(control, options, interrupt)?;
            return Ok(Samples { invalid, ..flow_samples(&report) });
        }
        let limits = Limits::real(options.length);
        let controllers = controllers(conditions, None, (Begin::default(), FULL), limits)?;
        let Some(Controllers { make, program }) = controllers else { return Ok(Samples::absent()) };
        let (report, invalid) = controlled::run(make(), options, interrupt)?;
        let samples = Samples { invalid, ..flow_samples(&report) };
        Ok(samples.unless_faulty(program.as_ref()))
    }

    fn congestion_control(system: System) -> CongestionControl {
        match system {
            System::KernelReno | System::SshReno => CongestionControl::Reno,
            System::KernelBbr | System::SshBbr => CongestionControl::Bbr,
            _ => CongestionControl::Cubic,
        }
    }

    fn responses(
        conditions: &Conditions<'_>,
        options: RunOptions<'_>,
        interrupt: &Interrupt,
    ) -> Result<Samples> {
        let recording = conditions.recording();
        let (name, trace) = (recording.name.clone(), recording.trace.clone());
        let script = Script::on(options.peer.repertoire(), name, trace, conditions.keys)?;
        let played = run::play(&script, options, interrupt)?;
        let samples = Samples::of_responses(&played.run.response_times(&script));
        Ok(Samples { invalid: played.invalid, ..samples })
    }

    fn interruptions(options: RunOptions<'_>, interrupt: &Interrupt) -> Result<Samples> {
        let (times, invalid) = interrupts::run(INTERRUPTIONS, options, interrupt)?;
        let times = times.into_iter().map(nanos).collect();
        Ok(Samples { times, invalid, ..Samples::default() })
    }

    fn peer(system: System) -> Peer {
        match system {
            System::Ssh | System::SshCubic | System::SshReno | System::SshBbr => Peer::Ssh,
            System::Mosh | System::MoshUnpredicted => Peer::Mosh,
            _ => Peer::Rove,
        }
    }
}

/// Returns false: only runs in real time are interrupted, and there are none here.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn is_interrupt(_error: &Error) -> bool {
    false
}

/// Programs behind links, which only Linux has.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Programs;

#[cfg(not(target_os = "linux"))]
impl Programs {
    /// Does nothing here.
    pub(crate) const fn prepare(_is_wanted: bool) -> Self {
        Self
    }

    /// Returns an empty text, because there are no programs.
    pub(crate) const fn version(&self, _system: Option<System>) -> &str {
        ""
    }

    /// Returns why nothing can be measured here.
    ///
    /// # Errors
    ///
    /// Never returns an error.
    pub(crate) fn measure(
        &self,
        _measure: Measure,
        _conditions: &Conditions<'_>,
    ) -> Result<Result<Samples, String>> {
        Ok(Err("programs run over emulated links on Linux only".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn a_run_that_fails_has_a_fault_in_place_of_a_figure_that_cannot_be_had() {
        let told = super::here::told(Err(anyhow::anyhow!("rove ended (signal 6)")));
        let samples = told.expect("nobody interrupts").expect("a run");
        assert_eq!(samples.fault.as_deref(), Some("rove ended (signal 6)"));
        assert_eq!((samples.missing, samples.times.len()), (1, 0));
    }
}
