//! A line that says how the last action went.

use bevy_egui::egui::{Color32, Ui};
use core::fmt::Display;

/// What was done, or why not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatusLine(Option<Result<String, String>>);

impl StatusLine {
    pub fn set(&mut self, result: Result<String, impl Display>) {
        self.0 = Some(result.map_err(|error| error.to_string()));
    }

    pub fn show(&self, ui: &mut Ui) {
        match &self.0 {
            None => {}
            Some(Ok(done)) => {
                ui.colored_label(Color32::LIGHT_GREEN, done);
            }
            Some(Err(error)) => {
                ui.colored_label(Color32::LIGHT_RED, error);
            }
        }
    }

    #[cfg(test)]
    pub fn last(&self) -> Option<&Result<String, String>> {
        self.0.as_ref()
    }
}
