//! The prelude stays small, so that a glob import of it stays harmless.

/// Names that the prelude may have. Later models need some room: 70 is the limit
/// for good.
const MOST: usize = 55;

/// The names in `bevy_erode::prelude` with all features on.
fn names() -> Vec<String> {
    let lib = include_str!("../src/lib.rs");
    let (_, prelude) = lib.split_once("pub mod prelude {").expect("a prelude");
    assert!(
        !prelude.contains('*'),
        "a glob hides how many names it brings"
    );
    let mut names: Vec<String> = prelude
        .lines()
        .filter(|line| !line.trim_start().starts_with("//") && !line.contains("#["))
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|word| word.starts_with(|c: char| c.is_uppercase()))
        .map(String::from)
        .collect();
    names.sort();
    names
}

#[test]
fn the_prelude_is_small_and_names_each_type_once() {
    let names = names();
    assert!(names.len() <= MOST, "{} names: {names:?}", names.len());
    assert!(names.len() > 40, "the prelude was not read: {names:?}");
    let mut once = names.clone();
    once.dedup();
    assert_eq!(once, names);
}
