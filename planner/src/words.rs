//! What people read in a plan, in the languages of the planner.

use engine::host::plan::account::Wait;
use engine::host::plan::difference::Verdict;
use engine::job::cause::Cause;
use engine::unit::time::Millis;

/// A language of the planner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
}

impl Language {
    /// One of two words.
    #[must_use]
    pub fn pick<'a>(self, en: &'a str, zh: &'a str) -> &'a str {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }

    /// One of two sentences, with a value for each `$` in it.
    #[must_use]
    pub fn say(self, en: &str, zh: &str, values: &[&str]) -> String {
        let mut parts = self.pick(en, zh).split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for (part, value) in parts.zip(values) {
            text.push_str(value);
            text.push_str(part);
        }
        text
    }

    /// An amount of GPUs, given in thousandths: `48`, `0.5`.
    #[must_use]
    pub fn gpus(self, thousandths: i64) -> String {
        let en = if thousandths == 1000 { "$ GPU" } else { "$ GPUs" };
        self.say(en, "$ 个 GPU", &[&number(thousandths, 1000)])
    }

    /// A time: `0`, `12 min`, `3.5 h`.
    #[must_use]
    pub fn period(self, period: Millis) -> String {
        match period.0 {
            0 => "0".to_owned(),
            ..60_000 => self.pick("< 1 min", "< 1 分钟").to_owned(),
            ms @ ..7_200_000 => self.say("$ min", "$ 分钟", &[&(ms / 60_000).to_string()]),
            ms => self.say("$ h", "$ 小时", &[&number(ms / 36_000, 100)]),
        }
    }

    /// A wait: `3.5 h`, or `more than 24 h` for one that had not ended when the run did.
    #[must_use]
    pub fn wait(self, Wait { length, is_open }: Wait) -> String {
        let period = self.period(length);
        if is_open { self.say("more than $", "超过 $", &[&period]) } else { period }
    }

    /// When something happens, in front of what happens: `after 10 min: `; nothing in the first minute.
    #[must_use]
    pub fn after(self, period: Millis) -> String {
        if period < Millis::MINUTE {
            return String::new();
        }
        self.say("after $: ", "$后：", &[&self.period(period)])
    }

    /// Work, in GPU-hours.
    #[must_use]
    pub fn work(self, gpu_ms: i64) -> String {
        self.say("$ GPU-hours", "$ GPU 小时", &[&number(gpu_ms / 3_600, 1000)])
    }

    /// Who wins and who loses.
    #[must_use]
    pub fn verdict(self, verdict: Verdict) -> &'static str {
        let (en, zh) = match verdict {
            Verdict::Wins => ("wins", "受益"),
            Verdict::Loses => ("loses", "受损"),
            Verdict::Same => ("same", "不变"),
            Verdict::New => ("new", "新增"),
            Verdict::Gone => ("gone", "已无"),
        };
        self.pick(en, zh)
    }

    /// The rule by which a job is evicted.
    #[must_use]
    pub fn rule(self, cause: &Cause) -> &'static str {
        let (en, zh) = match cause {
            Cause::Reclaimed { .. } => ("its owner takes back what was lent", "归还借用的资源"),
            Cause::OverUse { .. } => ("its quota was scaled below its use", "配额缩至用量以下"),
            Cause::ChildLevel { .. } => ("child-level preemption", "子级抢占"),
            Cause::SelfLevel { .. } => ("self-level preemption", "同级抢占"),
            Cause::LendingEnded => ("the lending has ended", "借用结束"),
            Cause::ScaledDown { .. } => ("its quota was scaled down", "配额缩容"),
            Cause::BelowPrice { .. } => ("its bid is below the price", "出价低于市场价"),
            Cause::BelowAverage { .. } => ("its bid is below the average price", "出价低于平均价"),
            Cause::Outbid { .. } => ("it was outbid", "被更高出价取代"),
            Cause::Halted(_) => ("its run was ended", "运行被终止"),
            Cause::InventoryShrunk { .. } => ("the inventory has shrunk", "库存减少"),
        };
        self.pick(en, zh)
    }
}

/// A decimal number without zeros that say nothing; `unit` is a power of ten.
fn number(value: i64, unit: i64) -> String {
    let (whole, part) = (value / unit, (value % unit).abs());
    if part == 0 {
        return whole.to_string();
    }
    let width = unit.to_string().len() - 1;
    let digits = format!("{part:0width$}");
    let sign = if value < 0 && whole == 0 { "-" } else { "" };
    format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
}

/// Text that stands in HTML or SVG as it is.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::Language;
    use super::escape;
    use engine::host::plan::account::Wait;
    use engine::unit::time::Millis;

    #[test]
    fn numbers_have_no_idle_zeros() {
        assert_eq!(Language::En.gpus(48_000), "48 GPUs");
        assert_eq!(Language::En.gpus(1_000), "1 GPU");
        assert_eq!(Language::Zh.gpus(460), "0.46 个 GPU");
        assert_eq!(Language::En.gpus(-500), "-0.5 GPUs");
        assert_eq!(Language::En.period(Millis(9_000_000)), "2.5 h");
        assert_eq!(Language::En.period(Millis(59_999)), "< 1 min");
        assert_eq!(Language::En.work(5_400_000), "1.5 GPU-hours");
        let day = Wait { length: Millis::DAY, is_open: true };
        assert_eq!(Language::En.wait(day), "more than 24 h");
        assert_eq!(Language::Zh.wait(day), "超过 24 小时");
    }

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escape("<b title='\"'>&"), "&lt;b title=&#39;&quot;&#39;&gt;&amp;");
    }
}
