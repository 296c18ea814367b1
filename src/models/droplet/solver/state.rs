//! What drops to come depend on: how many fell, and what they left behind. The
//! ground itself is read from the terrain again.

use super::{DropletSolver, Lakes, Passed, StreamCell, Sums, Traces};
use crate::{
    models::{
        Solver,
        solver_state::{StateError, StateReader, StateWriter},
    },
    terrain::{Terrain, TerrainCursor},
};

impl DropletSolver {
    pub(super) fn write_memory(&self, terrain: &Terrain) -> Vec<u8> {
        let mut memory = StateWriter::default();
        memory.count(self.released);
        memory.count(self.published_steps);
        memory.real(self.due);
        memory.count(self.drops_since_renewal as u64);
        let knows = self.cursor.is_at(terrain);
        memory.count(knows.into());
        if !knows {
            return memory.finish();
        }
        memory.real(self.datum.into());
        memory.count(self.lakes_hold_for as u64);
        self.lakes.save_state(&mut memory);
        memory.count(self.streams.len() as u64);
        memory.words(self.streams.iter().flat_map(|stream| stream.to_words()));
        // Workers' counts are whole numbers: their sum is as good as each.
        memory.words((0..self.streams.len()).flat_map(|cell| {
            let mut total = Passed::default();
            for (sums, _) in &self.workers {
                total.add(sums.passed.get(cell).copied().unwrap_or_default());
            }
            total.to_words()
        }));
        memory.finish()
    }

    pub(super) fn read_memory(
        &mut self,
        bytes: &[u8],
        terrain: &Terrain,
    ) -> Result<(), StateError> {
        let mut memory = StateReader::new(Self::NAME, bytes);
        let mut new = Self {
            released: memory.count()?,
            published_steps: memory.count()?,
            due: memory.real()?,
            drops_since_renewal: memory.count()? as usize,
            ..Self::blank(self.settings.clone(), self.grid)
        };
        let fits = (0.0..=1.0).contains(&new.due);
        memory.ensure(fits, "more than a drop is owed")?;
        memory.ensure(self.grid.matches(terrain.grid()), "the land is another")?;
        if memory.count()? != 0 {
            new.read_place(&mut memory, terrain)?;
        }
        memory.finish()?;
        *self = new;
        Ok(())
    }

    /// Reads what it knows of the terrain.
    fn read_place(
        &mut self,
        memory: &mut StateReader,
        terrain: &Terrain,
    ) -> Result<(), StateError> {
        // No revision: all of the ground is new to it.
        self.cursor = TerrainCursor::before(terrain);
        self.datum = memory.real()? as f32;
        self.lakes_hold_for = memory.count()? as usize;
        let size = (self.grid.width(), self.grid.height());
        self.lakes = Lakes::load_state(memory, size)?;
        let cells = memory.count()? as usize;
        if cells == 0 {
            return Ok(());
        }
        memory.ensure(cells == self.grid.cells(), "the streams' size is wrong")?;
        let mut words = memory.words(3 * cells)?;
        let mut three = || core::array::from_fn(|_| words.next().unwrap_or_default());
        let streams = (0..cells).map(|_| StreamCell::from_words(three()));
        let streams: Option<Vec<StreamCell>> = streams.collect();
        self.streams = streams.ok_or_else(|| memory.fault("a stream's number is wrong"))?;
        let mut words = memory.words(3 * cells)?;
        let mut three = || core::array::from_fn(|_| words.next().unwrap_or_default());
        let passed = (0..cells).map(|_| Passed::from_words(three()));
        let passed: Option<Vec<Passed>> = passed.collect();
        let sums = Sums {
            passed: passed.ok_or_else(|| memory.fault("a count of drops is wrong"))?,
            ..Sums::default()
        };
        self.workers = vec![(sums, Traces::default())];
        Ok(())
    }
}
