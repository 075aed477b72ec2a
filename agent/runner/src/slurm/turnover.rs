//! Parts that join and leave a run that goes on.

use std::io;

use agent::agent::UNWANTED_GRACE_MS;
use agent::pods::Place;
use agent::pods::Pods;

use crate::clock;
use crate::folder::Folder;
use crate::folder::Work;
use crate::slurm::part;
use crate::slurm::part::Part;
use crate::slurm::portion;
use crate::slurm::portion::Portion;
use crate::slurm::runs::KILL_LATE_MS;
use crate::slurm::runs::Runs;
use crate::slurm::runs::signal;

impl Runs {
    /// Has parts leave and join as the run was told. People's own jobs stay as they were submitted.
    pub(super) fn turn_over(&mut self, folder: &Folder, work: &Work) -> io::Result<()> {
        let (Some(told), None) = (folder.told_pods()?, folder.kill_at()?) else { return Ok(()) };
        let mut missing: Vec<Place> = told.pods.iter().map(Place::of).collect();
        for (portion, part) in self.parts(folder, work)? {
            let before = missing.len();
            let stays = portion.leaves.is_none();
            if stays {
                for pod in &portion.pods {
                    if let Some(at) = missing.iter().position(|place| *place == Place::of(pod)) {
                        missing.swap_remove(at);
                    }
                }
            }
            if !stays || missing.len() == before {
                self.drive_out(folder, work, &portion, &part, &told)?;
            }
        }
        if work.script.adopted.is_none() {
            let is_missing = |place: &Place| missing.iter().any(|other| other == place);
            told.pods
                .iter()
                .filter(|pod| is_missing(&Place::of(pod)))
                .try_for_each(|pod| portion::join(folder, pod))?;
            if self.parts(folder, work)?.iter().any(|(portion, part)| !portion.is_first && *part == Part::Absent) {
                self.submit_absent(folder, work)?;
            }
        }
        Ok(())
    }

    /// Ends a part none of whose pods is wanted.
    fn drive_out(&self, folder: &Folder, work: &Work, portion: &Portion, part: &Part, told: &Pods) -> io::Result<()> {
        let (open, now) = (self.open(folder, work), clock::now());
        let tell = |how: &[&str]| signal(work, self.view.of_part(folder.run, &portion.name), how);
        if part.is_unclaimed() {
            portion::leave(folder, portion, now)?;
            part::bury(&open, &portion.name)?;
            tell(&[]);
        } else if part.is_live() {
            let is_its = |places: &[Place]| portion.pods.iter().any(|pod| places.contains(&Place::of(pod)));
            let ordered = told.leave.iter().filter(|leaving| is_its(&leaving.places)).map(|leaving| leaving.kill_at);
            let kill_at = ordered.min().or(portion.leaves).unwrap_or(now + UNWANTED_GRACE_MS);
            if portion.leaves.is_none_or(|earlier| kill_at < earlier) {
                portion::leave(folder, portion, kill_at)?;
                part::order_stop(&open, &portion.order_file(), kill_at.saturating_sub(now))?;
                tell(&["--batch", "--signal=USR2"]);
            } else if kill_at.saturating_add(KILL_LATE_MS) <= now {
                tell(&["--full", "--signal=KILL"]);
            }
        } else if portion.leaves.is_none() {
            // It has ended by itself.
            portion::leave(folder, portion, now)?;
        }
        Ok(())
    }
}
