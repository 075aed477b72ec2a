//! The numbers of a change that can be dragged and typed. The command is the only truth: a lever shows a part of it,
//! and gives a command back in which that part is different.

use engine::message::command::Command;
use engine::message::command::ResizeJob;
use engine::message::command::ScaleQuotas;
use engine::message::command::SetPriority;
use engine::message::command::SubmitJob;
use engine::message::command::market::PublishPrice;
use engine::message::command::market::SetInventory;
use engine::unit::amount::DimensionKind;
use engine::unit::amount::GPU;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;

use crate::edit::Subject;
use crate::facts::Facts;

const HOUR: i64 = Millis::HOUR.0;
const COIN: i64 = 1_000_000;

/// A number that can be dragged and typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lever {
    /// What it is.
    pub label: String,
    /// Its unit, for people.
    pub unit: &'static str,
    /// Where it stands.
    pub value: i64,
    /// The smallest value.
    pub least: i64,
    /// The largest value.
    pub most: i64,
    /// The distance between two values.
    pub step: i64,
    /// How much of the value is one unit.
    pub scale: i64,
}

impl Lever {
    fn of(label: impl Into<String>, unit: &'static str, value: i64, (least, most, step): (i64, i64, i64)) -> Self {
        let scale = match unit {
            "GPUs" | "CPUs" => GPU,
            "GiB" => 1024,
            "h" => HOUR,
            "a minute" => COIN,
            _ => 1,
        };
        Self { label: label.into(), unit, value, least, most: most.max(value), step, scale }
    }

    /// A value as people write it: units, with at most three digits behind the point.
    #[must_use]
    pub fn text(&self, value: i64) -> String {
        let thousandths = i64::try_from(i128::from(value) * 1000 / i128::from(self.scale.max(1))).unwrap_or(i64::MAX);
        let (whole, part) = (thousandths / 1000, (thousandths % 1000).abs());
        if part == 0 {
            return whole.to_string();
        }
        format!("{whole}.{}", format!("{part:03}").trim_end_matches('0'))
    }

    /// The value that somebody typed.
    #[must_use]
    pub fn parse(&self, text: &str) -> Option<i64> {
        let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        if part.len() > 3 || !part.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let part: i64 = format!("{part:0<3}").parse().ok()?;
        let thousandths =
            whole.parse::<i64>().ok().filter(|whole| *whole >= 0)?.checked_mul(1000)?.checked_add(part)?;
        i64::try_from(i128::from(thousandths) * i128::from(self.scale) / 1000).ok()
    }
}

/// The numbers of a command.
#[must_use]
pub fn levers(command: &Command, facts: &Facts) -> Vec<Lever> {
    match Subject::of(command) {
        Subject::Amounts(scale) => amounts(scale, facts),
        Subject::Priority(set) => vec![Lever::of("Priority", "", set.priority.get().into(), (1, 9, 1))],
        Subject::Size(resize) => {
            let least = resize.min_pods.unwrap_or(1).into();
            vec![Lever::of("Pods", "", resize.pods.into(), (least, 64, 1))]
        }
        Subject::Job(job) => {
            let mut levers = Vec::new();
            if let Some(pods) = job.pods.first() {
                for (name, value) in &pods.amount {
                    let (unit, step, most) = unit(facts, name);
                    levers.push(Lever::of(format!("{unit} of a pod"), unit, *value, (0, most, step)));
                }
                levers.push(Lever::of("Pods", "", pods.count.into(), (1, 64, 1)));
            }
            levers.push(Lever::of("Priority", "", job.priority.get().into(), (1, 9, 1)));
            levers.push(Lever::of(
                "Runs for",
                "h",
                job.duration_ms.map_or(0, |ms| ms.0),
                (HOUR / 2, 72 * HOUR, HOUR / 2),
            ));
            if let Some(spot) = &job.spot {
                let original = facts.offer(&spot.offer).map_or(COIN, |offer| offer.original);
                let discount = spot.discount_percent;
                levers.extend(
                    discount.map(|percent| Lever::of("At most, of the original price", "%", percent, (10, 90, 10))),
                );
                let of_price = (original / 10, original, (original / 100).max(1));
                levers.extend(spot.price_limit.map(|limit| Lever::of("At most", "a minute", limit, of_price)));
            }
            levers
        }
        Subject::Price(publish) => {
            let original = facts.offer(&publish.offer).map_or(COIN, |offer| offer.original);
            vec![Lever::of("Price", "a minute", publish.price, (original / 10, original, (original / 100).max(1)))]
        }
        Subject::Inventory(set) => {
            let now = facts.offer(&set.offer).map_or(0, |offer| offer.inventory);
            vec![Lever::of("Instances", "", set.inventory, (0, (now * 2).max(8), 1))]
        }
        Subject::Pool(group) => {
            let now =
                facts.groups.iter().find(|known| known.group == group.group).and_then(|known| known.pool.as_ref());
            let lever = |(name, value): (&String, &i64)| {
                let (unit, step, most) = unit(facts, name);
                let was = now.and_then(|pool| pool.get(name)).copied().unwrap_or(0);
                Lever::of(unit, unit, *value, (0, was.saturating_mul(2).max(most), step))
            };
            group.pool.iter().flatten().map(lever).collect()
        }
        Subject::Policies(_) | Subject::Cancel(_) | Subject::Node(_) | Subject::Other(_) => Vec::new(),
    }
}

