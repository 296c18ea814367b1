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

/// The doc comment of a public type, by the text of all source files.
fn documentation(name: &str, sources: &[String]) -> Option<String> {
    let declares = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.next() == Some("pub")
            && matches!(words.next(), Some("struct" | "enum" | "trait"))
            && words.next() == Some(name)
    };
    sources.iter().find_map(|source| {
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        let at = lines.iter().position(|line| declares(line))?;
        let above = lines[..at].iter().rev();
        let doc: Vec<&str> = above
            .take_while(|line| !line.is_empty() && **line != "}")
            .filter(|line| line.starts_with("///"))
            .copied()
            .collect();
        Some(doc.join("\n"))
    })
}

#[test]
fn every_name_has_an_example_or_links_to_one() {
    fn read(folder: &std::path::Path, sources: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                read(&path, sources);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                sources.push(std::fs::read_to_string(&path).expect("readable"));
            }
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    read(&root.join("src"), &mut sources);
    for name in names() {
        // Both take their documentation from one macro.
        if matches!(&name[..], "Fbm" | "Ridged") {
            continue;
        }
        let doc = documentation(&name, &sources).unwrap_or_else(|| panic!("no `{name}`"));
        if doc.contains("```") {
            continue;
        }
        let (_, link) = doc
            .split_once("crate::guide::")
            .unwrap_or_else(|| panic!("`{name}`: {doc}"));
        let page: String = link
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let page = root.join("src/guide").join(page + ".md");
        let page = std::fs::read_to_string(&page).expect("a page of the guide");
        let mut code = page
            .split("```rust")
            .skip(1)
            .filter_map(|code| code.split("```").next());
        assert!(
            code.any(|code| code.contains(&name)),
            "no example of `{name}`"
        );
    }
}

/// The first example that people read is one that they can run.
#[test]
fn the_quick_start_is_the_example_minimal() {
    let readme = include_str!("../README.md");
    let (_, quick) = readme
        .split_once("```rust,no_run\n")
        .expect("a quick start");
    let (quick, _) = quick.split_once("```").expect("its end");
    let minimal = include_str!("../examples/minimal.rs");
    let code = minimal
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.is_empty());
    let code: Vec<&str> = code.collect();
    assert_eq!(quick.lines().collect::<Vec<_>>(), code);
}

#[test]
fn the_front_page_is_short() {
    assert!(include_str!("../README.md").lines().count() <= 200);
}
