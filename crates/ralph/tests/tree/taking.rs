//! Files are taken in without git where that comes to the same, and git gets the objects when somebody asks for them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ralph::process::{Spec, capture};
use ralph::tree::{Snapshot, Tree, TreeId};

use crate::project::Project;

fn spool(p: &Project) -> PathBuf {
    p.store().join("spool")
}

/// What git does not have yet, in bytes.
fn spooled(p: &Project) -> u64 {
    fs::metadata(spool(p)).map_or(0, |data| data.len())
}

/// Objects of the private store, in packs and loose.
fn stored(p: &Project, what: &str) -> usize {
    let spec = Spec::new("git", &p.root).args(["count-objects", "-v"]);
    let spec = spec.env("GIT_OBJECT_DIRECTORY", p.store().join("objects"));
    let told = capture(&spec).unwrap().stdout;
    let told = String::from_utf8_lossy(&told).into_owned();
    let line = told.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "));
    line.and_then(|count| count.parse().ok()).unwrap()
}

/// What git alone calls the files: by an index that knows none of them.
fn by_git(p: &Project) -> String {
    let (index, objects) = (p.dir.join("expected-index"), p.dir.join("expected-objects"));
    fs::create_dir_all(&objects).unwrap();
    let _ = fs::remove_file(&index);
    let git = |args: &[&str]| {
        let spec = Spec::new("git", &p.root).args(args).env("GIT_INDEX_FILE", &index);
        let spec = spec.env("GIT_OBJECT_DIRECTORY", &objects);
        let spec = spec.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", p.path(".git/objects"));
        let captured = capture(&spec).unwrap();
        assert!(captured.end.success(), "{args:?}: {}", String::from_utf8_lossy(&captured.stderr));
        String::from_utf8_lossy(&captured.stdout).trim_end().to_owned()
    };
    git(&["-c", "core.safecrlf=false", "add", "--all"]);
    git(&["write-tree"])
}

/// Takes snapshots until one is taken in without git.
fn unstored(p: &mut Project) -> Snapshot {
    for round in 0..5 {
        p.write("src/b.txt", &format!("{round}\n"));
        let (before, loose) = (spooled(p), stored(p, "count"));
        let snapshot = p.snap();
        if spooled(p) > before && stored(p, "count") == loose {
            return snapshot;
        }
    }
    panic!("git took part in every snapshot");
}

#[test]
fn what_an_agent_left_has_its_name_before_git_has_any_of_it() {
    let mut p = Project::new();
    let first = p.snap();
    let one = unstored(&mut p);
    p.write("src/b.txt", "four\n");
    p.write("src/new/c.txt", "new\n");
    p.remove("a.txt");
    let other = p.snap();
    assert_eq!(other.tree.as_str(), by_git(&p));
    let before = spooled(&p);
    let tree = p.tree.as_ref().unwrap();
    // The difference is known from the comparison, so that nobody waits for it.
    assert_eq!(tree.diff(&one.tree, &other.tree).unwrap().len(), 3);
    // And where it is not, by the index that stands for the last one.
    let whole = tree.diff(&first.tree, &other.tree).unwrap();
    assert_eq!(spooled(&p), before);
    assert_eq!(whole, tree.compare(&first.tree, &other.tree).unwrap());
    assert!(tree.has(&other.tree) && tree.has(&one.tree));
    assert_eq!(spooled(&p), 0);
    let text = tree.texts(&other.tree, &["src/new/c.txt".to_owned()]).unwrap();
    assert_eq!(text["src/new/c.txt"], "new\n");
}

#[test]
fn now_and_then_git_notes_which_folders_it_has_stored() {
    let mut p = Project::new();
    p.snap();
    unstored(&mut p);
    let without = (0..16).filter(|round| {
        p.write("src/b.txt", &format!("round {round}\n"));
        let loose = stored(&p, "count");
        p.snap();
        stored(&p, "count") == loose
    });
    assert_eq!(without.count(), 14, "of 16");
}

