//! The working state of solvers as bytes: little-endian numbers, one after the other.
//!
//! It is what the next step depends on besides settings and terrain, written by
//! [`Solver::save_state`](super::Solver::save_state) and read by
//! [`Solver::load_state`](super::Solver::load_state). Bytes that come from a file may
//! be anything, so whatever is read is checked.

use crate::terrain::Grid;
use core::ops::RangeInclusive;
use std::borrow::Cow;
use thiserror::Error;

/// Why a solver cannot load a state. The solver is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot load the saved state of `{model}`: {reason}")]
pub struct StateError {
    /// The solver's name, e.g. `Droplets`.
    pub model: &'static str,
    /// What is wrong.
    pub reason: Cow<'static, str>,
}

/// Largest count: a solver has to be able to count further.
const MAX_COUNT: u64 = 1 << 62;

/// Writes the working state of a solver.
#[derive(Clone, Debug, Default)]
pub struct StateWriter {
    bytes: Vec<u8>,
}

impl StateWriter {
    /// All that was written.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes a whole number.
    #[inline]
    pub fn write_count(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a real number, exactly.
    #[inline]
    pub fn write_real(&mut self, value: f64) {
        self.write_count(value.to_bits());
    }

    /// Writes a flag.
    pub fn write_flag(&mut self, value: bool) {
        self.write_count(value.into());
    }

    /// Writes words, for instance the bits of `f32`.
    #[inline]
    pub fn write_words(&mut self, words: impl IntoIterator<Item = u32>) {
        let words = words.into_iter();
        self.bytes.reserve(4 * words.size_hint().0);
        for word in words {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Writes a plane of numbers, exactly.
    #[inline]
    pub fn write_floats(&mut self, values: &[f32]) {
        self.write_words(values.iter().map(|value| value.to_bits()));
    }
}

/// Reads what a [`StateWriter`] wrote, in the same order.
#[derive(Clone, Debug)]
pub struct StateReader<'a> {
    model: &'static str,
    bytes: &'a [u8],
}

impl<'a> StateReader<'a> {
    /// Reads the state of a solver of this name.
    pub fn new(model: &'static str, bytes: &'a [u8]) -> Self {
        Self { model, bytes }
    }

    /// The error that says what is wrong.
    pub fn error(&self, reason: impl Into<Cow<'static, str>>) -> StateError {
        StateError {
            model: self.model,
            reason: reason.into(),
        }
    }

    /// Checks a condition on what was read.
    ///
    /// # Errors
    /// When the condition does not hold, with that reason.
    pub fn ensure(
        &self,
        condition: bool,
        reason: impl Into<Cow<'static, str>>,
    ) -> Result<(), StateError> {
        if condition {
            Ok(())
        } else {
            Err(self.error(reason))
        }
    }

    /// Checks that a solver's grid has the size and the cell size of a terrain's.
    ///
    /// # Errors
    /// When they differ.
    pub fn ensure_grid(&self, solver: &Grid, terrain: &Grid) -> Result<(), StateError> {
        if solver.matches(terrain) {
            return Ok(());
        }
        let named = |grid: &Grid| {
            let (size, side) = (grid.size(), grid.cell_size());
            format!("{} × {} cells of {side} m", size.x, size.y)
        };
        Err(self.error(format!(
            "grid size mismatch: solver is for {}, terrain has {}",
            named(solver),
            named(terrain)
        )))
    }

    /// Reads a whole number.
    ///
    /// # Errors
    /// When there is none, or one that is too large to go on counting.
    #[inline]
    pub fn read_count(&mut self) -> Result<u64, StateError> {
        let value = u64::from_le_bytes(self.take::<8>()?);
        self.ensure(value <= MAX_COUNT, "a count is too large")?;
        Ok(value)
    }

    /// Reads a real number.
    ///
    /// # Errors
    /// When there is none, or one that is not finite.
    #[inline]
    pub fn read_real(&mut self) -> Result<f64, StateError> {
        let value = f64::from_le_bytes(self.take::<8>()?);
        self.ensure(value.is_finite(), "a number is not finite")?;
        Ok(value)
    }

    /// Reads a real number within a range; the error says `what` it is.
    ///
    /// # Errors
    /// When there is no number left, or it is out of the range.
    pub fn read_real_in(
        &mut self,
        range: RangeInclusive<f64>,
        what: &'static str,
    ) -> Result<f64, StateError> {
        let value = self.read_real()?;
        if range.contains(&value) {
            return Ok(value);
        }
        let (low, high) = (range.start(), range.end());
        Err(self.error(format!("{what} must be {low:?} to {high:?}, was {value:?}")))
    }

    /// Reads a flag.
    ///
    /// # Errors
    /// When there is nothing, or a number that is neither 0 nor 1.
    pub fn read_flag(&mut self) -> Result<bool, StateError> {
        let value = self.read_count()?;
        self.ensure(value <= 1, "a flag is neither 0 nor 1")?;
        Ok(value == 1)
    }

    /// Reads `count` words.
    ///
    /// # Errors
    /// When there are fewer.
    #[inline]
    pub fn read_words(
        &mut self,
        count: usize,
    ) -> Result<impl Iterator<Item = u32> + 'a, StateError> {
        let length = count.saturating_mul(4);
        let Some((words, rest)) = self.bytes.split_at_checked(length) else {
            return Err(self.error("the state ends too early"));
        };
        self.bytes = rest;
        let words = words.as_chunks::<4>().0.iter();
        Ok(words.map(|word| u32::from_le_bytes(*word)))
    }

    /// Reads a plane of `count` finite numbers.
    ///
    /// # Errors
    /// When there are fewer, or one is not finite.
    pub fn read_floats(&mut self, count: usize) -> Result<Vec<f32>, StateError> {
        let values: Vec<f32> = self.read_words(count)?.map(f32::from_bits).collect();
        let finite = values.iter().all(|value| value.is_finite());
        self.ensure(finite, "a number is not finite")?;
        Ok(values)
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When something is left over.
    pub fn finish(self) -> Result<(), StateError> {
        self.ensure(self.bytes.is_empty(), "the state is too long")
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let Some((bytes, rest)) = self.bytes.split_first_chunk::<N>() else {
            return Err(self.error("the state ends too early"));
        };
        self.bytes = rest;
        Ok(*bytes)
    }
}
