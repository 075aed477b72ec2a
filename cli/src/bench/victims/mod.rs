//! The engine's victims on nodes, held against the cheapest ones.

pub mod cluster;
pub mod optimum;

use crate::bench::figure::Figure;
use crate::bench::victims::cluster::Crowd;

/// How many machines there are.
const NODES: [u32; 8] = [1, 4, 16, 44, 88, 176, 264, 352];
/// How many questions are put to each kind of asker.
const POD_QUESTIONS: u32 = 1_000;
const GANG_QUESTIONS: u32 = 200;

/// What the answers came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Questions that need victims.
    pub asked: u32,
    /// Answers that cost no more than they have to.
    pub cheapest: u32,
    /// Answers with as many victims as the cheapest, or fewer.
    pub fewest: u32,
    /// Questions that have an answer, and got none.
    pub unanswered: u32,
    /// By how much answers lose more work than they have to, in all; of crowds of one class.
    excess: f64,
    of_one_class: u32,
}

impl Tally {
    /// Puts a question, if it needs victims.
    fn ask(&mut self, crowd: &Crowd, pods: u32, each: i64, has_one_class: bool) -> Result<(), String> {
        let best = optimum::cheapest(&crowd.question(pods, each));
        let answer = crowd.answer(pods, each)?;
        let Some(best) = best.filter(|best| best.victims() > 0) else {
            let victims = answer.map_or(0, |answer| answer.victims());
            return if victims == 0 {
                Ok(())
            } else {
                Err(format!("{victims} victims where none help, or none are needed"))
            };
        };
        self.asked += 1;
        let Some(answer) = answer else {
            self.unanswered += 1;
            return Ok(());
        };
        if answer < best {
            return Err(format!("{answer:?} is cheaper than the cheapest, {best:?}"));
        }
        self.cheapest += u32::from(answer == best);
        self.fewest += u32::from(answer.victims() <= best.victims());
        if has_one_class {
            self.of_one_class += 1;
            self.excess += to_float(answer.lost() - best.lost()) / to_float(best.lost().max(1));
        }
        Ok(())
    }

    fn share(&self, of: u32) -> f64 {
        100.0 * f64::from(of) / f64::from(self.asked.max(1))
    }

    /// By how many percent more work is lost than has to be, on average.
    #[must_use]
    pub fn mean_excess(&self) -> f64 {
        100.0 * self.excess / f64::from(self.of_one_class.max(1))
    }
}

/// Puts so many questions of single pods, or of gangs.
pub fn ask(questions: u32, is_gang: bool) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let sizes: &[(u32, i64)] = if is_gang {
        &[(2, 4), (2, 8), (3, 2), (4, 4), (4, 3)]
    } else {
        &[(1, 1), (1, 2), (1, 3), (1, 4), (1, 6), (1, 8)]
    };
    for seed in 1..=u64::from(questions) {
        let nodes = NODES[usize::try_from(seed).unwrap_or(0) % NODES.len()];
        let has_one_class = is_gang || seed % 3 == 0;
        let crowd = Crowd::gather(nodes, has_one_class, seed)?;
        for (pods, each) in sizes {
            if tally.asked < questions {
                tally.ask(&crowd, *pods, *each, has_one_class)?;
            }
        }
        if tally.asked == questions {
            break;
        }
    }
    Ok(tally)
}

/// The figures: how often the cheapest victims are found, and how far from them the others are.
pub fn figures() -> Result<Vec<Figure>, String> {
    let pods = ask(POD_QUESTIONS, false)?;
    let gangs = ask(GANG_QUESTIONS, true)?;
    let of = |tally: &Tally, who: &str| format!("victims for {who}, up to 352 nodes, {} instances", tally.asked);
    let of_pods = of(&pods, "one pod");
    Ok(vec![
        Figure::at_least(&format!("{of_pods}: cheapest"), pods.share(pods.cheapest), 100.0, "%"),
        Figure::at_least(&format!("{of_pods}: fewest"), pods.share(pods.fewest), 100.0, "%"),
        Figure::at_most(&format!("{of_pods}: mean excess"), pods.mean_excess(), 0.0, "%"),
        Figure::at_most(&format!("{of_pods}: no answer"), f64::from(pods.unanswered), 0.0, ""),
        Figure::at_most(&format!("{}: mean excess", of(&gangs, "gangs")), gangs.mean_excess(), 2.0, "%"),
        Figure::at_most(&format!("{}: no answer", of(&gangs, "gangs")), f64::from(gangs.unanswered), 0.0, ""),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn to_float(value: i64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::ask;

    #[test]
    fn no_victims_are_cheaper_than_the_engines() {
        for is_gang in [false, true] {
            let tally = ask(60, is_gang).unwrap();
            assert!(tally.asked > 40, "{tally:?}");
            assert_eq!((tally.cheapest, tally.fewest, tally.unanswered), (tally.asked, tally.asked, 0), "{tally:?}");
        }
    }
}
