//! How much memory a piece of work takes at most.
//!
//! [`Counting`] has to be the allocator: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.

use std::alloc::GlobalAlloc;
use std::alloc::Layout;
use std::alloc::System;
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts for each thread what it has given out.
#[derive(Debug)]
pub struct Counting;

fn count(bytes: isize) {
    // A thread that ends has no place to count in any more.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

#[expect(unsafe_code, reason = "an allocator cannot be written without; it hands on what it is asked for")]
// SAFETY: every call goes to the system's allocator with the arguments as they came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: as this one was called.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: as this one was called.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(signed(size) - signed(layout.size()));
        // SAFETY: as this one was called.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// How many bytes a piece of work had at once, beside what there was before; 0 where [`Counting`] is not the allocator.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let done = work();
    (done, usize::try_from(PEAK.get() - before).unwrap_or_default())
}

/// How many bytes this thread has allocated more than it has freed, of others' as well, so that only differences say
/// something; 0 where [`Counting`] is not the allocator.
#[must_use]
pub fn live() -> isize {
    LIVE.get()
}

/// Does something whose memory is not to be counted, such as what a stand-in for a disk keeps. What it answers is not
/// counted either.
pub fn uncounted<T>(work: impl FnOnce() -> T) -> T {
    let (live, peak) = (LIVE.get(), PEAK.get());
    let done = work();
    LIVE.set(live);
    PEAK.set(peak);
    done
}

#[cfg(test)]
mod tests {
    use super::Counting;
    use super::peak;
    use super::uncounted;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    const MANY: usize = 1_000_000;

    #[test]
    fn what_is_there_at_once_is_counted() {
        let one_by_one = || (0..3).for_each(|_| drop(vec![0_u8; MANY]));
        assert_eq!(peak(one_by_one).1, MANY);
        let before = super::live();
        let kept = vec![0_u8; MANY];
        assert_eq!(super::live() - before, isize::try_from(kept.len()).unwrap());
        drop(kept);
        let together = || vec![vec![0_u8; MANY], vec![0_u8; MANY]].len();
        let (n_lists, bytes) = peak(together);
        assert!(n_lists == 2 && (2 * MANY..2 * MANY + 1_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_is_kept_elsewhere_is_not() {
        let (kept, bytes) = peak(|| uncounted(|| vec![0_u8; MANY]));
        assert_eq!((kept.len(), bytes), (MANY, 0));
        let ((), bytes) = peak(|| uncounted(|| drop(kept)));
        assert_eq!(bytes, 0);
    }
}
