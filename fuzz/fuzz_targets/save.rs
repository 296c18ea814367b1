//! Any bytes as a saved state: a state that can be written again, or an error.

#![no_main]

use bevy_erode::io::SavedState;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(state) = SavedState::from_bytes(bytes) {
        let again = state.to_bytes().expect("what was read can be written");
        let again = SavedState::from_bytes(&again).expect("and read again");
        assert_eq!(again.terrain().state_hash(), state.terrain().state_hash());
    }
});
