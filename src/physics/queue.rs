//! Which collider is built next: the one nearest to a body, and now and then
//! the one that has waited longest, so that none waits for ever.

use bevy::math::*;
use std::collections::VecDeque;

/// Of so many chunks one is the longest waiting, the others the nearest.
const TURNS: u32 = 4;

/// The chunks of a grid that wait to be built.
#[derive(Debug, Default)]
pub struct BuildQueue {
    chunks: UVec2,
    marks: Vec<Marks>,
    waiting: usize,
    /// In the order of their coming; some may have been served since.
    order: VecDeque<usize>,
    turn: u32,
    /// The newest search, so that old marks need no clearing.
    search: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    waits: bool,
    in_order: bool,
    visited: u32,
}

impl BuildQueue {
    /// An empty queue for so many chunks along x and y.
    pub fn new(chunks: UVec2) -> Self {
        Self {
            chunks,
            marks: vec![Marks::default(); chunks.element_product() as usize],
            ..Self::default()
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Lets a chunk wait, once.
    pub fn push(&mut self, number: usize) {
        let Some(marks) = self.marks.get_mut(number) else {
            return;
        };
        if !marks.waits {
            marks.waits = true;
            self.waiting += 1;
        }
        if !marks.in_order {
            marks.in_order = true;
            self.order.push_back(number);
        }
    }

    /// Takes a chunk out, if it waits.
    pub fn remove(&mut self, number: usize) -> bool {
        let Some(marks) = self.marks.get_mut(number) else {
            return false;
        };
        let waited = marks.waits;
        if waited {
            marks.waits = false;
            self.waiting -= 1;
        }
        waited
    }

    /// Takes up to `count` chunks out: the nearest to the chunks in `bodies`
    /// first, but for the turns of those that wait longest.
    pub fn take(&mut self, count: usize, bodies: impl IntoIterator<Item = UVec2>) -> Vec<usize> {
        let count = count.min(self.waiting);
        let mut taken = Vec::with_capacity(count);
        if count == 0 {
            return taken;
        }
        if count < self.waiting {
            let oldest = (0..count).filter(|_| self.is_turn_of_oldest()).count();
            taken = self.take_nearest(count - oldest, bodies);
        }
        while taken.len() < count {
            let Some(number) = self.take_oldest() else {
                break;
            };
            taken.push(number);
        }
        taken
    }

    fn is_turn_of_oldest(&mut self) -> bool {
        self.turn = (self.turn + 1) % TURNS;
        self.turn == 0
    }

    fn take_oldest(&mut self) -> Option<usize> {
        while let Some(number) = self.order.pop_front() {
            self.marks[number].in_order = false;
            if self.remove(number) {
                return Some(number);
            }
        }
        None
    }

    /// Goes outward from all bodies at once, a ring of chunks after the other.
    fn take_nearest(
        &mut self,
        count: usize,
        bodies: impl IntoIterator<Item = UVec2>,
    ) -> Vec<usize> {
        let mut taken = Vec::with_capacity(count);
        self.search = self.search.wrapping_add(1);
        let mut front = VecDeque::new();
        for chunk in bodies {
            self.visit(chunk.min(self.chunks - 1), &mut front);
        }
        while taken.len() < count
            && let Some(chunk) = front.pop_front()
        {
            let number = self.number(chunk);
            if self.remove(number) {
                taken.push(number);
            }
            let from = chunk.saturating_sub(UVec2::ONE);
            let to = (chunk + 1).min(self.chunks - 1);
            for y in from.y..=to.y {
                for x in from.x..=to.x {
                    self.visit(UVec2::new(x, y), &mut front);
                }
            }
        }
        taken
    }

    fn visit(&mut self, chunk: UVec2, front: &mut VecDeque<UVec2>) {
        let number = self.number(chunk);
        if self.marks[number].visited != self.search {
            self.marks[number].visited = self.search;
            front.push_back(chunk);
        }
    }

    #[inline]
    fn number(&self, chunk: UVec2) -> usize {
        (chunk.y * self.chunks.x + chunk.x) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(chunks: UVec2) -> BuildQueue {
        let mut queue = BuildQueue::new(chunks);
        (0..chunks.element_product() as usize).for_each(|number| queue.push(number));
        queue
    }

    #[test]
    fn the_nearest_come_first_and_the_oldest_in_their_turn() {
        let mut queue = full(UVec2::new(10, 7));
        let taken = queue.take(8, [UVec2::new(9, 6)]);
        assert_eq!(taken.len(), 8);
        // Six nearest: the body's own, its three neighbors, two of the next ring.
        assert_eq!(taken[0], 69);
        for number in [68, 59, 58] {
            assert!(taken[1..4].contains(&number), "{taken:?}");
        }
        // Two oldest at last.
        assert_eq!(taken[6..], [0, 1]);
    }

    #[test]
    fn every_chunk_is_served_once_even_if_some_come_again_and_again() {
        let mut queue = full(UVec2::new(6, 5));
        let mut served = [0; 30];
        for _ in 0..200 {
            // Those around the body never rest.
            for number in [0, 1, 6, 7] {
                queue.push(number);
            }
            for number in queue.take(1, [UVec2::ZERO]) {
                served[number] += 1;
            }
        }
        assert!(served.iter().all(|&times| times > 0), "{served:?}");
    }

    #[test]
    fn what_was_removed_is_not_served() {
        let mut queue = full(UVec2::new(3, 1));
        assert!(queue.remove(1));
        assert!(!queue.remove(1));
        assert_eq!(queue.take(9, []), [0, 2]);
        assert!(queue.is_empty());
        assert!(queue.take(9, [UVec2::ZERO]).is_empty());
    }
}
