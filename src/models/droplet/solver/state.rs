//! Saves and loads what the next drops depend on: how many fell, and what they left
//! behind. The ground itself is read from the terrain again.

use super::{DropletSolver, Lakes, Passed, StreamCell, Sums, Traces};
use crate::{
    models::{
        Solver,
        solver_state::{StateError, StateReader, StateWriter},
    },
    terrain::{Terrain, TerrainCursor},
};

impl DropletSolver {
    pub(super) fn write_state(&self, terrain: &Terrain) -> Vec<u8> {
        let mut writer = StateWriter::default();
        writer.write_count(self.released);
        writer.write_count(self.published_steps);
        writer.write_real(self.due);
        writer.write_count(self.drops_since_renewal as u64);
        let knows = self.cursor.is_at(terrain);
        writer.write_count(knows.into());
        if !knows {
            return writer.finish();
        }
        writer.write_real(self.datum.into());
        writer.write_count(self.lakes_hold_for as u64);
        self.lakes.save_state(&mut writer);
        writer.write_count(self.streams.len() as u64);
        writer.write_words(self.streams.iter().flat_map(|stream| stream.to_words()));
        // Workers' counts are whole numbers: their sum is as good as each.
        writer.write_words((0..self.streams.len()).flat_map(|cell| {
            let mut total = Passed::default();
            for (sums, _) in &self.workers {
                total.add(sums.passed.get(cell).copied().unwrap_or_default());
            }
            total.to_words()
        }));
        writer.finish()
    }

    pub(super) fn read_state(&mut self, bytes: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        let mut reader = StateReader::new(Self::NAME, bytes);
        let mut new = Self {
            released: reader.read_count()?,
            published_steps: reader.read_count()?,
            due: reader.read_real_in(0.0..=1.0, "the fraction of a drop that is due")?,
            drops_since_renewal: reader.read_count()? as usize,
            ..Self::blank(self.settings.clone(), self.grid)
        };
        reader.ensure_grid(&self.grid, terrain.grid())?;
        if reader.read_count()? != 0 {
            new.read_land(&mut reader, terrain)?;
        }
        reader.finish()?;
        *self = new;
        Ok(())
    }

    /// Reads what depends on the terrain.
    fn read_land(&mut self, reader: &mut StateReader, terrain: &Terrain) -> Result<(), StateError> {
        // No revision: all of the ground is new to it.
        self.cursor = TerrainCursor::before(terrain);
        self.datum = reader.read_real()? as f32;
        self.lakes_hold_for = reader.read_count()? as usize;
        let size = (self.grid.width(), self.grid.height());
        self.lakes = Lakes::load_state(reader, size)?;
        let cells = reader.read_count()? as usize;
        if cells == 0 {
            return Ok(());
        }
        let expected = self.grid.cells();
        reader.ensure(
            cells == expected,
            format!("the map of streams must have {expected} cells, has {cells}"),
        )?;
        let mut words = reader.read_words(3 * cells)?;
        let mut three = || core::array::from_fn(|_| words.next().unwrap_or_default());
        let streams = (0..cells).map(|_| StreamCell::from_words(three()));
        let streams: Option<Vec<StreamCell>> = streams.collect();
        self.streams = streams.ok_or_else(|| {
            reader.error("a cell of the map of streams is negative or not finite")
        })?;
        let mut words = reader.read_words(3 * cells)?;
        let mut three = || core::array::from_fn(|_| words.next().unwrap_or_default());
        let passed = (0..cells).map(|_| Passed::from_words(three()));
        let passed: Option<Vec<Passed>> = passed.collect();
        let sums = Sums {
            passed: passed
                .ok_or_else(|| reader.error("a cell's count of drops is out of range"))?,
            ..Sums::default()
        };
        self.workers = vec![(sums, Traces::default())];
        Ok(())
    }
}
