//! Who gets the pointer and the keys: the panel or the game.

use super::ErosionPanel;
use bevy::prelude::*;
use bevy_egui::{
    EguiContext,
    egui::{self, Order, Pos2},
    input::EguiWantsInput,
};

/// What is known of the pointer in this frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PointerWatch {
    /// Over something of egui's, or used by it.
    over: bool,
    /// The button that is down was pressed over something of egui's.
    held: bool,
    /// Text is being typed.
    pub typing: bool,
}

impl PointerWatch {
    pub fn is_taken(&self) -> bool {
        self.over || self.held
    }

    /// Looks at the pointer as egui has it in this frame. Places of windows are
    /// those of the frame before: so a click is known to be the panel's in the
    /// very frame in which the pointer comes to it.
    fn look(&mut self, context: &egui::Context) {
        let covered = |at: Option<Pos2>| {
            let layer = at.and_then(|at| context.layer_id_at(at));
            layer.is_some_and(|layer| layer.order != Order::Background)
        };
        let (at, origin, pressed, down) = context.input(|input| {
            let pointer = &input.pointer;
            (
                pointer.interact_pos(),
                pointer.press_origin(),
                pointer.any_pressed(),
                pointer.any_down(),
            )
        });
        self.over |= covered(at) || context.egui_is_using_pointer();
        if pressed {
            self.held |= covered(origin.or(at));
        }
        self.held &= down;
        self.typing |= context.text_edit_focused();
    }
}

/// Keeps [`ErosionPanel::has_pointer`] and [`ErosionPanel::has_keyboard`] up to date.
pub(super) fn watch_pointer(
    mut panel: ResMut<ErosionPanel>,
    mut contexts: Query<&mut EguiContext>,
    wants: Option<Res<EguiWantsInput>>,
) {
    let mut watch = PointerWatch {
        // A click beside an open list closes it, and is no more than that.
        over: wants.is_some_and(|wants| wants.is_popup_open()),
        held: panel.pointer.held,
        typing: false,
    };
    for mut context in &mut contexts {
        watch.look(context.get_mut());
    }
    panel.bypass_change_detection().pointer = watch;
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_egui::egui::{Event, Modifiers, PointerButton, RawInput, Rect, pos2, vec2};

    const OVER: Pos2 = pos2(60.0, 60.0);
    const BESIDE: Pos2 = pos2(300.0, 300.0);

    /// A frame with these events, as bevy_egui makes it: the pass begins, the
    /// game looks, the window is shown, the pass ends.
    fn frame(context: &egui::Context, watch: &mut PointerWatch, events: Vec<Event>) -> bool {
        context.begin_pass(RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(400.0, 400.0))),
            events,
            ..Default::default()
        });
        watch.over = false;
        watch.look(context);
        egui::Window::new("panel")
            .fixed_pos(pos2(10.0, 10.0))
            .fixed_size(vec2(100.0, 100.0))
            .show(context, |ui| {
                ui.label("nothing that reacts");
                ui.allocate_space(ui.available_size());
            });
        let _ = context.end_pass();
        watch.is_taken()
    }

    fn button(pos: Pos2, pressed: bool) -> Event {
        Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        }
    }

    #[test]
    fn a_press_on_the_panel_is_the_panels_until_it_ends() {
        let context = egui::Context::default();
        let mut watch = PointerWatch::default();
        for _ in 0..2 {
            assert!(!frame(
                &context,
                &mut watch,
                vec![Event::PointerMoved(BESIDE)]
            ));
        }
        // It comes and presses within one frame, as on a slow machine.
        let at_once = vec![Event::PointerMoved(OVER), button(OVER, true)];
        assert!(frame(&context, &mut watch, at_once));
        // Dragged out over the ground, it is still the panel's.
        assert!(frame(
            &context,
            &mut watch,
            vec![Event::PointerMoved(BESIDE)]
        ));
        assert!(frame(&context, &mut watch, vec![]));
        assert!(!frame(&context, &mut watch, vec![button(BESIDE, false)]));
        // Pressed on the ground, it is the game's.
        assert!(!frame(&context, &mut watch, vec![button(BESIDE, true)]));
        assert!(!frame(&context, &mut watch, vec![button(BESIDE, false)]));
        // Over the panel it is the panel's without any press.
        assert!(frame(&context, &mut watch, vec![Event::PointerMoved(OVER)]));
    }
}
