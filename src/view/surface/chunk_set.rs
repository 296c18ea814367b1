//! A set of chunks.

/// Chunks by their row-major number, a bit each. What is empty takes no time,
/// and a set that is cleared keeps its memory.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct ChunkSet {
    /// As many as the highest number needs.
    words: Vec<u64>,
}

impl ChunkSet {
    #[inline]
    pub fn insert(&mut self, number: usize) {
        let word = number / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }

    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        let word = self.words.get(number / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Adds all chunks of another set.
    pub fn insert_all(&mut self, other: &Self) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Keeps the chunks that `keep` says yes to.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        for (first, word) in (0..).step_by(64).zip(&mut self.words) {
            for bit in bits(*word) {
                if !keep(first + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// The chunks, by rising number.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = (0..).step_by(64).zip(&self.words);
        words.flat_map(|(first, word)| bits(*word).map(move |bit| first + bit))
    }
}

impl Extend<usize> for ChunkSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, numbers: I) {
        for number in numbers {
            self.insert(number);
        }
    }
}

/// The bits that are set, by rising number.
#[inline]
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_by_rising_number() {
        let mut set = ChunkSet::default();
        assert!(set.is_empty() && !set.contains(0));
        set.extend([130, 0, 63, 64, 130]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 130]);
        assert!(set.contains(63) && !set.contains(62) && !set.contains(1000));
        let mut other = ChunkSet::default();
        other.extend([5, 64, 700]);
        set.insert_all(&other);
        other.insert_all(&set);
        let all = [0, 5, 63, 64, 130, 700];
        assert_eq!(set.iter().collect::<Vec<_>>(), all);
        assert_eq!(other.iter().collect::<Vec<_>>(), all);
        set.retain(|number| number % 2 == 1);
        assert_eq!(set.iter().collect::<Vec<_>>(), [5, 63]);
        set.retain(|_| false);
        assert!(set.is_empty());
        other.clear();
        assert!(other.is_empty() && other.iter().next().is_none());
    }
}