/// The amounts of a quota, and where the difference goes: what one gets, the other gives.
fn amounts(scale: &ScaleQuotas, facts: &Facts) -> Vec<Lever> {
    let Some(first) = scale.targets.first() else { return Vec::new() };
    let lever = |(name, value): (&String, &i64)| {
        let (unit, step, _) = unit(facts, name);
        let own = facts.min(&first.quota, name);
        if let Some(second) = scale.targets.get(1) {
            let label = format!("{}, the rest of {}", first.quota, second.quota);
            return Lever::of(label, unit, *value, (0, own + facts.min(&second.quota, name), step));
        }
        let parent = facts.quota(&first.quota).and_then(|quota| quota.parent.as_ref());
        let most = parent.map_or(own.saturating_mul(2), |parent| facts.min(parent, name));
        Lever::of(first.quota.to_string(), unit, *value, (0, most, step))
    };
    first.min.iter().map(lever).collect()
}

/// A dimension's unit, the distance between two values, and a usual largest value of a pod.
fn unit(facts: &Facts, name: &str) -> (&'static str, i64, i64) {
    let kind = facts.dimensions.iter().find(|known| known.name == name).map(|known| known.kind);
    match kind {
        Some(DimensionKind::Gpu) => ("GPUs", GPU, 64 * GPU),
        Some(DimensionKind::Cpu) => ("CPUs", 1000, 256_000),
        Some(DimensionKind::Memory) => ("GiB", 1024, 2 << 20),
        Some(DimensionKind::Other) | None => ("", 1, 1_000),
    }
}

/// The command with one of its numbers at another value. What does not fit is left as it was.
#[must_use]
pub fn pulled(command: &Command, facts: &Facts, lever: usize, value: i64) -> Command {
    let Some(known) = levers(command, facts).into_iter().nth(lever) else { return command.clone() };
    let value = value.clamp(known.least.min(known.value), known.most);
    match Subject::of(command) {
        Subject::Amounts(scale) => {
            let mut scale = scale.clone();
            let name = scale.targets.first().and_then(|first| first.min.keys().nth(lever)).cloned().unwrap_or_default();
            let rest = known.most - value;
            for (target, amount) in scale.targets.iter_mut().zip([value, rest]) {
                if let Some(own) = target.min.get_mut(&name) {
                    *own = amount;
                }
            }
            Command::ScaleQuotas(scale)
        }
        Subject::Priority(set) => {
            Command::SetPriority(SetPriority { priority: Priority::new(value).unwrap_or(set.priority), ..set.clone() })
        }
        Subject::Size(resize) => {
            Command::ResizeJob(ResizeJob { pods: u32::try_from(value).unwrap_or(resize.pods), ..resize.clone() })
        }
        Subject::Job(job) => Command::SubmitJob(pulled_job(job, lever, value)),
        Subject::Price(publish) => Command::PublishPrice(PublishPrice { price: value, ..publish.clone() }),
        Subject::Inventory(set) => Command::SetInventory(SetInventory { inventory: value, ..set.clone() }),
        Subject::Pool(group) => {
            let mut group = group.clone();
            if let Some(amount) = group.pool.as_mut().and_then(|pool| pool.values_mut().nth(lever)) {
                *amount = value;
            }
            Command::PutGroup(group)
        }
        Subject::Policies(_) | Subject::Cancel(_) | Subject::Node(_) | Subject::Other(_) => command.clone(),
    }
}

fn pulled_job(job: &SubmitJob, lever: usize, value: i64) -> SubmitJob {
    let mut job = job.clone();
    let of_pods = job.pods.first().map_or(0, |pods| pods.amount.len() + 1);
    match (lever.checked_sub(of_pods), job.pods.first_mut(), &mut job.spot) {
        (None, Some(pods), _) => match pods.amount.values_mut().nth(lever) {
            Some(amount) => *amount = value,
            None => pods.count = u32::try_from(value).unwrap_or(pods.count),
        },
        (Some(0), ..) => job.priority = Priority::new(value).unwrap_or(job.priority),
        (Some(1), ..) => job.duration_ms = Some(Millis(value)),
        (_, _, Some(spot)) if spot.discount_percent.is_some() => spot.discount_percent = Some(value),
        (_, _, Some(spot)) => spot.price_limit = Some(value),
        (_, _, None) => {}
    }
    job
}
