//! Saved states as bytes and files, and without an app.

use super::{Folder, hostile::torment};
use bevy::math::UVec2;
use bevy_erode::prelude::*;
use bevy_erode::{
    forcing::{RainPattern, RainSolver},
    io::SaveError,
    models::droplet::DropletSolver,
    models::pipe::PipeSolver,
    models::thermal::ThermalSolver,
};
use std::fs;

/// A terrain with everything in it, and its solvers, in the middle of a run.
struct Run {
    terrain: Terrain,
    droplets: DropletSolver,
    pipe: PipeSolver,
    thermal: ThermalSolver,
    rain: RainSolver,
}

impl Run {
    fn new(size: UVec2, pipe: PipeModel) -> Self {
        let cells = size.element_product() as usize;
        let terrain = crate::land(8, size, 3.0)
            .with_soil_depth(0.5)
            .and_then(|land| land.with_layer(Layer::Hardness, vec![0.25; cells]))
            .and_then(|land| land.with_layer(Layer::Water, vec![0.4; cells]))
            .expect("valid");
        let grid = *terrain.grid();
        let rain = Rain::mm_per_hour(700.0).with_pattern(RainPattern::blue_noise(2));
        let droplets = Droplets {
            rate: 0.3,
            ..Droplets::seeded(1).with_streams()
        };
        Self {
            terrain,
            droplets: DropletSolver::new(droplets, &grid).expect("valid"),
            pipe: PipeSolver::new(pipe, &grid).expect("valid"),
            thermal: ThermalSolver::new(Thermal::default(), &grid).expect("valid"),
            rain: RainSolver::new(rain, &grid).expect("valid"),
        }
    }

    fn steps(&mut self, count: u32) {
        for _ in 0..count {
            let terrain = &mut self.terrain;
            self.rain.step(terrain, 0.5);
            self.droplets.step(terrain, 0.5);
            self.pipe.step(terrain, 0.5);
            self.thermal.step(terrain, 0.5);
        }
    }

    fn save(&self) -> Vec<u8> {
        let save = || -> Result<Vec<u8>, SaveError> {
            SavedState::of(&self.terrain)?
                .with_solver(&self.droplets, &self.terrain)?
                .with_solver(&self.pipe, &self.terrain)?
                .with_solver(&self.thermal, &self.terrain)?
                .with_solver(&self.rain, &self.terrain)?
                .to_bytes()
        };
        save().expect("writable")
    }

    fn load(bytes: &[u8]) -> Self {
        let state = SavedState::from_bytes(bytes).expect("readable");
        let run = |state: &SavedState| -> Result<_, SaveError> {
            Ok((
                state.solver()?,
                state.solver()?,
                state.solver()?,
                state.solver()?,
            ))
        };
        let (droplets, pipe, thermal, rain) = run(&state).expect("usable");
        Self {
            droplets: droplets.expect("saved"),
            pipe: pipe.expect("saved"),
            thermal: thermal.expect("saved"),
            rain: rain.expect("saved"),
            terrain: state.into_terrain(),
        }
    }
}

#[test]
fn solvers_go_on_without_an_app() {
    for pipe in [PipeModel::default(), PipeModel::as_published()] {
        let mut run = Run::new(UVec2::new(70, 33), pipe);
        run.steps(7);
        let bytes = run.save();
        let mut again = Run::load(&bytes);
        assert_eq!(again.terrain.state_hash(), run.terrain.state_hash());
        assert_eq!(again.save(), bytes, "nothing is lost");
        for _ in 0..5 {
            run.steps(6);
            again.steps(6);
            assert_eq!(again.terrain.state_hash(), run.terrain.state_hash());
            assert_eq!(again.terrain.ledger(), run.terrain.ledger());
            assert_eq!(again.droplets.released(), run.droplets.released());
        }
    }
}

#[test]
fn any_grid_can_be_saved() {
    for size in [(1, 1), (1, 9), (9, 1), (2, 2), (65, 64), (129, 3)] {
        let mut run = Run::new(size.into(), PipeModel::default());
        run.steps(3);
        let mut again = Run::load(&run.save());
        run.steps(4);
        again.steps(4);
        assert_eq!(
            again.terrain.state_hash(),
            run.terrain.state_hash(),
            "{size:?}"
        );
    }
}

#[test]
fn a_file_is_whole_or_the_old_one() {
    let folder = Folder::new("saves");
    let path = folder.file("land.erode");
    let mut run = Run::new(UVec2::new(40, 20), PipeModel::default());
    run.steps(2);
    let state = SavedState::of(&run.terrain).expect("valid");
    state.write_file(&path).expect("writable");
    let loaded = SavedState::read_file(&path).expect("readable");
    assert_eq!(loaded.terrain().state_hash(), run.terrain.state_hash());
    assert_eq!(loaded.terrain().ledger(), run.terrain.ledger());
    let old = fs::read(&path).expect("there");
    run.steps(2);
    let newer = SavedState::of(&run.terrain).expect("valid");
    newer.write_file(&path).expect("writable");
    assert_ne!(fs::read(&path).expect("there"), old);
    let names = fs::read_dir(&folder.0).expect("a folder").count();
    assert_eq!(names, 1, "no temporary file is left");

    let error = state
        .write_file(folder.file("no folder/land.erode"))
        .unwrap_err();
    assert!(error.to_string().contains("land.erode"), "{error}");
    // A folder cannot be replaced by a file; what was written goes again.
    fs::create_dir(folder.file("taken")).expect("a folder");
    assert!(state.write_file(folder.file("taken")).is_err());
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 2);
    let error = SavedState::read_file(folder.file("none.erode")).unwrap_err();
    assert!(error.to_string().contains("none.erode"), "{error}");
    fs::write(&path, &old[..old.len() / 2]).expect("writable");
    let error = SavedState::read_file(&path).unwrap_err();
    assert!(matches!(error, SaveError::Damaged(_)), "{error}");
}

#[test]
fn files_of_other_kinds_and_times_are_refused() {
    let run = Run::new(UVec2::new(5, 4), PipeModel::default());
    let bytes = run.save();
    let error = SavedState::from_bytes(b"\x89PNG\r\n\x1a\n and so on").unwrap_err();
    assert!(matches!(error, SaveError::NotASave), "{error}");
    let error = SavedState::from_bytes(b"").unwrap_err();
    assert!(matches!(error, SaveError::NotASave), "{error}");
    let mut newer = bytes.clone();
    newer[8] = 2;
    let error = SavedState::from_bytes(&newer).unwrap_err();
    assert!(
        matches!(
            error,
            SaveError::Version {
                found: 2,
                newest: 1
            }
        ),
        "{error}"
    );
}

/// Every change of a file is an error; none is a panic, and none is believed.
#[test]
fn every_changed_byte_is_found() {
    let mut run = Run::new(UVec2::new(9, 6), PipeModel::as_published());
    run.steps(3);
    let bytes = run.save();
    for place in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[place] ^= change;
            assert!(
                SavedState::from_bytes(&changed).is_err(),
                "{place} {change}"
            );
        }
    }
    let hash = run.terrain.state_hash();
    torment(40, &bytes, 4000, |changed| {
        if let Ok(state) = SavedState::from_bytes(changed) {
            assert_eq!(changed, bytes, "only what was not changed after all");
            assert_eq!(state.terrain().state_hash(), hash);
        }
    });
}
