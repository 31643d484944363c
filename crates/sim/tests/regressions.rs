//! What once broke something does not any more.

use std::{fs, path::Path};

use sim::{regression::Regression, shrink};

#[test]
fn what_once_broke_something_does_not_any_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let kept: Regression = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let (ended, world) = shrink::play(kept.worlds, &kept.decisions, true);
        assert_eq!(ended.broken, None, "{}: {:#?}", file.display(), world.story.lines());
    }
}
