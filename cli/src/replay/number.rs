//! Numbers of a replay as people read them.

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
pub(super) fn ratio(value: i64, unit: i64) -> f64 {
    value as f64 / unit as f64
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
pub(super) fn wide_ratio(value: i128, unit: i128) -> f64 {
    value as f64 / unit as f64
}

pub(super) fn gpu_hours(gpu_ms: i128) -> f64 {
    wide_ratio(gpu_ms, 3_600_000)
}

/// `0 s`, `45 s`, `12.5 min`, `3.2 h`.
pub(super) fn period(ms: i64) -> String {
    match ms {
        ..120_000 => format!("{} s", ms / 1000),
        120_000..7_200_000 => format!("{:.1} min", ratio(ms, 60_000)),
        _ => format!("{:.1} h", ratio(ms, 3_600_000)),
    }
}
