//! Bodies and ground that is replaced under them.
//!
//! A heightfield has no inside: what has sunk below it falls. So bodies must
//! rise in the moment when the ground under them does.

use super::Body;
use bevy::math::*;

/// Where the ground under a body is looked at, as parts of the half of its box.
const SPOTS: [Vec2; 9] = [
    Vec2::ZERO,
    Vec2::new(0.6, 0.0),
    Vec2::new(-0.6, 0.0),
    Vec2::new(0.0, 0.6),
    Vec2::new(0.0, -0.6),
    Vec2::new(0.6, 0.6),
    Vec2::new(-0.6, 0.6),
    Vec2::new(0.6, -0.6),
    Vec2::new(-0.6, -0.6),
];

/// World heights of the ground at a spot before and after it was replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// `None` where there was no collider. units: m
    pub before: Option<f32>,
    /// units: m
    pub after: f32,
}

/// How far a body must rise not to be caught below new ground; `None` if the
/// ground under it is the same as before. `change` tells of a spot in the
/// world's x and z, `None` where nothing was replaced.
pub fn lift(body: &Body, change: impl Fn(Vec2) -> Option<Change>) -> Option<f32> {
    let middle = body.position.xz().clamp(body.min.xz(), body.max.xz());
    let reach = (body.max - body.min).xz() * 0.5;
    let mut lift: Option<f32> = None;
    for (number, spot) in SPOTS.iter().enumerate() {
        let Some(Change { before, after }) = change(middle + *spot * reach) else {
            continue;
        };
        let sunk = after - body.min.y;
        let rise = match before {
            // What was below the ground already is there on purpose.
            Some(before) if number == 0 && body.position.y < before => return Some(0.0),
            // The ground carries what lies on it, no higher than itself.
            Some(before) if before != after => (after - before).min(sunk),
            Some(_) => continue,
            // It came too late: what should stand on it has begun to fall.
            None if number == 0 && body.position.y < after => sunk,
            None => 0.0,
        };
        lift = Some(lift.unwrap_or(0.0).max(rise));
    }
    lift
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::prelude::Entity;

    fn ball(height: f32) -> Body {
        let position = Vec3::new(3.0, height, -2.0);
        Body {
            entity: Entity::PLACEHOLDER,
            is_dynamic: true,
            position,
            min: position - 0.5,
            max: position + 0.5,
        }
    }

    fn from_to(before: f32, after: f32) -> impl Fn(Vec2) -> Option<Change> {
        move |_| {
            Some(Change {
                before: Some(before),
                after,
            })
        }
    }

    #[test]
    fn ground_carries_what_lies_on_it() {
        assert_eq!(lift(&ball(0.5), from_to(0.0, 2.0)), Some(2.0));
        // Slightly sunk before, as sunk after.
        assert_eq!(lift(&ball(0.25), from_to(0.0, 2.0)), Some(2.0));
    }

    #[test]
    fn what_flies_is_touched_only_if_the_ground_reaches_it() {
        assert_eq!(lift(&ball(5.0), from_to(0.0, 2.0)), Some(0.0));
        assert_eq!(lift(&ball(2.0), from_to(0.0, 2.0)), Some(0.5));
    }

    #[test]
    fn ground_that_sinks_or_stays_lifts_nothing() {
        assert_eq!(lift(&ball(0.5), from_to(0.0, -1.0)), Some(0.0));
        assert_eq!(lift(&ball(0.5), from_to(0.0, 0.0)), None);
        assert_eq!(lift(&ball(0.5), |_| None), None);
    }

    #[test]
    fn what_is_below_on_purpose_stays_there() {
        assert_eq!(lift(&ball(-5.0), from_to(0.0, 2.0)), Some(0.0));
    }

    #[test]
    fn ground_that_came_late_saves_what_fell() {
        let late = |_| {
            Some(Change {
                before: None,
                after: 1.0,
            })
        };
        assert_eq!(lift(&ball(0.75), late), Some(0.75));
        assert_eq!(lift(&ball(1.5), late), Some(0.0));
    }

    #[test]
    fn ground_that_rises_under_a_side_lifts_too() {
        let at_east = |spot: Vec2| {
            let after = if spot.x > 3.2 { 0.25 } else { 0.0 };
            Some(Change {
                before: Some(0.0),
                after,
            })
        };
        assert_eq!(lift(&ball(0.5), at_east), Some(0.25));
    }
}
