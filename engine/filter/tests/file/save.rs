//! Files on disk: whole or not there, and nothing is left over.

use bloomrf_filter::Kind;
use bloomrf_filter::file::{
    Asked, FileRefusal, Info, LoadError, SaveError, Step, encode, load, save, write_file,
};

use crate::world::stored;

#[test]
fn a_save_replaces_the_file_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("members.blmf");
    for items in [10, 2_000] {
        let stored = stored(Kind::Classic, items);
        save(&path, &stored).unwrap();
        let read = load(&path, &Asked::default()).unwrap();
        assert_eq!(encode(&read).unwrap(), encode(&stored).unwrap());
        assert_eq!(Info::load(&path).unwrap().labels, stored.labels);
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1);
    }
}

#[test]
fn a_failed_save_names_its_step_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    std::fs::create_dir(&path).unwrap();
    let error = write_file(&path, b"bytes").unwrap_err();
    assert!(matches!(error, SaveError::Io { step: Step::Rename, .. }), "{error}");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "the folder that was there");
    let error = write_file(&folder.path().join("no/such/folder"), b"bytes").unwrap_err();
    assert!(matches!(error, SaveError::Io { step: Step::Create, .. }), "{error}");
    assert!(error.to_string().contains("no/such/folder"), "{error}");
}

#[test]
fn a_file_past_the_limit_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse.blmf");
    let length = 1 << 33;
    std::fs::File::create(&path).unwrap().set_len(length).unwrap();
    let limit = 1 << 20;
    let error = load(&path, &Asked { bytes_max: limit, ..Asked::default() }).unwrap_err();
    let LoadError::Refused { refusal, .. } = error else { panic!("{error}") };
    assert_eq!(refusal, FileRefusal::Limit { most: limit, have: length });
    assert!(matches!(Info::load(&path), Err(LoadError::Refused { .. })));
    assert!(matches!(load(folder.path(), &Asked::default()), Err(LoadError::Io { .. })));
}