/// A generator of odd numbers, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Does something to a file or two.
fn edit(p: &Project, chance: &mut Chance) -> String {
    let folder = ["", "src/", "src/deep/", "a-b/", "a/", "a/b/"][chance.below(6) as usize];
    let name = format!("{folder}{}", ["x", "y.txt", "z-1", "b"][chance.below(4) as usize]);
    let path = p.path(&name);
    let clear = || {
        // Whatever stands where a folder is to be, or where the file is.
        let above: Vec<PathBuf> =
            path.ancestors().take_while(|above| **above != p.root).map(PathBuf::from).collect();
        for above in above.iter().rev().filter(|above| above.symlink_metadata().is_ok()) {
            if *above == path && above.is_dir() && !above.is_symlink() {
                fs::remove_dir_all(above).unwrap();
            } else if !above.is_dir() || above.is_symlink() {
                fs::remove_file(above).unwrap();
            }
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
    };
    let what = chance.below(10);
    match what {
        0 if path.is_file() => fs::remove_file(&path).unwrap(),
        1 if path.is_file() => {
            let mode = fs::metadata(&path).unwrap().permissions().mode() ^ 0o111;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        2 => {
            clear();
            symlink(format!("target {}", chance.below(3)), &path).unwrap();
        }
        3 => {
            clear();
            fs::write(&path, "dos\r\nlines\r\n").unwrap();
        }
        4 => {
            clear();
            fs::write(&path, b"").unwrap();
        }
        5 => {
            clear();
            fs::write(&path, vec![chance.below(256) as u8; 3_000]).unwrap();
        }
        _ => {
            clear();
            fs::write(&path, format!("{}\n", chance.below(5))).unwrap();
        }
    }
    format!("{what} {name}")
}

#[test]
fn whatever_is_done_to_files_a_snapshot_is_called_what_git_calls_it_and_git_gets_all_of_it() {
    for seed in 1..=3 {
        let mut p = Project::new();
        let mut chance = Chance(seed);
        let mut taken: Vec<TreeId> = Vec::new();
        let mut without = 0;
        p.snap();
        for round in 0..60 {
            let edits: Vec<String> = (0..=chance.below(4)).map(|_| edit(&p, &mut chance)).collect();
            let before = spooled(&p);
            let snapshot = p.snap();
            without += u32::from(spooled(&p) > before);
            assert_eq!(snapshot.tree.as_str(), by_git(&p), "seed {seed}, round {round}: {edits:?}");
            taken.push(snapshot.tree);
            match chance.below(12) {
                0 => p.restart(),
                1 => p.commit("some"),
                2 => assert!(taken.iter().all(|tree| p.tree.as_ref().unwrap().has(tree)), "round {round}"),
                _ => {}
            }
        }
        assert!(without > 15, "seed {seed}: {without}");
        let tree = Tree::open(&p.root, &p.store(), p.repo.as_ref()).unwrap();
        for pair in taken.windows(2) {
            // To compare git must have every folder, and to show it every file.
            tree.patch(&pair[0], &pair[1]).unwrap();
        }
    }
}

#[test]
fn files_that_git_converts_are_left_to_it_whoever_says_so_and_whenever() {
    for (how, setting, attributes) in [
        ("a filter", "config filter.up.clean tr\u{a0}a-z\u{a0}A-Z", "*.txt filter=up\n"),
        ("line ends", "config core.autocrlf true", ""),
        ("an attribute", "config core.autocrlf false", "*.txt text eol=crlf\n"),
        ("an identity", "config core.autocrlf false", "*.txt ident\n"),
    ] {
        let mut p = Project::new();
        p.snap();
        unstored(&mut p);
        let args: Vec<String> = setting.split(' ').map(|word| word.replace('\u{a0}', " ")).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        assert!(p.run(&args).end.success());
        p.write("src/b.txt", "$Id: lower case$\nand more\n");
        p.snap();
        p.write(".gitattributes", attributes);
        p.write("src/b.txt", "$Id: other$\nlines\n");
        // git does not look again at a file that nobody touched.
        p.write("a.txt", "plain\n");
        assert_eq!(p.snap().tree.as_str(), by_git(&p), "{how}");
        for round in 0..3 {
            p.write("src/b.txt", &format!("$Id: {round}$\nlines\r\n"));
            p.write("a.txt", &format!("plain {round}\n"));
            assert_eq!(p.snap().tree.as_str(), by_git(&p), "{how}, round {round}");
        }
    }
}

#[test]
fn attributes_that_convert_nothing_are_no_reason_to_ask_git() {
    let mut p = Project::new();
    p.write(".gitattributes", "* text=auto\n*.png binary\n*.lock linguist-generated\n");
    p.commit("attributes");
    p.snap();
    unstored(&mut p);
    p.write("src/b.txt", "unix\n");
    let loose = stored(&p, "count");
    assert_eq!(p.snap().tree.as_str(), by_git(&p));
    assert_eq!(stored(&p, "count"), loose, "git was not asked");
    // These do not come to the same.
    p.write("src/b.txt", "dos\r\n");
    assert_eq!(p.snap().tree.as_str(), by_git(&p));
}

#[test]
fn what_was_recorded_is_there_for_the_next_ralph_though_the_files_went_on() {
    let mut p = Project::new();
    p.snap();
    let left = unstored(&mut p);
    p.restart();
    assert!(spooled(&p) > 0);
    p.write("src/b.txt", "the user's, later\n");
    let now = p.snap();
    assert_ne!(now.tree, left.tree);
    let tree = p.tree.as_ref().unwrap();
    assert!(tree.has(&left.tree));
    let changes = tree.diff(&left.tree, &now.tree).unwrap();
    assert_eq!(changes.iter().map(|change| change.name().into_owned()).collect::<Vec<_>>(), ["src/b.txt"]);
}

#[test]
fn whoever_only_looks_finds_everything_and_leaves_it_to_the_run_that_goes_on() {
    let mut p = Project::new();
    p.snap();
    let left = unstored(&mut p);
    let before = spooled(&p);
    let looking = Tree::look(&p.root, &p.store(), p.repo.as_ref()).unwrap();
    assert!(looking.has(&left.tree));
    p.write("src/b.txt", "and on\n");
    let now = p.snap();
    assert!(looking.has(&now.tree), "later ones too");
    assert!(spooled(&p) > before);
}

#[test]
fn half_a_record_costs_no_other_and_what_ralph_did_not_write_is_neither_read_nor_written_to() {
    for damage in ["cut", "more", "a folder", "a link", "another name", "nothing"] {
        let mut p = Project::new();
        p.snap();
        let left = unstored(&mut p);
        p.restart();
        let (path, bytes) = (spool(&p), fs::read(spool(&p)).unwrap());
        let mine = p.dir.join("mine");
        fs::write(&mine, "the user's\n").unwrap();
        fs::remove_file(&path).unwrap();
        match damage {
            "cut" => fs::write(&path, &bytes[..bytes.len() - 3]).unwrap(),
            "more" => fs::write(&path, [&bytes[..], &bytes[..7]].concat()).unwrap(),
            "a folder" => fs::create_dir(&path).unwrap(),
            "a link" => symlink(&mine, &path).unwrap(),
            "another name" => fs::hard_link(&mine, &path).unwrap(),
            _ => {}
        }
        for round in 0..4 {
            p.write("src/b.txt", &format!("again {round}\n"));
            let snapshot = p.snap();
            assert_eq!(snapshot.tree.as_str(), by_git(&p), "{damage}");
        }
        let now = p.snap();
        let tree = p.tree.as_ref().unwrap();
        assert!(tree.has(&now.tree), "{damage}");
        assert_eq!(tree.has(&left.tree), damage == "more", "{damage}");
        tree.patch(&TreeId::new(&p.git("rev-parse HEAD^{tree}")).unwrap(), &now.tree).unwrap();
        assert_eq!(fs::read_to_string(&mine).unwrap(), "the user's\n", "{damage}");
    }
}

#[test]
fn what_an_agent_takes_out_of_the_spool_is_stored_again() {
    for damage in ["removed", "emptied", "a link"] {
        let mut p = Project::new();
        p.snap();
        unstored(&mut p);
        p.write("src/kept.txt", "only the spool has it\n");
        p.snap();
        let mine = p.dir.join("mine");
        fs::write(&mine, "the user's\n").unwrap();
        match damage {
            "emptied" => fs::write(spool(&p), "").unwrap(),
            _ => fs::remove_file(spool(&p)).unwrap(),
        }
        if damage == "a link" {
            symlink(&mine, spool(&p)).unwrap();
        }
        p.write("a.txt", "another file\n");
        let now = p.snap();
        let tree = p.tree.as_ref().unwrap();
        assert!(tree.has(&now.tree), "{damage}");
        let texts = tree.texts(&now.tree, &["src/kept.txt".to_owned()]).unwrap();
        assert_eq!(texts["src/kept.txt"], "only the spool has it\n", "{damage}");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "the user's\n", "{damage}");
    }
}

#[test]
fn a_folder_that_becomes_a_file_and_settings_that_change_at_once_are_measured_as_git_does() {
    let mut p = Project::new();
    p.snap();
    unstored(&mut p);
    p.remove("src/b.txt");
    fs::remove_dir(p.path("src")).unwrap();
    p.write("src", "a file\n");
    assert_eq!(p.snap().tree.as_str(), by_git(&p));
    // Not even by the snapshot that follows at once.
    p.git("config core.fileMode false");
    p.write("a.txt", "x\n");
    fs::set_permissions(p.path("a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let snapshot = p.snap();
    let call = p.tree.as_ref().unwrap().call("ls-tree").args([snapshot.tree.as_str(), "a.txt"]);
    assert!(String::from_utf8(call.output().unwrap()).unwrap().starts_with("100644"));
}

/// git takes a file for unchanged that is older than the index, so a file that is written to after git looked must not become so.
#[test]
fn the_index_is_no_younger_than_the_look_that_it_is_made_of() {
    let mut p = Project::new();
    p.snap();
    unstored(&mut p);
    p.write("src/b.txt", "taken in without git\n");
    let before = spooled(&p);
    let mut looked = None;
    let tree = p.tree.as_mut().unwrap();
    let meanwhile = || {
        let begun = SystemTime::now();
        looked = Some(begun);
        // Times of files may lag a little behind the clock.
        while begun.elapsed().unwrap() < Duration::from_millis(50) {
            std::thread::yield_now();
        }
    };
    tree.snapshot_after_work(meanwhile).unwrap();
    assert!(spooled(&p) > before);
    let index = fs::metadata(p.store().join("index")).unwrap().modified().unwrap();
    assert!(index < looked.unwrap());
}

#[test]
fn many_objects_become_a_pack_while_nobody_measures() {
    let mut p = Project::new();
    p.snap();
    unstored(&mut p);
    let mut chance = Chance(7);
    let mut trees = Vec::new();
    for _ in 0..4 {
        for file in 0..400 {
            // Nothing that could be packed, nor a line end.
            let words = (0..2_250).map(|_| chance.below(u64::from(u32::MAX)) as u32 | 0x8080_8080);
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            fs::write(p.path(&format!("src/{file}.bin")), bytes).unwrap();
        }
        trees.push(p.snap().tree);
        let tree = p.tree.as_mut().unwrap();
        tree.tidy(|| Err::<Vec<TreeId>, ()>(()));
    }
    // Dropping it waits for who tidies.
    p.restart();
    assert_eq!((stored(&p, "packs"), p.store().join("spool.full").exists()), (1, false));
    p.snap();
    assert!(trees.iter().all(|tree| p.tree.as_ref().unwrap().has(tree)));
}

#[test]
fn a_store_that_goes_hinders_no_later_snapshot() {
    let mut p = Project::new();
    p.snap();
    unstored(&mut p);
    let gone = p.dir.join("gone");
    fs::rename(p.store(), &gone).unwrap();
    p.tree = Some(Tree::anew(&p.root, &p.store(), p.repo.as_ref()).unwrap());
    for round in 0..4 {
        p.write("a.txt", &format!("{round}\n"));
        let after = p.snap();
        assert!(p.tree.as_ref().unwrap().has(&after.tree));
    }
}

#[test]
fn repositories_with_longer_ids_wait_for_git() {
    let mut p = Project::folder();
    p.git("init -q -b main --object-format=sha256");
    p.repo = ralph::git::discover(&p.root).unwrap();
    p.write("a.txt", "one\n");
    p.commit("first");
    p.changed();
    for text in ["two\n", "three\n", "four\n"] {
        p.write("a.txt", text);
        assert_eq!(p.changed(), ["M a.txt"]);
    }
    assert_eq!(p.last.as_ref().map(|tree| tree.as_str().len()), Some(64));
}
