//! The words of a path, `rtt=500ms` or `up.loss=5%`, each given once.

use core::str::FromStr;
use std::path::PathBuf;

use rove_link::{
    CoDelConfig, Discipline, Distribution, Drops, FairConfig, GilbertElliott, LinkConfig, OnOff,
    Order, Outages, PeriodLength, PieConfig,
};
use rove_units::{BitRate, Bytes, Duration, Instant, ParseUnitError, parse_duration, parse_share};

/// The words that both directions share, and those that each may have of its own, as an error message lists them.
const WORDS: &str = "rtt, jitter, distribution, reorder, order, download, and for both directions or with up. or down. before it \
                     for one: mtu, loss, ge, bursts, duplicate, outage, onoff, intermittent, rate, burst, queue, discipline, trace \
                     (uplink and downlink for short); or schedule alone";

/// Longest queue in packets. Chosen: longer than any useful queue, but not too long for memory.
const PACKETS_MAX: usize = 1 << 24;

/// The words given so far.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) rtt: Option<Duration>,
    pub(super) jitter: Option<Duration>,
    pub(super) distribution: Option<Distribution>,
    reorder: Option<bool>,
    order: Option<Order>,
    /// The window of a download beside the session.
    pub(super) download: Option<Bytes>,
    /// The file of a schedule, which excludes all other words.
    pub(super) schedule: Option<PathBuf>,
    /// The words of each direction: near to far, far to near.
    pub(super) ways: [Way; 2],
}

/// The words of one direction.
#[derive(Default)]
pub(super) struct Way {
    mtu: Option<Bytes>,
    loss: Option<f64>,
    gilbert_elliott: Option<GilbertElliott>,
    duplicate: Option<f64>,
    outages: Option<Outages>,
    on_off: Option<OnOff>,
    pub(super) rate: Option<BitRate>,
    pub(super) burst: Option<Bytes>,
    queue: Option<(Bytes, usize)>,
    discipline: Option<Discipline>,
    pub(super) trace: Option<PathBuf>,
}

impl Parts {
    /// Reads one word of a path and its value.
    ///
    /// # Errors
    ///
    /// Returns a sentence if the word does not exist, is given twice, or has a value that does not fit.
    pub(super) fn read(&mut self, name: &str, value: &str) -> Result<(), String> {
        let is_new = match name {
            "rtt" => set(&mut self.rtt, duration(value)?),
            "jitter" => set(&mut self.jitter, duration(value)?),
            "distribution" => set(&mut self.distribution, distribution(value)?),
            "reorder" => set(&mut self.reorder, yes_or_no(value)?),
            "order" => set(&mut self.order, order(value)?),
            "download" => set(&mut self.download, unit(value)?),
            "schedule" => set(&mut self.schedule, value.into()),
            "uplink" => self.ways[0].read("trace", value)?,
            "downlink" => self.ways[1].read("trace", value)?,
            _ => {
                let [up, down] = &mut self.ways;
                match name.split_once('.') {
                    Some(("up", name)) => up.read(name, value)?,
                    Some(("down", name)) => down.read(name, value)?,
                    // A word without a direction goes to both links. An unknown word is refused by both.
                    _ => up.read(name, value)? & down.read(name, value)?,
                }
            }
        };
        if is_new { Ok(()) } else { Err(format!("{name} is given twice")) }
    }

    /// Returns a direction's link without its delay and jitter.
    pub(super) fn link(&self, way: &Way) -> LinkConfig {
        let Way { mtu, gilbert_elliott, on_off, .. } = *way;
        let outages = way.outages.clone().unwrap_or_default();
        let drops = Drops { mtu, gilbert_elliott, outages, on_off, ..Drops::default() };
        let (queue_max, queue_packets_max) = way.queue.unwrap_or((Bytes::MAX, usize::MAX));
        LinkConfig {
            order: self.order.unwrap_or_default(),
            jitter_distribution: self.distribution.unwrap_or_default(),
            reorder: self.reorder.unwrap_or_default(),
            loss: way.loss.unwrap_or_default(),
            drops,
            duplicate: way.duplicate.unwrap_or_default(),
            rate: way.rate,
            burst: way.burst,
            queue: way.discipline.unwrap_or_default(),
            queue_max,
            queue_packets_max,
            ..LinkConfig::default()
        }
    }
}

impl Way {
    fn read(&mut self, name: &str, value: &str) -> Result<bool, String> {
        Ok(match name {
            "mtu" => set(&mut self.mtu, unit(value)?),
            "loss" => set(&mut self.loss, share(value)?),
            "ge" => set(&mut self.gilbert_elliott, gilbert_elliott(value)?),
            "bursts" => set(&mut self.gilbert_elliott, bursts(value)?),
            "duplicate" => set(&mut self.duplicate, share(value)?),
            "outage" => set(&mut self.outages, outages(value)?),
            "onoff" => set(&mut self.on_off, on_off(value, PeriodLength::Exponential)?),
            "intermittent" => set(&mut self.on_off, on_off(value, PeriodLength::Fixed)?),
            "rate" => set(&mut self.rate, unit(value)?),
            "burst" => set(&mut self.burst, unit(value)?),
            "queue" => set(&mut self.queue, queue(value)?),
            "discipline" => set(&mut self.discipline, discipline(value)?),
            "trace" => set(&mut self.trace, value.into()),
            _ => return Err(format!("{name:?} is nothing that a link has: {WORDS}")),
        })
    }
}

