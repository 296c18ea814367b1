//! A portable 64-bit fingerprint of layer data. Four lanes keep it at memory
//! speed; it guards against divergence, not against attackers.

const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Default)]
pub(crate) struct StateHash {
    lanes: [u64; 4],
    length: u64,
}

impl StateHash {
    #[inline]
    pub fn words(&mut self, words: impl IntoIterator<Item = u32>) {
        for word in words {
            let lane = &mut self.lanes[(self.length % 4) as usize];
            *lane = (*lane ^ u64::from(word))
                .wrapping_mul(PRIME)
                .rotate_left(29);
            self.length += 1;
        }
    }

    /// Hashes bit patterns, so that −0 and 0 differ, as they may in what follows.
    #[inline]
    pub fn floats(&mut self, values: &[f32]) {
        self.words(values.iter().map(|v| v.to_bits()));
    }

    pub fn finish(self) -> u64 {
        let folded = self.lanes.iter().fold(self.length, |hash, lane| {
            (hash ^ lane).wrapping_mul(PRIME).rotate_left(31)
        });
        folded ^ (folded >> 33)
    }
}
