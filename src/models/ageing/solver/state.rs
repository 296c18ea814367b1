//! Saves and loads what the next step depends on: the clock, what the mountains are kept
//! at, and the ground that the step under way began with, whose work is done again.

use super::{AgeingSolver, Layers};
use crate::{
    drainage::routing::OUTLET,
    models::{
        Solver,
        ageing::land::{Carried, Keeper},
        solver_state::{StateError, StateReader, StateWriter},
    },
    parallel::Workers,
    terrain::Terrain,
};

/// More slices than an ageing step has: a number beyond is damaged.
const MOST_SLICES: u64 = 1 << 20;

impl AgeingSolver {
    pub(super) fn write_state(&self) -> Vec<u8> {
        let mut writer = StateWriter::default();
        writer.write_real(self.years);
        writer.write_real(self.due);
        writer.write_count(self.usual_slices.into());
        writer.write_flag(self.keeper.is_some());
        if let Some(keeper) = &self.keeper {
            keeper.save_state(&mut writer);
        }
        let carried = match &self.run {
            Some(run) => run.carried.clone(),
            None => self.land.carried(),
        };
        writer.write_flag(carried.is_begun);
        if carried.is_begun {
            writer.write_words(carried.directions.iter().map(|way| u32::from(*way)));
            writer.write_floats(&carried.load);
        }
        writer.write_flag(self.run.is_some());
        if let Some(run) = &self.run {
            writer.write_count(run.slices.into());
            let Layers {
                bedrock,
                bedrock_low,
                soil,
            } = &run.start;
            for plane in [bedrock, bedrock_low, soil] {
                writer.write_floats(plane);
            }
        }
        writer.finish()
    }

    pub(super) fn read_state(&mut self, bytes: &[u8], terrain: &Terrain) -> Result<(), StateError> {
        let mut reader = StateReader::new(Self::NAME, bytes);
        reader.ensure_grid(&self.grid, terrain.grid())?;
        let new = Self::new(self.settings.clone(), &self.grid);
        let mut new = new.map_err(|error| reader.error(error.to_string()))?;
        new.years = reader.read_real_in(0.0..=1e15, "the age of the land")?;
        let length = f64::from(self.settings.step_years);
        new.due = reader.read_real_in(0.0..=length, "the years since the step began")?;
        new.usual_slices = read_slices(&mut reader)?;
        if reader.read_flag()? {
            new.keeper = Some(Keeper::load_state(&mut reader)?);
        }
        let cells = self.grid.cells();
        let mut carried = Carried::default();
        if reader.read_flag()? {
            carried.is_begun = true;
            carried.directions = reader.read_words(cells)?.map(|way| way as u8).collect();
            carried.load = reader.read_floats(cells)?;
            let known = carried.directions.iter().all(|way| *way <= OUTLET);
            reader.ensure(known, format!("a direction must be 0 to {OUTLET}"))?;
            new.land.carry_on_at(&carried, &self.grid);
        }
        if reader.read_flag()? {
            let slices = read_slices(&mut reader)?;
            let mut plane = || reader.read_floats(cells);
            let start = Layers {
                bedrock: plane()?,
                bedrock_low: plane()?,
                soil: plane()?,
            };
            let thin = start.soil.iter().all(|soil| *soil >= 0.0);
            reader.ensure(
                thin,
                "the soil that a step began with is negative somewhere",
            )?;
            new.begin_from(terrain, start, length);
            new.advance_to(Workers::global(), slices);
        }
        reader.finish()?;
        *self = new;
        Ok(())
    }
}

fn read_slices(reader: &mut StateReader) -> Result<u32, StateError> {
    let slices = reader.read_count()?;
    reader.ensure(
        slices <= MOST_SLICES,
        format!("an ageing step has at most {MOST_SLICES} slices, found {slices}"),
    )?;
    Ok(slices as u32)
}