/// Sets a value, and returns whether `place` was empty.
fn set<T>(place: &mut Option<T>, value: T) -> bool {
    place.replace(value).is_none()
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

fn unit<T: FromStr<Err = ParseUnitError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseUnitError| error.to_string())
}

fn share(text: &str) -> Result<f64, String> {
    parse_share(text).map_err(|error| error.to_string())
}

fn distribution(text: &str) -> Result<Distribution, String> {
    match text {
        "uniform" => Ok(Distribution::Uniform),
        "normal" => Ok(Distribution::Normal),
        _ => Err(format!("{text:?} is no distribution of jitter: uniform or normal")),
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("{text:?} is neither yes nor no")),
    }
}

fn order(text: &str) -> Result<Order, String> {
    match text {
        "loss-queue-delay" => Ok(Order::LossQueueDelay),
        "loss-delay-queue" => Ok(Order::LossDelayQueue),
        "queue-loss-delay" => Ok(Order::QueueLossDelay),
        "delay-queue-loss" => Ok(Order::DelayQueueLoss),
        _ => Err(format!(
            "{text:?} is no order of the stages: loss-queue-delay, loss-delay-queue, queue-loss-delay or \
             delay-queue-loss"
        )),
    }
}

/// Reads `64k` or `100p`: the limit of a queue in bytes or in packets.
fn queue(text: &str) -> Result<(Bytes, usize), String> {
    let Some(packets) = text.strip_suffix('p') else {
        return Ok((unit(text)?, usize::MAX));
    };
    let packets = packets.parse().ok().filter(|packets| (1..=PACKETS_MAX).contains(packets));
    let wrong = || format!("{text:?} is no length of a queue, such as 64k, or 100p for packets");
    Ok((Bytes::MAX, packets.ok_or_else(wrong)?))
}

fn discipline(text: &str) -> Result<Discipline, String> {
    match text {
        "drop-tail" => Ok(Discipline::DropTail),
        "drop-head" => Ok(Discipline::DropHead),
        "codel" => Ok(Discipline::CoDel(CoDelConfig::default())),
        "pie" => Ok(Discipline::Pie(PieConfig::default())),
        "fq-codel" => Ok(Discipline::Fair(FairConfig::default())),
        _ => Err(format!(
            "{text:?} is no queue discipline: drop-tail, drop-head, codel, pie or fq-codel"
        )),
    }
}

/// Reads `1%/25%/100%/0%`: the chance of turning bad, of turning good, and the loss in either state.
fn gilbert_elliott(text: &str) -> Result<GilbertElliott, String> {
    let shares = text.split('/').map(share).collect::<Result<Vec<f64>, String>>()?;
    let [p_bad, p_good, loss_bad, loss_good] = shares[..] else {
        return Err(format!(
            "{text:?} are not four shares, such as 1%/25%/100%/0%: turning bad, turning good, loss while bad, \
             loss while good"
        ));
    };
    Ok(GilbertElliott { p_bad, p_good, loss_bad, loss_good })
}

/// Reads `10%/4`: the share of packets lost, and the mean number of packets lost in a row.
fn bursts(text: &str) -> Result<GilbertElliott, String> {
    let wrong = || {
        format!(
            "{text:?} are no bursts of loss, such as 10%/4: the share that is lost, and packets lost together in \
             the mean, from 1 on"
        )
    };
    let (loss, length) = text.split_once('/').ok_or_else(wrong)?;
    let loss = share(loss)?;
    let length: f64 = length.parse().map_err(|_| wrong())?;
    // Bad states last `length` packets in the mean. The length of good states follows from the share of lost packets.
    let (p_good, p_bad) = (1.0 / length, loss / (1.0 - loss) / length);
    if !(1.0..=1e6).contains(&length) || p_bad > 1.0 {
        return Err(wrong());
    }
    Ok(GilbertElliott { p_bad, p_good, loss_bad: 1.0, loss_good: 0.0 })
}

/// Reads `10s-20s`, or several joined by `+`.
fn outages(text: &str) -> Result<Outages, String> {
    let interval = |text: &str| {
        let (start, end) = text
            .split_once('-')
            .ok_or_else(|| format!("{text:?} is no outage, such as 10s-20s"))?;
        let [start, end] = [duration(start)?, duration(end)?];
        Ok((Instant::ZERO + start, Instant::ZERO + end))
    };
    let intervals = text.split('+').map(interval).collect::<Result<Vec<_>, String>>()?;
    Outages::new(&intervals).map_err(|error| error.to_string())
}

/// Reads `5s/1s`: how long a link is on, and how long off.
fn on_off(text: &str, length: PeriodLength) -> Result<OnOff, String> {
    let (on, off) = text
        .split_once('/')
        .ok_or_else(|| format!("{text:?} is no pair of times, such as 5s/1s"))?;
    OnOff::new(duration(on)?, duration(off)?, length).map_err(|error| error.to_string())
}
