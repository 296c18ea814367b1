//! Scratch rows for solvers that sweep over a plane.

/// Numbers in a cache line.
const LINE: usize = 16;

/// Hands out rows that do not lie a multiple of 4096 bytes apart: the processor
/// takes such addresses for the same one and waits.
pub(super) struct Rows<'a>(core::slice::ChunksExactMut<'a, f32>, usize);

impl<'a> Rows<'a> {
    /// Numbers from one row of `length` to the next, with room to begin at a line.
    #[inline]
    pub fn pitch(length: usize) -> usize {
        length.next_multiple_of(1024) + 112
    }

    /// Cuts `scratch` into rows of `length`.
    #[inline]
    pub fn of(scratch: &'a mut [f32], length: usize) -> Self {
        Self(scratch.chunks_exact_mut(Self::pitch(length)), length)
    }

    /// The next `N` rows; empty ones when the scratch is used up.
    #[inline]
    pub fn take<const N: usize>(&mut self) -> [&'a mut [f32]; N] {
        self.take_padded(0)
    }

    /// The next `N` rows, whose cells begin after so many numbers of padding (at
    /// most a line's). The first cell is at the begin of a cache line: a vector
    /// that lies across two takes twice the time.
    #[inline]
    pub fn take_padded<const N: usize>(&mut self, padding: usize) -> [&'a mut [f32]; N] {
        core::array::from_fn(|_| match self.0.next() {
            Some(row) => {
                let line = row.as_ptr().align_offset(LINE * size_of::<f32>()) % LINE;
                &mut row[line + LINE - padding..][..self.1]
            }
            None => &mut [],
        })
    }
}
