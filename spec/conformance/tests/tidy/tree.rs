//! The project's files.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One text file of the project.
pub struct File {
    /// From the project's top, with slashes.
    pub path: String,
    pub text: String,
}

impl File {
    pub fn has_extension(&self, wanted: &[&str]) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| wanted.iter().any(|one| extension == *one))
    }

    /// A program's text, in whatever language.
    pub fn is_source(&self) -> bool {
        self.has_extension(&["rs", "py", "c", "h", "go", "java", "js", "ts", "sh"])
    }

    /// Lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line))
    }
}

/// The project's top folder.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every text file that git tracks; without git, every one that is no product of a build or a run.
pub fn files() -> Vec<File> {
    let tracked = tracked();
    let paths = if tracked.is_empty() { walk(&project()) } else { tracked };
    let mut files: Vec<File> = paths
        .into_iter()
        // What is no text, or was removed and not committed yet, has no lines to look at.
        .filter_map(|path| Some(File { text: std::fs::read_to_string(project().join(&path)).ok()?, path }))
        .collect();
    assert!(files.len() > 100, "only {} files found under {}", files.len(), project().display());
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

fn tracked() -> Vec<String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(project()).output();
    let listed = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let listed = String::from_utf8(listed.unwrap_or_default()).unwrap();
    listed.split_terminator('\0').map(str::to_owned).collect()
}

fn walk(top: &Path) -> Vec<String> {
    const PASSED_OVER: [&str; 5] = [".git", "target", "modiar-data", "__pycache__", "node_modules"];
    let (mut folders, mut paths) = (vec![top.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                paths.push(entry.path().strip_prefix(top).unwrap().to_str().unwrap().to_owned());
            } else if !PASSED_OVER.iter().any(|name| entry.file_name() == *name) {
                folders.push(entry.path());
            }
        }
    }
    paths
}

#[test]
fn without_git_the_same_sources_are_found() {
    let walked = walk(&project());
    let there = tracked().into_iter().filter(|path| project().join(path).is_file());
    let missing: Vec<_> = there.filter(|path| !walked.contains(path)).collect();
    assert_eq!(missing, Vec::<String>::new());
}
