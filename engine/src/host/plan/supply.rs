//! How many GPUs there are for jobs: those on which they may start, and those elsewhere that they still hold.
//!
//! A cordoned node has what runs on it until that ends. A pool or an inventory that is made smaller than what is in use
//! goes down as its jobs end. An offer without a limit has what is held.

use crate::state::world::State;
use crate::unit::limit;

/// The GPUs for jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// In thousandths.
    pub gpus: i64,
    /// Whether they become fewer or more with what jobs hold.
    pub is_shrinking: bool,
}

impl Supply {
    /// By now.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let mut supply = Self { gpus: 0, is_shrinking: false };
        for (domain, free) in state.domains.list.iter().zip(&state.floor.pools).filter(|(domain, _)| domain.is_pool) {
            supply.add(state.cluster.gpus(&domain.amount), state.cluster.gpus(free), true);
        }
        for (no, node) in state.live_nodes() {
            let on = &state.floor.nodes[no.at()];
            supply.add(state.cluster.gpus(&node.amount), state.cluster.gpus(&on.free), node.is_open());
        }
        for (no, offer) in state.market.live_offers() {
            let each = state.cluster.gpus(&offer.instance);
            let (count, free) = (offer.inventory, state.market.free(no));
            if count < limit::INVENTORY_MAX {
                supply.add(each.saturating_mul(count), each.saturating_mul(free), true);
            } else {
                supply.is_shrinking = true;
                supply.gpus = supply.gpus.saturating_add(each.saturating_mul(count - free));
            }
        }
        supply
    }

    /// Adds machines of which so much is free.
    fn add(&mut self, gpus: i64, free: i64, is_open: bool) {
        let held = gpus.saturating_sub(free);
        self.is_shrinking |= free < 0 || (!is_open && held > 0);
        self.gpus = self.gpus.saturating_add(if is_open { gpus.max(held) } else { held });
    }
}
